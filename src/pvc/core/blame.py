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

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pvc.core.annotation import OFFSET_BITS, Annotation, Pieces, Revision, Run, path_order
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
    walk = _Walk(history, moves, granularity, ignore_space, ignored, resume)
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
    walk = _Walk(history, moves, granularity, ignore_space, ignored, None)
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
        self,
        history: History,
        moves: bool,  # noqa: FBT001 - the options of `annotate`, passed on whole
        granularity: Granularity,
        ignore_space: bool,  # noqa: FBT001 - as above
        ignored: frozenset[CommitId],
        resume: Annotation | None,
    ) -> None:
        self._history = history
        self._moves = moves
        self._granularity = granularity
        self._ignore_space = ignore_space
        self._ignored = ignored
        base = resume or Annotation()
        self.annotation = Annotation(base.commit, dict(base.files), list(base.revisions))
        self._passed = {r: k for k, r in enumerate(base.revisions) if r.passed}
        self._texts: dict[str, bytes] = {}
        self._lexicon = Lexicon()

    def take(self, step: Step) -> None:
        """Go on to the state after `step`."""
        files = self.annotation.files
        changes = sorted(
            (c for c in step.changes if c.old != c.new), key=lambda c: path_order(c.path)
        )
        for change in changes:
            held = files[change.path].blob if change.path in files else None
            if held != change.old:
                raise ValueError(
                    f"{step.commit} changes {change.path} from {change.old}, not {held}"
                )
        if len(self._lexicon) > _MOST_CHUNKS:
            self._lexicon = Lexicon()
        compared, removed = self._compare(changes)
        moved = self._moved(compared, removed) if self._moves and changes else {}
        fresh = {
            part.path: self._pieces(step.commit, part, moved.get(part.path, ()))
            for part in compared
        }
        for change in changes:
            if change.new is None:
                del files[change.path]
                self._texts.pop(change.path, None)
        files.update(fresh)
        self._texts.update((part.path, part.new) for part in compared)
        self.annotation.commit = step.commit

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
            parts = replacements(old, new, self._granularity, self._lexicon)
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
        """Build the file's new pieces: old ones kept, and a fill for each replacement."""
        files, revisions = self.annotation.files, self.annotation.revisions
        old = files[file.source] if file.source is not None else None
        number = len(revisions)
        revisions.append(Revision(commit, file.path, file.blob))
        fills = []
        for part in file.parts:
            fill = self._fill(part, number, old, file, passing=commit in self._ignored)
            for move in moved:
                if part[2] <= move.start < part[3]:
                    source = _cut(files[move.source], move.source_start, move.length, move.start)
                    fill = _overlaid(fill, part[2], move.start, source)
            fills.append(fill)
        return _spliced(old, file.blob, file.parts, fills, len(file.new))

    def _fill(
        self, part: Replacement, number: int, old: Pieces | None, file: _Compared, *, passing: bool
    ) -> list[tuple[int, int]]:
        """`(end, origin)` pieces of the bytes that one replacement brought."""
        i1, i2, j1, j2 = part
        if j1 == j2:
            return []
        own = [(j2, number << OFFSET_BITS | j1)]
        if old is None or not old.ends:
            return own
        if self._ignore_space and is_space_only(file.old, file.new, part):
            passing, i1, i2 = True, *((i1, i2) if i1 < i2 else (max(i1 - 1, 0), max(i1, 1)))
        if not passing or i1 == i2:
            return own
        return [
            (_whole(file.new, j1 + (end - i1) * (j2 - j1) // (i2 - i1), j2), self._pass(origin))
            for end, origin in _cut(old, i1, i2 - i1, i1)
        ]

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
        return number << OFFSET_BITS | origin & ((1 << OFFSET_BITS) - 1)


def _whole(text: bytes, at: int, end: int) -> int:
    """`at`, or the next place that cuts no code point."""
    while at < end and cuts_code_point(text, at):
        at += 1
    return at


def _cut(pieces: Pieces, start: int, length: int, to: int) -> list[tuple[int, int]]:
    """`(end, origin)` of `length` bytes from `start`, as if they stood at `to`."""
    ends: list[int] = []
    origins: list[int] = []
    _copy(pieces, start, start + length, to - start, ends, origins)
    return list(zip(ends, origins, strict=True))


def _overlaid(
    fill: list[tuple[int, int]], start: int, at: int, over: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """`fill`, which begins at `start`, with `over`, which begins at `at`, laid on top."""
    stop = over[-1][0]
    front, back = [], []
    for end, origin in fill:
        if start < at:
            front.append((min(end, at), origin))
        if end > stop:
            back.append((end, origin + max(stop - start, 0)))
        start = end
    return front + over + back


def _push(ends: list[int], origins: list[int], end: int, origin: int) -> None:
    """Append a piece, or let the last one grow when this is its continuation."""
    start = ends[-1] if ends else 0
    if end == start:
        return
    if ends and origins[-1] + start - (ends[-2] if len(ends) > 1 else 0) == origin:
        ends[-1] = end
    else:
        ends.append(end)
        origins.append(origin)


def _copy(
    pieces: Pieces, start: int, end: int, by: int, ends: list[int], origins: list[int]
) -> None:
    """Append the pieces of `start` to `end`, moved `by` bytes."""
    if start >= end:
        return
    k = bisect_right(pieces.ends, start)
    last = bisect_left(pieces.ends, end, k)
    origin = pieces.origins[k] + start - (pieces.ends[k - 1] if k else 0)
    _push(ends, origins, min(pieces.ends[k], end) + by, origin)
    if last > k:
        between = pieces.ends[k + 1 : last]
        ends += [e + by for e in between] if by else between
        origins += pieces.origins[k + 1 : last + 1]
        ends.append(end + by)


def _spliced(
    old: Pieces | None,
    blob: ObjectId,
    parts: Sequence[Replacement],
    fills: Sequence[list[tuple[int, int]]],
    size: int,
) -> Pieces:
    """Old pieces with the fills in place of what was replaced; `size` bytes in all."""
    ends: list[int] = []
    origins: list[int] = []
    at = by = 0
    for (i1, i2, _, j2), fill in zip(parts, fills, strict=True):
        if old is not None:
            _copy(old, at, i1, by, ends, origins)
        for end, origin in fill:
            _push(ends, origins, end, origin)
        at, by = i2, j2 - i2
    if old is not None:
        _copy(old, at, size - by, by, ends, origins)
    return Pieces(blob, ends, origins)
