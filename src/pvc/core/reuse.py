"""How much of one request's leading bytes the next one reads back. Pure; the one price model.

    a   tools │ system ▲ │ messages … ▲          ▲ marks: up to the last one is the scope
    b   tools │ systex ▲ │ messages … ▲
              ░░░░░╳                             where the streams part

    mark    the longest marked prefix that is whole is read back, else nothing
    grain   the common prefix is, in steps of so many tokens
    unit    whole units are: what ends at a message

Whatever speaks of cost asks here: a common prefix by itself is not what a cache keeps.

Rule 1: `kept` + `lost` are the scope. `kept` is what can be read back at most. Where a provider
keeps chosen points that a request does not show, `least` is what is kept even so.
Rule 2: a setting that differs ends the common bytes at its place, and another account leaves none.
Rule 3: what is not known is named where it could lower the answer, and never assumed against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from pvc.core.divergence import beside, changed_settings, common_bytes, routed_alike
from pvc.model.body import DEFAULT_ORDER, Counters, Loss, Part, Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.body import Body, Leaf, Marker, Rules

NOT_COUNTED = Counters()
Relation = Literal["next_turn", "new_session"]


@dataclass(frozen=True, slots=True)
class Reuse:
    """What is read back of a's scope, in bytes of its stream, and why not all of it.

    `common` are the leading bytes that both streams have, up to a setting that differs; `least`
    is what is kept even when a provider's points lie as far in front as they can. `unknown` names
    the facts that were missing and could make it less.
    """

    scope: int
    kept: int
    least: int
    common: int
    kind_of_loss: Loss
    why: str
    unknown: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """Bytes of the scope that are written again."""
        return self.scope - self.kept

    @property
    def most_lost(self) -> int:
        """Bytes that are written again at worst."""
        return self.scope - self.least


def reuse(
    a: Body,
    b: Body,
    row: Rules | None = None,
    *,
    relation: Relation | None = None,
    seconds: float | None = None,
    same_account: bool | None = True,
    counted: Counters = NOT_COUNTED,
) -> Reuse:
    """Say what b reads back of a; without a `row` by the rules of the provider that b names.

    `counted` is what came back for b, which tells what the bodies do not show of a gateway.
    """
    if row is not None:
        a, b = replace(a, rules=row), replace(b, rules=row)
    a, b = paired(a, b, counted)
    row = b.rules
    scope = scope_bytes(a, relation or infer_relation(a, b), row)
    common = common_bytes(a, b)
    places = [min(mine.place, other.place) for mine, other in changed_settings(a, b)]
    if same_account is False:
        return _answer(row, scope, (0, 0), 0, "each account has a cache of its own")
    until = min([common, *places])
    unknown = ["same_account"] if same_account is None and until else []
    if not row.is_marked:
        kept = min(until, scope)
        return _answer(row, scope, (kept, _least(a, row, kept)), until, "", unknown)
    kept = 0
    for entry in a.markers:
        end = a.element_end(entry.element)
        if end > until or not alive(entry, seconds) or not in_reach(b, end, row):
            continue
        kept = max(kept, min(end, scope))
        if seconds is None or entry.ttl_seconds is None:
            unknown.append("seconds_between")
    return _answer(row, scope, (kept, kept), until, "", unknown)


def paired(a: Body, b: Body, counted: Counters = NOT_COUNTED) -> tuple[Body, Body]:
    """Give two bodies as a cache compares them: in its order, what is one to it in one form."""
    order = b.rules.order
    a, b = in_order(a, order), in_order(b, order)
    b = beside(a, b)
    if counted.read:
        b = routed_alike(a, b)
    if counted.read == 0 and not counted.write and not b.rules.is_marked:
        b = replace(b, rules=b.rules.with_markers)  # a gateway added none either
    return a, b


def parted(a: Body, offset: int, row: Rules | None = None, *, relation: Relation) -> Reuse:
    """Say what is read back of a by a request that is the same up to byte `offset`."""
    row = row or a.rules
    a = in_order(a, row.order)
    scope = scope_bytes(a, relation, row)
    kept = min(offset, scope)
    if row.is_marked:
        ends = [a.element_end(mark.element) for mark in a.markers]
        kept = max([end for end in ends if end <= kept], default=0)
    return _answer(row, scope, (kept, _least(a, row, kept)), offset, "")


def _answer(
    row: Rules,
    scope: int,
    kept: tuple[int, int],
    common: int,
    why: str,
    unknown: list[str] | None = None,
) -> Reuse:
    most, least = kept
    said = why or _why(row, scope, most, least)
    return Reuse(
        scope, most, least, common, row.kind_of_loss, said, tuple(sorted(set(unknown or ())))
    )


def _why(row: Rules, scope: int, kept: int, least: int) -> str:
    """Say in a sentence what decides how much is kept."""
    if row.is_marked:
        if not scope:
            return "nothing is marked, so nothing is written"
        if kept == scope:
            return "the last marked prefix is whole"
        return (
            f"the last marked prefix that is whole ends at byte {kept}"
            if kept
            else "no marked prefix is whole"
        )
    if kept == scope:
        return "all of it is the same"
    if kept < (row.minimum_tokens or 0):
        return f"fewer bytes are the same than the {row.minimum_tokens} tokens cached at least"
    if row.kind_of_loss is Loss.UNIT:
        return f"whole units are read back; the last that is known to be whole ends at byte {least}"
    if row.kind_of_loss is Loss.MARK:
        return f"entries end at messages; the last that is known to be whole ends at byte {least}"
    step = f", in steps of {row.grain_tokens} tokens" if row.grain_tokens else ""
    return f"the prefix that is the same is read back{step}"


# --- scope ------------------------------------------------------------------------------------


def scope_bytes(a: Body, relation: Relation, row: Rules | None = None) -> int:
    """Count the leading bytes of a that should have been read back."""
    if not (row or a.rules).is_marked:
        return len(a) if relation == "next_turn" else a.region_start(Region.MESSAGES)
    marked = [
        mark.element for mark in a.markers if relation == "next_turn" or not _in_messages(a, mark)
    ]
    return a.element_end(max(marked)) if marked else 0


def _in_messages(body: Body, mark: Marker) -> bool:
    return body.parts[body.part_of(mark.element)].region is Region.MESSAGES


def infer_relation(a: Body, b: Body) -> Relation:
    """Take b for the next turn when it begins with a's first message and is no shorter."""
    first_a, first_b = (_first_message(body) for body in (a, b))
    same = [leaf.data for leaf in first_a] == [leaf.data for leaf in first_b]
    return "next_turn" if same and b.element_count >= a.element_count else "new_session"


