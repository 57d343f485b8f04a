"""Globs of a manifest: which paths a pattern means. Pure.

Rule 1: `*` and `?` stay within one part of a path, and `**` as a whole part stands for any number
of folders. Nothing else is special, so a name with brackets needs no escape.
Rule 2: a wildcard does not match a leading dot, as in a shell: `**/*.md` leaves `.github` alone.
"""

from __future__ import annotations

import re
from functools import lru_cache


def is_glob(pattern: str) -> bool:
    """Whether `pattern` holds a wildcard; else it is a path."""
    return "*" in pattern or "?" in pattern


def matches(pattern: str, path: str) -> bool:
    """Whether `pattern` means the file at `path`."""
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    *folders, name = pattern.split("/")
    regex = "".join(_folders() if part == "**" else _part(part) + "/" for part in folders)
    regex += _folders() + _part("*") if name == "**" else _part(name)
    return re.compile(regex, re.DOTALL)


def _folders() -> str:
    return r"(?:(?!\.)[^/]+/)*"


def _part(part: str) -> str:
    dot = r"(?!\.)" if part.startswith(("*", "?")) else ""
    return dot + "".join({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char) for char in part)
