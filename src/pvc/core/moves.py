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
from bisect import bisect_right
from collections import Counter
from heapq import heapify, heappop, heappush
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.annotation import path_order
from pvc.core.words import (
    BLANK,
    SIZE_MASK,
    Lexicon,
    Words,
    blank_differences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SHORTEST_BLOCK = 48
_SHORTEST_LINE = 24
_SHORTEST_MATCH = 40
_GRAM = 5
_MOST_BYTES = 1 << 20
_MOST_PLACES = 8
_STOPS = (b"! ", b"? ", "。".encode())
_FREE = re.compile(rb"\0+")


class Block(NamedTuple):
    """`data[start:end]` of the file at `path`, inserted or deleted as one."""

    path: str
    data: bytes
    start: int
    end: int


class Move(NamedTuple):
    """`length` bytes that stood at `source_start` of `source` and now at `start` of `path`."""

    path: str
    start: int
    source: str
    source_start: int
    length: int


Match = tuple[int, int, int, int]
"""`(-weight, new token, old token, count)`: sorts best first."""


def moves(
    deleted: Sequence[Block], inserted: Sequence[Block], lexicon: Lexicon | None = None
) -> list[Move]:
    """Match inserted blocks with deleted ones; ascending by new block and start."""
    gone = [b for b in deleted if b.end - b.start >= SHORTEST_BLOCK]
    came = [b for b in inserted if b.end - b.start >= SHORTEST_BLOCK]
    if not gone or not came or not _may_match(gone, came):
        return []
    lexicon = Lexicon() if lexicon is None else lexicon
    before, after = _Text(gone, lexicon, "\t"), _Text(came, lexicon, "\n")
    chosen = sorted(_contest(_candidates(before, after), before, after), key=lambda m: m[1])
    return [move for _, y, x, count in chosen for move in _stretches(before, after, x, y, count)]


class _Text:
    """Blocks laid end to end as one text of words, with a blank (which no word is) after each."""

    def __init__(self, blocks: list[Block], lexicon: Lexicon, separator: str) -> None:
        self.blocks = blocks
        self._words = [Words(b.data, b.start, b.end, lexicon) for b in blocks]
        self.chars = "".join([words.chars + separator for words in self._words])
        lengths = (len(words.chars) + 1 for words in self._words)
        self._firsts = list(accumulate(lengths, initial=0))
        self._size = lexicon.size

    def weight(self, first: int, count: int) -> int:
        """Bytes of the words among `count` tokens."""
        return self._size(self.chars[first : first + count]) & SIZE_MASK

    def place(self, token: int) -> tuple[Block, int, int]:
        """Find the block of a token, and where it starts and ends."""
        index = bisect_right(self._firsts, token) - 1
        return self.blocks[index], *self._words[index].span(token - self._firsts[index])


def _may_match(gone: list[Block], came: list[Block]) -> bool:
    """Whether a whole line or sentence stands on both sides, and the work is bounded."""
    if sum(b.end - b.start for b in (*gone, *came)) > _MOST_BYTES:
        return False
    sentences = {part for block in gone for part in _sentences(block)}
    return any(part in sentences for block in came for part in _sentences(block))


def _sentences(block: Block) -> Iterator[bytes]:
    """Give the lines of some length, and the sentences however they are wrapped."""
    part = block.data[block.start : block.end]
    flowing = b" ".join(part.split())
    for mark in _STOPS:
        flowing = flowing.replace(mark, b". ")
    for text in (*part.split(b"\n"), *flowing.split(b". ")):
        if len(text) >= _SHORTEST_LINE:
            yield text.strip(BLANK)


def _candidates(before: _Text, after: _Text) -> list[Match]:
    """Find every maximal match of some weight that holds five words which are not everywhere."""
    a, b = before.chars, after.chars
    index: dict[str, list[int]] = {}
    for x in range(len(a) - _GRAM + 1):
        index.setdefault(a[x : x + _GRAM], []).append(x)
    out: list[Match] = []
    ends: dict[int, int] = {}  # how far each diagonal is matched in the new text
    for y in range(len(b) - _GRAM + 1):
        places = index.get(b[y : y + _GRAM], ())
        for x in places if len(places) <= _MOST_PLACES else ():
            if ends.get(x - y, 0) <= y:
                back, ahead = _reach(a, b, x, y)
                ends[x - y] = y + ahead
                out += _weighed(after, y - back, x - back, back + ahead)
    return out


def _reach(a: str, b: str, x: int, y: int) -> tuple[int, int]:
    """How many tokens before and from `a[x]` and `b[y]` on are equal; separators never are."""
    back, ahead = 0, _GRAM
    while x > back and y > back and a[x - back - 1] == b[y - back - 1]:
        back += 1
    while a[x + ahead] == b[y + ahead]:
        ahead += 1
    return back, ahead


def _weighed(after: _Text, y: int, x: int, size: int) -> list[Match]:
    """Weigh the match; nothing when it is too light to be told from chance."""
    weight = after.weight(y, size)
    return [(-weight, y, x, size)] if weight >= _SHORTEST_MATCH else []


def _contest(candidates: list[Match], before: _Text, after: _Text) -> list[Match]:
    """Serve the heaviest first; a loser comes again with what is left of it."""
    taken_old, taken_new = bytearray(len(before.chars)), bytearray(len(after.chars))
    heap = candidates
    heapify(heap)
    out: list[Match] = []
    while heap:
        match = heappop(heap)
        _, y, x, size = match
        used = bytes(map(or_, taken_old[x : x + size], taken_new[y : y + size]))
        if any(used):
            for free in _FREE.finditer(used):
                at, end = free.span()
                for rest in _weighed(after, y + at, x + at, end - at):
                    heappush(heap, rest)
            continue
        taken_old[x : x + size] = taken_new[y : y + size] = b"\1" * size
        out.append(match)
    return out


def _stretches(before: _Text, after: _Text, x: int, y: int, count: int) -> Iterator[Move]:
    """Give the moves of a match, cut where the blanks between two words differ."""
    (gone, i, _), (came, j, _) = before.place(x), after.place(y)
    (_, _, end), (_, _, end_new) = before.place(x + count - 1), after.place(y + count - 1)
    for i1, i2, _, j2 in blank_differences(gone.data, came.data, (i, end), (j, end_new)):
        yield Move(came.path, j, gone.path, i, i1 - i)
        i, j = i2, j2
    end += _line_end(gone, came, end, end_new)
    yield Move(came.path, j, gone.path, i, end - i)


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
    bags = {path: Counter(removed[path].split()) for path in left}
    sizes = {path: _word_bytes(bag) for path, bag in bags.items()}
    for new in fresh if left else ():
        bag = Counter(added[new].split())
        size = _word_bytes(bag)
        for old, other in bags.items():
            larger = max(size, sizes[old])
            if larger and 2 * min(size, sizes[old]) >= larger:
                shared = _word_bytes(bag & other)
                if 2 * shared >= larger:
                    yield -shared / larger, new, old


def _word_bytes(bag: Counter[bytes]) -> int:
    return sum(len(word) * count for word, count in bag.items())
