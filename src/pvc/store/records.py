"""Records of annotations: files below the git folder that worktrees share.

`pvc/cache/blame/<key>/<commit>` (`docs/format.md`). Derived and deletable.

Rule 1: the key says all that an answer depends on but the commit: algorithm, options, what was
followed. So nobody's answer can be taken for another's.
Rule 2: what does not verify, to the bit and in what it says of itself, is as good as absent: it is
worked out again and written anew, never trusted.
Rule 3: a record appears whole or not at all (rename), and one that cannot be written costs time,
not an answer. Of each key the newest `MOST_KEPT` stay.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from blake3 import blake3

from pvc.core.blame import Annotation, Options, dump, load
from pvc.core.owners import ALGORITHM
from pvc.errors import CorruptError

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.model.names import CommitId
    from pvc.store.repo import Repository

MAGIC = b"pvc.annotation/1 "
FOLDER = "pvc/cache/blame"
MOST_KEPT = 64
_HEAD = len(MAGIC) + 64 + 1


class Records:
    """The kept annotations of one key: of a folder or a file, under one set of options."""

    def __init__(self, repo: Repository, options: Options, roads: str, path: str) -> None:
        text = f"algorithm {ALGORITHM}\n{roads}\n{options.key}\n{path}\n"
        self._key = text.encode(errors="surrogateescape")
        self.folder = repo.common_dir / FOLDER / blake3(self._key).hexdigest()[:32]

    def names(self) -> frozenset[str]:
        """Name the commits that have a record."""
        try:
            return frozenset(os.listdir(self.folder))  # noqa: PTH208 - names alone
        except OSError:
            return frozenset()

    def read(self, commit: CommitId) -> Annotation | None:
        """Read a record; null when there is none that verifies."""
        try:
            data = (self.folder / str(commit)).read_bytes()
        except OSError:
            return None
        head, body = data[:_HEAD], data[_HEAD:]
        if head != _head(body) or not body.startswith(self._key):
            return None
        try:
            found = load(body[len(self._key) :])
        except CorruptError:
            return None
        return found if found.commit == commit else None

    def write(self, commit: CommitId, annotation: Annotation) -> None:
        """Keep the state after a commit."""
        body = self._key + dump(annotation)
        keep_derived(self.folder / str(commit), _head(body) + body)


def keep_derived(path: Path, data: bytes) -> None:
    """Write a derived file whole or not at all; nothing happens where it cannot be written."""
    temporary = path.with_name(f".tmp.{os.getpid()}.{os.urandom(6).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
        _prune(path.parent)
    except OSError:  # a disk that is full or read-only: the answer does not need the record
        with suppress(OSError):
            temporary.unlink()


def _prune(folder: Path) -> None:
    """Remove the oldest files beyond those that are kept, the litter of killed writers too."""
    names = os.listdir(folder)  # noqa: PTH208 - names alone
    if len(names) > MOST_KEPT:
        files = sorted(map(folder.joinpath, names), key=lambda path: path.stat().st_mtime_ns)
        for path in files[: len(names) - MOST_KEPT]:
            path.unlink(missing_ok=True)


def _head(body: bytes) -> bytes:
    return MAGIC + blake3(body).hexdigest().encode() + b"\n"
