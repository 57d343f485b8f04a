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


def read_body(repo: Repository, digest: Digest) -> bytes | None:
    """Read a body, or null when it is not in this clone. The empty environment always is."""
    if digest == Digest.of(EMPTY):
        return EMPTY
    path = f"{repo.common_dir}/pvc/spool/b/{digest.hex}"
    data = disk.read(path)
    if data is None:
        for ref in body_refs(repo):
            oid = _find(repo, repo.ref(ref), digest)
            if oid is not None:
                data, path = repo.blob(oid), ref
                break
    if data is not None and Digest.of(data) != digest:
        raise CorruptError(f"the body `{digest.short}` is damaged", at=path)
    return data


def body_refs(repo: Repository) -> tuple[str, ...]:
    """Name the bodies refs of this clone, and those that a sync brought."""
    own = [name for name, _ in repo.refs(BODIES)]
    remote = [name for name, _ in repo.refs("refs/pvc/remotes/") if "/bodies/" in name]
    return (*own, *remote)


def _find(repo: Repository, tip: ObjectId | None, digest: Digest) -> ObjectId | None:
    if tip is None:
        return None
    for entry in repo.tree(tip):
        if entry.name == digest.hex[:2]:
            names = {inner.name: inner.oid for inner in repo.tree(entry.oid)}
            return names.get(digest.hex[2:])
    return None


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
