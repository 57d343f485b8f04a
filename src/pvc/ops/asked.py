"""What a blame is asked: which part of a text, and what besides who wrote it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.blame import Granularity, Options
from pvc.core.moment import MICROS, moment_of
from pvc.errors import UsageError

if TYPE_CHECKING:
    from pvc.model.names import CommitId


@dataclass(frozen=True, slots=True)
class Asked:
    """Bytes (half-open), lines as `-L` names them, or a section; at most one of the three.

    What was written before `since` is marked as old; with `first`, who had it before.
    """

    byte_range: tuple[int, int] | None = None
    lines: str | None = None
    section: str | None = None
    since: str | None = None
    first: bool = False

    def oldest(self) -> int | None:
        """Read `since`, in seconds since 1970; raises `UsageError` when it is not a date."""
        micros = micros_of(self.since, "--since")
        return None if micros is None else micros // MICROS

    def range_of(self, data: bytes) -> tuple[int, int]:
        """Give the bytes that are asked about; raises `UsageError` when they lie outside."""
        if self.byte_range:
            start, end = self.byte_range
            if not 0 <= start < end <= len(data):
                raise UsageError(f"bytes {start}..{end} of {len(data)}")
            return start, end
        return lines_range(data, self.lines) if self.lines else (0, len(data))


def options_of(
    *, moves: bool, granularity: str, ignore_space: bool, ignored: frozenset[CommitId]
) -> Options:
    """Take the options of the differ from plain values; `granularity` is `word` or `byte`."""
    return Options(moves, Granularity(granularity), ignore_space, ignored)


def lines_range(data: bytes, text: str) -> tuple[int, int]:
    """Read `N,M`, `N,+K`, `N,-K`, `N`, `N,` or `,M` as bytes; lines count from 1, as in git."""
    starts = [0]
    while (at := data.find(b"\n", starts[-1])) >= 0 and at + 1 < len(data):
        starts.append(at + 1)
    left, _, right = text.partition(",")
    first = _line(left, text) if left else 1
    last = len(starts)
    if right:
        last = _line(right.lstrip("+-"), text)
        if right[0] == "+":
            last = first + last - 1
        elif right[0] == "-":
            first, last = max(first - last + 1, 1), first
    if left and right:
        first, last = min(first, last), max(first, last)
    if first > len(starts) or not text.strip(","):
        raise UsageError(f"line {first} of a text of {len(starts)} lines", at=f"-L {text}")
    return starts[first - 1], starts[last] if last < len(starts) else len(data)


def _line(word: str, text: str) -> int:
    if not word.isdecimal() or not int(word):
        raise UsageError(f"`-L {text}` names no lines", hint="-L 10,20 or -L 10,+5")
    return int(word)


def now_us() -> int:
    """Give the time as records count it: microseconds since 1970."""
    return time.time_ns() // 1000


def micros_of(text: str | None, option: str) -> int | None:
    """Read the date that an option was given, as every option reads it; None without one."""
    return None if text is None else moment_of(text, now_us(), option)
