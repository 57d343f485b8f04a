"""The walk itself: from one commit to the next, carrying who wrote each byte.

`core.blame` says what the answer means. Rule 1: pieces are built and never changed after, so states
of several commits share those of a file that none of them touched.
Rule 2: a claim is settled before the next is asked for: other parents of a merge first, then moves
within the commit, and what is left is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.annotation import (
    OFFSET_BITS,
    OFFSET_MASK,
    Annotation,
    Pieces,
    Revision,
    path_order,
)
from pvc.core.diff import Replacement, compare, is_space_only
from pvc.core.lines import within, without
from pvc.core.moves import SHORTEST_BLOCK, Block, Move, moves, renames
from pvc.core.words import Lexicon, cuts_code_point

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from pvc.core.anchors import Anchor
    from pvc.core.blame import Change, History, Options, Step
    from pvc.model.names import CommitId, ObjectId

_MOST_CHUNKS = 1 << 15


class _Claim(NamedTuple):
    """Bytes `start` to `end` of a new file that stood somewhere: in `pieces`, from `source` on."""

    start: int
    end: int
    pieces: Pieces
    source: int


@dataclass(slots=True)
class _Compared:
    """A file that the commit left behind, against the one it continues.

    `moved` are its lines that only changed their place; `claims` are stretches of its new parts
    that were not written here.
    """

    path: str
    blob: ObjectId
    source: str | None
    old: bytes
    new: bytes
    parts: list[Replacement]
    moved: list[Anchor]
    claims: list[_Claim] = field(default_factory=list)

    def free(self) -> list[tuple[int, int]]:
        """Where new bytes stand that nobody has claimed."""
        came = [(j1, j2) for _, _, j1, j2 in self.parts if j1 < j2]
        return without(came, [(claim.start, claim.end) for claim in self.claims])


class _State(NamedTuple):
    """What stands after some commit: its files, and those of their texts that were read."""

    files: dict[str, Pieces]
    texts: dict[str, bytes]


def _by_start(claim: _Claim) -> int:
    return claim.start


def _kept(parts: Sequence[Replacement], size: int) -> Iterator[tuple[int, int, int]]:
    """Give what an edit keeps: start and end in the new text, start in the old one of `size`."""
    at = to = 0
    for i1, i2, j1, j2 in parts:
        if at < i1:
            yield to, j1, at
        at, to = i2, j2
    if at < size:
        yield to, to + size - at, at


class Walk:
    """The replay: one annotation, carried from step to step."""

    def __init__(
        self,
        history: History,
        options: Options,
        waiting: Counter[CommitId],
        annotation: Annotation | None = None,
    ) -> None:
        base = annotation or Annotation()
        self.annotation = Annotation(base.commit, dict(base.files), list(base.revisions))
        self._waiting = waiting
        """How many steps to come stand on each commit; empty in a chain."""
        self._states: dict[CommitId, _State] = {}
        self._history = history
        self._options = options
        self._passed = {r: k for k, r in enumerate(base.revisions) if r.passed}
        self._texts: dict[str, bytes] = {}
        self._lexicon = Lexicon()
        if base.commit:
            self._states[base.commit] = _State(self.annotation.files, self._texts)

    def take(self, step: Step) -> None:
        """Go on to the state after `step`."""
        others = self._stand_on(step.parents) if step.parents is not None else []
        changes = [change for change in step.changes if change.old != change.new]
        changes.sort(key=lambda change: path_order(change.path))
        self._expect(step, changes)
        compared, removed = self._compare(changes)
        whole = self._merge(step, compared, others) if others else {}
        own = [file for file in compared if file.path not in whole]
        if self._options.moves:
            self._claim_moves(own, removed)
        fresh = {file.path: self._pieces(step.commit, file) for file in own}
        self._change(changes, compared, fresh | whole)
        self.annotation.commit = step.commit
        if self._waiting[step.commit]:
            self._states[step.commit] = _State(self.annotation.files, self._texts)
        if len(self._lexicon) > _MOST_CHUNKS:
            self._lexicon = Lexicon()

    def _change(
        self,
        changes: Sequence[Change],
        compared: Sequence[_Compared],
        fresh: Mapping[str, Pieces],
    ) -> None:
        """Put the new files in place of the old ones."""
        files, texts = self.annotation.files, self._texts
        for change in changes:
            if change.new is None:
                del files[change.path]
                texts.pop(change.path, None)
        for file in compared:
            files[file.path], texts[file.path] = fresh[file.path], file.new

    def _stand_on(self, parents: tuple[CommitId, ...]) -> list[_State]:
        """Take the first parent's state for the present one; give those of the others."""
        states = [self._states[parent] for parent in parents]
        for parent in parents:
            self._waiting[parent] -= 1
            if not self._waiting[parent]:
                del self._states[parent]
        if not states:
            self.annotation.files, self._texts = {}, {}
            return []
        first = states[0]
        is_last = not self._waiting[parents[0]]
        self.annotation.files = first.files if is_last else dict(first.files)
        self._texts = first.texts if is_last else dict(first.texts)
        return states[1:]

    def _merge(
        self, step: Step, compared: Sequence[_Compared], others: Sequence[_State]
    ) -> dict[str, Pieces]:
        """Let the parents after the first claim what they have; gives the files had whole."""
        whole: dict[str, Pieces] = {}
        for file in compared:
            for state, blobs in zip(others, step.others, strict=True):
                oid = blobs.get(file.path)
                if oid == file.blob:
                    whole.setdefault(file.path, state.files[file.path])
                elif oid is not None:
                    self._claim_from(file, state.files[file.path], self._history.blob(oid))
        return whole

    def _claim_from(self, file: _Compared, pieces: Pieces, text: bytes) -> None:
        """Claim the free bytes of a file that `text`, annotated by `pieces`, has too."""
        edits, _ = compare(text, file.new, self._options.granularity, self._lexicon)
        kept = list(_kept(edits, len(text)))
        found = [
            _Claim(max(start, a), min(end, b), pieces, source + max(start, a) - start)
            for a, b in file.free()
            for start, end, source in kept
            if start < b and end > a
        ]
        file.claims[:] = sorted((*file.claims, *found), key=_by_start)

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
            parts, moved = compare(old, new, self._options.granularity, self._lexicon)
            out.append(_Compared(path, change.new, source, old, new, parts, moved))
        for source in continues.values():
            del removed[source]
        return out, removed

    def _claim_moves(self, compared: Sequence[_Compared], removed: dict[str, bytes]) -> None:
        """Claim what this commit only moved."""
        found = self._moves(compared, removed)
        for file in compared:
            claims = [
                _Claim(m.start, m.start + m.length, self.annotation.files[m.source], m.source_start)
                for m in found
                if m.path == file.path
            ]
            file.claims[:] = sorted((*file.claims, *claims), key=_by_start)
            if file.source is not None:
                self._claim_lines(file, self.annotation.files[file.source])

    def _moves(self, compared: Sequence[_Compared], removed: dict[str, bytes]) -> list[Move]:
        """Find the longer stretches that this commit moved, within a file or to another."""
        inserted = [
            Block(file.path, file.new, j1, j2)
            for file in compared
            for j1, j2 in file.free()
            if j2 - j1 >= SHORTEST_BLOCK
        ]
        if not inserted:
            return []
        deleted = [
            Block(file.source, file.old, i1, i2)
            for file in compared
            if file.source is not None
            for i1, i2, _, _ in file.parts
            if i2 - i1 >= SHORTEST_BLOCK
        ]
        deleted += [Block(path, text, 0, len(text)) for path, text in removed.items()]
        return moves(deleted, inserted, self._lexicon) if deleted else []

    def _claim_lines(self, file: _Compared, pieces: Pieces) -> None:
        """Claim what is still free of the lines that only changed their place."""
        free = file.free()
        claims = [
            _Claim(place + at, place + end, pieces, source + at)
            for source, place, size in file.moved
            for at, end in within(free, place, size)
        ]
        file.claims[:] = sorted((*file.claims, *claims), key=_by_start)

    def _pieces(self, commit: CommitId, file: _Compared) -> Pieces:
        """Build the file's new pieces: kept ones, claimed ones, and what each part brought."""
        files, revisions = self.annotation.files, self.annotation.revisions
        old = files[file.source] if file.source is not None else Pieces(file.blob, [], [])
        own = len(revisions) << OFFSET_BITS
        revisions.append(Revision(commit, file.path, file.blob))
        passes = self._options.ignore_space or commit in self._options.ignored
        if not (file.claims or passes):  # most files: all that came is this commit's
            return old.edited(file.blob, file.parts, (len(file.old), len(file.new)), own)
        out = Pieces(file.blob, [], [])
        at = to = 0
        waiting = list(reversed(file.claims))
        for part in file.parts:
            i1, i2, j1, j2 = part
            out.take(old, at, i1, to)
            brought = self._brought(commit, file, part, old, own)
            at, to = i2, j1
            while waiting and waiting[-1].start < j2:
                claim = waiting.pop()
                out.take(brought, to - j1, claim.start - j1, to)
                end = claim.source + claim.end - claim.start
                out.take(claim.pieces, claim.source, end, claim.start)
                to = claim.end
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
