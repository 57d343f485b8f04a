"""Words of a text: characters that stand for them, where they are and what they weigh.

A token is a run of ASCII word bytes and two-byte letters, a three- or four-byte code point alone
(scripts without blanks are compared sign by sign), or any other byte alone.

Rule 1: a token becomes one character of a `str`, so that alignment, slicing and hashing of words
run in C. Characters below U+0100 are punctuation; from there on they are words.
Rule 2: blanks are no tokens. They are compared as bytes once the words around them are aligned.
Rule 3: any bytes have tokens; invalid UTF-8 falls apart into single bytes, never into an error.
Rule 4: places and weights are worked out when asked for: most tokens are never asked about.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

BLANK = b" \t\n\r\v\f"
FIRST_WORD = "\u0100"

SIZE_BITS = 32
"""A size counts words above these bits and their bytes below, so one sum holds both."""
SIZE_MASK = (1 << SIZE_BITS) - 1

_BY_NUMBERS = 256
"""From here on the first difference is found in one operation."""
_TO_SPACE = bytes.maketrans(BLANK, b" " * len(BLANK))
_ASCII = re.compile(rb"[0-9A-Za-z_]+|[^0-9A-Za-z_]")
_WIDE = re.compile(
    rb"(?:[0-9A-Za-z_]|[\xc3-\xdf][\x80-\xbf])+"
    rb"|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|\xc2[\x80-\xbf]|[^\s]"
)
_DIFFERENT = re.compile(rb"[^\0]+")
_IS_WORD = bytes(
    byte in b"_" or chr(byte).isalnum() if byte < 0x80 else byte < 0xE0 for byte in range(256)
)


class Lexicon(dict[bytes, str]):
    """Spells a chunk between blanks in characters, one a token; numbers grow by first sight.

    Sharing one among many comparisons saves spelling the same chunks again; it changes no answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        """What each token adds to a size; punctuation adds nothing."""
        self._chars: dict[bytes, str] = {}
        self._offsets: dict[bytes, list[int]] = {}

    def __missing__(self, chunk: bytes) -> str:
        if chunk.isalnum():
            text = self._char(chunk)
        else:
            text = "".join([self._char(token) for token in _pattern(chunk).findall(chunk)])
        self[chunk] = text
        return text

    def offsets(self, chunk: bytes) -> list[int]:
        """Find where the tokens of a chunk start, and where the last one ends."""
        found = self._offsets.get(chunk)
        if found is None:
            sizes = map(len, _pattern(chunk).findall(chunk))
            found = self._offsets[chunk] = list(accumulate(sizes, initial=0))
        return found

    def size(self, chars: str) -> int:
        """Add up the sizes of some tokens; see `SIZE_BITS`."""
        return sum(map(self.sizes.__getitem__, chars))

    def _char(self, token: bytes) -> str:
        char = self._chars.get(token)
        if char is None:
            if len(token) == 1 and not _IS_WORD[token[0]]:
                char = chr(token[0])
                self.sizes[char] = 0
            else:
                char = chr(0x100 + len(self._chars))
                self.sizes[char] = 1 << SIZE_BITS | len(token)
            self._chars[token] = char
        return char


def _pattern(part: bytes) -> re.Pattern[bytes]:
    return _ASCII if part.isascii() else _WIDE


class Words:
    """The tokens of `data[start:end]`, one character of `chars` each."""

    __slots__ = ("_chunks", "_firsts", "_lexicon", "_places", "_start", "_sums", "_texts", "chars")

    def __init__(self, data: bytes, start: int, end: int, lexicon: Lexicon) -> None:
        self._chunks = data[start:end].translate(_TO_SPACE).split(b" ")
        self._texts = list(map(lexicon.__getitem__, self._chunks))
        self._start = start
        self._lexicon = lexicon
        self.chars = "".join(self._texts)
        self._firsts: list[int] = []  # the number of each chunk's first token
        self._places: list[int] = []  # where each chunk starts, without the blanks between them
        self._sums: list[int] = []

    def size(self, first: int, last: int) -> int:
        """Add up the sizes of the tokens from `first` to before `last`; for a few of them."""
        return self._lexicon.size(self.chars[first:last])

    def sums(self) -> list[int]:
        """Add up the sizes of all tokens before each."""
        if not self._sums:
            sizes = map(self._lexicon.sizes.__getitem__, self.chars)
            self._sums = list(accumulate(sizes, initial=0))
        return self._sums

    def span(self, token: int) -> tuple[int, int]:
        """Find where a token starts and ends."""
        if not self._firsts:
            self._firsts = list(accumulate(map(len, self._texts), initial=0))
            self._places = list(accumulate(map(len, self._chunks), initial=self._start))
        index = bisect_right(self._firsts, token) - 1
        place, chunk = self._places[index] + index, self._chunks[index]
        if len(self._texts[index]) == 1:
            return place, place + len(chunk)
        offsets = self._lexicon.offsets(chunk)
        nth = token - self._firsts[index]
        return place + offsets[nth], place + offsets[nth + 1]


