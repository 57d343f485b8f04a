"""Which commit introduced every byte: a forward walk over a chain of commits, or a graph of them.

Rule 1: every decision is local to one commit: adjacent contents are compared, and one contest of
moves is held among all that the commit changed. So a walk backwards gives the same answer, and an
answer for a version never depends on later ones.
Rule 2: all files are walked at once; each content is read and compared once.
Rule 3: text that was put back belongs to the commit that put it back; `first` names the earlier.
Rule 4: bytes of an ignored commit pass to the text that they replaced; where nothing was replaced
they stay with it.
Rule 5: in a graph a merge asks its parents in order, as git does: a file that some parent has word
for word comes from there whole; else what the first parent has is its, then what the second has,
and only the rest is the merge's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pvc.core.annotation import Annotation, Run, dump, load
from pvc.core.diff import Granularity
from pvc.core.replay import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pvc.model.names import CommitId, ObjectId

    Watch = Callable[[int, int], None]

__all__ = [
    "Annotation",
    "Change",
    "Granularity",
    "History",
    "Options",
    "Run",
    "Step",
    "annotate",
    "dump",
    "first",
    "load",
    "replay",
]


class Change(NamedTuple):
    """One path changed by one commit; null where it is absent."""

    path: str
    old: ObjectId | None
    new: ObjectId | None


class Step(NamedTuple):
    """A commit and what it changed against its first parent.

    `parents` is null in a chain, where each step follows the one before. In a graph it names them,
    and `others` says for each further parent what it has at the paths of `changes`.
    """

    commit: CommitId
    changes: tuple[Change, ...]
    parents: tuple[CommitId, ...] | None = None
    others: tuple[Mapping[str, ObjectId], ...] = ()


class History(Protocol):
    """Commits, parents before children, and the contents that they name."""

    def steps(self) -> Iterable[Step]:
        """Give the commits in order; asked for again, the same again."""
        ...

    def blob(self, oid: ObjectId) -> bytes:
        """Read the content with this id."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """What the answer depends on besides the history."""

    moves: bool = True
    granularity: Granularity = Granularity.WORD
    ignore_space: bool = False
    ignored: frozenset[CommitId] = frozenset()

    @property
    def key(self) -> str:
        """The same text for the same options, on every machine."""
        flags = (f"moves={self.moves:d}", self.granularity.value, f"space={self.ignore_space:d}")
        return " ".join((*flags, *sorted(self.ignored)))


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
    return replay(history, Options(moves, granularity, ignore_space, ignored), resume)[0]


def replay(
    history: History,
    options: Options,
    resume: Annotation | None = None,
    keep: Collection[CommitId] = (),
    watch: Watch | None = None,
) -> tuple[Annotation, dict[CommitId, Annotation]]:
    """Annotate the last step; also the steps of `keep` that are met.

    `watch` is told how many steps of how many were taken.
    """
    walk, steps = _begin(history, options, resume)
    kept = {}
    for number, step in enumerate(steps):
        if watch:
            watch(number, len(steps))
        walk.take(step)
        if step.commit in keep:
            now = walk.annotation
            kept[step.commit] = Annotation(now.commit, dict(now.files), now.revisions)
    return walk.annotation, kept


def _begin(
    history: History, options: Options, resume: Annotation | None = None
) -> tuple[Walk, tuple[Step, ...]]:
    steps = tuple(history.steps())
    waiting = Counter(parent for step in steps for parent in step.parents or ())
    return Walk(history, options, waiting, resume), steps


def first(
    history: History, runs: Iterable[Run], options: Options | None = None
) -> dict[Run, tuple[Run, ...]]:
    """For runs of a content that their path had before, who introduced those bytes at that time.

    `history` is the whole chain and the options are those of the annotation. Runs whose content
    was new then are left out; the runs given back tile the one that they answer.
    """
    earlier = _earlier(history, [run for run in runs if not run.passed])
    walk, steps = _begin(history, options or Options())
    out: dict[Run, tuple[Run, ...]] = {}
    for step in steps if earlier else ():
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
