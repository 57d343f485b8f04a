"""Which commit introduced every byte: a forward walk over a first-parent chain.

Rule 1: every decision is local to one commit: adjacent contents are compared, and one contest of
moves is held among all that the commit changed. So a walk backwards gives the same answer, and an
answer for a version never depends on later ones.
Rule 2: all files are walked at once; each content is read and compared once.
Rule 3: text that was put back belongs to the commit that put it back; `first` names the earlier.
Rule 4: bytes of an ignored commit pass to the text that they replaced; where nothing was replaced
they stay with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pvc.core.annotation import (
    OFFSET_BITS,
    OFFSET_MASK,
    Annotation,
    Pieces,
    Revision,
    Run,
    path_order,
)
from pvc.core.diff import Granularity, Replacement, is_space_only, replacements
from pvc.core.moves import SHORTEST_BLOCK, Block, Move, moves, renames
from pvc.core.words import Lexicon, cuts_code_point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pvc.model.names import CommitId, ObjectId

_MOST_CHUNKS = 1 << 15

__all__ = ["Annotation", "Change", "History", "Run", "Step", "annotate", "first"]


@dataclass(frozen=True, slots=True)
class Change:
    """One path changed by one commit; null where it is absent."""

    path: str
    old: ObjectId | None
    new: ObjectId | None


@dataclass(frozen=True, slots=True)
class Step:
    """A commit and what it changed against its first parent."""

    commit: CommitId
    changes: tuple[Change, ...]


class History(Protocol):
    """A first-parent chain, oldest commit first, and the contents that it names."""

    def steps(self) -> Iterable[Step]:
        """Give the commits in order; asked for again, the same again."""
        ...

    def blob(self, oid: ObjectId) -> bytes:
        """Read the content with this id."""
        ...


def annotate(
    history: History,
    *,
    moves: bool = True,
    granularity: Granularity = Granularity.WORD,
    ignore_space: bool = False,
    ignored: frozenset[CommitId] = frozenset(),
    resume: Annotation | None = None,
) -> Annotation:
    """Replay `history`; with `resume`, its steps are those after that annotation's commit."""
    walk = _Walk(history, _Options(moves, granularity, ignore_space, ignored), resume)
    for step in history.steps():
        walk.take(step)
    return walk.annotation


def first(
    history: History,
    runs: Iterable[Run],
    *,
    moves: bool = True,
    granularity: Granularity = Granularity.WORD,
    ignore_space: bool = False,
    ignored: frozenset[CommitId] = frozenset(),
) -> dict[Run, tuple[Run, ...]]:
    """For runs of a content that their path had before, who introduced those bytes at that time.

    `history` is the whole chain and the options are those of the annotation. Runs whose content
    was new then are left out; the runs given back tile the one that they answer.
    """
    earlier = _earlier(history, [run for run in runs if not run.passed])
    walk = _Walk(history, _Options(moves, granularity, ignore_space, ignored))
    out: dict[Run, tuple[Run, ...]] = {}
    for step in history.steps() if earlier else ():
        walk.take(step)
        for run in earlier.pop(step.commit, ()):
            out[run] = _clipped(walk.annotation.runs(run.path), run)
        if not earlier:
            break
    return out


def _earlier(history: History, asked: Sequence[Run]) -> dict[CommitId, list[Run]]:
    """Group runs by the commit that first gave their path its content, where that is another."""
    wanted = {(run.path, run.blob) for run in asked}
    found: dict[tuple[str, ObjectId], CommitId] = {}
    for step in history.steps():
        for change in step.changes:
            if change.new is not None and (change.path, change.new) in wanted:
                found.setdefault((change.path, change.new), step.commit)
    out: dict[CommitId, list[Run]] = {}
    for run in asked:
        if (commit := found[run.path, run.blob]) != run.commit:
            out.setdefault(commit, []).append(run)
    return out


def _clipped(then: Sequence[Run], run: Run) -> tuple[Run, ...]:
    """Cut out the part of a file's runs that `run` came from, counted as `run` counts."""
    low, high, by = run.offset, run.offset + run.end - run.start, run.start - run.offset
    return tuple(
        Run(
            max(r.start, low) + by,
            min(r.end, high) + by,
            r.commit,
            r.path,
            r.blob,
            r.offset + max(low - r.start, 0),
            r.passed,
        )
        for r in then
        if r.start < high and r.end > low
    )


