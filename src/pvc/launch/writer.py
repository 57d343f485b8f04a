"""Who writes here: a random id for this folder on this machine.

One line `<id> <machine> <inode>` for each machine that has used the folder. A copied clone is on
another machine or has another inode, finds no line of its own and takes a new id, so that no two
clones write one ledger; a host and its container on one folder keep a line each.

A copy of a whole disk keeps the machine and the inode; that shows when both sync, and the second
then takes a new id (`store.carry`): its line goes before the old one, for the first one counts.

Rule 1: the file is the last thing made when `pvc/` is set up, after its folders are synced: whoever
finds its line may trust them.
"""

import os

from pvc.launch import disk

FOLDERS = ("spool", "spool/b", "index", "cache", "cache/v1")


def read(home: str) -> str:
    """Read this clone's writer id, or empty when it has none yet."""
    data = disk.read(home + "/writer")
    return "" if data is None else _own(data, _mark(home))


def ensure(home: str) -> str:
    """Give this clone's writer id, setting the folders up where they are missing."""
    return read(home) or _set_up(home)


def ids(home: str) -> frozenset[str]:
    """Give every id that was ever used in this folder."""
    lines = (disk.read(home + "/writer") or b"").decode(errors="replace").split("\n")
    return frozenset(line.partition(" ")[0] for line in lines if line)


def renew(home: str, old: str, new: str) -> str:
    """Go on under another id, where another clone was seen to write under the old one."""
    with disk.Locked(home):
        path, mark = home + "/writer", _mark(home)
        lines = disk.read(path) or b""
        now = _own(lines, mark)
        if now == old:
            now = new
            disk.replace(path, b"%s %s\n" % (new.encode(), mark) + lines)
    return now


def retire(home: str, old: str) -> None:
    """Remember an id that is not this clone's any more, where its line was removed by hand."""
    if old not in ids(home):
        with disk.Locked(home):
            path = home + "/writer"
            disk.replace(path, (disk.read(path) or b"") + b"%s - 0\n" % old.encode())


def make_folders(home: str) -> None:
    """Make what is missing of pvc's folders, synced."""
    os.makedirs(home, exist_ok=True)
    for name in FOLDERS:
        os.makedirs(f"{home}/{name}", exist_ok=True)
    for folder in (os.path.dirname(home), home, home + "/spool"):
        disk.sync_folder(folder)


def _set_up(home: str) -> str:
    make_folders(home)
    with disk.Locked(home):
        path, mark = home + "/writer", _mark(home)
        lines = disk.read(path) or b""
        own = _own(lines, mark)
        if not own:
            own = os.urandom(16).hex()
            disk.replace(path, lines + b"%s %s\n" % (own.encode(), mark))
    return own


def _own(lines: bytes, mark: bytes) -> str:
    for line in lines.split(b"\n"):
        writer, _, rest = line.partition(b" ")
        if rest == mark and len(writer) == 32:
            return writer.decode()
    return ""


def _mark(home: str) -> bytes:
    machine = disk.read("/etc/machine-id") or b""  # not every system has one
    return b"%s %d" % (machine.strip() or b"-", os.stat(home).st_ino)
