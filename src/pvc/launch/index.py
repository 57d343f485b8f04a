"""The index of folded pins, read: sorted runs, each cut into blocks that are verified when used.

`store.index` writes them. All of it is derived from the ledgers and may be deleted.

A run is `segments ‖ rows by session ‖ rows by prompt digest ‖ tail`. Rows stand in blocks of at most
`BLOCK_ROWS`; the tail has one fence for each block: its first key and 16 bytes of its BLAKE3. The
file `index/tips` names the runs with the BLAKE3 of their tails, and the ledgers that they cover.

Rule 1: a look-up reads the tails and the blocks that its key falls into, whatever the size of the
ledger, and nothing that it reads is unverified.
Rule 2: a run that `tips` does not name does not count; one that it names and that is gone or
damaged means the index must be made again.
Rule 3: eight bytes of a hash are not an identity: the record decides.
"""

import os

from blake3 import blake3

from pvc.errors import CorruptError
from pvc.launch import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RUN_MAGIC = b"pvc.index/1"
TIPS_MAGIC = "pvc.tips/1"
BLOCK_ROWS = 512
SEGMENT_SIZE = 56
ROW_SIZE = 40
FENCE_SIZE = 24
BY_SESSION, BY_DIGEST = 0, 1
_KEY_AT = (0, 8)


class Row:
    """Where a folded record stands."""

    __slots__ = ("is_local", "length", "offset", "oid", "time_us", "writer")

    def __init__(self, row: bytes, segment: bytes) -> None:
        self.time_us = int.from_bytes(row[16:24], "big")
        self.offset = int.from_bytes(row[28:32], "big")
        self.length = int.from_bytes(row[32:36], "big")
        self.oid = segment[: int.from_bytes(segment[52:54], "big")].hex()
        self.writer = segment[32:48].hex()
        self.is_local = segment[54:56] != b"\0\0"


class Tips:
    """What `index/tips` says: `runs` as (name, size of the body, digest of the tail), `refs`."""

    __slots__ = ("refs", "runs")

    def __init__(self, runs: list[tuple[str, int, str]], refs: dict[str, str]) -> None:
        self.runs = runs
        self.refs = refs

    def covers(self, ledgers: dict[str, str]) -> bool:
        """Tell whether every one of these ledgers is covered up to its commit."""
        return all(self.refs.get(name) == oid for name, oid in ledgers.items())

    def dump(self) -> bytes:
        """Write the file."""
        lines = [TIPS_MAGIC]
        lines += [f"run {name} {size} {digest}" for name, size, digest in self.runs]
        lines += [f"{name} {oid}" for name, oid in sorted(self.refs.items())]
        body = ("\n".join(lines) + "\n").encode()
        return body + b"b3 " + blake3(body).hexdigest().encode() + b"\n"


def read_tips(home: str) -> Tips | None:
    """Read `index/tips`; null when it is absent or damaged."""
    data = disk.read(home + "/index/tips")
    if data is None:
        return None
    body, seal = data[:-68], data[-68:]
    if seal != b"b3 " + blake3(body).hexdigest().encode() + b"\n":
        return None
    runs, refs = [], {}
    lines = body.decode().split("\n")
    if lines[0] != TIPS_MAGIC:
        return None
    for line in lines[1:-1]:
        words = line.split(" ")
        if words[0] == "run":
            runs.append((words[1], int(words[2]), words[3]))
        else:
            refs[words[0]] = words[1]
    return Tips(runs, refs)


class Run:
    """One run, opened; raises `CorruptError` where it is not what `tips` names."""

    def __init__(self, folder: str, name: str, size: int, digest: str) -> None:
        self.path = f"{folder}/{name}"
        try:
            self._handle = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            raise CorruptError("a run of the index is gone", at=self.path) from None
        tail = os.pread(self._handle, os.fstat(self._handle).st_size - size, size)
        if blake3(tail).hexdigest() != digest:
            os.close(self._handle)
            raise self._damaged()
        header, _, self._fences = tail.partition(b"\n")
        _, segments, rows = header.split(b" ")
        self.segments, self.rows = int(segments), int(rows)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def find(self, order: int, low: bytes, high: bytes) -> "Iterator[Row]":
        """Give the rows whose key of that order lies in `[low, high]`, both eight bytes."""
        first = self._blocks(self.segments) + order * self._blocks(self.rows)
        count = self._blocks(self.rows)
        at = max(self._below(first, count, low) - 1, 0)
        while at < count and self._fence(first + at)[:8] <= high:
            block = self._block(at, self.rows, ROW_SIZE, self._start(order), first)
            for start in range(0, len(block), ROW_SIZE):
                row = block[start : start + ROW_SIZE]
                if low <= row[_KEY_AT[order] :][:8] <= high:
                    yield Row(row, self.segment(int.from_bytes(row[24:28], "big")))
            at += 1

    def segment(self, number: int) -> bytes:
        """Give the row of a segment."""
        block = self._block(number // BLOCK_ROWS, self.segments, SEGMENT_SIZE, 0, 0)
        at = number % BLOCK_ROWS * SEGMENT_SIZE
        return block[at : at + SEGMENT_SIZE]

    def all_rows(self) -> "Iterator[tuple[bytes, bytes]]":
        """Give every (row, its segment's row), by session, verified."""
        first = self._blocks(self.segments)
        for at in range(self._blocks(self.rows)):
            block = self._block(at, self.rows, ROW_SIZE, self._start(BY_SESSION), first)
            for start in range(0, len(block), ROW_SIZE):
                row = block[start : start + ROW_SIZE]
                yield row, self.segment(int.from_bytes(row[24:28], "big"))

    def _start(self, order: int) -> int:
        return self.segments * SEGMENT_SIZE + order * self.rows * ROW_SIZE

    def _below(self, first: int, count: int, low: bytes) -> int:
        """Count the blocks whose first key is below `low`."""
        a, b = 0, count
        while a < b:
            middle = (a + b) // 2
            if self._fence(first + middle)[:8] < low:
                a = middle + 1
            else:
                b = middle
        return a

    def _fence(self, number: int) -> bytes:
        return self._fences[number * FENCE_SIZE : (number + 1) * FENCE_SIZE]

    def _block(self, at: int, rows: int, row_size: int, start: int, first: int) -> bytes:
        count = min(BLOCK_ROWS, rows - at * BLOCK_ROWS)
        offset = start + at * BLOCK_ROWS * row_size
        block = os.pread(self._handle, count * row_size, offset)
        if blake3(block).digest()[:16] != self._fence(first + at)[8:]:
            raise self._damaged()
        return block

    @staticmethod
    def _blocks(rows: int) -> int:
        return -(-rows // BLOCK_ROWS)

    def _damaged(self) -> CorruptError:
        return CorruptError("a run of the index is damaged", at=self.path)


def find(home: str, runs: list[tuple[str, int, str]], order: int, key: bytes) -> list[Row]:
    """Find the rows whose key starts with `key`, at most eight bytes, in all runs."""
    key = key[:8]
    low, high = key.ljust(8, b"\0"), key.ljust(8, b"\xff")
    rows: list[Row] = []
    for name, size, digest in runs:
        run = Run(home + "/index", name, size, digest)
        try:
            rows += run.find(order, low, high)
        finally:
            run.close()
    return rows


def session_key(session: str) -> bytes:
    """Give the key that a session is sorted by."""
    return blake3(session.encode()).digest()[:8]
