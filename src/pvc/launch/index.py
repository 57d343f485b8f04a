"""The index of folded pins, read: sorted runs, each cut into blocks that are verified when used.

`store.index` writes them. All of it is derived from the ledgers and may be deleted.

A run is `segments ‖ rows by session ‖ by prompt ‖ by receipt ‖ tail`; by prompt and by receipt are
keys with the number of a row. Each part stands in blocks of at most `BLOCK_ROWS`; the tail has one
fence for each block: its first key and 16 bytes of its BLAKE3. The file `index/tips` names the runs
with the BLAKE3 of their tails, and the ledgers that they cover.

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
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

RUN_MAGIC = b"pvc.index/3"
TIPS_MAGIC = "pvc.tips/3"
BLOCK_ROWS = 512
SEGMENT_SIZE, ROW_SIZE, KEY_SIZE, FENCE_SIZE = 72, 48, 12, 24
_HEX = "0123456789abcdef"
_COUNT_DIGITS = 10
COMMIT_BYTES = 4
"""How much of a version's commit a row ends in: for counts (`store.counts`)."""
SEGMENTS, BY_SESSION, BY_PROMPT, BY_RECEIPT = range(4)
SIZES = (SEGMENT_SIZE, ROW_SIZE, KEY_SIZE, KEY_SIZE)


class DamagedIndexError(CorruptError):
    """The index is not what `tips` says; it can be made again."""


class Row:
    """Where a folded record stands."""

    __slots__ = ("is_local", "length", "offset", "oid", "time", "writer")

    def __init__(self, row: bytes, segment: bytes) -> None:
        self.time = int.from_bytes(row[24:32], "big")
        self.offset = int.from_bytes(row[36:40], "big")
        self.length = int.from_bytes(row[40:44], "big")
        self.oid = segment[: int.from_bytes(segment[52:54], "big")].hex()
        self.writer = segment[32:48].hex()
        self.is_local = segment[54:56] != b"\0\0"


def segment_number(row: bytes) -> int:
    """Give the number of a row's segment within its run."""
    return int.from_bytes(row[32:36], "big")


def is_segment(row: bytes) -> bool:
    """Return True if a segment's row names an object of one of git's two lengths."""
    return int.from_bytes(row[52:54], "big") in (20, 32)