def common_prefix(a: bytes, b: bytes, i: int, j: int, most: int, step: int = 64) -> int:
    """How many bytes of `a[i:]` and `b[j:]` are equal, at most `most`."""
    low = 0
    while low < most:
        high = min(low + step, most)
        if not b.startswith(a[i + low : i + high], j + low):
            break
        low, step = high, step * 4
    else:
        return most
    while high - low > _BY_NUMBERS:
        middle = (low + high) // 2
        if b.startswith(a[i + low : i + middle], j + low):
            low = middle
        else:
            high = middle
    return low + _lowest_difference(a[i + low : i + high], b[j + low : j + high], "little")


def common_suffix(a: bytes, b: bytes, i: int, j: int, most: int, step: int = 64) -> int:
    """How many bytes before `a[i]` and `b[j]` are equal, at most `most`."""
    low = 0
    while low < most:
        high = min(low + step, most)
        if not b.startswith(a[i - high : i - low], j - high):
            break
        low, step = high, step * 4
    else:
        return most
    while high - low > _BY_NUMBERS:
        middle = (low + high) // 2
        if b.startswith(a[i - middle : i - low], j - middle):
            low = middle
        else:
            high = middle
    return low + _lowest_difference(a[i - high : i - low], b[j - high : j - low], "big")


def _lowest_difference(a: bytes, b: bytes, order: Literal["little", "big"]) -> int:
    """Which byte is the first that differs, read as numbers: one operation instead of a search."""
    differ = int.from_bytes(a, order) ^ int.from_bytes(b, order)
    return ((differ & -differ).bit_length() - 1) >> 3


def blank_differences(
    old: bytes, new: bytes, old_range: tuple[int, int], new_range: tuple[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Give the gaps between words that differ in two ranges of the same words."""
    (i, end), (j, end_new) = old_range, new_range
    a, b = old[i:end], new[j:end_new]
    if is_blank_for_blank(a, b):
        yield from _swapped_blanks(a, b, i, j)
        return
    start = i
    while True:
        same = common_prefix(old, new, i, j, min(end - i, end_new - j))
        i, j = i + same, j + same
        if i == end and j == end_new:
            return
        while i > start and old[i - 1] in BLANK:
            i, j = i - 1, j - 1
        i2, j2 = _after_blanks(old, i, end), _after_blanks(new, j, end_new)
        yield i, i2, j, j2
        start, i, j = i2, i2, j2


def is_blank_for_blank(a: bytes, b: bytes) -> bool:
    """Whether two texts differ in nothing but which blank stands in a place.

    A reflow mostly turns blanks into line breaks and back.
    """
    return len(a) == len(b) and a.translate(_TO_SPACE) == b.translate(_TO_SPACE)


def _swapped_blanks(a: bytes, b: bytes, i: int, j: int) -> list[tuple[int, int, int, int]]:
    """Give the gaps that differ of two texts that are blank for blank; `i`, `j` are added.

    All that differs is found at once, as the bits that differ of two numbers.
    """
    differ = int.from_bytes(a, "little") ^ int.from_bytes(b, "little")
    out = []
    end = 0
    for found in _DIFFERENT.finditer(differ.to_bytes(len(a), "little")):
        start = found.start()
        if start < end:  # another byte of the same gap
            continue
        while start and a[start - 1] in BLANK:
            start -= 1
        end = _after_blanks(a, found.end(), len(a))
        out.append((i + start, i + end, j + start, j + end))
    return out


def _after_blanks(data: bytes, at: int, end: int) -> int:
    while at < end and data[at] in BLANK:
        at += 1
    return at


def is_boundary(data: bytes, at: int) -> bool:
    """Whether a token may end at `at`: not inside a word, not inside a code point."""
    if not 0 < at < len(data):
        return True
    after = data[at]
    if 0x80 <= after < 0xC0:
        return False
    return not (_IS_WORD[after] and _IS_WORD[data[at - 1]])


def cuts_code_point(data: bytes, at: int) -> bool:
    """Whether `at` lies inside a code point (or among stray continuation bytes)."""
    return 0 < at < len(data) and 0x80 <= data[at] < 0xC0


def is_one_word(part: bytes) -> bool:
    """Whether `part` is exactly one word: no blank, no punctuation, no second sign."""
    match = _WIDE.match(part)
    return match is not None and match.end() == len(part) and all(_IS_WORD[b] for b in part)
