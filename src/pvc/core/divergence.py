"""The first place where two bodies differ: in the stream, or in a setting with a place in it.

Rule 1: the byte is found on the streams, not leaf by leaf: the answer must not depend on how a
stream is cut into leaves.
Rule 2: a setting counts at its place; at the same place it comes before the byte, for it takes
effect there. Of two sides that lie in different regions the earlier one in cache order is named:
what was appended to tools is a change of tools.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, AnyStr

from pvc.model.body import Divergence, Region

if TYPE_CHECKING:
    from pvc.model.body import Body, Leaf, Part, Setting

_STEP, _LONGEST_STEP = 1 << 10, 1 << 16
_BEFORE = 8
_AFTER = 28


def common_prefix(a: AnyStr, b: AnyStr, at_a: int = 0, at_b: int = 0) -> int:
    """Length of what both have alike from a place on, each from its own."""
    end = min(len(a) - at_a, len(b) - at_b)
    low, step = 0, _STEP
    while low < end and a[at_a + low : at_a + low + step] == b[at_b + low : at_b + low + step]:
        low += step
        step = min(step * 4, _LONGEST_STEP)
    low, high = min(low, end), min(low + step, end)
    while low < high:
        middle = (low + high + 1) // 2
        if a[at_a + low : at_a + middle] == b[at_b + low : at_b + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def beside(a: Body, b: Body) -> Body:
    """Write the later body the way the earlier one is, where the two are one to a cache.

    A text is one as a string and as the only part of a list; what a provider leaves out of the key
    counts as equal. Offsets are then those of a's stream; pointers stay those of b.
    """
    own_endpoint = a.own_endpoint and b.own_endpoint
    if a.rules.is_marked and not b.rules.is_marked:  # a gateway's, which took the markers off
        b = replace(b, rules=b.rules.with_markers)
    changed: dict[int, Part] = {}
    for at, (mine, other) in enumerate(zip(a.parts, b.parts, strict=False)):
        form = other.form
        if mine is other or mine.value is other.value or mine.form is not form:
            continue
        if form.restate is None or (form.own_endpoint and not own_endpoint):
            continue
        restated = form.restate(other.value, mine.value)
        if restated:
            changed[at] = other.restate(restated)
    if not changed:
        return b
    parts = tuple([changed.get(at, part) for at, part in enumerate(b.parts)])
    return replace(b, parts=parts, _starts=[0])


def common_bytes(a: Body, b: Body) -> int:
    """Length of the bytes that both streams begin with.

    Parts that the two share are passed over, and those of the same value are not written. Where
    one part begins with the other, the division into parts may differ, and the streams are compared
    from there on.
    """
    for at, (mine, other) in enumerate(zip(a.parts, b.parts, strict=False)):
        if mine is other or (mine.form is other.form and same(mine.value, other.value)):
            continue
        old, new = mine.data, other.data
        if old == new:
            continue
        start = a.part_start(at)
        b.begins_like(a, at)
        size = common_prefix(old, new)
        if size < min(len(old), len(new)):
            return start + size
        return start + _common_from(a, b, at)
    parts = min(len(a.parts), len(b.parts))
    size = a.part_start(parts)
    b.begins_like(a, parts)
    return size


def _common_from(a: Body, b: Body, part: int) -> int:
    """Length of the bytes that both streams have alike from a part on, read as far as needed."""
    count = 4
    while True:
        old, new = a.stream_from(part, count), b.stream_from(part, count)
        size = common_prefix(old, new)
        if size < min(len(old), len(new)) or part + count >= max(len(a.parts), len(b.parts)):
            return size
        count *= 8


def same(a: object, b: object) -> bool:
    """Tell whether two JSON values are the same, the order of keys included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def changed_settings(a: Body, b: Body) -> list[tuple[Setting, Setting]]:
    """Give the pairs of settings whose normal forms differ, by place and then as listed."""
    theirs = {setting.name: setting for setting in b.settings}
    pairs = [(mine, theirs[mine.name]) for mine in a.settings if mine.name in theirs]
    differing = [(mine, other) for mine, other in pairs if mine.normal != other.normal]
    return sorted(differing, key=lambda pair: min(pair[0].place, pair[1].place))


def routed_alike(a: Body, b: Body) -> Body:
    """Give b with a's settings where they only choose the machine: it was found all the same."""
    routing = {mine.name: mine for mine, _ in changed_settings(a, b) if mine.routes}
    if not routing:
        return b
    return replace(b, settings=tuple([routing.get(each.name, each) for each in b.settings]))


def only_routes(a: Body, divergence: Divergence | None) -> bool:
    """Tell whether a divergence is of a setting that only chooses the machine."""
    if divergence is None or divergence.region is not Region.SETTINGS:
        return False
    return any(each.routes and each.pointer == divergence.path_a for each in a.settings)


def first_divergence(a: Body, b: Body, common: int, scope: int) -> Divergence | None:
    """Find the first difference before byte `scope` of a's stream; `common` bytes are the same."""
    for mine, other in changed_settings(a, b):
        place = min(mine.place, other.place)
        if place < scope and place <= common:
            return of_setting(mine, other, place)
    return of_byte(a, b, common) if common < scope else None


def of_setting(mine: Setting, other: Setting, place: int) -> Divergence:
    """Describe a setting that differs."""
    return Divergence(
        place, Region.SETTINGS, mine.pointer, other.pointer, None, None, mine.text, other.text
    )


def of_byte(a: Body, b: Body, offset: int) -> Divergence:
    """Describe the first differing byte; one of the streams may have ended there."""
    leaf_a, start_a = a.leaf_at(offset) or (None, 0)
    leaf_b, start_b = b.leaf_at(offset) or (None, 0)
    region = min((leaf.region for leaf in (leaf_a, leaf_b) if leaf), key=b.rules.order.index)
    path_a, path_b = leaf_a.pointer if leaf_a else None, leaf_b.pointer if leaf_b else None
    if region is Region.SETTINGS:
        whole_a = leaf_a.text if leaf_a and leaf_a.region is region else None
        whole_b = leaf_b.text if leaf_b and leaf_b.region is region else None
        pointer = path_a if whole_a is not None else path_b
        return Divergence(offset, region, pointer, pointer, None, None, whole_a, whole_b)
    at = offset - (start_a if leaf_a else start_b)
    return Divergence(
        offset,
        region,
        path_a,
        path_b,
        at,
        _whole_characters((leaf_a or leaf_b), at),
        near(leaf_a, offset - start_a),
        near(leaf_b, offset - start_b),
    )


def _whole_characters(leaf: Leaf | None, at: int) -> int:
    """Count the complete code points before byte `at` of a leaf."""
    if leaf is None:
        return 0
    data = leaf.data
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return len(data[:at].decode("utf-8", "surrogatepass"))


def near(leaf: Leaf | None, at: int) -> str | None:
    """Cut a window of characters around byte `at` of a leaf."""
    if leaf is None:
        return None
    if leaf.shown is not None:
        after_mask = at > common_prefix(leaf.data, leaf.shown)
        at += (len(leaf.shown) - len(leaf.data)) * after_mask
        leaf = leaf._replace(data=leaf.shown)
    index = _whole_characters(leaf, at)
    return leaf.text[max(0, index - _BEFORE) : index + _AFTER]
