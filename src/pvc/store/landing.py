"""Bring objects onto the disk together with the ref that holds them: no prune gets in between.

    what was written ──► one git pack, kept ──► refs ──► read back ──► let go
    (memory)             (synced)               (moved)  (a new git)

git removes what no ref reaches: `git prune` loose objects, `git repack -ad` packs. Each looks at
the refs first and removes later, so reading back once after the move would prove nothing.

Rule 1: new objects are never loose. They get one pack, whose `.keep` is there before the pack is.
`git prune` leaves packs alone; a repack lists the packs that it may replace, without those that are
kept, before it looks at refs. So it has not seen the pack, or found it kept, or sees the moved ref.
Rule 2: "there already" counts for nothing: what a new commit needs and what the ref did not hold
before is written again. What is there may be another repository's (alternates), or garbage.
Rule 3: a mark is locked by the process that holds it, and the system ends the lock with the
process. A mark that is not locked keeps nothing, and goes.
Rule 4: no file is called `tmp_…`: `git prune --expire=now` takes those from under who writes them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pvc.launch import disk
from pvc.launch.child import OFFLINE
from pvc.model.names import CommitId
from pvc.store.repo import WRITER, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.model.names import ObjectId
    from pvc.store.child import Git
    from pvc.store.repo import Repository

    Objects = Mapping[ObjectId, tuple[Kind, bytes]]

MARK = b"pvc writes into this pack\n"
_NUMBERS = {Kind.COMMIT: 1, Kind.TREE: 2, Kind.BLOB: 3, Kind.TAG: 4}
_SMALL_OFFSETS = 1 << 31
_MODE = 0o444


class Packed(NamedTuple):
    """A pack and its index, as git stores them."""

    pack: bytes
    idx: bytes


def encode_pack(objects: Objects, object_format: str) -> Packed:
    """Write objects as a pack of version 2 and its index of version 2; equal input, equal bytes."""
    parts = [b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big")]
    at = len(parts[0])
    rows = []
    for oid, (kind, data) in objects.items():
        part = _head(_NUMBERS[kind], len(data)) + zlib.compress(data)
        rows.append((bytes.fromhex(oid), zlib.crc32(part), at))
        parts.append(part)
        at += len(part)
    body = b"".join(parts)
    seal = hashlib.new(object_format, body).digest()
    return Packed(body + seal, _index(sorted(rows), seal, object_format))


def _head(number: int, size: int) -> bytes:
    """Write what stands before an object: its kind, and its size in groups of 4, 7, 7… bits."""
    head = bytearray()
    byte, size = number << 4 | size & 15, size >> 4
    while size:
        head.append(byte | 128)
        byte, size = size & 127, size >> 7
    head.append(byte)
    return bytes(head)


def _index(rows: list[tuple[bytes, int, int]], seal: bytes, object_format: str) -> bytes:
    counts = [0] * 256
    for oid, _, _ in rows:
        counts[oid[0]] += 1
    for byte in range(1, 256):
        counts[byte] += counts[byte - 1]
    far = [at for _, _, at in rows if at >= _SMALL_OFFSETS]
    numbers = iter(range(len(far)))
    offsets = [at if at < _SMALL_OFFSETS else _SMALL_OFFSETS + next(numbers) for _, _, at in rows]
    body = b"".join(
        (
            b"\377tOc" + (2).to_bytes(4, "big"),
            *(count.to_bytes(4, "big") for count in counts),
            *(oid for oid, _, _ in rows),
            *(check.to_bytes(4, "big") for _, check, _ in rows),
            *(at.to_bytes(4, "big") for at in offsets),
            *(at.to_bytes(8, "big") for at in far),
            seal,
        )
    )
    return body + hashlib.new(object_format, body).digest()


class KeptPack:
    """A pack on the disk that no repack takes away while this is open."""

    def __init__(self, objects_folder: str, objects: Objects, object_format: str) -> None:
        self._folder = Path(objects_folder, "pack")
        self._objects = objects
        self._format = object_format
        # As many digits as an id has: a repack passes over names that are shorter.
        size = hashlib.new(object_format).digest_size
        self._stem = self._folder / f"pack-{os.urandom(size).hex()}"
        self._handle = -1

    def __enter__(self) -> None:
        packed = encode_pack(self._objects, self._format)
        self._folder.mkdir(exist_ok=True)
        try:
            self._mark()
            _write(self._stem.with_suffix(".pack"), packed.pack)
            _write(self._stem.with_suffix(".pvc"), packed.idx)
            self._stem.with_suffix(".pvc").rename(self._stem.with_suffix(".idx"))  # git sees it now
            disk.sync_folder(str(self._folder))
            disk.sync_folder(str(self._folder.parent))
        except BaseException:
            self._release()
            raise

    def __exit__(self, *_: object) -> None:
        self._release()

    def _mark(self) -> None:
        """Make the mark and lock it; who sweeps between the two may have taken it away."""
        path = self._stem.with_suffix(".keep")
        while True:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            if os.fstat(self._handle).st_nlink:
                break
            os.close(self._handle)
        os.write(self._handle, MARK)

    def _release(self) -> None:
        """Let go of the pack. What of it no ref reaches is git's to remove, as of old."""
        if self._handle < 0:
            return
        try:
            _remove_mark(self._stem)
        finally:
            os.close(self._handle)
            self._handle = -1


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        at = 0
        view = memoryview(data)
        while at < len(data):
            at += os.write(handle, view[at:])
        disk.sync(handle)
    finally:
        os.close(handle)


