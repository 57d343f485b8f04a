"""Environments, tools and observed bytes, by digest: the spool first, then the bodies refs.

A bodies ref is a chain apart from the ledger, so that a body can be forgotten while the ledger
stays as it is. Its tree is `<hex>/<hex>/<hex>/<hex>/<other 60 hex>`.

Rule 1: a body is what its digest says or it is damaged; nothing else is given out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import CorruptError, WriteError
from pvc.launch import disk
from pvc.launch.prompt import EMPTY
from pvc.launch.spool import body_path
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.store.child import failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pvc.model.names import ObjectId
    from pvc.store.repo import Repository

BODIES = "refs/pvc/bodies/"
NO_REF = b"refs/pvc/import/bodies"
"""What fast-import is told to move; it never does."""


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
            oid: ObjectId | None = tip
            for part in body_path(digest.hex).split("/"):
                oid = self._names(oid).get(part) if oid else None
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
    repo: Repository, tip: CommitId | None, bodies: Mapping[Digest, bytes], committer: str
) -> CommitId:
    """Write a commit that adds bodies to a chain, synced. Moves no ref.

    `git fast-import` puts everything into one pack: a file for each body, and for each tree above
    it, would bring a clone to git's own mark for tidying up within some hundred launches.
    """
    done = repo.git.run(
        *("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--cat-blob-fd=1"),
        data=b"".join(_stream(tip, bodies, committer)),
    )
    if done.code != 0:
        raise failure(done, "fast-import", WriteError)
    disk.sync_folder(f"{repo.common_dir}/objects/pack")
    return CommitId(done.out.decode().strip())


def _stream(
    tip: CommitId | None, bodies: Mapping[Digest, bytes], committer: str
) -> Iterator[bytes]:
    """Give what fast-import reads. It wants a ref for the commit: reset, so it is never written."""
    message = f"fold {len(bodies)} bodies\n".encode()
    yield b"reset %s\ncommit %s\nmark :1\ncommitter %s\n" % (NO_REF, NO_REF, committer.encode())
    yield b"data %d\n%s" % (len(message), message)
    if tip is not None:
        yield b"from %s\n" % tip.encode()
    for digest, data in bodies.items():
        yield b"M 100644 inline %s\n" % body_path(digest.hex).encode()
        yield b"data %d\n%s\n" % (len(data), data)
    yield b"get-mark :1\nreset %s\n\n" % NO_REF