@dataclass(frozen=True, slots=True)
class _Options:
    moves: bool
    granularity: Granularity
    ignore_space: bool
    ignored: frozenset[CommitId]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A file that the commit left behind, against the one it continues."""

    path: str
    blob: ObjectId
    source: str | None
    old: bytes
    new: bytes
    parts: list[Replacement]


class _Walk:
    """The replay: one annotation, carried from step to step."""

    def __init__(
        self, history: History, options: _Options, annotation: Annotation | None = None
    ) -> None:
        base = annotation or Annotation()
        self.annotation = Annotation(base.commit, dict(base.files), list(base.revisions))
        self._history = history
        self._options = options
        self._passed = {r: k for k, r in enumerate(base.revisions) if r.passed}
        self._texts: dict[str, bytes] = {}
        self._lexicon = Lexicon()

    def take(self, step: Step) -> None:
        """Go on to the state after `step`."""
        files, texts = self.annotation.files, self._texts
        changes = [change for change in step.changes if change.old != change.new]
        changes.sort(key=lambda change: path_order(change.path))
        self._expect(step, changes)
        compared, removed = self._compare(changes)
        moved = self._moved(compared, removed) if self._options.moves else {}
        fresh = [self._pieces(step.commit, file, moved.get(file.path, ())) for file in compared]
        for change in changes:
            if change.new is None:
                del files[change.path]
                texts.pop(change.path, None)
        for file, pieces in zip(compared, fresh, strict=True):
            files[file.path], texts[file.path] = pieces, file.new
        self.annotation.commit = step.commit
        if len(self._lexicon) > _MOST_CHUNKS:
            self._lexicon = Lexicon()

    def _expect(self, step: Step, changes: Sequence[Change]) -> None:
        """Raise `ValueError` unless `step` follows from the state."""
        files = self.annotation.files
        for change in changes:
            held = files[change.path].blob if change.path in files else None
            if held != change.old:
                place = f"{step.commit} changes {change.path}"
                raise ValueError(f"{place} from {change.old}, which had {held}")

    def _text(self, path: str) -> bytes:
        if path not in self._texts:
            self._texts[path] = self._history.blob(self.annotation.files[path].blob)
        return self._texts[path]

    def _compare(self, changes: Sequence[Change]) -> tuple[list[_Compared], dict[str, bytes]]:
        """Compare each file with the one it continues; also the files that ended."""
        removed = {c.path: self._text(c.path) for c in changes if c.new is None}
        added = {c.path: self._history.blob(c.new) for c in changes if c.old is None and c.new}
        continues = renames(removed, added) if removed and added else {}
        out = []
        for change in changes:
            if change.new is None:
                continue
            path = change.path
            source = continues.get(path) if change.old is None else path
            new = added[path] if change.old is None else self._history.blob(change.new)
            old = self._text(source) if source is not None else b""
            parts = replacements(old, new, self._options.granularity, self._lexicon)
            out.append(_Compared(path, change.new, source, old, new, parts))
        for source in continues.values():
            del removed[source]
        return out, removed

    def _moved(
        self, compared: Sequence[_Compared], removed: dict[str, bytes]
    ) -> dict[str, list[Move]]:
        """Find the moves of this commit, by the path they went to."""
        inserted = [
            Block(file.path, file.new, j1, j2)
            for file in compared
            for _, _, j1, j2 in file.parts
            if j2 - j1 >= SHORTEST_BLOCK
        ]
        if not inserted:
            return {}
        deleted = [
            Block(file.source, file.old, i1, i2)
            for file in compared
            if file.source is not None
            for i1, i2, _, _ in file.parts
            if i2 - i1 >= SHORTEST_BLOCK
        ]
        deleted += [Block(path, text, 0, len(text)) for path, text in removed.items()]
        out: dict[str, list[Move]] = {}
        for move in moves(deleted, inserted, self._lexicon) if deleted else ():
            out.setdefault(move.path, []).append(move)
        return out

    def _pieces(self, commit: CommitId, file: _Compared, moved: Sequence[Move]) -> Pieces:
        """Build the file's new pieces: kept ones, moved ones, and what each part brought."""
        files, revisions = self.annotation.files, self.annotation.revisions
        old = files[file.source] if file.source is not None else Pieces(file.blob, [], [])
        own = len(revisions) << OFFSET_BITS
        revisions.append(Revision(commit, file.path, file.blob))
        out = Pieces(file.blob, [], [])
        at = to = 0
        waiting = list(reversed(moved))
        for part in file.parts:
            i1, i2, j1, j2 = part
            out.take(old, at, i1, to)
            brought = self._brought(commit, file, part, old, own)
            at, to = i2, j1
            while waiting and waiting[-1].start < j2:
                move = waiting.pop()
                out.take(brought, to - j1, move.start - j1, to)
                end = move.source_start + move.length
                out.take(files[move.source], move.source_start, end, move.start)
                to = move.start + move.length
            out.take(brought, to - j1, j2 - j1, to)
            to = j2
        out.take(old, at, at + len(file.new) - to, to)
        return out

    def _brought(
        self, commit: CommitId, file: _Compared, part: Replacement, old: Pieces, own: int
    ) -> Pieces:
        """Give the origin of the new bytes of one part, as if they were a file."""
        i1, i2, j1, j2 = part
        blank = self._options.ignore_space and is_space_only(file.old, file.new, part)
        if blank and i1 == i2:  # nothing replaced: the byte before or after has them
            i1, i2 = max(i1 - 1, 0), min(max(i1, 1), len(file.old))
        if i1 == i2 or j1 == j2 or not (blank or commit in self._options.ignored):
            return Pieces(file.blob, [j2 - j1] if j1 < j2 else [], [own | j1] if j1 < j2 else [])
        replaced, out = Pieces(file.blob, [], []), Pieces(file.blob, [], [])
        replaced.take(old, i1, i2, 0)
        for end, origin in zip(replaced.ends, replaced.origins, strict=True):
            share = end * (j2 - j1) // (i2 - i1)
            out.add(_whole(file.new, j1 + share, j2) - j1, self._pass(origin))
        return out

    def _pass(self, origin: int) -> int:
        """Give the same origin, marked as passed on by an ignored commit."""
        revisions = self.annotation.revisions
        held = revisions[origin >> OFFSET_BITS]
        if held.passed:
            return origin
        twin = Revision(held.commit, held.path, held.blob, passed=True)
        number = self._passed.setdefault(twin, len(revisions))
        if number == len(revisions):
            revisions.append(twin)
        return number << OFFSET_BITS | origin & OFFSET_MASK


def _whole(text: bytes, at: int, end: int) -> int:
    """`at`, or the next place that cuts no code point."""
    while at < end and cuts_code_point(text, at):
        at += 1
    return at
