"""How many sessions stand on each version, counted from the index alone: no record is read.

Rule 1: a session counts once, where its newest pin of these versions is. A session that was pinned
again, or whose prompt changed by entries, is not counted twice.
Rule 2: a row of the index says of its version the first four bytes of the commit. That is enough to
count by and not to look up by: of two versions that share them one would get the other's sessions.
Rule 3: rows come sorted by session out of each run, so the count needs no memory for sessions.
"""

from __future__ import annotations

from heapq import merge
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from pvc.launch.index import BY_SESSION, COMMIT_BYTES, DamagedIndexError
from pvc.store.index import open_index, refresh

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from pvc.model.names import CommitId
    from pvc.store.repo import Repository

_ROW = Struct(">8s16xQ12x4s")


class Standing(NamedTuple):
    """A session (its key), a time, and the version that it stood on then."""

    session: bytes
    time: int
    version: bytes


def version_key(commit: str) -> bytes:
    """Give what a row says of a version."""
    return bytes.fromhex(commit[: 2 * COMMIT_BYTES])


def sessions_on(
    repo: Repository, commits: Iterable[CommitId], spooled: Iterable[Standing]
) -> dict[CommitId, int]:
    """Count the sessions whose newest pin of any of `commits` is on each.

    `spooled` are the pins that are not folded yet, so no run has them.
    """
    versions = {version_key(commit): commit for commit in commits}
    late: dict[bytes, Standing] = {}
    for pin in spooled:
        if pin.version in versions:
            late[pin.session] = max(pin, late.get(pin.session, pin))
    try:
        totals = _count(repo, versions, late)
    except DamagedIndexError:
        refresh(repo, from_nothing=True)
        totals = _count(repo, versions, late)
    return {commit: totals.get(key, 0) for key, commit in versions.items()}


def _count(
    repo: Repository, versions: Container[bytes], late: Mapping[bytes, Standing]
) -> dict[bytes, int]:
    totals: dict[bytes, int] = {}
    with open_index(repo) as runs:
        streams = [_rows(blocks, versions) for blocks in runs.blocks(BY_SESSION)]
        known = _tally(streams[0] if len(streams) == 1 else merge(*streams), late, totals)
    for pin in late.values():
        if pin.session not in known:
            totals[pin.version] = totals.get(pin.version, 0) + 1
    return totals


_Row = tuple[bytes, int, bytes]


def _rows(blocks: Iterator[bytes], versions: Container[bytes]) -> Iterator[_Row]:
    """Give session, time and version of each row on one of these versions."""
    for block in blocks:
        yield from [row for row in _ROW.iter_unpack(block) if row[2] in versions]


def _tally(
    rows: Iterable[_Row], late: Mapping[bytes, Standing], totals: dict[bytes, int]
) -> set[bytes]:
    """Count each session at its newest row; gives those of `late` that were met.

    One loop over plain values, for it runs over a million of them.
    """
    met: set[bytes] = set()
    last, newest, on = b"", -1, b""
    for session, time, version in rows:
        if session != last:
            if on:
                totals[on] = totals.get(on, 0) + 1
            last, newest, on = session, time, version
            if session in late:
                met.add(session)
                if late[session].time > time:
                    _, newest, on = late[session]
        elif time > newest:
            newest, on = time, version
    if on:
        totals[on] = totals.get(on, 0) + 1
    return met