class Tips:
    """What `index/tips` says: `runs` as (name, size of the body, digest of the tail), `refs`.

    `damage` is what of another clone's ledger could not be taken in, as (ref, why).
    """

    __slots__ = ("damage", "refs", "runs")

    def __init__(
        self,
        runs: list[tuple[str, int, str]],
        refs: dict[str, str],
        damage: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.runs = runs
        self.refs = refs
        self.damage = damage

    def covers(self, ledgers: "Mapping[str, str]") -> bool:
        """Tell whether every one of these ledgers is covered up to its commit."""
        return all(self.refs.get(name) == oid for name, oid in ledgers.items())

    def dump(self) -> bytes:
        """Write the file."""
        lines = [TIPS_MAGIC]
        lines += [f"run {name} {size} {digest}" for name, size, digest in self.runs]
        lines += [f"{name} {oid}" for name, oid in sorted(self.refs.items())]
        lines += [f"damage {ref} {' '.join(why.split())}" for ref, why in self.damage]
        body = ("\n".join(lines) + "\n").encode()
        return body + b"b3 " + blake3(body).hexdigest().encode() + b"\n"


def tips_bytes(home: str) -> bytes | None:
    """Read `index/tips` as it stands; null when it is absent."""
    return disk.read(home + "/index/tips")


def read_tips(home: str) -> Tips | None:
    """Read `index/tips`; null when it is absent or damaged."""
    return parse_tips(tips_bytes(home))


def parse_tips(data: bytes | None) -> Tips | None:
    """Read what `tips_bytes` gave; null when it was absent or is damaged."""
    if data is None:
        return None
    body, seal = data[:-68], data[-68:]
    if seal != b"b3 " + blake3(body).hexdigest().encode() + b"\n":
        return None
    try:
        return _tips(body.decode().split("\n"))
    except ValueError:  # sealed, but not written by pvc
        return None


def _tips(lines: list[str]) -> Tips:
    """Read the lines of `index/tips`; raises `ValueError` on any that are not in its form."""
    runs: list[tuple[str, int, str]] = []
    refs: dict[str, str] = {}
    damage: list[tuple[str, str]] = []
    if lines[0] != TIPS_MAGIC or lines[-1]:
        raise ValueError(lines[0])
    for line in lines[1:-1]:
        kind, _, rest = line.partition(" ")
        if kind == "run":
            name, size, digest = rest.split(" ")
            stem = name.removesuffix(".run")
            if not name.endswith(".run") or not size.isdecimal() or stem.strip(_HEX):
                raise ValueError(line)
            runs.append((name, int(size), digest))
        elif kind == "damage":
            ref, _, why = rest.partition(" ")
            damage.append((ref, why))
        elif len(rest) in (40, 64) and not rest.strip(_HEX):
            refs[kind] = rest
        else:
            raise ValueError(line)
    return Tips(runs, refs, tuple(damage))


class Run:
    """One run, opened; raises `CorruptError` where it is not what `tips` names."""

    def __init__(self, folder: str, name: str, size: int, digest: str) -> None:
        self.path = f"{folder}/{name}"
        try:
            self._handle = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            raise DamagedIndexError("a run of the index is gone", at=self.path) from None
        try:
            whole = os.fstat(self._handle).st_size
            tail = os.pread(self._handle, whole, size) if size < whole else b""
            if blake3(tail).hexdigest() != digest:
                raise self._damaged()
            header, _, self._fences = tail.partition(b"\n")
            self.counts = self._counted(header)
            self._starts = [0]  # of each part, in bytes
            self._firsts = [0]  # number of each part's first fence
            for count, row_size in zip(self.counts, SIZES, strict=True):
                self._starts.append(self._starts[-1] + count * row_size)
                self._firsts.append(self._firsts[-1] + _blocks(count))
            if (self._starts[-1], self._firsts[-1] * FENCE_SIZE) != (size, len(self._fences)):
                raise self._damaged()
        except DamagedIndexError:
            os.close(self._handle)
            raise
        self._cached: tuple[int, int, bytes] = (-1, -1, b"")

    def _counted(self, header: bytes) -> tuple[int, int, int, int]:
        """Read how many items each part has."""
        words = header.split(b" ")
        if len(words) != 3 or words[0] != RUN_MAGIC or not (words[1] + words[2]).isdigit():
            raise self._damaged()
        if max(len(words[1]), len(words[2])) > _COUNT_DIGITS or b"" in words:
            raise self._damaged()
        segments, rows = int(words[1]), int(words[2])
        return segments, rows, rows, rows

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def find(self, part: int, low: bytes, high: bytes) -> "Iterator[Row]":
        """Give the rows whose key in that part lies in `[low, high]`, both eight bytes."""
        for item in self._between(part, low, high):
            row = item if part == BY_SESSION else self.item(BY_SESSION, _number(item))
            segment = self.item(SEGMENTS, segment_number(row))
            if not is_segment(segment):
                raise self._damaged()
            yield Row(row, segment)

    def item(self, part: int, number: int) -> bytes:
        """Give one item of a part."""
        if number >= self.counts[part]:
            raise self._damaged()
        block, at = self._block(part, number // BLOCK_ROWS), number % BLOCK_ROWS * SIZES[part]
        return block[at : at + SIZES[part]]

    def items(self, part: int) -> "Iterator[bytes]":
        """Give all items of a part, verified."""
        size = SIZES[part]
        for block in self.blocks(part):
            yield from [block[start : start + size] for start in range(0, len(block), size)]

    def blocks(self, part: int) -> "Iterator[bytes]":
        """Give all of a part, block by block, verified."""
        for at in range(_blocks(self.counts[part])):
            yield self._block(part, at)

    def _between(self, part: int, low: bytes, high: bytes) -> "Iterator[bytes]":
        size, count = SIZES[part], _blocks(self.counts[part])
        at = max(self._below(part, low) - 1, 0)
        while at < count and self._fence(part, at)[:8] <= high:
            block = self._block(part, at)
            start = _first(block, size, low)
            while start < len(block) and block[start : start + 8] <= high:
                yield block[start : start + size]
                start += size
            at += 1

    def _below(self, part: int, low: bytes) -> int:
        """Count the blocks whose first key is below `low`."""
        a, b = 0, _blocks(self.counts[part])
        while a < b:
            middle = (a + b) // 2
            if self._fence(part, middle)[:8] < low:
                a = middle + 1
            else:
                b = middle
        return a

    def _fence(self, part: int, block: int) -> bytes:
        at = (self._firsts[part] + block) * FENCE_SIZE
        return self._fences[at : at + FENCE_SIZE]

    def _block(self, part: int, at: int) -> bytes:
        if self._cached[:2] == (part, at):
            return self._cached[2]
        count = min(BLOCK_ROWS, self.counts[part] - at * BLOCK_ROWS)
        offset = self._starts[part] + at * BLOCK_ROWS * SIZES[part]
        block = os.pread(self._handle, count * SIZES[part], offset)
        if blake3(block).digest()[:16] != self._fence(part, at)[8:]:
            raise self._damaged()
        self._cached = (part, at, block)
        return block

    def _damaged(self) -> DamagedIndexError:
        return DamagedIndexError("a run of the index is damaged", at=self.path)


def _blocks(count: int) -> int:
    return -(-count // BLOCK_ROWS)


def _first(block: bytes, size: int, low: bytes) -> int:
    """Find where the first item of a block starts whose key is not below `low`."""
    a, b = 0, len(block) // size
    while a < b:
        middle = (a + b) // 2
        start = middle * size
        if block[start : start + 8] < low:
            a = middle + 1
        else:
            b = middle
    return a * size


def _number(key: bytes) -> int:
    return int.from_bytes(key[8:12], "big")


class Runs:
    """All runs that one `tips` names, held open: merging them away does not disturb us."""

    __slots__ = ("_runs",)

    def __init__(self, home: str, named: "Sequence[tuple[str, int, str]]") -> None:
        self._runs: list[Run] = []
        try:
            for name, size, digest in named:
                self._runs.append(Run(home + "/index", name, size, digest))
        except DamagedIndexError:
            self.close()
            raise

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, part: int, low: bytes, high: bytes) -> list[Row]:
        """Find the rows whose key lies in `[low, high]`, both eight bytes."""
        return [row for run in self._runs for row in run.find(part, low, high)]

    def segments(self) -> bytes:
        """Give the rows of all segments, put together."""
        return b"".join(block for run in self._runs for block in run.blocks(SEGMENTS))

    def blocks(self, part: int) -> "list[Iterator[bytes]]":
        """Give all of a part, of each run by itself."""
        return [run.blocks(part) for run in self._runs]

    def close(self) -> None:
        """Close the files."""
        for run in self._runs:
            run.close()


def session_key(session: str) -> bytes:
    """Give the key that a session is sorted by."""
    return blake3(session.encode()).digest()[:8]
