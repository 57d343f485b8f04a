"""What kind of change the first divergence is: a closed list, decided from the differing values.

    settings ──► model, setting
    tools    ──► tool_set, tool_order, schema_order; else the text of the leaf
    elements ──► block_moved; inserted, removed or replaced; else the text of the leaf
    text     ──► the table `RULES`, first match wins

Rule 1: only the first divergence is explained. What differs later has no say.
Rule 2: the order of `RULES` is the order of the rule book: of two kinds that fit, the more special
comes first. The last rule always answers.
Rule 3: a match that rests on cue words names the next kind that fits as its alternative.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core import kind_ids, kind_person, kind_state, kind_texts, kind_times, kind_tools
from pvc.core.change import Change, Match, quoted
from pvc.core.kind_forms import FORMS
from pvc.model.body import Kind, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pvc.model.body import Body, Divergence, Leaf

RULES: tuple[Callable[[Change], Match | None], ...] = (
    *FORMS,
    kind_times.locale,
    kind_texts.list_order,
    kind_texts.block_moved,
    kind_state.state_lines,
    kind_person.user_identity,
    kind_times.clock,
    kind_ids.random_id,
    kind_texts.catalog,
    kind_state.paths,
    kind_texts.agent_prompt,
    kind_state.workspace_state,
    kind_state.counted_state,
    kind_person.person_section,
    kind_texts.wording,
)


_INJECTED = re.compile(
    r"\.md\b|\b(?:notes|memor(?:y|ies)|instructions|rules|guidelines|conventions|reminder|context"
    r"|environment|skills|agents|commands)\b",
    re.IGNORECASE,
)


_INJECTED_LINE = re.compile(
    r"\W{0,4}(?:(?:current |primary )?working directory|cwd|(?:git )?branch|git status|platform"
    r"|shell|os(?: version)?|hostname|(?:current |local |today's )?(?:date|time)|user(?: ?name)?"
    r"|session|time ?zone|locale)\s*[:=]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind, one sentence of what was seen, and the kinds that would fit too."""

    kind: Kind
    evidence: str
    alternatives: tuple[Kind, ...] = ()


def decide(a: Body, b: Body, divergence: Divergence, seconds_between: float | None = None) -> Cause:
    """Name the kind of a divergence between requests that were so many seconds apart."""
    if divergence.region is Region.SETTINGS:
        kind = Kind.MODEL if divergence.path_a == "/model" else Kind.SETTING
        name = (divergence.path_a or divergence.path_b or "").strip("/")
        was, now = divergence.near_a or "the default", divergence.near_b or "the default"
        return Cause(kind, f"`{name}` was {was[:80]} and is {now[:80]}")
    if divergence.region is Region.TOOLS:
        found = kind_tools.decide(a, b, divergence)
        if found is not None:
            return Cause(found.kind, found.evidence)
    elif (placed := _placed(a, b)) is not None:
        return placed
    return _texts(replace(_change(a, b, divergence), seconds_between=seconds_between))


def _texts(change: Change) -> Cause:
    """Try the rules in order; the first match decides."""
    first: Match | None = None
    for rule in RULES:
        match = rule(change)
        if match is None or (first is not None and match.kind is first.kind):
            continue
        if first is not None:
            return Cause(first.kind, first.evidence, (match.kind,))
        if match.sure or match.other:
            return Cause(match.kind, match.evidence, (match.other,) if match.other else ())
        first = match
    raise AssertionError("the last rule always answers")


# --- elements ---------------------------------------------------------------------------------


def _placed(a: Body, b: Body) -> Cause | None:
    """Explain whole elements that moved, came or went; null when one was changed in place."""
    old, new = _keys(a), _keys(b)
    at = next((i for i, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), None)
    if at is None:
        if len(new) >= len(old):
            return Cause(Kind.BLOCK_MOVED, "the same blocks, divided into other messages")
        return _gone(a, len(new), None)
    left, right = set(old[at:]), set(new[at:])
    here, there = old[at], new[at]
    if here in right and there in left:
        return Cause(Kind.BLOCK_MOVED, f"a block stands elsewhere now: {_first_text(a, at)}")
    if here in right:
        following = next((key for key in new[at:] if key in left), None)
        if following != here:
            return Cause(Kind.BLOCK_MOVED, f"a block stands elsewhere now: {_first_text(a, at)}")
        return _came(b, at)
    if there in left:
        following = next((key for key in old[at:] if key in right), None)
        if following != there:
            return Cause(Kind.BLOCK_MOVED, f"a block stood elsewhere before: {_first_text(b, at)}")
        return _gone(a, at, b)
    return None


def _keys(body: Body) -> list[bytes]:
    """Give the content of each element after the tools, its ids apart from what they name."""
    return [
        b"\0".join([leaf.data for leaf in body.leaves[element.first : element.last]])
        for element in body.elements
        if element.region is not Region.TOOLS
    ]


def _leaves(body: Body, at: int) -> Sequence[Leaf]:
    element = [e for e in body.elements if e.region is not Region.TOOLS][at]
    return body.leaves[element.first : element.last]


