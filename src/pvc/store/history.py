"""A first-parent chain as `core.blame` walks it: what each commit changed below a folder.

Trees are compared by id, so a commit that leaves the folder alone costs one look at it, and only
folders that changed are opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.blame import Change, Step
from pvc.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Entry, Repository


class GitHistory:
    """The first parents of `tip`, oldest first; paths are relative to the folder `prefix`.

    A link or a submodule is no text and is left out. In a shallow clone the oldest commit that is
    here counts as the first (`is_complete` tells).
    """

    def __init__(self, repo: Repository, tip: CommitId, prefix: str = "") -> None:
        self._repo = repo
        self._tip = tip
        self._prefix = [part for part in prefix.split("/") if part]

    def steps(self) -> Iterator[Step]:
        """Give every commit, oldest first, with what it changed below the folder."""
        commits = [(c.id, c.tree) for c in self._repo.first_parents(self._tip)]
        before: ObjectId | None = None
        seen: ObjectId | None = None  # the root tree of the commit before
        for oid, tree in reversed(commits):
            changes: tuple[Change, ...] = ()
            if tree != seen:
                folder = self._folder(tree)
                if folder != before:
                    changes = tuple(self._changes(before, folder, ""))
                before, seen = folder, tree
            yield Step(oid, changes)

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        return self._repo.blob(oid)

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
        for name in dict.fromkeys([*before, *after]):
            a, b = before.get(name), after.get(name)
            if a == b:
                continue
            path = prefix + name
            folders = [entry.oid if entry and entry.is_tree else None for entry in (a, b)]
            if folders[0] != folders[1]:
                yield from self._changes(folders[0], folders[1], f"{path}/")
            files = [entry.oid if entry and not entry.is_tree else None for entry in (a, b)]
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
