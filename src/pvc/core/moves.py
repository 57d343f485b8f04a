"""Text that one commit took from one place and put in another, and files that it renamed.

Rule 1: a move is settled within one commit, among all of its inserted and deleted blocks, so the
answer does not depend on which file was asked for.
Rule 2: the longest match is served first, a deleted byte serves once, ties go by block order. A
copy, whose source stays, is new text.
Rule 3: a match is exact in its words; blanks inside it count where they are equal.
Rule 4: files are paired only in commits that add and remove some: equal content first, then by
shared words, at least half of the larger file.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from pvc.core.annotation import path_order
from pvc.core.words import BLANK, Interner, Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SHORTEST_BLOCK = 48
_SHORTEST_LINE = 24
_SHORTEST_MATCH = 40
_GRAM = 5
_MOST_BYTES = 1 << 20
_MOST_PLACES = 8
_SENTENCE = re.compile(rb"\n|(?<=[.!?:]) ")
_WORD = re.compile(rb"[^\s]+")


@dataclass(frozen=True, slots=True)
class Block:
    """`data[start:end]` of the file at `path`, inserted or deleted as one."""

    path: str
    data: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Move:
    """`length` bytes that stood at `source_start` of `source` and now at `start` of `path`."""

    path: str
    start: int
    source: str
    source_start: int
    length: int


Match = tuple[int, int, int, int, int, int]
"""`(-weight, new block, new token, old block, old token, count)`: sorts best first."""


def moves(deleted: Sequence[Block], inserted: Sequence[Block]) -> list[Move]:
    """Match inserted blocks with deleted ones; ascending by new block and start."""
    gone = [b for b in deleted if b.end - b.start >= SHORTEST_BLOCK]
    came = [b for b in inserted if b.end - b.start >= SHORTEST_BLOCK]
    if not gone or not came or not _may_match(gone, came):
        return []
    intern = Interner()
    before = [Words(b.data, b.start, b.end, intern) for b in gone]
    after = [Words(b.data, b.start, b.end, intern) for b in came]
    chosen = sorted(_contest(_candidates(before, after), before, after), key=lambda m: m[1:])
    return [
        Move(came[new].path, start, gone[old].path, source_start, length)
        for _, new, y, old, x, count in chosen
        for source_start, start, length in _stretches(
            gone[old], came[new], before[old], after[new], (x, y, count)
        )
    ]


def _may_match(gone: list[Block], came: list[Block]) -> bool:
    """Whether a whole line or sentence stands on both sides, and the work is bounded."""
    if sum(b.end - b.start for b in (*gone, *came)) > _MOST_BYTES:
        return False
    lines = {line for block in gone for line in _sentences(block)}
    return any(line in lines for block in came for line in _sentences(block))


def _sentences(block: Block) -> Iterator[bytes]:
    for line in _SENTENCE.split(block.data[block.start : block.end]):
        stripped = line.strip(BLANK)
        if len(stripped) >= _SHORTEST_LINE:
            yield stripped


def _candidates(before: list[Words], after: list[Words]) -> list[Match]:
    """Every maximal match of some weight that starts from five equal words."""
    index: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for old, words in enumerate(before):
        chars = words.chars
        for x in range(len(chars) - _GRAM + 1):
            places = index[chars[x : x + _GRAM]]
            if len(places) < _MOST_PLACES:
                places.append((old, x))
    out: list[Match] = []
    for new, words in enumerate(after):
        chars = words.chars
        seen: dict[tuple[int, int], int] = {}  # (old block, diagonal) -> end in new
        for y in range(len(chars) - _GRAM + 1):
            for old, x in index.get(chars[y : y + _GRAM], ()):
                if seen.get((old, x - y), 0) > y:
                    continue
                match = _grown(before[old].chars, chars, x, y)
                seen[old, x - y] = match[1] + match[2]
                out += _weighed(words, new, old, match)
    return out


def _grown(a: str, b: str, x: int, y: int) -> tuple[int, int, int]:
    back = 0
    while x > back and y > back and a[x - back - 1] == b[y - back - 1]:
        back += 1
    size = _GRAM
    while x + size < len(a) and y + size < len(b) and a[x + size] == b[y + size]:
        size += 1
    return x - back, y - back, back + size


def _weighed(words: Words, new: int, old: int, match: tuple[int, int, int]) -> list[Match]:
    """Weigh the match; nothing when it is too light to be told from chance."""
    x, y, size = match
    weight = words.weight(y, y + size)
    return [(-weight, new, y, old, x, size)] if weight >= _SHORTEST_MATCH else []


def _contest(candidates: list[Match], before: list[Words], after: list[Words]) -> list[Match]:
    """Serve the heaviest first; a loser comes again with what is left of it."""
    taken_old = [bytearray(len(words.chars)) for words in before]
    taken_new = [bytearray(len(words.chars)) for words in after]
    heap = candidates
    heapify(heap)
    out: list[Match] = []
    while heap:
        match = heappop(heap)
        _, new, y, old, x, size = match
        used = [
            p or q
            for p, q in zip(taken_old[old][x : x + size], taken_new[new][y : y + size], strict=True)
        ]
        if any(used):
            for at, count in _free_runs(used):
                for rest in _weighed(after[new], new, old, (x + at, y + at, count)):
                    heappush(heap, rest)
            continue
        taken_old[old][x : x + size] = taken_new[new][y : y + size] = b"\1" * size
        out.append(match)
    return out


def _free_runs(used: list[int]) -> Iterator[tuple[int, int]]:
    at = None
    for k, flag in enumerate([*used, 1]):
        if flag and at is not None:
            yield at, k - at
            at = None
        elif not flag and at is None:
            at = k


def _stretches(
    gone: Block, came: Block, before: Words, after: Words, match: tuple[int, int, int]
) -> Iterator[tuple[int, int, int]]:
    """Byte ranges `(source start, start, length)` of a match, cut where blanks differ."""
    x, y, size = match
    i, j = before.starts[x], after.starts[y]
    for k in range(1, size):
        gap = before.ends[x + k - 1], before.starts[x + k]
        gap_new = after.ends[y + k - 1], after.starts[y + k]
        if gone.data[slice(*gap)] != came.data[slice(*gap_new)]:
            yield i, j, gap[0] - i
            i, j = gap[1], gap_new[1]
    end, end_new = before.ends[x + size - 1], after.ends[y + size - 1]
    tail = _line_end(gone, came, end, end_new)
    yield i, j, end - i + tail


def _line_end(gone: Block, came: Block, end: int, end_new: int) -> int:
    """How many equal blanks follow, up to and with the line feed; none without one."""
    for k in range(min(gone.end - end, came.end - end_new)):
        byte = gone.data[end + k]
        if byte != came.data[end_new + k] or byte not in BLANK:
            return 0
        if byte == 0x0A:
            return k + 1
    return 0


def renames(removed: Mapping[str, bytes], added: Mapping[str, bytes]) -> dict[str, str]:
    """Pair added paths with the removed ones that they continue: `{new: old}`."""
    out: dict[str, str] = {}
    left = sorted(removed, key=path_order)
    fresh = sorted(added, key=path_order)
    for path in fresh:
        same = next((p for p in left if removed[p] == added[path] and added[path]), None)
        if same is not None:
            out[path] = same
            left.remove(same)
    fresh = [path for path in fresh if path not in out]
    for _, new, old in sorted(_similar(removed, added, left, fresh), key=_by_share):
        if new not in out and old in left:
            out[new] = old
            left.remove(old)
    return out


def _by_share(pair: tuple[float, str, str]) -> tuple[float, bytes, bytes]:
    return pair[0], path_order(pair[1]), path_order(pair[2])


def _similar(
    removed: Mapping[str, bytes], added: Mapping[str, bytes], left: list[str], fresh: list[str]
) -> Iterator[tuple[float, str, str]]:
    """`(-share, new, old)` of the pairs that share at least half of their words."""
    old_words = {path: Counter(_WORD.findall(removed[path])) for path in left}
    for new in fresh if left else ():
        bag = Counter(_WORD.findall(added[new]))
        size = sum(len(word) * count for word, count in bag.items())
        for old, other in old_words.items():
            larger = max(size, sum(len(word) * count for word, count in other.items()))
            shared = sum(len(word) * min(count, other[word]) for word, count in bag.items())
            if larger and 2 * shared >= larger:
                yield -shared / larger, new, old
