"""What becomes of a prompt's cached prefix when one version follows another. Pure.

    old prompt   ████████████████░░░░░░░░░░░   read back as far as a cache keeps it (`core.reuse`),
    new prompt   ██████████████████▒▒▒▒▒▒▒▒    the rest of the old one is lost

Rule 1: what is kept is never told from the first byte that moved alone: a cache may keep less.
Rule 2: text that is not rendered costs nothing, whatever is done to it.
Rule 3: without values a prompt is rendered over a sample that stands for them: each text is its own
placeholder, each choice the first. It says where sections stand, not what a session was told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from pvc.model.span import FromBinding, Plane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pvc.model.pack import Field, Pack, Section
    from pvc.model.span import Rendered

_RANK = {plane: rank for rank, plane in enumerate(Plane)}
_SAMPLED = ("text", "nullable", "list", "choice", "variant")


@dataclass(frozen=True, slots=True)
class SectionMove:
    """One section of either prompt. `start` is its first byte in the old one, null when it is new.

    `change` is `same`, `changed`, `added`, `removed` or `moved` (the same bytes in another order);
    `lost_bytes` are those of the old prompt that can no longer be read back.
    """

    name: str
    change: str
    plane: Plane | None
    start: int | None
    before_bytes: int
    after_bytes: int
    lost_bytes: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the same edit would cost less: at byte `start` of the old prompt, where `plane` begins.

    The dynamic plane is outside of the prompt: it costs its own bytes in a turn and loses none.
    """

    plane: Plane
    start: int
    lost_bytes: int


@dataclass(frozen=True, slots=True)
class Adoption:
    """One step of a chain, replayed: what it lost."""

    label: str
    lost_bytes: int


def section_moves(
    old: Rendered, new: Rendered, packs: tuple[Pack, Pack], kept: int
) -> list[SectionMove]:
    """Say of each section what became of it, in the old order, new ones last.

    `kept` are the leading bytes of the old prompt that are read back.
    """
    before, after = (_ranges(rendered) for rendered in (old, new))
    in_order = _in_order(list(before), list(after))
    moves = []
    for name in dict.fromkeys([*before, *after]):
        a, b = before.get(name), after.get(name)
        moves.append(
            SectionMove(
                name,
                _change(
                    a and old.data[slice(*a)], b and new.data[slice(*b)], in_order=name in in_order
                ),
                _plane(packs, name),
                a[0] if a else None,
                a[1] - a[0] if a else 0,
                b[1] - b[0] if b else 0,
                max(0, a[1] - max(a[0], kept)) if a else 0,
            )
        )
    return moves


def _ranges(rendered: Rendered) -> dict[str, tuple[int, int]]:
    ranges: dict[str, tuple[int, int]] = {}
    for span in rendered.spans:
        if span.section:
            start = ranges.get(span.section, (span.start, 0))[0]
            ranges[span.section] = (start, span.end)
    return ranges


def _in_order(before: list[str], after: list[str]) -> set[str]:
    """Name the sections that both have in the same order."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {name for block in blocks for name in before[block.a : block.a + block.size]}


def _change(old: bytes | None, new: bytes | None, *, in_order: bool) -> str:
    if old is None or new is None:
        return "added" if old is None else "removed"
    if old != new:
        return "changed"
    return "same" if in_order else "moved"


def _plane(packs: tuple[Pack, Pack], name: str) -> Plane | None:
    found = packs[1].section(name) or packs[0].section(name)
    return found.plane if found else None


def placements(
    old: Rendered,
    pack: Pack,
    moves: Sequence[SectionMove],
    lost_at: Callable[[int], int],
    lost: int,
) -> list[Placement]:
    """Give the places of later planes in which the same edit would lose less than it does.

    `lost_at` tells what a change at a byte of the old prompt loses.
    """
    edited = [move.plane for move in moves if move.change != "same" and move.plane is not None]
    if not edited or not lost:
        return []
    earliest = min(edited, key=_RANK.__getitem__)
    found = []
    for plane, start in _plane_starts(old, pack):
        if _RANK[plane] > _RANK[earliest] and (would := lost_at(start)) < lost:
            found.append(Placement(plane, start, would))
    return [*found, Placement(Plane.DYNAMIC, len(old.data), 0)]


def _plane_starts(rendered: Rendered, pack: Pack) -> Iterator[tuple[Plane, int]]:
    """Give for each plane the last run of it: text put in front of that run loses the least."""
    starts: dict[Plane, int] = {}
    last: Plane | None = None
    for span in rendered.spans:
        section = pack.section(span.section)
        plane = section.plane if section else None
        if isinstance(span.origin, FromBinding):
            plane = Plane.LAUNCH
        if plane is not None and plane is not last:
            starts[plane] = span.start
        last = plane or last
    yield from sorted(starts.items(), key=lambda item: _RANK[item[0]])


# --- samples and orders -----------------------------------------------------------------------


def sample_environment(fields: Sequence[Field]) -> dict[str, object]:
    """Make values that stand for themselves; a kind of value that cannot is left out."""
    return {field.name: _sample(field) for field in fields if field.kind in _SAMPLED}


def _sample(field: Field) -> object:
    text = f"{{{field.name}}}"
    if field.kind == "choice":
        return field.choices[0]
    if field.kind == "variant":
        inner = field.variants[0] if field.variants else ()
        return {field.tag: field.choices[0]} | sample_environment(inner)
    return [text] if field.kind == "list" else text


def reordered(pack: Pack, order: Sequence[str]) -> Pack:
    """Put the sections that are named first; the others stay behind them as they were."""
    rank = {name: number for number, name in enumerate(order)}
    sections = sorted(pack.sections, key=lambda section: rank.get(section.name, len(rank)))
    return replace(pack, sections=tuple(sections))


def seldom_first(packs: Sequence[Pack]) -> tuple[str, ...]:
    """Order the sections of the newest pack by how often adoptions changed them, seldom first.

    Planes keep their order: what changes within a plane never stands before an earlier one.
    """
    counts: dict[str, int] = {}
    for old, new in pairwise(packs):
        for section in new.sections:
            before = old.section(section.name)
            if before is None or before.template != section.template:
                counts[section.name] = counts.get(section.name, 0) + 1
    newest = packs[-1].sections

    def rank(section: Section) -> tuple[int, int]:
        return _RANK[section.plane], counts.get(section.name, 0)

    return tuple(section.name for section in sorted(newest, key=rank) if not section.fragment)


def replay(labels: Sequence[str], lost: Sequence[int]) -> tuple[Adoption, ...]:
    """Say what each step of a chain lost; the first version is no step."""
    return tuple(map(Adoption, labels[1:], lost))
