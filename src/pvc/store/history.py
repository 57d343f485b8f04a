"""A history as `core.blame` walks it: what each commit changed below a folder.

It serves a chain of versions (first parents) and the user's own history (all parents) alike. One
`git log` names commits, trees and changed files: it reads a commit-graph and its changed-path
filters, which no library does.

Rule 1: commits that leave the folder alone are not given, but the tip is; merges always are, in a
graph, so that a file's road through a merge never depends on what else is in the folder.
Rule 2: links and submodules are no text; they are absent here.
Rule 3: in a shallow clone the oldest commit that is here counts as the first (`is_complete` tells).
Rule 4: objects are read without hashing each again, as git does; `pvc verify` hashes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.core.blame import Change, Step
from pvc.errors import CorruptError, NotFoundError
from pvc.store.entries import check_depth
from pvc.store.objects import tree_rows, trusted, trusted_commit
from pvc.store.repo import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.objects import Row
    from pvc.store.repo import Repository

_TREE = b"40000"
_FILE = b"100"  # followed by the permissions; old histories have more of them than git keeps today
_MOST_READ = 4096
_NO_SETTINGS = ("--no-show-signature", "--no-color", "--no-follow")  # of the user's, for people
_LOG = (
    "log",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--reverse",
    "--topo-order",
    "--root",
    *_NO_SETTINGS,
)
_LOG_FORMAT = "--format=commit %H %T %P"
_CHAIN = ("--first-parent", "--diff-merges=first-parent")
_GRAPH = ("--full-history", "--parents", "--diff-merges=off")


class Listed(NamedTuple):
    """A commit as `git log` lists it; in a graph its parents are those that are listed."""

    commit: CommitId
    tree: ObjectId
    parents: tuple[CommitId, ...]
    changes: tuple[Change, ...]


class GitHistory:
    """The first parents of `tip`, or with `graph` all of its ancestors, parents before children.

    Paths are relative to the folder `prefix`. With `since`, only what is not reachable from there.
    """

    def __init__(
        self,
        repo: Repository,
        tip: CommitId,
        prefix: str = "",
        *,
        since: CommitId | None = None,
        graph: bool = False,
    ) -> None:
        self._repo = repo
        self._tip = tip
        self._prefix = prefix.strip("/")
        self._since = since
        self._graph = graph
        self._trees = Trees(repo)
        self._steps: tuple[Step, ...] | None = None

    def steps(self) -> tuple[Step, ...]:
        """Give the commits with what they changed below the folder."""
        if self._steps is None:
            self._steps = self._read_steps()
        return self._steps

    def _read_steps(self) -> tuple[Step, ...]:
        listed = list(self._listed())
        with self._repo.unverified():
            steps = self._graph_steps(listed) if self._graph else map(_chain_step, listed)
            out = tuple(steps)
        if (out and out[-1].commit == self._tip) or self._tip == self._since:
            return out
        parents = (out[-1].commit,) if out else (self._since,) if self._since else ()
        return (*out, Step(self._tip, (), parents if self._graph else None))

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        with self._repo.unverified():
            return self._repo.blob(oid)

    def blob_at(self, commit: CommitId, path: str) -> ObjectId | None:
        """Find the file at a path of a commit; null where there is none."""
        whole = f"{self._prefix}/{path}" if self._prefix else path
        with self._repo.unverified():
            return self._trees.blob(self._repo.commit(commit).tree, whole)

    def _listed(self) -> Iterator[Listed]:
        words = [*_LOG, *(_GRAPH if self._graph else _CHAIN), _LOG_FORMAT, self._tip]
        if self._since:
            words.append(f"^{self._since}")
        # With a lower end no path is given: git would name parents beyond it.
        path = [] if self._since and self._graph else ["--", f":(literal){self._prefix}"]
        out = self._repo.git.output(*words, *(path if self._prefix else []), error=NotFoundError)
        inside = f"{self._prefix}/" if self._prefix else ""
        return _parsed(out.split(b"\0"), inside)

    def _graph_steps(self, listed: list[Listed]) -> Iterator[Step]:
        trees = {row.commit: row.tree for row in listed}
        folders: dict[CommitId, ObjectId | None] = {}
        for row in listed:
            if len(row.parents) == 1 and row.changes:
                yield Step(row.commit, row.changes, row.parents)
                continue
            for commit in (row.commit, *row.parents):
                if commit not in folders:  # a branch may have forked off beyond the lower end
                    tree = trees.get(commit) or self._repo.commit(commit).tree
                    folders[commit] = self._trees.folder(tree, self._prefix)
            old = folders[row.parents[0]] if row.parents else None
            changes = tuple(self._trees.changes(old, folders[row.commit]))
            others = tuple(
                self._trees.blobs(folders[parent], [c.path for c in changes])
                for parent in row.parents[1:]
            )
            yield Step(row.commit, changes, row.parents, others)


def _chain_step(row: Listed) -> Step:
    return Step(row.commit, row.changes)


def _parsed(tokens: list[bytes], inside: str) -> Iterator[Listed]:
    """Read what `git log -z --raw` printed; paths lose the folder's own."""
    at, skip, end = 0, len(inside), len(tokens)
    while at < end:
        words = tokens[at].decode("ascii").split()
        at += 1
        if not words:
            continue
        changes = []
        while at < end and (token := tokens[at].lstrip(b"\n"))[:1] == b":":
            path = tokens[at + 1].decode(errors="surrogateescape")
            change = _change(token, path[skip:]) if path.startswith(inside) else None
            if change is not None:
                changes.append(change)
            at += 2
        parents = tuple(map(trusted_commit, words[3:]))
        yield Listed(trusted_commit(words[1]), trusted(words[2]), parents, tuple(changes))