def _first_text(body: Body, at: int) -> str:
    leaves = _leaves(body, at)
    return quoted(max((leaf.text[:200] for leaf in leaves), key=len, default=""))


def _came(b: Body, at: int) -> Cause:
    """Name the kind of an element that was put in."""
    leaves = _leaves(b, at)
    if leaves and leaves[0].region is Region.SYSTEM:
        return _one_side("", max((leaf.text for leaf in leaves), key=len))
    return Cause(Kind.HISTORY_REWRITTEN, f"a block was put in: {_first_text(b, at)}")


def _gone(a: Body, at: int, b: Body | None) -> Cause:
    """Name the kind of an element that was taken out."""
    leaves = _leaves(a, at)
    text = max((leaf.text for leaf in leaves), key=len, default="")
    if b is not None and len(text) >= 20 and any(text in leaf.text for leaf in _from(b, at)):
        return Cause(Kind.BLOCK_MOVED, f"a block stands inside another now: {quoted(text)}")
    if leaves and leaves[0].region is Region.SYSTEM:
        return _one_side(text, "")
    return Cause(Kind.HISTORY_REWRITTEN, f"a block was taken out: {quoted(text)}")


def _from(body: Body, at: int) -> Sequence[Leaf]:
    elements = [e for e in body.elements if e.region is not Region.TOOLS]
    return body.leaves[elements[at].first :] if at < len(elements) else ()


def _one_side(old: str, new: str) -> Cause:
    """Name the kind of a system text that came or went as a whole."""
    change = Change(old, new, 0, Region.SYSTEM, "text", True, False, _nowhere, _nowhere)
    return _texts(change)


def _nowhere(_: str) -> bool:
    return False


# --- text -------------------------------------------------------------------------------------


def _change(a: Body, b: Body, divergence: Divergence) -> Change:
    """Take the two leaves at the divergence; a leaf that one side lacks is an empty text."""
    leaf_a, leaf_b = (
        body.leaves[index] if (index := body.leaf_at(divergence.offset)) is not None else None
        for body in (a, b)
    )
    if leaf_a and leaf_b and not _comparable(leaf_a, leaf_b):
        leaf_a, leaf_b = (leaf_a, None) if leaf_a.region is divergence.region else (None, leaf_b)
    old, new = (leaf.text if leaf else "" for leaf in (leaf_a, leaf_b))
    at = (divergence.leaf_char_offset or 0) if leaf_a and leaf_b else 0
    if divergence.region is Region.TOOLS and leaf_a and leaf_b:
        old, new, at = kind_tools.differing_texts(old, new, at)
    leaf = leaf_a or leaf_b
    return Change(
        old,
        new,
        at,
        divergence.region,
        _name(leaf) if leaf else "",
        divergence.region is not Region.MESSAGES or _injected(a, leaf_a, (old, new, at)),
        leaf_a is not None and leaf_a is _opening(a),
        lambda text: _elsewhere(b, leaf_b, text) > _elsewhere(a, leaf_a, text),
        lambda text: _elsewhere(a, leaf_a, text) > _elsewhere(b, leaf_b, text),
    )


def _name(leaf: Leaf) -> str:
    return leaf.pointer.rsplit("/", 1)[-1]


_TEXT_NAMES = {"text", "content", "system", "instructions"}


def _comparable(leaf_a: Leaf, leaf_b: Leaf) -> bool:
    """Tell whether two leaves hold the same thing; a text is one in a string and in a list."""
    names = {_name(leaf_a), _name(leaf_b)}
    return len(names) == 1 or names <= _TEXT_NAMES


def _opening(a: Body) -> Leaf | None:
    """Give the first text of the system part."""
    texts = (
        leaf
        for leaf in a.leaves
        if leaf.region is Region.SYSTEM and _name(leaf) in _TEXT_NAMES and leaf.data != b"text"
    )
    return next(texts, None)


def _elsewhere(body: Body, but: Leaf | None, text: str) -> int:
    """Count how often a text stands in the leaves of a body other than one."""
    data = text.encode("utf-8", "surrogatepass")
    return sum(leaf.data.count(data) for leaf in body.leaves if leaf is not but)


def _injected(a: Body, leaf: Leaf | None, texts: tuple[str, str, int]) -> bool:
    """Tell whether the place lies in text that a harness put into a user or system message.

    So it does in a message of a system role, and in a user's between tags or below a heading or
    label that a harness writes. What a tool gave back is never such a text.
    """
    if leaf is None or _name(leaf) not in ("text", "content") or leaf.pointer.count("/content") > 1:
        return False
    index = a.leaves.index(leaf)
    role = next((x.text for x in reversed(a.leaves[:index]) if _name(x) == "role"), "")
    if role != "user":
        return role in ("system", "developer")
    probe = Change(*texts, Region.MESSAGES, "", True, False, _nowhere, _nowhere)
    return (
        bool(probe.open_tags)
        or _INJECTED.search(probe.lead_in) is not None
        or _INJECTED_LINE.match(probe.lines[0]) is not None
    )
