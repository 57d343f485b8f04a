"""A first-parent chain as `core.blame` walks it: what each commit changed below a folder.

It serves a chain of versions and the user's own history alike.

Rule 1: trees are compared by id, so a commit that leaves the folder alone costs one look at it,
and only folders that changed are opened.
Rule 2: links and submodules are no text; they are absent here.
Rule 3: in a shallow clone the oldest commit that is here counts as the first (`is_complete` tells).
Rule 4: objects are read without hashing each again, as git does; `pvc verify` hashes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.blame import Change, Step
from pvc.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Commit, Entry, Repository


class GitHistory:
    """The first parents of `tip`, oldest first; paths are relative to the folder `prefix`.

    With `since`, only the commits after it; it must be one of the first parents.
    """

    def __init__(
        self,
        repo: Repository,
        tip: CommitId,
        prefix: str = "",
        *,
        since: CommitId | None = None,
    ) -> None:
        self._repo = repo
        self._tip = tip
        self._prefix = [part for part in prefix.split("/") if part]
        self._since = since

    def steps(self) -> tuple[Step, ...]:
        """Give every commit, oldest first, with what it changed below the folder."""
        with self._repo.unverified():
            before, commits = self._chain()
            return tuple(self._steps(before, commits))

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        with self._repo.unverified():
            return self._repo.blob(oid)

    def _chain(self) -> tuple[Commit | None, list[Commit]]:
        """Give the commit before the first step, and the steps' commits, oldest first."""
        commits: list[Commit] = []
        for commit in self._repo.first_parents(self._tip):
            if commit.id == self._since:
                return commit, commits[::-1]
            commits.append(commit)
        if self._since is not None:
            raise NotFoundError(f"`{self._since}` is no first parent of `{self._tip}`")
        return None, commits[::-1]

    def _steps(self, before: Commit | None, commits: list[Commit]) -> Iterator[Step]:
        seen = before.tree if before else None
        old = self._folder(seen) if seen else None
        for commit in commits:
            changes: tuple[Change, ...] = ()
            if commit.tree != seen:
                new = self._folder(commit.tree)
                changes = tuple(self._changes(old, new, "")) if new != old else ()
                seen, old = commit.tree, new
            yield Step(commit.id, changes)

    def _folder(self, tree: ObjectId) -> ObjectId | None:
        """Find the folder in a commit's tree; null where it is not there."""
        for name in self._prefix:
            entry = next((e for e in self._repo.tree(tree) if e.name == name), None)
            if entry is None or not entry.is_tree:
                return None
            tree = entry.oid
        return tree

    def _changes(self, old: ObjectId | None, new: ObjectId | None, prefix: str) -> Iterator[Change]:
        before, after = self._entries(old), self._entries(new)
        for name in sorted({*before, *after}):
            a, b = before.get(name), after.get(name)
            if a == b:
                continue
            path = prefix + name
            folders = [entry.oid if entry and entry.is_tree else None for entry in (a, b)]
            if folders[0] != folders[1]:
                yield from self._changes(folders[0], folders[1], f"{path}/")
            files = [entry.oid if entry and entry.is_file else None for entry in (a, b)]
            if files[0] != files[1]:
                yield Change(path, files[0], files[1])

    def _entries(self, tree: ObjectId | None) -> dict[str, Entry]:
        if tree is None:
            return {}
        return {e.name: e for e in self._repo.tree(tree) if e.is_tree or e.is_file}


def is_complete(repo: Repository, tip: CommitId) -> bool:
    """Whether `tip` and all of its first parents are in this clone."""
    shallow = repo.shallow()
    try:
        return all(commit.id not in shallow for commit in repo.first_parents(tip))
    except NotFoundError:
        return False