def _change(token: bytes, path: str) -> Change | None:
    old_mode, new_mode, old, new, _ = token.decode("ascii").split(" ")
    before = trusted(old) if old_mode[1:4] == "100" else None
    after = trusted(new) if new_mode[:3] == "100" else None
    return Change(path, before, after) if before != after else None


class Trees:
    """Folders of commits, compared row by row; what was read a moment ago is kept."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._read: dict[ObjectId, frozenset[Row]] = {}

    def folder(self, tree: ObjectId, prefix: str) -> ObjectId | None:
        """Find a folder in a commit's tree; null where it is not there."""
        for part in prefix.split("/") if prefix else ():
            found = self._row(tree, part)
            if found is None or found[0] != _TREE:
                return None
            tree = trusted(found[2].hex())
        return tree

    def blob(self, tree: ObjectId | None, path: str) -> ObjectId | None:
        """Find a file below a folder; null where there is none."""
        folder, _, name = path.rpartition("/")
        inner = self.folder(tree, folder) if tree else None
        found = self._row(inner, name) if inner else None
        return trusted(found[2].hex()) if found and found[0].startswith(_FILE) else None

    def blobs(self, tree: ObjectId | None, paths: Iterable[str]) -> dict[str, ObjectId]:
        """Find those of some files that are there."""
        found = ((path, self.blob(tree, path)) for path in paths)
        return {path: oid for path, oid in found if oid is not None}

    def changes(
        self, old: ObjectId | None, new: ObjectId | None, prefix: str = ""
    ) -> Iterator[Change]:
        """Compare two folders row by row, and open those below that differ."""
        if old == new:
            return
        check_depth(prefix)
        a, b = self._rows(old), self._rows(new)
        before = {row[1]: row for row in a - b}
        after = {row[1]: row for row in b - a}
        for name in sorted(before.keys() | after.keys()):
            path = prefix + name.decode(errors="surrogateescape")
            rows = (before.get(name), after.get(name))
            folders = [trusted(row[2].hex()) if row and row[0] == _TREE else None for row in rows]
            if folders[0] != folders[1]:
                yield from self.changes(folders[0], folders[1], f"{path}/")
            files = [
                trusted(row[2].hex()) if row and row[0].startswith(_FILE) else None for row in rows
            ]
            if files[0] != files[1]:
                yield Change(path, files[0], files[1])

    def _row(self, tree: ObjectId, name: str) -> Row | None:
        wanted = name.encode(errors="surrogateescape")
        return next((row for row in self._rows(tree) if row[1] == wanted), None)

    def _rows(self, tree: ObjectId | None) -> frozenset[Row]:
        """Read a folder's rows."""
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


def list_commits(
    repo: Repository, tip: CommitId, path: str, *, newest: bool = False
) -> Iterator[Listed]:
    """List the commits that made a file what it is at `tip`, parents before children.

    Parents are those that are listed. With `newest`, only the last commit.
    """
    words = ["log", "-z", "--topo-order", *_NO_SETTINGS, _LOG_FORMAT]
    words += ["-1"] if newest else ["--reverse", "--parents"]
    out = repo.git.output(*words, tip, "--", f":(literal){path}", error=NotFoundError)
    return _parsed(out.split(b"\0"), path)


def parents_of(
    repo: Repository, tips: Iterable[CommitId], *, since: CommitId | None = None
) -> dict[CommitId, tuple[CommitId, ...]]:
    """List ancestors, the commits themselves too, with their parents; none that `since` has."""
    words = ["rev-list", "--parents", *tips, *([f"^{since}"] if since else [])]
    listing = repo.git.output(*words, error=NotFoundError).decode("ascii")
    rows = (list(map(trusted_commit, line.split(" "))) for line in listing.split("\n")[:-1])
    return {commit: tuple(parents) for commit, *parents in rows}


def is_complete(repo: Repository, tip: CommitId) -> bool:
    """Whether `tip` and all of its ancestors are in this clone."""
    try:
        repo.commit(tip)
    except NotFoundError:
        return False
    shallow = repo.shallow()
    return not shallow or shallow.isdisjoint(parents_of(repo, [tip]))
