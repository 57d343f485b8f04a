"""The user's own commits behind one version: those since the version before it was adopted.

    adopted from   C1 ── C2 ── C5 ── C6 (merge) ── C7
                   │      └─ C3 ── C4 ─┘           │
    versions     agent@1                         agent@2      C2 to C7 are behind agent@2

Rule 1: history answers only where it holds the very bytes that were adopted, and where it is whole
in this clone. Otherwise the version alone answers, and `silence` says why.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pvc.core.follow import Came, Gone, Place, arrived, carried, follow
from pvc.errors import NotFoundError
from pvc.ops.blame import SourceCommit, source_commit
from pvc.store.history import GitHistory
from pvc.store.versions import at_commit

if TYPE_CHECKING:
    from pvc.core.follow import State
    from pvc.model.names import CommitId
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


class SourceRange:
    """The commits that `version` took in, where they can be asked."""

    def __init__(self, repo: Repository, version: VersionInfo) -> None:
        self._repo = repo
        self.version = version
        self._chain = GitHistory(repo, version.id)

    @cached_property
    def _base(self) -> VersionInfo | None:
        """The nearest version before it that was taken from a commit."""
        for commit in self._repo.first_parents(self.version.id):
            version = at_commit(self._repo, commit.id)
            if version.id != self.version.id and version.source is not None:
                return version
        return None

    @cached_property
    def _history(self) -> GitHistory | None:
        """The commits, or null where they cannot be asked."""
        source, base = self.version.source, self._base
        if source is None or self.version.reverts is not None:
            return None
        try:
            if base is None or base.source is None:
                history = GitHistory(self._repo, source, self.version.source_path, graph=True)
            else:
                self._repo.commit(base.source)
                folder = self.version.source_path
                history = GitHistory(self._repo, source, folder, since=base.source, graph=True)
            commits = {step.commit for step in history.steps()}
        except NotFoundError:
            return None
        return None if commits & self._repo.shallow() else history

    def holds(self, source: SourceCommit | None) -> bool:
        """Whether a commit is one of them; a version of a pack belongs to a chain of its own."""
        if source is None or source.label or self.version.source is None:
            return source is not None
        base = self._base
        if base is None or base.source is None:
            return True
        try:
            return not self._repo.is_ancestor(source.commit, base.source)
        except NotFoundError:
            return False

    def put_there(self, place: Place) -> SourceCommit | None:
        """Find the commit that put a byte of the version where it stands."""
        found = self._arrived(place)
        return self._named(found.commit, found.place.path) if isinstance(found, Came) else None

    def left_there(self, place: Place) -> bool:
        """Return True if each of the commits kept a byte of the version in place.

        The diff of two versions can differ from the sum of the diffs of the commits between them.
        """
        return self._arrived(place) == place

    def _arrived(self, place: Place) -> Came | Place | None:
        """Return what put a byte in its place, the place if no commit did, or None if unknown."""
        history, source, base = self._history, self.version.source, self._base
        if history is None or source is None:
            return None
        blob = history.blob_at(source, place.path)
        if blob is None or blob != self._chain.blob_at(self.version.id, place.path):
            return None
        if base is None or base.source is None:
            return arrived(history, source, place)
        return arrived(history, base.source, place) or place

    def took_out(self, place: Place) -> SourceCommit | None:
        """Find the commit that took out a byte of the version before."""
        history, base = self._history, self._base
        if history is None or base is None or base.source is None:
            return None
        blob = self._chain.blob_at(self.version.parents[0], place.path)

        def outside(commit: CommitId) -> State:
            there = history.blob_at(commit, place.path)
            if blob is None or there is None or there == blob:
                return None if there is None else place
            offset = carried(history.blob(blob), history.blob(there), place.offset)
            return None if offset is None else Place(place.path, offset)

        try:
            start = outside(base.source)
            if not isinstance(start, Place):
                return None
            found = follow(history, base.source, start, outside)
        except NotFoundError:  # a branch forked off where this clone does not reach
            return None
        if not isinstance(found, Gone):
            return None
        return self._named(found.commit, found.place.path)

    def last_to_touch(self, path: str) -> SourceCommit | None:
        """Find the newest commit that changed a file."""
        history = self._history
        for step in reversed(history.steps() if history else ()):
            if any(change.path == path for change in step.changes) and len(step.parents or ()) < 2:
                return self._named(step.commit, path)
        return None

    def _named(self, commit: CommitId | None, path: str) -> SourceCommit | None:
        if commit is None:
            return None
        whole = f"{self.version.source_path}/{path}".lstrip("/")
        return source_commit(self._repo, commit, whole)

    @property
    def silence(self) -> str:
        """Say why the version alone answers."""
        label = self.version.label
        if self.version.reverts is not None:
            return f"{label} takes up an older version: no commit of yours did that"
        if self.version.source is None:
            how = self.version.source_state == "version"
            return f"{label} was {'edited in its chain' if how else 'taken'} from no commit"
        if self.version.source_state in ("index", "worktree"):
            return f"{label} was adopted with changes that no commit had then"
        if self._history is None:
            return (
                f"the history behind {label} is not whole in this clone; the version alone answers"
            )
        return f"no commit behind {label} holds this change; the version alone answers"
