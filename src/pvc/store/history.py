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
from pvc.errors import CorruptError, NotFoundError
from pvc.store.entries import check_depth
from pvc.store.objects import Row, tree_rows, trusted
from pvc.store.repo import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Commit, Repository


_TREE = b"40000"
_FILE = b"100"  # followed by the permissions; old histories have more of them than git keeps today
_MOST_READ = 4096


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
        self._prefix = [part.encode(errors="surrogateescape") for part in prefix.split("/") if part]
        self._since = since
        self._read: dict[ObjectId, frozenset[Row]] = {}

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
        for part in self._prefix:
            found = [raw for mode, name, raw in self._rows(tree) if name == part and mode == _TREE]
            if not found:
                return None
            tree = trusted(found[0].hex())
        return tree

    def _changes(self, old: ObjectId | None, new: ObjectId | None, prefix: str) -> Iterator[Change]:
        """Compare two folders row by row, and open those below that differ."""
        check_depth(prefix)
        a, b = self._rows(old), self._rows(new)
        before = {row[1]: row for row in a - b}
        after = {row[1]: row for row in b - a}
        for name in sorted(before.keys() | after.keys()):
            path = prefix + name.decode(errors="surrogateescape")
            rows = (before.get(name), after.get(name))
            folders = [trusted(row[2].hex()) if row and row[0] == _TREE else None for row in rows]
            if folders[0] != folders[1]:
                yield from self._changes(folders[0], folders[1], f"{path}/")
            files = [
                trusted(row[2].hex()) if row and row[0].startswith(_FILE) else None for row in rows
            ]
            if files[0] != files[1]:
                yield Change(path, files[0], files[1])

    def _rows(self, tree: ObjectId | None) -> frozenset[Row]:
        """Read a folder's rows; the newer side of one step is the older side of the next."""
        if tree is None:
            return frozenset()
        rows = self._read.get(tree)
        if rows is None:
            kind, data = self._repo.raw(tree)
            if kind is not Kind.TREE:
                raise CorruptError(f"`{tree}` is a {kind}, not a {Kind.TREE}")
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            rows = self._read[tree] = frozenset(tree_rows(tree, data))
        return rows


def is_complete(repo: Repository, tip: CommitId) -> bool:
    """Whether `tip` and all of its first parents are in this clone."""
    shallow = repo.shallow()
    try:
        return all(commit.id not in shallow for commit in repo.first_parents(tip))
    except NotFoundError:
        return False
