"""Tables of owners by version, so that a warm blame reads one file instead of the repository.

Derived and deletable, as the program cache is: what does not verify is as good as absent.
"""

import os

from blake3 import blake3

from pvc.core.owners import MAGIC, Table
from pvc.errors import CorruptError

FOLDER = "pvc/cache/owners"
_HEADER_SIZE = len(MAGIC) + 64 + 1


def read(common_dir: str, commit: str) -> Table | None:
    """Read the table of a version; null when absent, damaged or another version's."""
    try:
        with open(f"{common_dir}/{FOLDER}/{commit}", "rb", buffering=0) as file:
            data = file.readall()
    except OSError:
        return None
    body = data[_HEADER_SIZE:]
    if data[:_HEADER_SIZE] != _header(body):
        return None
    try:
        table = Table(body)
    except CorruptError:
        return None
    return table if table.commit == commit else None


def names(common_dir: str) -> frozenset[str]:
    """Name the versions that have a table here."""
    try:
        return frozenset(os.listdir(f"{common_dir}/{FOLDER}"))
    except OSError:
        return frozenset()


def sealed(body: bytes) -> bytes:
    """Put the header that `read` asks for in front of a table."""
    return _header(body) + body


def _header(body: bytes) -> bytes:
    return MAGIC + blake3(body).hexdigest().encode() + b"\n"
