"""Environments, tools and observed bytes, by digest: the spool first, then the bodies refs.

A bodies ref is a chain apart from the ledger, so that a body can be forgotten while the ledger
stays as it is. Its tree is `<first 2 hex>/<other 62 hex>`.

Rule 1: a body is what its digest says or it is damaged; nothing else is given out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import CorruptError
from pvc.launch import disk
from pvc.launch.prompt import EMPTY
from pvc.model.digest import Digest
from pvc.store.repo import MODE_FILE, MODE_TREE, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.model.names import ObjectId
    from pvc.store.repo import Repository

BODIES = "refs/pvc/bodies/"


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
        self._tips = [
            (name, tip) for name in body_refs(self._repo) if (tip := self._repo.ref(name))
        ]
        return None if self._tips == known else self._among(self._tips, digest)

    def _among(
        self, tips: list[tuple[str, ObjectId]], digest: Digest
    ) -> tuple[str, ObjectId] | None:
        for name, tip in tips:
            folder = self._names(tip).get(digest.hex[:2])
            oid = self._names(folder).get(digest.hex[2:]) if folder else None
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


def body_refs(repo: Repository) -> tuple[str, ...]:
    """Name the bodies refs of this clone, and those that a sync brought."""
    own = [name for name, _ in repo.refs(BODIES)]
    remote = [name for name, _ in repo.refs("refs/pvc/remotes/") if "/bodies/" in name]
    return (*own, *remote)


def merged_tree(
    repo: Repository, tip: ObjectId | None, bodies: Mapping[Digest, bytes]
) -> ObjectId | None:
    """Write the tree of a bodies chain with `bodies` added; null when it has them all."""
    folders = {entry.name: entry for entry in repo.tree(tip)} if tip else {}
    added = False
    for name in sorted({digest.hex[:2] for digest in bodies}):
        files = {e.name: e for e in repo.tree(folders[name].oid)} if name in folders else {}
        fresh = dict(_fresh(repo, name, files, bodies))
        if fresh:
            added = True
            oid = repo.write_tree(tuple({**files, **fresh}.values()))
            folders[name] = Entry(name, MODE_TREE, oid)
    return repo.write_tree(tuple(folders.values())) if added else None


def _fresh(
    repo: Repository, folder: str, files: Mapping[str, Entry], bodies: Mapping[Digest, bytes]
) -> Iterator[tuple[str, Entry]]:
    for digest, data in bodies.items():
        name = digest.hex[2:]
        if digest.hex[:2] == folder and name not in files:
            yield name, Entry(name, MODE_FILE, repo.write_blob(data))
