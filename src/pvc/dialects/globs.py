"""Globs of a manifest: which paths a pattern means. Pure.

Rule 1: `*` and `?` stay within one part of a path, and `**` as a whole part stands for any number
of folders. Nothing else is special, so a name with brackets needs no escape.
Rule 2: a wildcard does not match a leading dot, as in a shell: `**/*.md` leaves `.github` alone.
Rule 3: a pattern comes from a repository that nobody may have read. Matching goes back to the last
star alone, so it takes no more than pattern times path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FOLDERS = "**"


def is_glob(pattern: str) -> bool:
    """Whether `pattern` holds a wildcard; else it is a path."""
    return "*" in pattern or "?" in pattern


def matches(pattern: str, path: str) -> bool:
    """Whether `pattern` means the file at `path`."""
    parts = pattern.split("/")
    if parts[-1] == _FOLDERS:
        parts.append("*")
    return _walk(parts, path.split("/"), _FOLDERS, _part_fits)


def _part_fits(pattern: str, part: str) -> bool:
    if part.startswith(".") and pattern.startswith(("*", "?")):
        return False
    return _walk(pattern, part, "*", lambda wanted, char: wanted in ("?", char))


def _walk(
    pattern: Sequence[str], items: Sequence[str], star: str, fits: Callable[[str, str], bool]
) -> bool:
    """Match item by item; a star takes as little as will do, and one more when that fails."""
    at = taken = 0
    last: tuple[int, int] | None = None  # the last star, and the items before what follows it
    while taken < len(items):
        if at < len(pattern) and pattern[at] == star:
            last = (at, taken)
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[taken]):
            at, taken = at + 1, taken + 1
        elif last is not None and not (star == _FOLDERS and items[last[1]].startswith(".")):
            last = (last[0], last[1] + 1)
            at, taken = last[0] + 1, last[1]
        else:
            return False
    return all(rest == star for rest in pattern[at:])
