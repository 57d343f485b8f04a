"""Ledgers that stand in another one: what a fold says it took, and what that has to be.

    <hex2>.pins  <hex2>.idx  <hex2>.from        a segment that was taken, and from which ledgers

`.from` holds a line `<writer> <commit>` for each ledger that the commit took, in the order of its
parents: these are the last of them; before them stands the ledger's own last fold, if it has one.

Rule 1: what was taken is there whole: the records of the new segments are those that the taken
ledgers hold and the ledger before did not reach, byte for byte, no more and no fewer.
Rule 2: so a ledger whose tip is a parent can lose its ref, and its chain can still be walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, UsageError
from pvc.model.names import CommitId
from pvc.store.codec import FROM, split_segment
from pvc.store.tombstones import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pvc.model.names import ObjectId
    from pvc.store.repo import Commit, Entry, Repository

MOST_TAKEN = 64
"""Most ledgers that one commit takes."""
_HEX = frozenset("0123456789abcdef")


class Taken(NamedTuple):
    """A ledger that another one took, as it was then."""

    writer: str
    tip: CommitId


class Contents(NamedTuple):
    """What stands in segments: records, tables of prompts, and whole segments of tombstones."""

    records: set[bytes]
    tables: set[bytes]
    tombstones: set[ObjectId]


def encode_taken(ledgers: Iterable[Taken]) -> bytes:
    """Write a `.from`."""
    return "".join(f"{ledger.writer} {ledger.tip}\n" for ledger in ledgers).encode()


def decode_taken(data: bytes, at: str) -> tuple[Taken, ...]:
    """Read a `.from`."""
    try:
        rows = [line.split(" ") for line in data.decode("ascii").split("\n")]
        found = tuple(Taken(writer, CommitId(tip)) for writer, tip in rows[:-1])
        is_whole = rows[-1] == [""] and all(
            len(ledger.writer) == 32 and _HEX.issuperset(ledger.writer) for ledger in found
        )
    except (UsageError, ValueError):
        is_whole, found = False, ()
    if not is_whole or not 0 < len(found) <= MOST_TAKEN:
        raise CorruptError("it does not say which ledgers were taken", at=at)
    return found


def parts_of(repo: Repository, commit: Commit) -> tuple[CommitId | None, tuple[Taken, ...]]:
    """Tell the fold before this one, in the same ledger, from the ledgers that it took."""
    taken = _newest_from(repo, commit)
    tips = tuple(ledger.tip for ledger in taken)
    own = len(commit.parents) - len(tips)
    if own not in (0, 1) or commit.parents[own:] != tips:
        raise CorruptError(f"fold `{commit.id.short}` has other parents than it says")
    return (commit.parents[0] if own else None), taken


def _newest_from(repo: Repository, commit: Commit) -> tuple[Taken, ...]:
    """Read the `.from` of the newest segment: every fold adds one, so it is this fold's."""
    folders = [entry for entry in repo.tree(commit.tree) if entry.is_tree]
    if not folders:
        return ()
    folder = max(folders, key=_name)
    entries = {entry.name: entry for entry in repo.tree(folder.oid)}
    found = entries.get(max(entries)[:2] + FROM) if entries else None
    return decode_taken(repo.blob(found.oid), f"{commit.id}:{folder.name}") if found else ()


def base_of(repo: Repository, tip: CommitId, own: CommitId | None) -> CommitId | None:
    """Find the newest fold of a ledger that `own` reaches; null where it reaches none."""
    words = ("rev-list", tip, *((f"^{own}",) if own else ()))
    fresh = frozenset(repo.git.output(*words).decode().split("\n"))
    at: CommitId | None = tip
    while at is not None and at in fresh:
        at = parts_of(repo, repo.commit(at))[0]
    return at


def fresh_segments(
    repo: Repository, own: CommitId | None, ledgers: Sequence[Taken]
) -> Iterator[tuple[str, dict[str, ObjectId]]]:
    """Give what ledgers hold and `own` does not reach: each segment's name, its blobs by suffix."""
    for ledger in ledgers:
        base = base_of(repo, ledger.tip, own)
        before = segments_of(repo, base) if base else {}
        for stem, files in segments_of(repo, ledger.tip).items():
            if stem not in before:
                yield f"{ledger.tip}:{stem}", files


def segments_of(repo: Repository, commit: CommitId) -> dict[str, dict[str, ObjectId]]:
    """Read a ledger's segments: the blobs of each by suffix, by `<hex4>/<hex2>`."""
    found: dict[str, dict[str, ObjectId]] = {}
    for folder in repo.tree(commit):
        for entry in repo.tree(folder.oid) if folder.is_tree else ():
            stem, dot, suffix = entry.name.partition(".")
            found.setdefault(f"{folder.name}/{stem}", {})[dot + suffix] = entry.oid
    return found


def contents_of(repo: Repository, segments: Iterable[tuple[str, dict[str, ObjectId]]]) -> Contents:
    """Read what stands in segments."""
    found = Contents(set(), set(), set())
    for at, files in segments:
        if SUFFIX in files:
            found.tombstones.add(files[SUFFIX])
        elif ".pins" in files:
            records, tables = split_segment(repo.blob(files[".pins"]), at)
            found.records.update(records)
            found.tables.update(tables)
        else:
            raise CorruptError("it is no segment", at=at)
    return found


def _name(entry: Entry) -> str:
    return entry.name
