"""Where a byte went, and where it came from: both ways through a history, a chain or a graph.

Blame answers for text: who wrote it, wherever it was moved. A miss asks about a place: who took
out what stood there, and who put there what stands there now, be it text of long ago.

Rule 1: an edit that only adds or only takes out can be drawn in several places: of `##` that became
`#`, either sign is gone. Here it is drawn as far behind as it goes. That is where two texts part.
Rule 2: a byte that some parent of a merge brings along is there. One that none brings was taken out
by the commit that did so on its road; by the merge itself only where no road had done it.
Rule 3: forwards a file is followed through renames, backwards it is not: a file that came to
another place was put there by whoever renamed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pvc.core.diff import compare
from pvc.core.moves import renames
from pvc.core.words import common_prefix, common_suffix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pvc.core.blame import Step
    from pvc.core.diff import Replacement
    from pvc.model.names import CommitId, ObjectId

_MOST_RENAMED = 200


class Place(NamedTuple):
    """A byte of a file."""

    path: str
    offset: int


class Gone(NamedTuple):
    """A byte that `commit` took out; `place` is where it was until then."""

    commit: CommitId
    place: Place


class Came(NamedTuple):
    """A byte that `commit` put at `place`."""

    commit: CommitId
    place: Place


State = Place | Gone | None
"""What became of a byte at some commit; null where it never was."""


class History(Protocol):
    """Commits, parents before children, and what they hold."""

    def steps(self) -> Iterable[Step]:
        """Give the commits in order."""
        ...

    def blob(self, oid: ObjectId) -> bytes:
        """Read the content with this id."""
        ...

    def blob_at(self, commit: CommitId, path: str) -> ObjectId | None:
        """Find the file at a path of a commit, which need not be one of the steps."""
        ...


def follow(
    history: History,
    since: CommitId,
    place: Place,
    outside: Callable[[CommitId], State] | None = None,
) -> State:
    """Follow a byte from `since` through all steps; gives what became of it at the last one.

    `outside` tells what a parent has that is neither a step nor `since`: where a branch forked off
    before it.
    """
    states: dict[CommitId, State] = {since: place}
    before, last = since, states[since]
    for step in history.steps():
        parents = (before,) if step.parents is None else step.parents
        for parent in parents:
            if parent not in states:
                states[parent] = outside(parent) if outside else None
        last = _after(history, step, parents, [states[parent] for parent in parents])
        before = step.commit
        states[before] = last
    return last


def _after(
    history: History, step: Step, parents: Sequence[CommitId], states: Sequence[State]
) -> State:
    gone: State = None
    taken: State = None
    for number, (parent, state) in enumerate(zip(parents, states, strict=True)):
        if isinstance(state, Gone):
            gone = gone or state
        elif state is not None:
            there = _carried(history, step, None if number == 0 else parent, state)
            if there is not None:
                return there
            taken = taken or Gone(step.commit, state)
    return gone or taken


def _carried(history: History, step: Step, other: CommitId | None, place: Place) -> Place | None:
    """Where a byte of a parent is after a step; `other` is a parent but the first."""
    if other is None:
        change = next((each for each in step.changes if each.path == place.path), None)
        if change is None:
            return place
        old, new = change.old, change.new
    else:
        old, new = (history.blob_at(commit, place.path) for commit in (other, step.commit))
    if old is None or old == new:
        return None if old is None else place
    path = place.path
    if new is None:
        renamed = _renamed(history, step, path, old)
        if renamed is None:
            return None
        path, new = renamed
    offset = carried(history.blob(old), history.blob(new), place.offset)
    return None if offset is None else Place(path, offset)


def _renamed(history: History, step: Step, path: str, old: ObjectId) -> tuple[str, ObjectId] | None:
    """Find the file that goes on with one that a step took away."""
    came = {each.path: each.new for each in step.changes if each.old is None and each.new}
    same = next((new for new, oid in came.items() if oid == old), None)
    went = {each.path: each.old for each in step.changes if each.new is None and each.old}
    if same is None and came and max(len(came), len(went)) <= _MOST_RENAMED:
        removed = {name: history.blob(oid) for name, oid in went.items()}
        added = {name: history.blob(oid) for name, oid in came.items()}
        pairs = renames(removed, added)
        same = next((new for new, source in pairs.items() if source == path), None)
    return None if same is None else (same, came[same])


def arrived(history: History, since: CommitId, place: Place) -> Came | None:
    """Find the step that put a byte where it is at the last step; null if it was there at `since`.

    Of several roads that have the file as it is, the first is taken, as `git log` does.
    """
    parents: dict[CommitId, tuple[CommitId, ...]] = {}
    at = since
    for step in history.steps():
        parents[step.commit] = (at,) if step.parents is None else step.parents
        at = step.commit
    while at in parents:
        came = _came_from(history, at, parents[at], place)
        if came is None:
            return Came(at, place)
        at, place = came
    return None


def _came_from(
    history: History, commit: CommitId, parents: Sequence[CommitId], place: Place
) -> tuple[CommitId, Place] | None:
    """Find the parent that has a byte of a commit, and where."""
    new = history.blob_at(commit, place.path)
    blobs = [(parent, history.blob_at(parent, place.path)) for parent in parents]
    for parent, old in blobs:
        if old is not None and old == new:
            return parent, place
    for parent, old in blobs:
        if old is not None and new is not None:
            offset = carried(history.blob(new), history.blob(old), place.offset)
            if offset is not None:
                return parent, Place(place.path, offset)
    return None


def carried(old: bytes, new: bytes, offset: int) -> int | None:
    """Where byte `offset` of `old` stands in `new`; null when an edit replaced it."""
    shift = 0
    for i1, i2, _, j2 in _drawn_behind(old, new):
        if i2 <= offset:
            shift = j2 - i2
        elif i1 <= offset:
            return None
        else:
            break
    return offset + shift


def _drawn_behind(old: bytes, new: bytes) -> list[Replacement]:
    """Give the edits without what both sides have, and those of one side as far behind as can be.

    ##_A  to  #_A      [#]#_A  is the same edit as  #[#]_A, and the latter is given
    """
    parts, _ = compare(old, new)
    out: list[Replacement] = []
    for k, (i1, i2, j1, j2) in enumerate(parts):
        end = parts[k + 1][0] if k + 1 < len(parts) else len(old)
        front = common_prefix(old, new, i1, j1, min(i2 - i1, j2 - j1))
        i1, j1 = i1 + front, j1 + front  # noqa: PLW2901  # the part is what is narrowed
        back = common_suffix(old, new, i2, j2, min(i2 - i1, j2 - j1))
        i2, j2 = i2 - back, j2 - back  # noqa: PLW2901
        by = 0
        if i1 == i2:
            by = common_prefix(new, new, j1, j2, min(end - i2, len(new) - j2))
        elif j1 == j2:
            by = common_prefix(old, old, i1, i2, min(end - i2, len(old) - i2))
        out.append((i1 + by, i2 + by, j1 + by, j2 + by))
    return out