def _remove_mark(stem: Path) -> None:
    """Remove a mark, and a pack that git has never seen since it has no index."""
    if not stem.with_suffix(".idx").exists():
        stem.with_suffix(".pvc").unlink(missing_ok=True)
        stem.with_suffix(".pack").unlink(missing_ok=True)
    stem.with_suffix(".keep").unlink(missing_ok=True)


def release_dead(objects_folder: str) -> None:
    """Let go of what killed processes left kept."""
    for mark in _marks(Path(objects_folder)):
        with suppress(FileNotFoundError):
            handle = os.open(mark, os.O_RDONLY)
            try:
                if _is_ours(os.read(handle, len(MARK) + 1), mark):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove_mark(mark.with_suffix(""))
            except BlockingIOError:
                continue  # its process lives
            finally:
                os.close(handle)


def _is_ours(words: bytes, mark: Path) -> bool:
    """Tell our marks from those of people, who make empty ones for packs that are there."""
    return words == MARK or (MARK.startswith(words) and not mark.with_suffix(".idx").exists())


def _marks(objects_folder: Path) -> list[Path]:
    return sorted((objects_folder / "pack").glob("pack-*.keep"))


def missing(git: Git, objects: Objects, others: Iterable[ObjectId] = ()) -> list[ObjectId]:
    """Read objects back through a new git, and give those that are not as they were written.

    Of `others` it is only asked that they are there.
    """
    asked = dict.fromkeys((*objects, *others))
    data = "".join(f"{oid}\n" for oid in asked).encode()
    done = git.run("cat-file", "--batch", "--buffer", data=data, more=OFFLINE)
    good, at = set(), 0
    while at < len(done.out):
        end = done.out.find(b"\n", at)
        words = done.out[at:end].decode(errors="replace").split(" ")
        at = end + 1
        if len(words) == 3:
            oid, kind, size = words
            wanted = objects.get(oid)  # type: ignore[call-overload]  # an id is text
            if wanted in (None, (kind, done.out[at : at + int(size)])):
                good.add(oid)
            at += int(size) + 1
    return [oid for oid in asked if oid not in good]


# --- what an older pvc left --------------------------------------------------------------------

_IMPORT, _IMPORT_REF = b"fast-import", b"refs/pvc/import/bodies"
_IMPORT_AGE_S = 3600


def release_imports(repo: Repository) -> None:
    """Let go of packs that a killed `git fast-import` left kept. The caller keeps folds out.

    The user may run it too: a mark that is younger than an hour goes only from a pack of pvc's.
    """
    for mark in _marks(repo.common_dir / "objects"):
        if (disk.read(str(mark)) or b"").startswith(_IMPORT) and (
            _is_old(mark) or _is_pvcs(repo, mark.with_suffix(".idx"))
        ):
            _remove_mark(mark.with_suffix(""))
    for path in repo.common_dir.glob("fast_import_crash_*"):
        if _is_old(path) and _IMPORT_REF in (disk.read(str(path)) or b""):
            path.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _IMPORT_AGE_S
    except FileNotFoundError:
        return False


def _is_pvcs(repo: Repository, index: Path) -> bool:
    """Whether a commit of pvc's own is in a pack."""
    data = disk.read(str(index)) or b""
    size, first = hashlib.new(repo.object_format).digest_size, 8 + 4 * 256
    count = int.from_bytes(data[first - 4 : first], "big")
    names = [data[first + at * size : first + (at + 1) * size].hex() for at in range(count)]
    listing = "".join(f"{name}\n" for name in names).encode()
    rows = repo.git.output("cat-file", "--batch-check", data=listing, more=OFFLINE).split(b"\n")
    commits = [CommitId(row.split()[0].decode()) for row in rows if b" commit " in row]
    return any(repo.commit(oid).author == WRITER for oid in commits)
