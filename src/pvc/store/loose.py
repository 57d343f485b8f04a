"""Loose objects: one zlib stream a file, read here and not by a library.

Rule 1: libgit2 1.9 never returns from a loose object that is cut off before its header ends, and
git calls such an object missing. A file of that name is there, so it is damaged: this module says
so. Both back ends ask it first.
Rule 2: an object folder and the folders it borrows from (`info/alternates`) are one.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pvc.errors import CorruptError
from pvc.store.repo import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.model.names import ObjectId

_FIRST_BYTES = 4096
_HEADER_BYTES = 64
_MAX_DEPTH = 5  # as git follows alternates of alternates


def object_folders(objects: Path) -> tuple[str, ...]:
    """Name the object folder and every folder that it borrows from, each once."""
    found: dict[str, None] = {}
    _follow(objects, found, 0)
    for folder in os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep):
        if folder:
            _follow(Path(folder), found, 1)
    return tuple(found)


def _follow(objects: Path, found: dict[str, None], depth: int) -> None:
    if str(objects) in found or depth > _MAX_DEPTH:
        return
    found[str(objects)] = None
    try:
        listing = (objects / "info" / "alternates").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    for line in listing.split(b"\n"):
        if line and not line.startswith(b"#"):
            _follow(Path(os.path.normpath(objects / os.fsdecode(line))), found, depth + 1)


def find(folders: tuple[str, ...], oid: ObjectId) -> str | None:
    """Find the file of a loose object; null when it is packed or not here."""
    tail = f"/{oid[:2]}/{oid[2:]}"
    for folder in folders:
        path = folder + tail
        if os.access(path, os.F_OK):
            return path
    return None


def read(
    path: str, oid: ObjectId, check_size: Callable[[Kind, int], None]
) -> tuple[Kind, bytes] | None:
    """Read a loose object; null when it went away since (git packed it).

    `check_size` is asked once the header is known, and raises on an object that is too large.
    """
    inflate = zlib.decompressobj()
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - half the time of Path.open, per object
            kind, size, data = _header(file, inflate, oid, path)
            check_size(kind, size)
            more = size - len(data) + 1  # one byte more shows a header that lies
            if more > 0:
                data += inflate.decompress(inflate.unconsumed_tail + file.read(), more)
    except FileNotFoundError:
        return None
    except zlib.error as error:
        raise _damaged(oid, path, str(error)) from None
    if len(data) <= size and not inflate.eof:
        raise _damaged(oid, path, "it is cut off")
    if len(data) != size:
        raise _damaged(oid, path, "its header is wrong")
    return kind, data


def size_of(path: str, oid: ObjectId) -> int | None:
    """Read from a loose object's header how large it is; null when it went away since."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return _header(file, zlib.decompressobj(), oid, path)[1]
    except FileNotFoundError:
        return None
    except zlib.error as error:
        raise _damaged(oid, path, str(error)) from None


def _header(
    file: BinaryIO, inflate: zlib._Decompress, oid: ObjectId, path: str
) -> tuple[Kind, int, bytes]:
    """Read kind and size, and what of the contents came with them."""
    first = inflate.decompress(file.read(_FIRST_BYTES), _HEADER_BYTES)
    head, zero, data = first.partition(b"\0")
    word, _, size = head.partition(b" ")
    if not zero and len(first) < _HEADER_BYTES and not inflate.eof:
        raise _damaged(oid, path, "it is cut off")
    if not zero or word not in _KINDS or not size.isdigit() or size != b"%d" % int(size):
        raise _damaged(oid, path, "its header is wrong")
    return _KINDS[word], int(size), data


def _damaged(oid: ObjectId, path: str, why: str) -> CorruptError:
    return CorruptError(
        f"object `{oid}` is damaged: {why}",
        at=path,
        hint="remove the file and fetch the object again from another clone",
    )


_KINDS = {kind.encode(): kind for kind in Kind}
