"""Words of a text: where they start, what they weigh, and characters that stand for them.

A token is a run of ASCII word bytes and two-byte letters, a three- or four-byte code point alone
(scripts without blanks are compared sign by sign), or any other byte alone.

Rule 1: a token becomes one character of a `str`, so that alignment, slicing and hashing of words
run in C. Characters below U+0100 are punctuation or stray bytes; from there on they are words.
Rule 2: blanks are no tokens. They are compared as bytes once the words around them are aligned.
Rule 3: any bytes have tokens; invalid UTF-8 falls apart into single bytes, never into an error.
"""

from __future__ import annotations

import re

BLANK = b" \t\n\r\v\f"
FIRST_WORD = "\u0100"

_ASCII = re.compile(rb"[0-9A-Za-z_]+|[^\s0-9A-Za-z_]")
_WIDE = re.compile(
    rb"(?:[0-9A-Za-z_]|[\xc3-\xdf][\x80-\xbf])+"
    rb"|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|\xc2[\x80-\xbf]|\S"
)
_IS_WORD = bytes(
    byte in b"_" or chr(byte).isalnum() if byte < 0x80 else byte < 0xE0 for byte in range(256)
)


class Interner(dict[bytes, str]):
    """Gives each token its character, in order of first sight."""

    def __missing__(self, token: bytes) -> str:
        single = len(token) == 1 and not _IS_WORD[token[0]]
        char = self[token] = chr(token[0] if single else 0x100 + len(self))
        return char


class Words:
    """The tokens of `data[start:end]`: `chars[k]` stands at `starts[k]` to `ends[k]`."""

    __slots__ = ("chars", "ends", "starts")

    def __init__(self, data: bytes, start: int, end: int, intern: Interner) -> None:
        part = data[start:end]
        pattern = _ASCII if part.isascii() else _WIDE
        spans = [match.span() for match in pattern.finditer(part)]
        self.chars = "".join([intern[part[a:b]] for a, b in spans])
        self.starts = [start + a for a, _ in spans]
        self.ends = [start + b for _, b in spans]

    def weight(self, first: int, last: int) -> int:
        """Bytes of the words among tokens `first` to `last`."""
        chars, starts, ends = self.chars, self.starts, self.ends
        return sum(ends[k] - starts[k] for k in range(first, last) if chars[k] >= FIRST_WORD)

    def count(self, first: int, last: int) -> int:
        """How many of the tokens `first` to `last` are words."""
        return sum(char >= FIRST_WORD for char in self.chars[first:last])


def common_prefix(a: bytes, b: bytes, i: int, j: int, most: int) -> int:
    """How many bytes of `a[i:]` and `b[j:]` are equal, at most `most`."""
    low, step = 0, 64
    while low < most:
        high = min(low + step, most)
        if a[i + low : i + high] != b[j + low : j + high]:
            break
        low, step = high, step * 4
    else:
        return most
    while high - low > 1:
        middle = (low + high) // 2
        if a[i + low : i + middle] == b[j + low : j + middle]:
            low = middle
        else:
            high = middle
    return low


def common_suffix(a: bytes, b: bytes, i: int, j: int, most: int) -> int:
    """How many bytes before `a[i]` and `b[j]` are equal, at most `most`."""
    low, step = 0, 64
    while low < most:
        high = min(low + step, most)
        if a[i - high : i - low] != b[j - high : j - low]:
            break
        low, step = high, step * 4
    else:
        return most
    while high - low > 1:
        middle = (low + high) // 2
        if a[i - middle : i - low] == b[j - middle : j - low]:
            low = middle
        else:
            high = middle
    return low


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
