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
from pvc.model.digest import SIZE_HEX, TAG, Digest
from pvc.model.names import CommitId
from pvc.store.child import failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pvc.model.names import ObjectId
    from pvc.store.repo import Entry, Repository

BODIES = "refs/pvc/bodies/"
_HEX = frozenset("0123456789abcdef")
FOLDERS = 4
"""How many folders a body is below, each named by one digit (`launch.spool.body_path`)."""
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
    message = b"fold %d bodies\n" % len(bodies)
    return _imported(repo, message, tip, _added(bodies), committer)


def without_bodies(
    repo: Repository, tip: CommitId, digests: Iterable[Digest], committer: str
) -> CommitId:
    """Write a commit without parents that holds what a chain does, but for some. Moves no ref."""
    paths = [body_path(digest.hex).encode() for digest in sorted(digests)]
    lines = [b"M 040000 %s \n" % repo.commit(tip).tree.encode()]
    lines += [b"D %s\n" % path for path in paths]
    return _imported(repo, b"forget %d bodies\n" % len(paths), None, lines, committer)


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


def _added(bodies: Mapping[Digest, bytes]) -> Iterator[bytes]:
    for digest, data in bodies.items():
        yield b"M 100644 inline %s\n" % body_path(digest.hex).encode()
        yield b"data %d\n%s\n" % (len(data), data)


def _imported(
    repo: Repository,
    message: bytes,
    parent: CommitId | None,
    changes: Iterable[bytes],
    committer: str,
) -> CommitId:
    """Write one commit through fast-import, synced. Its ref is reset, so never written."""
    head = b"reset %s\ncommit %s\nmark :1\ncommitter %s\n" % (
        NO_REF,
        NO_REF,
        committer.encode(),
    )
    head += b"data %d\n%s\n" % (len(message), message)
    head += b"from %s\n" % parent.encode() if parent else b""
    tail = b"get-mark :1\nreset %s\n\n" % NO_REF
    done = repo.git.run(
        *("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--cat-blob-fd=1"),
        data=b"".join((head, *changes, tail)),
    )
    if done.code != 0:
        raise failure(done, "fast-import", WriteError)
    disk.sync_folder(f"{repo.common_dir}/objects/pack")
    return CommitId(done.out.decode().strip())
