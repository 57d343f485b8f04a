"""Annotations, kept: who wrote each byte at some commit, so that the next blame starts there.

Rule 1: the walk begins at the nearest commit with a record. In a graph that commit must bound all
that is newer; where it does not, the walk begins at the roots.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pvc.core.blame import Annotation, Options, replay
from pvc.store.history import GitHistory, parents_of
from pvc.store.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.blame import Watch
    from pvc.model.names import CommitId
    from pvc.store.repo import Repository


class Annotations:
    """The annotated states of one folder of a history; `graph` follows all parents."""

    def __init__(
        self,
        repo: Repository,
        prefix: str = "",
        *,
        graph: bool = False,
        options: Options | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.repo = repo
        self.prefix = prefix.strip("/")
        self.graph = graph
        self.options = options or Options()
        self._watch = watch
        roads = "all parents" if graph else "first parents"
        self._records = Records(repo, self.options, roads, self.prefix)

    def at(self, tip: CommitId) -> Annotation:
        """Give the state at a commit: from its record, else replayed from the nearest one."""
        return self._records.read(tip) or self._replayed(tip, ())[tip]

    def at_each(self, tips: Iterable[CommitId]) -> dict[CommitId, Annotation]:
        """Give the states at several commits, newest first; those on one road cost one walk."""
        out: dict[CommitId, Annotation] = {}
        wanted = list(dict.fromkeys(tips))
        for tip in wanted:
            if tip not in out and (known := self._records.read(tip)) is not None:
                out[tip] = known
            if tip not in out:
                left = [other for other in wanted if other not in out]
                out |= self._replayed(tip, left)
        return out

    def _replayed(self, tip: CommitId, others: Iterable[CommitId]) -> dict[CommitId, Annotation]:
        """Replay up to `tip`, and keep a record; also give those of `others` that are met."""
        resume = next(self._resumes(tip), None)
        since = resume.commit if resume else None
        history = GitHistory(self.repo, tip, self.prefix, since=since, graph=self.graph)
        stands = self._stands(history, tip, others)
        annotation, kept = replay(
            history, self.options, resume, frozenset(stands.values()), self._watch
        )
        self._records.write(tip, annotation)
        met = {other: kept[at] for other, at in stands.items() if at in kept}
        return met | {tip: annotation}

    def _stands(
        self, history: GitHistory, tip: CommitId, others: Iterable[CommitId]
    ) -> dict[CommitId, CommitId]:
        """For each commit, the one that the walk meets in its stead, where it meets any.

        Commits that leave the folder alone are not walked; their state is that of the last before.
        """
        others = [other for other in others if other != tip]
        if not others:
            return {}
        met = {step.commit for step in history.steps()}
        parents = parents_of(self.repo, [tip])
        out = {}
        for other in others:
            at = other
            while at not in met and parents.get(at):
                at = parents[at][0]
            if at in met:
                out[other] = at
        return out

    def _resumes(self, tip: CommitId) -> Iterator[Annotation]:
        """Give the states that a walk to `tip` can begin with, nearest first."""
        known = self._records.names()
        if not known:
            return
        for commit in islice(self.repo.first_parents(tip), 1, None):
            if commit.id in known and (not self.graph or self._bounds(commit.id, tip)):
                found = self._records.read(commit.id)
                if found is not None:
                    yield found

    def _bounds(self, base: CommitId, tip: CommitId) -> bool:
        """Whether every road from `tip` to its roots passes through `base`."""
        newer = parents_of(self.repo, [tip], since=base)
        return all(p == base or p in newer for parents in newer.values() for p in parents)
