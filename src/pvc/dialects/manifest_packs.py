"""Another pack number in a `pvc.toml`, and no other byte changed. Pure.

Rule 1: the text is edited, not written anew: comments, order and line ends are the author's.
Rule 2: an edit is tried at each place that could be meant, and counts only if the document then
says exactly what it said before, but for that number. So no place is ever guessed at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pvc.errors import DecodeError, UsageError
from pvc.model.manifest import MANIFEST
from pvc.model.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import PackName

_HEADER = re.compile(rb"(?m)^[ \t]*\[[ \t]*packs[ \t]*\][^\n]*(?:\n|\Z)")
_INLINE = re.compile(rb"\bpacks[ \t]*=[ \t]*\{")


def with_pack(data: bytes, name: PackName, number: int) -> bytes:
    """Make a manifest stand on version `number` of pack `name`.

    Raises `UsageError` where its text has no place for that which could not be another.
    """
    wanted = parse_toml(data, MANIFEST)
    packs = wanted.get("packs", {})
    if isinstance(packs, dict):
        if packs.get(name) == number:
            return data
        wanted["packs"] = {**packs, name: number}
    edits = _changed if isinstance(packs, dict) and name in packs else _added
    for edited in edits(data, name, number):
        if _says(edited, wanted):
            return edited
    raise UsageError(
        f"cannot put pack `{name}` at {number} there", at=MANIFEST, hint="--set pvc.toml=FILE"
    )


def _says(data: bytes, wanted: dict[str, object]) -> bool:
    try:
        return parse_toml(data, MANIFEST) == wanted
    except DecodeError:
        return False


def _changed(data: bytes, name: str, number: int) -> Iterator[bytes]:
    """Put the number in place of each number that follows the name."""
    key = re.compile(rb"""(["']?)%s\1[ \t]*=[ \t]*([0-9_+]+)""" % re.escape(name.encode()))
    for found in key.finditer(data):
        yield data[: found.start(2)] + b"%d" % number + data[found.end(2) :]


def _added(data: bytes, name: str, number: int) -> Iterator[bytes]:
    """Put a row into the table of packs, however it is written; else write the table."""
    end = b"\r\n" if b"\r\n" in data else b"\n"
    key = b'"%s"' % name.encode() if "." in name else name.encode()
    row = b"%s = %d" % (key, number)
    for found in _HEADER.finditer(data):
        gap = b"" if found[0].endswith(b"\n") else end
        yield data[: found.end()] + gap + row + end + data[found.end() :]
    for found in _INLINE.finditer(data):
        for text in (row + b", ", row):
            yield data[: found.end()] + text + data[found.end() :]
    gap = b"" if data.endswith(b"\n") else end
    yield data + gap + end + b"[packs]" + end + row + end
    yield b"packs." + row + end + data
