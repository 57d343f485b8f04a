"""Compiled programs by commit, so that a launch reads one small file instead of the repository.

Derived and deletable. Rule 1: what does not verify is as good as absent: it is compiled again and
written anew, never trusted. Rule 2: a file appears whole or not at all (rename). Rule 3: a digest
shows damage, not malice; a fold renders every distinct pin again from git's objects, so a poisoned
cache cannot stay hidden. Rule 4: a disk that takes no cache file stops nobody: the next launch
compiles again, and a version that was adopted just now stays adopted.
"""

import os

from blake3 import blake3

from pvc.core.program import dump, load
from pvc.errors import CorruptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Compiled = tuple[str, int, str, tuple[Any, ...]]
    """Tree, number, the version's commit, program."""

HEADER = b"pvc.program/2 "
_HEADER_SIZE = len(HEADER) + 64 + 1
FOLDER = "pvc/cache/v1"


def read(common_dir: str, oid: str) -> "Compiled | None":
    """Read what a version or channel commit compiled to; null when absent or damaged."""
    try:
        with open(f"{common_dir}/{FOLDER}/{oid}", "rb", buffering=0) as file:
            data = file.readall()
    except OSError:
        return None
    body = data[_HEADER_SIZE:]
    if data[:_HEADER_SIZE] != _header(body):
        return None
    try:
        compiled: Any = load(body)
        tree, number, commit, program = compiled
        _form, _rule, fields, blocks = program
    except (CorruptError, ValueError, TypeError):
        return None
    is_entry = (type(tree), type(number), type(commit)) == (str, int, str) and number > 0
    is_entry = is_entry and type(fields) is type(blocks) is tuple
    return (tree, number, commit, program) if is_entry and len(commit) == len(oid) else None


def write(common_dir: str, oid: str, compiled: "Compiled") -> None:
    """Keep what `oid` compiled to, where the disk takes it."""
    folder = f"{common_dir}/{FOLDER}"
    body = dump(compiled)
    temporary = f"{folder}/.tmp.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(_header(body) + body)
        os.replace(temporary, f"{folder}/{oid}")
    except OSError:
        _remove(temporary)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # it was never made, or a fold's sweep takes it


def _header(body: bytes) -> bytes:
    return HEADER + blake3(body).hexdigest().encode() + b"\n"
