"""Form `harness`: why the stable prefix changed, and which bytes of it moved. Pure.

Rule 1: three events may move the prefix: a package version, a tree's adoption, and a change of
the toolset. Whatever else happens in a session (a wiki that grows, references that are chosen) may
not, and a prefix that moved without an event moved by values of the launch.
Rule 2: a version is never edited, it is superseded: files that the edit does not name are taken
over byte for byte. A run keeps the version that it was started with.
Rule 3: a cache compares from the front, so all bytes behind the first one that differs are lost,
whatever they say. Still each section tells apart whether its own bytes changed or only moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.span import Rendered

    Range = tuple[int, int]


class PrefixEvent(StrEnum):
    """What may move the stable prefix."""

    PACKAGE = "package version"
    ADOPTION = "tree adoption"
    TOOLSET = "toolset change"


def may_change_prefix(event: str) -> bool:
    """Tell whether an event, by its name, may move the stable prefix."""
    return event in list(PrefixEvent)


@dataclass(frozen=True, slots=True)
class PrefixInputs:
    """All that a stable prefix hangs on besides launch values, each by what identifies it.

    `packs` are names with commits, `files` the tree's own paths with blobs; `tools` is a digest.
    """

    packs: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    tools: str = ""


def events_between(before: PrefixInputs, after: PrefixInputs) -> tuple[PrefixEvent, ...]:
    """List the events that lie between two launches, by how much they carry."""
    return tuple(
        event
        for event, a, b in (
            (PrefixEvent.PACKAGE, before.packs, after.packs),
            (PrefixEvent.ADOPTION, before.files, after.files),
            (PrefixEvent.TOOLSET, before.tools, after.tools),
        )
        if a != b
    )


# --- which bytes moved ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SectionMove:
    """One section of two prompts: where it stood and stands, as byte ranges; null is not there.

    `kind`: `changed` (other bytes), `shifted` (its bytes, elsewhere), `added`, `removed`.
    """

    section: str
    kind: Literal["changed", "shifted", "added", "removed"]
    before: Range | None
    after: Range | None


@dataclass(frozen=True, slots=True)
class PrefixMove:
    """What became of a prefix: `kept` bytes at its front are the same, the rest is lost.

    `section` holds the first byte that differs, empty when none does or glue does.
    """

    kept: int
    lost: int
    section: str
    sections: tuple[SectionMove, ...]
    events: tuple[PrefixEvent, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.sections)


def moved(before: Rendered, after: Rendered, events: tuple[PrefixEvent, ...] = ()) -> PrefixMove:
    """Compare two rendered prompts, section by section, in the order of `after`, then `before`."""
    kept = common_bytes(before.data, after.data)
    where = after if kept < len(after.data) else before
    section = where.span_at(kept).section if kept < len(where.data) else ""
    old, new = _ranges(before), _ranges(after)
    moves = [
        _move(name, before.data, after.data, old.get(name), new.get(name))
        for name in dict.fromkeys([*new, *old])
    ]
    sections = tuple(move for move in moves if move is not None)
    return PrefixMove(kept, len(before.data) - kept, section, sections, events)


def _move(
    name: str, old: bytes, new: bytes, before: Range | None, after: Range | None
) -> SectionMove | None:
    if before is None or after is None:
        return SectionMove(name, "added" if before is None else "removed", before, after)
    if old[slice(*before)] != new[slice(*after)]:
        return SectionMove(name, "changed", before, after)
    return SectionMove(name, "shifted", before, after) if before != after else None


def _ranges(rendered: Rendered) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for span in rendered.spans:
        if span.section:
            start = found.get(span.section, (span.start, 0))[0]
            found[span.section] = (start, span.end)
    return found


def common_bytes(a: bytes, b: bytes) -> int:
    """Count the leading bytes that two texts share, by halving: slices compare in C."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


# --- versions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """A tree's files under a number."""

    number: int
    files: Mapping[str, str]

    def superseded(self, edit: Mapping[str, str | None]) -> TreeVersion:
        """Make the version after this one: files not named are inherited, null takes one away."""
        files = {**self.files, **edit}
        kept = {path: text for path, text in files.items() if text is not None}
        return TreeVersion(self.number + 1, kept)


def version_used(pinned: int | None, adopted: int) -> int:
    """Give the version that a run uses: its own, or the adopted one when it has none yet."""
    return adopted if pinned is None else pinned
