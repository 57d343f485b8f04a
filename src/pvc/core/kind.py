"""What kind of change the first divergence is: a closed list, decided from the differing values.

    settings ──► model, setting
    tools    ──► tool_set, tool_order, schema_order; else the text of the leaf
    elements ──► block_moved; inserted, removed or replaced; else the text of the leaf
    text     ──► the table `RULES`, first match wins

Rule 1: only the first divergence is explained. What differs later has no say.
Rule 2: the order of `RULES` is the order of the rule book: of two kinds that fit, the more special
comes first. The last rule always answers.
Rule 3: a match that rests on cue words names the next kind that fits as its alternative.
Rule 4: where it is known where the difference comes from (`Provenance`), cue words do not decide
what that is: text that was edited in a file is an edit, whatever it speaks of. The form of the
edit still counts. Of a value, its text and name are all that is known: there they decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core import kind_ids, kind_person, kind_state, kind_texts, kind_times, kind_tools
from pvc.core.change import Change, Match, Provenance, became, quoted
from pvc.core.divergence import only_routes
from pvc.core.kind_forms import FORMS, template_escape
from pvc.model.body import Kind, Region

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.body import Body, Divergence, Leaf, Part

Rules = tuple[Callable[[Change], Match | None], ...]

RULES: Rules = (
    *FORMS,
    kind_times.locale,
    kind_texts.list_order,
    kind_texts.block_moved,
    kind_state.state_lines,
    kind_person.user_identity,
    kind_times.clock,
    kind_ids.random_id,
    kind_texts.catalog,
    kind_state.file_listing,
    kind_state.paths,
    kind_texts.agent_prompt,
    kind_state.workspace_state,
    kind_state.counted_state,
    kind_person.person_section,
    kind_texts.wording,
)

EDIT_RULES: Rules = (
    *(form for form in FORMS if form is not template_escape),  # no template step made an edit
    kind_texts.list_order,
    kind_texts.block_moved,
    kind_texts.catalog_entry,
    kind_texts.wording,
)
"""What an edit of versioned text can be: what its form says, else an edit."""

VALUE_RULES: Rules = tuple(
    rule for rule in RULES if rule not in (kind_texts.agent_prompt, kind_texts.block_moved)
)
"""What a value can be: no value is a role, and it cannot leave its place."""

_INJECTED = re.compile(
    r"\.md\b|\b(?:notes|memor(?:y|ies)|instructions|rules|guidelines|conventions|reminder|context"
    r"|environment|skills|agents|commands)\b",
    re.IGNORECASE,
)


_INJECTED_LINE = re.compile(
    r"\W{0,4}(?:(?:current |primary )?working directory|cwd|(?:git )?branch|git status|platform"
    r"|shell|os(?: version)?|hostname|(?:current |local |today's )?(?:date|time)|user(?: ?name)?"
    r"|session|time ?zone|locale|(?:open|recent) (?:files?|tabs?)|(?:active|current) file"
    r"|selection)\s*[:=]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind, one sentence of what was seen, and the kinds that would fit too."""

    kind: Kind
    evidence: str
    alternatives: tuple[Kind, ...] = ()


def decide(
    a: Body,
    b: Body,
    divergence: Divergence,
    seconds_between: float | None = None,
    origin: Provenance | None = None,
) -> Cause:
    """Name the kind of a divergence between requests that were so many seconds apart."""
    if divergence.region is Region.SETTINGS:
        kind = Kind.MODEL if divergence.path_a == "/model" else Kind.SETTING
        name = (divergence.path_a or divergence.path_b or "").strip("/")
        was, now = divergence.near_a or "the default", divergence.near_b or "the default"
        said = f"`{name}` was {was[:80]} and is {now[:80]}"
        if only_routes(a, divergence):
            said += "; it only chooses the machine, so it may be the cause and need not be"
        return Cause(kind, said)
    if divergence.region is Region.TOOLS:
        found = kind_tools.decide(a, b, divergence)
        if found is not None:
            return Cause(found.kind, found.evidence)
    elif origin is not None and origin.how in _TOLD:
        return Cause(_TOLD[origin.how], origin.said)
    elif (placed := _placed(a, b, _rules(origin))) is not None:
        return placed
    change = replace(_change(a, b, divergence), seconds_between=seconds_between)
    found_in_text = _texts(change, _rules(origin))
    if origin is not None and origin.how == "value" and found_in_text.kind is _LAST:
        return _named(change, origin)
    return found_in_text


