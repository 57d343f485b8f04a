"""Git's trees and commits as bytes and as values. Pure.

Both back ends read and write through these, so a tree means the same in each.

Rule 1: what git stores is read as it is: old modes, unsorted trees and odd identities occur in
real histories and are the user's; only bytes that are no object at all are `CorruptError`.
Rule 2: what pvc writes is strict: sorted as git sorts, each name once, no name that git refuses.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, TooLargeError, UsageError
from pvc.model import bounds
from pvc.model.names import CommitId, ObjectId
from pvc.store.repo import Commit, Entry, Kind, Moment, Person

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST = {
    Kind.BLOB: bounds.MAX_BLOB_BYTES,
    Kind.TREE: bounds.MAX_TREE_BYTES,
    Kind.COMMIT: bounds.MAX_COMMIT_BYTES,
    Kind.TAG: bounds.MAX_COMMIT_BYTES,
}
_FORBIDDEN_NAMES = frozenset((b"", b".", b"..", b".git"))


def trusted(hex_id: str) -> ObjectId:
    """Make an id of what git itself printed, without looking at each digit again."""
    return str.__new__(ObjectId, hex_id)


def trusted_commit(hex_id: str) -> CommitId:
    """Make a commit's id of what git itself printed."""
    return str.__new__(CommitId, hex_id)


def object_id(kind: Kind, data: bytes, object_format: str) -> ObjectId:
    """Hash an object as git does."""
    hashed = hashlib.new(object_format, b"%s %d\0" % (kind.encode(), len(data)))
    hashed.update(data)
    return trusted(hashed.hexdigest())


def check_size(oid: ObjectId, kind: Kind, size: int) -> None:
    """Refuse an object that is larger than any that pvc reads; asked of its header."""
    most = _MOST[kind]
    if size > most:
        raise TooLargeError(
            f"{kind} `{oid[:12]}` has {size} bytes, the bound is {bounds.mebibytes(most)}",
            hint=bounds.BOUNDED,
        )


# --- trees ----------------------------------------------------------------------------------


Row = tuple[bytes, bytes, bytes]
"""A tree's row as it is stored: mode in octal, name, raw id."""

_ROWS = {width: re.compile(rb"([0-7]+) ([^\0]+)\0([\0-\xff]{%d})" % width) for width in (20, 32)}


def tree_rows(oid: ObjectId, data: bytes) -> list[Row]:
    """Split a tree into rows, in its order; much faster than entries, for walks."""
    width = len(oid) // 2
    rows: list[Row] = _ROWS[width].findall(data)
    if sum(len(mode) + len(name) for mode, name, _ in rows) + len(rows) * (width + 2) != len(data):
        raise CorruptError(f"tree `{oid}` is damaged: it does not consist of rows")
    return rows


def parse_tree(oid: ObjectId, data: bytes) -> tuple[Entry, ...]:
    """Read a tree's entries."""
    return tuple(
        Entry(name.decode(errors="surrogateescape"), int(mode, 8), trusted(raw.hex()))
        for mode, name, raw in tree_rows(oid, data)
    )


def sort_entries(entries: Iterable[Entry]) -> list[tuple[bytes, Entry]]:
    """Sort as git does, a folder as if its name ended in `/`; raises on what git refuses."""
    named = [(entry.name.encode(errors="surrogateescape"), entry) for entry in entries]
    seen: set[bytes] = set()
    for name, entry in named:
        if name.lower() in _FORBIDDEN_NAMES or b"/" in name or b"\0" in name:
            raise UsageError(f"`{entry.name}` cannot be a name in a git tree")
        if name in seen:
            raise UsageError(f"`{entry.name}` stands twice in one folder")
        seen.add(name)
    return sorted(named, key=lambda row: row[0] + b"/" * row[1].is_tree)


def encode_tree(entries: Iterable[Entry]) -> bytes:
    """Write a tree's bytes."""
    return b"".join(
        b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid))
        for name, entry in sort_entries(entries)
    )


# --- commits --------------------------------------------------------------------------------


_LINKS = re.compile(
    rb"tree ([0-9a-f]{40}|[0-9a-f]{64})\n((?:parent (?:[0-9a-f]{40}|[0-9a-f]{64})\n)*)"
)


def parse_commit(oid: ObjectId, data: bytes) -> Commit:
    """Read a commit; headers that pvc does not need (a signature) are passed over."""
    head, _, body = data.partition(b"\n\n")
    links = _LINKS.match(head + b"\n")
    if links is None:
        raise CorruptError(f"commit `{oid}` has no legible tree or parents")
    parents = links[2].decode("ascii").split("\n")[:-1]
    charset, author = "utf-8", b""
    for line in head[links.end() :].split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"author":
            author = author or value
        elif key == b"encoding":
            charset = value.decode("ascii", "replace")
    person, moment = _parse_identity(_decode(author, charset))
    return Commit(
        trusted_commit(oid),
        trusted(links[1].decode("ascii")),
        tuple(trusted_commit(line.removeprefix("parent ")) for line in parents),
        person,
        moment,
        _decode(body, charset),
    )


def _decode(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _parse_identity(line: str) -> tuple[Person, Moment]:
    """Read `Name <email> seconds ±hhmm`; histories of other tools hold lines without a time."""
    who, _, when = line.rpartition(">")
    name, _, email = who.partition("<")
    seconds, _, zone = when.strip().partition(" ")
    known = seconds.isdecimal() and len(seconds) < 12
    moment = Moment(int(seconds) if known else 0, _minutes(zone))
    return Person(name.strip(), email.strip()), moment


def _minutes(zone: str) -> int:
    if len(zone) != 5 or zone[0] not in "+-" or not zone[1:].isdecimal():
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    return -minutes if zone[0] == "-" else minutes


def encode_commit(
    tree: ObjectId, parents: Sequence[CommitId], author: str, committer: str, message: str
) -> bytes:
    """Write a commit's bytes; identities come as git prints them, `Name <email> seconds ±hhmm`."""
    lines = [f"tree {tree}"]
    lines += [f"parent {parent}" for parent in parents]
    lines += [f"author {author}", f"committer {committer}", "", message]
    return "\n".join(lines).encode()


def identity_line(person: Person, moment: Moment) -> str:
    """Write `Name <email> seconds ±hhmm`."""
    sign = "-" if moment.offset_minutes < 0 else "+"
    hours, minutes = divmod(abs(moment.offset_minutes), 60)
    return f"{person} {moment.seconds} {sign}{hours:02}{minutes:02}"
