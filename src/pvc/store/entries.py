"""What a version may hold: plain files with names that every file system and terminal takes alike.

The names come from repositories that others write (DESIGN §10). `files` asks before it reads, and
`store.versions` asks again before it writes, for a version can also be made without a folder.

Rule 1: a path is valid UTF-8 without control characters, backslashes or direction marks, within
255 bytes a name, 1,024 a path, and 256 folders; no name is `.`, `..` or `.git` to any file system.
Rule 2: no two paths are one where case or composition does not count.
Rule 3: `.pvc` at the top is pvc's own.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, RefusedError, TooLargeError
from pvc.model import bounds
from pvc.model.bounds import BOUNDED, MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES
from pvc.store.repo import MODE_GITLINK, MODE_LINK, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

RESERVED = ".pvc"
_SPOKEN_PROBLEMS = 5
_TURNING = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LFS = b"version https://git-lfs.github.com/spec/"
_LFS_MAX_BYTES = 1024


def refuse(problems: Iterable[str]) -> None:
    """Raise one error for all problems."""
    found = list(problems)
    if not found:
        return
    spoken = "; ".join(found[:_SPOKEN_PROBLEMS])
    more = len(found) - _SPOKEN_PROBLEMS
    raise RefusedError(
        f"a version cannot hold this folder: {spoken}" + (f"; and {more} more" if more > 0 else ""),
        hint="remove or rename it, or move it out of the folder",
    )


def entry_problems(rows: Sequence[Entry]) -> Iterator[str]:
    """Find entries that are no plain files, have odd names, or are too many."""
    if len(rows) > bounds.MAX_FILES:
        yield too_many(len(rows))
        return
    for row in rows:
        if row.mode in (MODE_LINK, MODE_GITLINK):
            yield not_plain(row.name, row.mode)
        why = name_problem(row.name)
        if why:
            yield f"`{shown(row.name)}` {why}"
    yield from _collisions(row.name for row in rows)


def name_problem(path: str) -> str:
    """Say what is wrong with a path; empty when nothing is."""
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    if any(unicodedata.category(char) == "Cc" or char in _TURNING for char in path):
        return "holds a control character"
    names = path.split("/")
    if len(raw) > MAX_PATH_BYTES or any(len(name.encode()) > MAX_NAME_BYTES for name in names):
        return f"is too long ({MAX_NAME_BYTES} bytes a name, {MAX_PATH_BYTES} a path)"
    if len(names) > MAX_DEPTH:
        return f"lies deeper than {MAX_DEPTH} folders"
    if "\\" in path:
        return "holds a backslash"
    if any(_is_special(name) for name in names):
        return "has a name that a path or git takes for something else"
    if _folded(names[0]) == RESERVED:
        return f"is where pvc keeps its own part of a version (`{RESERVED}`)"
    return ""


def check_depth(prefix: str) -> None:
    """Stop a walk over trees that others made, before it goes deeper than a version may."""
    if prefix.count("/") > MAX_DEPTH:
        raise CorruptError(f"folders lie deeper than {MAX_DEPTH}", at=f"{shown(prefix[:40])}…")


def check_count(count: int, tree: str) -> None:
    """Stop a walk over trees that others made, once it has met more than a version may hold."""
    if count > bounds.MAX_ENTRIES:
        raise TooLargeError(
            f"tree `{tree[:12]}` spells more than {bounds.MAX_ENTRIES} files and folders",
            hint=BOUNDED,
        )


def _is_special(name: str) -> bool:
    """Whether some file system reads it as `.`, `..` or `.git`; HFS+ drops format characters."""
    bare = "".join(char for char in name if unicodedata.category(char) != "Cf")
    folded = _folded(bare).rstrip(" .")
    return folded in ("", ".git", "git~1") or folded.startswith(".git:")


def _collisions(paths: Iterable[str]) -> Iterator[str]:
    """Find paths that are one path where case or composition does not count."""
    seen: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            prefix = "/".join(parts[:depth])
            other = seen.setdefault(_folded(prefix), prefix)
            if other != prefix:
                yield f"`{shown(prefix)}` and `{shown(other)}` are one name on some file systems"
                break


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def size_problems(rows: Sequence[Entry], sizes: Sequence[int]) -> Iterator[str]:
    """Find files that are too large, alone or together."""
    for row, size in zip(rows, sizes, strict=True):
        if size > bounds.MAX_FILE_BYTES:
            yield too_large(row.name, size)
    if sum(sizes) > bounds.MAX_FOLDER_BYTES:
        yield f"it has {sum(sizes)} bytes, the bound is {bounds.MAX_FOLDER_BYTES}"


def is_lfs_pointer(data: bytes) -> bool:
    """Whether the bytes stand for others that git LFS keeps elsewhere."""
    return len(data) <= _LFS_MAX_BYTES and data.startswith(_LFS)


def too_many(count: int) -> str:
    """Say that a folder has too many files."""
    return f"it has {count} files, the bound is {bounds.MAX_FILES}"


def too_large(path: str, size: int) -> str:
    """Say that a file is too large."""
    return f"`{shown(path)}` has {size} bytes, the bound is {bounds.MAX_FILE_BYTES}"


def not_plain(path: str, mode: int) -> str:
    """Say that an entry is no file."""
    what = "a symbolic link" if mode == MODE_LINK else "a submodule or another repository"
    return f"`{shown(path)}` is {what}"


def shown(path: str) -> str:
    """Write a path so that a terminal shows it and nothing else happens."""
    return path if path.isprintable() else ascii(path)[1:-1]
