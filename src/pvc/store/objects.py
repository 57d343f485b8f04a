"""Git's trees and commits as bytes and as values. Pure.

Both back ends read and write through these, so a tree means the same in each.

Rule 1: what git stores is read as it is: old modes, unsorted trees and odd identities occur in
real histories and are the user's; only bytes that are no object at all are `CorruptError`.
Rule 2: what pvc writes is strict: sorted as git sorts, each name once, no name that git refuses.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, UsageError
from pvc.model.names import CommitId, ObjectId
from pvc.store.repo import Commit, Entry, Kind, Moment, Person

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


# --- trees ----------------------------------------------------------------------------------


def parse_tree(oid: ObjectId, data: bytes) -> tuple[Entry, ...]:
    """Read a tree's rows: mode in octal, a blank, the name, a zero byte, the raw id."""
    width = len(oid) // 2
    entries = []
    at = 0
    while at < len(data):
        blank = data.find(b" ", at)
        zero = data.find(b"\0", blank)
        end = zero + 1 + width
        if blank < 0 or zero < 0 or end > len(data):
            raise CorruptError(f"tree `{oid}` is cut off at byte {at}")
        try:
            mode = int(data[at:blank], 8)
        except ValueError:
            raise CorruptError(f"tree `{oid}` has no mode at byte {at}") from None
        name = data[blank + 1 : zero].decode(errors="surrogateescape")
        entries.append(Entry(name, mode, trusted(data[zero + 1 : end].hex())))
        at = end
    return tuple(entries)


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


def parse_commit(oid: ObjectId, data: bytes) -> Commit:
    """Read a commit; headers that pvc does not need (a signature) are passed over."""
    head, _, body = data.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key, []).append(value)  # a continued line has the empty key
    try:
        tree = ObjectId(fields[b"tree"][0].decode("ascii"))
        parents = tuple(CommitId(value.decode("ascii")) for value in fields.get(b"parent", ()))
    except (KeyError, UnicodeDecodeError, UsageError):
        raise CorruptError(f"commit `{oid}` has no legible tree or parents") from None
    charset = fields.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    person, moment = _parse_identity(_decode(fields.get(b"author", [b""])[0], charset))
    message = _decode(body, charset)
    return Commit(trusted_commit(oid), tree, parents, person, moment, message)


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
    moment = Moment(int(seconds) if seconds.isdecimal() else 0, _minutes(zone))
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
