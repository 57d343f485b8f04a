"""Blame worked out backwards, as an oracle for the forward walk.

It shares with `core.blame` only what is decided within one commit (edits, moves, renames). The
bookkeeping is another: every byte of the head is followed towards the past, through plain lists
of head positions, until some commit is found that introduced it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.diff import Edit, Granularity, compare
from pvc.core.moves import Block, moves, renames

if TYPE_CHECKING:
    from core.generated import FakeHistory
    from pvc.core.blame import Annotation, Step
    from pvc.model.names import CommitId, ObjectId

Origin = tuple["CommitId", str, "ObjectId", int]
"""`(commit, path, blob, offset)` of one byte."""
Head = tuple[str, int]
"""A byte of the head: path and position."""
Live = dict[str, list["tuple[Head, ...]"]]
"""For each path of one version, which bytes of the head each of its bytes became."""


def blame_backwards(
    history: FakeHistory, *, find_moves: bool = True, granularity: Granularity = Granularity.WORD
) -> dict[str, list[Origin]]:
    """The origin of every byte of every file after the last step."""
    contents = _head(history)
    live: Live = {p: [((p, at),) for at in range(len(data))] for p, data in contents.items()}
    found: dict[Head, Origin] = {}
    for step in reversed(history.taken):
        live = _before(history, step, live, found, find_moves, granularity)
    return {path: [found[path, at] for at in range(len(data))] for path, data in contents.items()}


def _head(history: FakeHistory) -> dict[str, bytes]:
    blobs: dict[str, ObjectId | None] = {}
    for step in history.taken:
        blobs |= {change.path: change.new for change in step.changes}
    return {path: history.blobs[oid] for path, oid in blobs.items() if oid is not None}


def _before(
    history: FakeHistory,
    step: Step,
    live: Live,
    found: dict[Head, Origin],
    find_moves: bool,  # noqa: FBT001 - an option passed on
    granularity: Granularity,
) -> Live:
    """Carry live bytes over one step into its parent; what it introduced goes to `found`."""
    old = {c.path: history.blobs[c.old] for c in step.changes if c.old is not None}
    new = {c.path: history.blobs[c.new] for c in step.changes if c.new is not None}
    ids = {c.path: c.new for c in step.changes}
    removed = {path: data for path, data in old.items() if path not in new}
    added = {path: data for path, data in new.items() if path not in old}
    sources = {p: p for p in new if p in old} | renames(removed, added)
    compared = {
        path: compare(old[sources[path]] if path in sources else b"", data, granularity)
        for path, data in sorted(new.items())
    }
    found_edits = {path: [Edit(*part) for part in parts] for path, (parts, _) in compared.items()}
    out: Live = {path: marks for path, marks in live.items() if path not in new}
    out |= {path: [()] * len(data) for path, data in old.items()}
    for path, parts in found_edits.items():
        at = start = 0
        for part in parts:
            out_of = out.get(sources.get(path, ""), [])
            out_of[at : part.old_start] = live[path][start : part.new_start]
            at, start = part.old_end, part.new_end
        if path in sources:
            out[sources[path]][at:] = live[path][start:]
    carried: set[tuple[str, int]] = set()
    if find_moves:
        carried = _carry_moves(old, new, sources, found_edits, live, out)
        for path, (_, lines) in compared.items():
            for line in lines:
                _carry_line(line, path, sources[path], found_edits[path], (live, out, carried))
    for path, parts in found_edits.items():
        for part in parts:
            for at in range(part.new_start, part.new_end):
                oid = ids[path]
                if oid is not None and (path, at) not in carried:
                    found |= dict.fromkeys(live[path][at], (step.commit, path, oid, at))
    return out


def _carry_moves(
    old: dict[str, bytes],
    new: dict[str, bytes],
    sources: dict[str, str],
    found_edits: dict[str, list[Edit]],
    live: Live,
    out: Live,
) -> set[tuple[str, int]]:
    """Put moved bytes where they stood; gives the places in the new files that were moved."""
    deleted = [
        Block(sources[path], old[sources[path]], part.old_start, part.old_end)
        for path, parts in found_edits.items()
        if path in sources
        for part in parts
    ]
    gone = sorted(set(old) - set(sources.values()))
    deleted += [Block(path, old[path], 0, len(old[path])) for path in gone]
    inserted = [
        Block(path, new[path], part.new_start, part.new_end)
        for path, parts in found_edits.items()
        for part in parts
    ]
    carried: set[tuple[str, int]] = set()
    for move in moves(deleted, inserted):
        for k in range(move.length):
            out[move.source][move.source_start + k] += live[move.path][move.start + k]
            carried.add((move.path, move.start + k))
    return carried


def _carry_line(
    line: tuple[int, int, int],
    path: str,
    source: str,
    parts: list[Edit],
    to: tuple[Live, Live, set[tuple[str, int]]],
) -> None:
    """Put what is new of a line that changed its place where it stood, if nothing else did."""
    (start, place, size), (live, out, carried) = line, to
    for k in range(size):
        at = place + k
        if (path, at) not in carried and any(p.new_start <= at < p.new_end for p in parts):
            out[source][start + k] += live[path][at]
            carried.add((path, at))


def bytewise(annotation: Annotation) -> dict[str, list[Origin]]:
    """The runs of an annotation, spelled out for every byte."""
    return {
        path: [
            (run.commit, run.path, run.blob, run.offset + k)
            for run in annotation.runs(path)
            for k in range(run.end - run.start)
        ]
        for path in annotation.paths
    }
