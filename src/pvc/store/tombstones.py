"""Stored bytes ↔ tombstones, and the tombstones of a repository.

They stand in the ledger as segments of their own, `<hex4>/<hex2>.forgotten`, numbered and chained
with those of pins: what was forgotten is as much on record as what was pinned.

Rule 1: what is read is checked by writing it again, as records are.
Rule 2: another clone's damage stops nobody: what of it cannot be read has forgotten nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.errors import CorruptError, DecodeError, NotFoundError, UsageError
from pvc.launch.record import quote
from pvc.launch.refs import PINS
from pvc.model.digest import Digest
from pvc.model.tombstone import Tombstone
from pvc.store.codec import from_micros, to_micros
from pvc.store.index import ledgers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Repository

FORMAT = 1
TABLE = "[[forgotten]]"
SUFFIX = ".forgotten"
MOST_TABLES = 256
"""Most tombstones of one segment."""


def encode(tombstones: Iterable[Tombstone]) -> bytes:
    """Write a segment of tombstones."""
    return "".join("\n".join(_lines(each)) + "\n\n" for each in tombstones).encode()


def _lines(tombstone: Tombstone) -> Iterator[str]:
    yield TABLE
    yield f"format = {FORMAT}"
    yield f"time = {quote(from_micros(tombstone.time))}"
    yield f"writer = {quote(tombstone.writer)}"
    yield f"who = {quote(tombstone.who)}"
    yield f"reason = {quote(tombstone.reason)}"
    if tombstone.before is None:
        yield f"digest = {quote(tombstone.digest or '')}"
        yield f"pins = [{', '.join(map(quote, tombstone.pins))}]"
        return
    yield f"before = {quote(from_micros(tombstone.before))}"
    if tombstone.of:
        yield f"of = {quote(tombstone.of)}"


def decode(data: bytes, at: str = "a segment of tombstones") -> tuple[Tombstone, ...]:
    """Read a segment of tombstones. Raises `CorruptError` on anything that was never written."""
    from pvc.model.toml_text import parse_toml

    try:
        tables: Any = parse_toml(data, at)["forgotten"]
        found = tuple(_tombstone(values) for values in tables)
    except (ValueError, KeyError, TypeError, AttributeError, UsageError, DecodeError) as error:
        raise CorruptError(f"a tombstone is damaged: {error}", at=at) from None
    if encode(found) != data:
        raise CorruptError("a segment of tombstones is damaged", at=at)
    return found


def _tombstone(values: dict[str, Any]) -> Tombstone:
    before = values.get("before")
    return Tombstone(
        time=to_micros(values["time"]),
        writer=values["writer"],
        who=values["who"],
        reason=values["reason"],
        digest=None if before else Digest(values["digest"]),
        pins=() if before else tuple(map(Digest, values["pins"])),
        before=to_micros(before) if before else None,
        of=values.get("of", ""),
    )


def segments_of(tombstones: Sequence[Tombstone]) -> list[bytes]:
    """Write tombstones as segments of a bounded size."""
    starts = range(0, len(tombstones), MOST_TABLES)
    return [encode(tombstones[at : at + MOST_TABLES]) for at in starts]


def read_tombstones(
    repo: Repository, damage: list[CorruptError] | None = None
) -> tuple[Tombstone, ...]:
    """Read what all ledgers of this clone say was forgotten, oldest first, each once."""
    found: dict[Tombstone, None] = {}
    for oid, name in tombstone_blobs(repo).items():
        try:
            found.update(dict.fromkeys(decode(repo.blob(oid), name)))
        except (CorruptError, NotFoundError) as error:
            if name.startswith(PINS):
                raise
            if damage is not None:
                damage.append(CorruptError(error.message, at=error.at or name, hint=error.hint))
    return tuple(sorted(found, key=lambda each: (each.time, each.writer, str(each.digest))))


def tombstone_blobs(repo: Repository) -> dict[ObjectId, str]:
    """Find the segments of tombstones: each blob, and where it stands."""
    found: dict[ObjectId, str] = {}
    for name, tip in sorted(ledgers(repo).items()):
        for path, oid in _segments(repo, name, tip):
            found.setdefault(oid, f"{name}:{path}")
    return found


def _segments(repo: Repository, name: str, tip: CommitId) -> Iterator[tuple[str, ObjectId]]:
    try:
        folders = [entry for entry in repo.tree(tip) if entry.is_tree]
        for folder in folders:
            for entry in repo.tree(folder.oid):
                if entry.is_file and entry.name.endswith(SUFFIX):
                    yield f"{folder.name}/{entry.name}", entry.oid
    except (CorruptError, NotFoundError):
        if name.startswith(PINS):
            raise
