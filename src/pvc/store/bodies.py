"""Environments, tools and observed bytes, by digest: the spool first, then the bodies refs.

A bodies ref is a chain apart from the ledger, so that a body can be forgotten while the ledger
stays as it is. Its tree is `<hex>/<hex>/<hex>/<hex>/<other 60 hex>`.

Rule 1: a body is what its digest says or it is damaged; nothing else is given out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError
from pvc.launch import disk
from pvc.launch.prompt import EMPTY
from pvc.launch.refs import REMOTES
from pvc.launch.spool import body_path
from pvc.model.digest import SIZE_HEX, TAG, Digest
from pvc.store.repo import MODE_FILE, MODE_TREE, Entry, Moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Person, Repository

BODIES = "refs/pvc/bodies/"
_HEX = frozenset("0123456789abcdef")
FOLDERS = 4
"""How many folders a body is below, each named by one digit (`launch.spool.body_path`)."""


class Bodies:
    """The bodies of a repository, for whoever reads many: refs and git trees are read once."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._tips: list[tuple[str, ObjectId]] | None = None
        self._folders: dict[ObjectId, dict[str, ObjectId]] = {}

    def read(self, digest: Digest) -> bytes | None:
        """Read a body, or null when it is not in this clone. The empty environment always is."""
        if digest == Digest.of(EMPTY):
            return EMPTY
        path = f"{self._repo.common_dir}/pvc/spool/b/{digest.hex}"
        data = disk.read(path)
        if data is None:
            found = self._find(digest)
            if found is not None:
                path, data = found[0], self._repo.blob(found[1])
        if data is not None and Digest.of(data) != digest:
            raise CorruptError(f"the body `{digest.short}` is damaged", at=path)
        return data

    def _find(self, digest: Digest) -> tuple[str, ObjectId] | None:
        known = self._tips
        if known is not None and (found := self._among(known, digest)):
            return found
        self._tips = [*body_tips(self._repo)]
        return None if self._tips == known else self._among(self._tips, digest)

    def _among(
        self, tips: list[tuple[str, ObjectId]], digest: Digest
    ) -> tuple[str, ObjectId] | None:
        for name, tip in tips:
            oid: ObjectId | None = tip
            try:
                for part in body_path(digest.hex).split("/"):
                    oid = self._names(oid).get(part) if oid else None
            except (CorruptError, NotFoundError) as error:
                if not name.startswith(REMOTES):
                    raise CorruptError(error.message, at=error.at or name) from None
                continue  # another's damage: it holds nothing, and `pvc verify` names it
            if oid is not None:
                return name, oid
        return None

    def _names(self, oid: ObjectId) -> dict[str, ObjectId]:
        if oid not in self._folders:
            self._folders[oid] = {entry.name: entry.oid for entry in self._repo.tree(oid)}
        return self._folders[oid]


def read_body(repo: Repository, digest: Digest) -> bytes | None:
    """Read one body; see `Bodies.read`."""
    return Bodies(repo).read(digest)


def body_tips(repo: Repository) -> tuple[tuple[str, CommitId], ...]:
    """Give the bodies refs of this clone, and those that a sync brought."""
    remote = [row for row in repo.refs(REMOTES) if "/bodies/" in row[0]]
    return (*repo.refs(BODIES), *remote)


def fresh_bodies(
    repo: Repository, tip: CommitId | None, digests: Iterable[Digest]
) -> tuple[Digest, ...]:
    """Give the digests that a bodies chain does not hold yet."""
    wanted = tuple(digests)
    if tip is None or not wanted:
        return wanted
    names = "".join(f"{tip}:{body_path(digest.hex)}\n" for digest in wanted).encode()
    lines = repo.git.output("cat-file", "--batch-check", data=names).split(b"\n")
    return tuple(
        digest for digest, line in zip(wanted, lines, strict=False) if line.endswith(b" missing")
    )


def write_bodies(
    repo: Repository,
    tip: CommitId | None,
    bodies: Mapping[Digest, bytes],
    identity: Person,
    seconds: int,
) -> CommitId:
    """Write a commit that adds bodies to a chain. Moves no ref."""
    changes = {
        tuple(body_path(digest.hex).split("/")): repo.write_blob(data)
        for digest, data in bodies.items()
    }
    tree = _changed(repo, repo.commit(tip).tree if tip else None, changes) or repo.write_tree(())
    message = f"fold {len(bodies)} bodies\n"
    parents = (tip,) if tip else ()
    return repo.write_commit(
        tree, parents, message, identity=identity, moment=Moment(seconds), sign=False
    )


def without_bodies(
    repo: Repository, tip: CommitId, digests: Iterable[Digest], identity: Person, seconds: int
) -> CommitId:
    """Write a commit without parents that holds what a chain does, but for some. Moves no ref."""
    changes = {tuple(body_path(digest.hex).split("/")): None for digest in digests}
    tree = _changed(repo, repo.commit(tip).tree, changes) or repo.write_tree(())
    message = f"forget {len(changes)} bodies\n"
    return repo.write_commit(
        tree, (), message, identity=identity, moment=Moment(seconds), sign=False
    )


def _changed(
    repo: Repository, tree: ObjectId | None, changes: Mapping[tuple[str, ...], ObjectId | None]
) -> ObjectId | None:
    """Write a tree with files added below it, or taken out (null); null when none is left."""
    entries = {entry.name: entry for entry in repo.tree(tree)} if tree else {}
    below: dict[str, dict[tuple[str, ...], ObjectId | None]] = {}
    for (name, *rest), oid in changes.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = oid
        elif oid is not None:
            entries[name] = Entry(name, MODE_FILE, oid)
        else:
            entries.pop(name, None)
    for name, inner in below.items():
        there = entries.get(name)
        written = _changed(repo, there.oid if there and there.is_tree else None, inner)
        if written is None:
            entries.pop(name, None)
        else:
            entries[name] = Entry(name, MODE_TREE, written)
    return repo.write_tree(tuple(entries.values())) if entries else None


def is_body_name(name: str) -> bool:
    """Return True if a file below `spool/b` is named by a digest."""
    return len(name) == SIZE_HEX and _HEX.issuperset(name)


def bodies_at(repo: Repository, tip: CommitId) -> frozenset[Digest]:
    """List the bodies that a chain holds; what else is there is not a body, whatever its name."""
    return frozenset(Digest(f"{TAG}{name}") for name, _ in body_rows(repo, repo.commit(tip).tree))


def body_rows(repo: Repository, tree: ObjectId) -> Iterator[tuple[str, Entry]]:
    """Give the names of bodies below a tree, and where they stand, in one look at each folder.

    A folder that stands in two places holds no body in one of them, for a name has a single
    content. So the work is that of the objects that are there, not of the paths that they spell.
    """
    seen: set[ObjectId] = set()
    waiting = [("", tree)]
    while waiting:
        prefix, folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        is_last = len(prefix) == FOLDERS
        for entry in repo.tree(folder):
            name = prefix + entry.name
            if not _HEX.issuperset(entry.name):
                continue
            if is_last and entry.is_file and len(name) == SIZE_HEX:
                yield name, entry
            elif not is_last and entry.is_tree and len(entry.name) == 1:
                waiting.append((name, entry.oid))
