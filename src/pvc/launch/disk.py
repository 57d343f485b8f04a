"""Files that are on the disk before anything is answered.

Rule 1: what has been answered survives a power cut: the file is synced before it gets its name,
the folder after that.
Rule 2: macOS keeps writes in the drive's memory until `F_FULLFSYNC`.
Rule 3: of any number of processes that give the same name, one gets through (`link`). Where a file
system has no hard links, a lock on the folder stands in for them.
"""

import errno
import os
import sys

from pvc.errors import WriteError

TEMPORARY = ".tmp."
_NO_LINKS = frozenset((errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK))


def refusal(error: OSError, path: str = "", what: str = "the system refuses") -> WriteError:
    """Say that the system refused, in one line with the place: what no caller could mend."""
    reason = error.strerror or str(error) or type(error).__name__
    return WriteError(
        f"{what}: {reason[:1].lower()}{reason[1:]}",
        at=path or os.fsdecode(error.filename or ""),
        hint="full, read-only, or somebody else's? make room or mend it, then run this again",
    )


def refuse_out(path: str) -> None:
    """Raise `WriteError` where a file could not be put at `path`, before anything is recorded."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    code = 0
    if os.path.isdir(target):
        code = errno.EISDIR
    elif not os.path.isdir(folder):
        code = errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
    elif not os.access(target if os.path.exists(target) else folder, os.W_OK):
        code = errno.EACCES
    if code:
        raise WriteError(
            f"cannot be written: {os.strerror(code).lower()}",
            at=path,
            hint="nothing was recorded; make the folder, or name another file",
        )


def sync(handle: int) -> None:
    """Wait until the file's bytes are on the disk."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(path: str) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)


def write_temporary(folder: str, data: bytes) -> str:
    """Write a synced file under a temporary name in `folder` and give its path."""
    path = f"{folder}/{TEMPORARY}{os.getpid()}.{os.urandom(6).hex()}"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        at = 0
        while at < len(data):
            at += os.write(handle, data[at:])
        sync(handle)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(handle)
    return path


def link(temporary: str, path: str) -> bool:
    """Give a temporary file its name if nothing has it, and drop the temporary one."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _rename_to_free(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return True


def _rename_to_free(temporary: str, path: str) -> bool:
    with Locked(os.path.dirname(path)):
        if os.path.lexists(path):
            return False
        os.rename(temporary, path)
        return True


class Locked:
    """A folder that one process at a time works in; the lock goes with its holder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._handle = -1

    def __enter__(self) -> None:
        import fcntl

        self._handle = os.open(self._folder, os.O_RDONLY)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def replace(path: str, data: bytes) -> None:
    """Put a synced file in the place of `path`, whether or not there is one."""
    folder = os.path.dirname(path)
    os.replace(write_temporary(folder, data), path)
    sync_folder(folder)


def read(path: str) -> bytes | None:
    """Read a whole file, or null when there is none."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except FileNotFoundError:
        return None