def _first_message(body: Body) -> list[Leaf]:
    """Give the leaves of the first element among the messages."""
    parts = (part for part in body.parts if part.count and part.region is Region.MESSAGES)
    return next((part.groups[1] for part in parts), [])


# --- entries ----------------------------------------------------------------------------------


def alive(entry: Marker, seconds: float | None) -> bool:
    """Tell whether an entry still lives; one whose age is not known does."""
    if seconds is None or entry.ttl_seconds is None:
        return True
    return seconds <= entry.ttl_seconds


def in_reach(b: Body, end: int, row: Rules | None = None) -> bool:
    """Tell whether one of b's markers looks at an element that ends at byte `end`."""
    window = (row or b.rules).lookback_elements or 0
    return any(
        b.element_end(index) == end
        for mark in b.markers
        for index in range(max(0, mark.element - window + 1), mark.element + 1)
    )


def _least(a: Body, row: Rules, kept: int) -> int:
    """Count the bytes that are kept wherever the provider's own points lie.

    Entries and units end at messages, the leading system text among them; what ends nowhere that
    a request shows is not counted on.
    """
    if kept < (row.minimum_tokens or 0) and kept < len(a):
        return 0
    if row.is_marked or row.kind_of_loss is Loss.GRAIN:
        return kept
    ends = (end for end in _point_ends(a) if end <= kept)
    return max(ends, default=0)


def _point_ends(a: Body) -> Iterator[int]:
    """Give where the system text and each message end."""
    yield a.region_start(Region.MESSAGES)
    for index, part in enumerate(a.parts):
        if part.region is Region.MESSAGES:
            yield a.part_start(index + 1)


# --- order ------------------------------------------------------------------------------------


def in_order(body: Body, order: tuple[Region, ...]) -> Body:
    """Put a body's regions in the order in which the provider's cache reads them."""
    if order == DEFAULT_ORDER:
        return body
    parts = sorted(body.parts, key=lambda part: order.index(part.region))
    if parts == list(body.parts):
        return body
    firsts = accumulate((part.count for part in parts), initial=0)
    moved = {}
    renumbered = []
    for part, first in zip(parts, firsts, strict=False):
        shift = first - part.first_element
        moved.update({part.first_element + i: shift for i in range(part.count)})
        marks = tuple(replace(mark, element=mark.element + shift) for mark in part.marks)
        renumbered.append(
            Part(part.region, part.pointer, part.value, first, part.count, part.form, marks, part)
        )
    markers = tuple(
        replace(mark, element=mark.element + moved.get(mark.element, 0)) for mark in body.markers
    )
    return replace(body, parts=tuple(renumbered), markers=markers, _starts=[0])