_TOLD = {"move": Kind.BLOCK_MOVED, "tree": Kind.AGENT_PROMPT}
_LAST = Kind.PROMPT_TEXT_EDIT


def _rules(origin: Provenance | None) -> Rules:
    """Choose the rules that may speak, by what is known of where the difference comes from."""
    if origin is None:
        return RULES
    return VALUE_RULES if origin.how == "value" else EDIT_RULES


def _named(change: Change, origin: Provenance) -> Cause:
    """Judge a value about which the text around it says nothing by the name it has."""
    old, new = (f"{origin.name}: {value}" for value in origin.values)
    at = next((i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    probe = replace(change, old=old, new=new, at=min(len(old), len(new)) if at is None else at)
    found = _texts(probe, VALUE_RULES)
    said = f"the value `{origin.name}`: {became(*origin.values)}"
    return replace(found, evidence=said) if found.kind is _LAST else found


def _texts(change: Change, rules: Rules) -> Cause:
    """Try the rules in order; the first match decides."""
    first: Match | None = None
    for rule in rules:
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


def _placed(a: Body, b: Body, rules: Rules) -> Cause | None:
    """Explain whole elements that moved, came or went; null when one was changed in place."""
    old, new = _Elements(a), _Elements(b)
    at = old.common(new)
    if at == min(len(old), len(new)):
        if len(new) >= len(old):
            return Cause(Kind.BLOCK_MOVED, "the same blocks, divided into other messages")
        return _gone(old.leaves(at), at, None, rules)
    here_stays, there_stood = new.holds(old, at), old.holds(new, at)
    if here_stays and there_stood:
        return Cause(Kind.BLOCK_MOVED, f"a block stands elsewhere now: {old.first_text(at)}")
    if here_stays:
        if new.first_of(old, at) != old.key(at):
            return Cause(Kind.BLOCK_MOVED, f"a block stands elsewhere now: {old.first_text(at)}")
        return _came(new.leaves(at), rules)
    if there_stood:
        if old.first_of(new, at) != new.key(at):
            return Cause(Kind.BLOCK_MOVED, f"a block stood elsewhere before: {new.first_text(at)}")
        return _gone(old.leaves(at), at, new, rules)
    return None if a.rules.lookback_elements is not None else _parted(old, new, at, rules)


_PART = re.compile(r".*?/(?:content|tool_calls)/\d+")


def _parted(old: _Elements, new: _Elements, at: int, rules: Rules) -> Cause | None:
    """Explain parts of one message that moved, came or went; null when one was changed in place.

    In the OpenAI shapes a message is one element, whose parts are blocks all the same.
    """
    mine, theirs = (_parts(each.leaves(at)) for each in (old, new))
    keys, others = ([_bytes(part) for part in parts] for parts in (mine, theirs))
    first = next(
        (i for i, pair in enumerate(zip(keys, others, strict=False)) if pair[0] != pair[1]), -1
    )
    if first < 0:
        first = min(len(keys), len(others))
    stays = first < len(mine) and keys[first] in others[first:]
    stood = first < len(theirs) and others[first] in keys[first:]
    if stays and stood:
        return Cause(Kind.BLOCK_MOVED, f"a part stands elsewhere now: {_longest(mine[first])}")
    if stays or first == len(mine):
        return _came(theirs[first], rules, at, old)
    if stood or first == len(theirs):
        return _gone(mine[first], at, new, rules)
    return None


def _parts(leaves: list[Leaf]) -> list[list[Leaf]]:
    """Cut the leaves of a message where a part or a tool call begins; others stand alone."""
    parts: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        part = _PART.match(leaf.pointer)
        parts.setdefault(part[0] if part else leaf.pointer, []).append(leaf)
    return list(parts.values())


def _bytes(leaves: list[Leaf]) -> bytes:
    return b"\0".join([leaf.data for leaf in leaves])


def _longest(leaves: list[Leaf]) -> str:
    return quoted(max((leaf.text[:200] for leaf in leaves), key=len, default=""))


class _Elements:
    """The elements after the tools; their bytes are joined only where sizes leave a question."""

    def __init__(self, body: Body) -> None:
        self.body = body
        behind = (part for part in body.parts if part.region is not Region.TOOLS)
        first = next(behind, None)
        self.first = first.first_element if first else body.element_count

    def __len__(self) -> int:
        return self.body.element_count - self.first

    def leaves(self, at: int) -> list[Leaf]:
        return self.body.element(self.first + at)

    def key(self, at: int) -> bytes:
        return _bytes(self.leaves(at))

    def size(self, at: int) -> int:
        return self.body.element_sizes[self.first + at]

    def common(self, other: _Elements) -> int:
        """Count the leading elements that both have."""
        at, end = 0, min(len(self), len(other))
        while at < end:
            mine, theirs = (each.body.part_of(each.first + at) for each in (self, other))
            part = self.body.parts[mine]
            if part is other.body.parts[theirs] and self.first == other.first:
                at = part.first_element + part.count - self.first
            elif self.size(at) != other.size(at) or self.key(at) != other.key(at):
                return at
            else:
                at += 1
        return end

    def holds(self, other: _Elements, at: int) -> bool:
        """Tell whether an element of another body stands here at or after that turn."""
        return self.find(other, at, range(at, len(self)))

    def find(self, other: _Elements, at: int, places: Iterable[int]) -> bool:
        """Tell whether an element of another body stands at one of these places."""
        size = other.size(at)
        return any(self.key(i) == other.key(at) for i in places if self.size(i) == size)

    def first_of(self, other: _Elements, at: int) -> bytes | None:
        """Give the first element from that turn on that the other body has from there on too."""
        by_size: dict[int, list[int]] = {}
        for i in range(at, len(other)):
            by_size.setdefault(other.size(i), []).append(i)
        places = range(at, len(self))
        found = (i for i in places if other.find(self, i, by_size.get(self.size(i), ())))
        return next((self.key(i) for i in found), None)

    def first_text(self, at: int) -> str:
        return _longest(self.leaves(at))

    def stands_in(self, text: str, at: int) -> bool:
        """Tell whether a text stands in a leaf from that element on."""
        if at >= len(self) or not self.body.may_hold(text):
            return False
        part = self.body.part_of(self.first + at)
        leaves = [leaf for later in self.body.parts[part:] for leaf in later.leaves]
        first = self.leaves(at)[0] if self.leaves(at) else None
        start = next((i for i, leaf in enumerate(leaves) if leaf is first), 0)
        return any(text in leaf.text for leaf in leaves[start:])


_MOVED_CHARS = 20


def _came(leaves: list[Leaf], rules: Rules, at: int = 0, old: _Elements | None = None) -> Cause:
    """Name the kind of a block that was put in."""
    text = max((leaf.text for leaf in leaves), key=len, default="")
    if old is not None and len(text) >= _MOVED_CHARS and old.stands_in(text, at):
        return Cause(Kind.BLOCK_MOVED, f"a block stood inside another before: {quoted(text)}")
    if leaves and leaves[0].region is Region.SYSTEM:
        return _one_side("", text, rules)
    return Cause(Kind.HISTORY_REWRITTEN, f"a block was put in: {_longest(leaves)}")


def _gone(leaves: list[Leaf], at: int, new: _Elements | None, rules: Rules) -> Cause:
    """Name the kind of a block that was taken out."""
    text = max((leaf.text for leaf in leaves), key=len, default="")
    if new is not None and len(text) >= _MOVED_CHARS and new.stands_in(text, at):
        return Cause(Kind.BLOCK_MOVED, f"a block stands inside another now: {quoted(text)}")
    if leaves and leaves[0].region is Region.SYSTEM:
        return _one_side(text, "", rules)
    return Cause(Kind.HISTORY_REWRITTEN, f"a block was taken out: {quoted(text)}")


def _one_side(old: str, new: str, rules: Rules) -> Cause:
    """Name the kind of a system text that came or went as a whole."""
    change = Change(old, new, 0, Region.SYSTEM, "text", True, False, _nowhere, _nowhere)
    return _texts(change, rules)


def _nowhere(_: str) -> bool:
    return False


# --- text -------------------------------------------------------------------------------------


def _change(a: Body, b: Body, divergence: Divergence) -> Change:
    """Take the two leaves at the divergence; a leaf that one side lacks is an empty text."""
    leaf_a, leaf_b = (
        held[0] if (held := body.leaf_at(divergence.offset)) else None for body in (a, b)
    )
    if leaf_a and leaf_b and not _comparable(leaf_a, leaf_b):
        leaf_a, leaf_b = (leaf_a, None) if leaf_a.region is divergence.region else (None, leaf_b)
    old, new = (leaf.text if leaf else "" for leaf in (leaf_a, leaf_b))
    at = (divergence.leaf_char_offset or 0) if leaf_a and leaf_b else 0
    if divergence.region is Region.TOOLS and leaf_a and leaf_b:
        old, new, at = kind_tools.differing_texts(old, new, at)
    leaf = leaf_a or leaf_b
    counted = _Elsewhere(a, b, leaf_a, leaf_b)
    return Change(
        old,
        new,
        at,
        divergence.region,
        _name(leaf) if leaf else "",
        divergence.region is not Region.MESSAGES
        or _injected(a, leaf_a, divergence.offset, (old, new, at)),
        leaf_a is not None and leaf_a is _opening(a),
        counted.more_now,
        counted.fewer_now,
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
        for part in a.parts
        if part.region is Region.SYSTEM
        for leaf in part.leaves
        if _name(leaf) in _TEXT_NAMES and leaf.data != b"text"
    )
    return next(texts, None)


class _Elsewhere:
    """Counts a text in the leaves of two bodies, the changed ones apart.

    A part that the two share counts on both sides alike, so it is not looked into. Where many are
    left, the body's JSON is asked first: a text that is nowhere in it is in no leaf.
    """

    def __init__(self, a: Body, b: Body, leaf_a: Leaf | None, leaf_b: Leaf | None) -> None:
        shared = {id(part) for part in a.parts} & {id(part) for part in b.parts}
        self._earlier, self._later = (
            (body, [part for part in body.parts if id(part) not in shared], but)
            for body, but in ((a, leaf_a), (b, leaf_b))
        )

    def more_now(self, text: str) -> bool:
        """Tell whether the text stands more often in the later body."""
        now = self._count(text, *self._later)
        return now > 0 and now > self._count(text, *self._earlier)

    def fewer_now(self, text: str) -> bool:
        """Tell whether the text stood more often in the earlier body."""
        before = self._count(text, *self._earlier)
        return before > 0 and before > self._count(text, *self._later)

    @staticmethod
    def _count(text: str, body: Body, parts: list[Part], but: Leaf | None) -> int:
        if len(parts) > _FEW_PARTS and not body.may_hold(text):
            return 0
        data = text.encode("utf-8", "surrogatepass")
        return sum(leaf.data.count(data) for p in parts for leaf in p.leaves if leaf is not but)


_FEW_PARTS = 16


def _injected(a: Body, leaf: Leaf | None, offset: int, texts: tuple[str, str, int]) -> bool:
    """Tell whether the place lies in text that a harness put into a user or system message.

    So it does in a message of a system role, and in a user's between tags or below a heading or
    label that a harness writes. What a tool gave back is never such a text.
    """
    if leaf is None or _name(leaf) not in ("text", "content") or leaf.pointer.count("/content") > 1:
        return False
    role = _role_before(a, leaf, a.part_at(offset))
    if role != "user":
        return role in ("system", "developer")
    probe = Change(*texts, Region.MESSAGES, "", True, False, _nowhere, _nowhere)
    return (
        bool(probe.open_tags)
        or _INJECTED.search(probe.lead_in) is not None
        or _INJECTED_LINE.match(probe.lines[0]) is not None
    )


def _role_before(body: Body, leaf: Leaf, part: int) -> str:
    """Give the nearest role in front of a leaf of a part."""
    inside = body.parts[part].leaves
    before = inside[: next(i for i, each in enumerate(inside) if each is leaf)]
    while not (roles := [each.text for each in before if _name(each) == "role"]) and part:
        part -= 1
        before = body.parts[part].leaves
    return roles[-1] if roles else ""
