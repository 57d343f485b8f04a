"""The lines of a file under `check`: numbers, columns and texts, for any number of findings. Pure.

Rule 1: a file is gone through once, whatever the number of findings in it: a text of sixteen
megabytes can hold a million of them, and they may all stand in one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from pvc.model.digest import Digest

_FEED = re.compile(rb"\n")
_CONTINUED = bytes(range(0x80, 0xC0))
_STEP = 4096
LONG_LINE_BYTES = 1 << 16
"""A longer line stands in a fingerprint by its digest."""


class Lines:
    """The lines of one file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts = [0, *(found.end() for found in _FEED.finditer(data))]
        self._texts: dict[int, bytes] = {}
        self._characters: dict[int, list[int]] = {}

    def number(self, at: int) -> int:
        """Give the number of the line that a byte is in, from 1."""
        return bisect_right(self._starts, at)

    def start(self, number: int) -> int:
        """Give the first byte of a line; the end of the file where there is no such line."""
        if number > len(self._starts):
            return len(self.data)
        return self._starts[max(number, 1) - 1]

    def end(self, at: int) -> int:
        """Give the end of the line that a byte is in."""
        number = self.number(at)
        return self._starts[number] - 1 if number < len(self._starts) else len(self.data)

    def column(self, number: int, at: int) -> tuple[int, int]:
        """Give the column of a byte of a line, in bytes and in code points, both from 1."""
        start = self.start(number)
        if at - start <= _STEP:
            return at - start + 1, len(self.data[start:at].decode(errors="replace")) + 1
        steps = self._characters.setdefault(number, [0])
        while (len(steps)) * _STEP <= at - start:
            step = start + (len(steps) - 1) * _STEP
            steps.append(steps[-1] + _characters(self.data[step : step + _STEP]))
        whole = (at - start) // _STEP
        rest = self.data[start + whole * _STEP : at]
        return at - start + 1, steps[whole] + _characters(rest) + 1

    def text(self, number: int) -> bytes:
        """Give a line's text for a fingerprint, without blanks around it."""
        if number not in self._texts:
            start = self.start(number)
            text = self.data[start : self.end(start)].strip()
            is_long = len(text) > LONG_LINE_BYTES
            self._texts[number] = str(Digest.of(text)).encode() if is_long else text
        return self._texts[number]


def _characters(data: bytes) -> int:
    """Count code points, wherever the bytes begin and end."""
    return len(data.translate(None, _CONTINUED))
