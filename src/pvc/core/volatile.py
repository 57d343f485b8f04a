"""What is true only now, found in a text that is to last as long as a session. Pure.

Rule 1: a date counts when it is today's, yesterday's or tomorrow's: the date of a release is a
fact, that of today is a clock. Whoever asks says what today is.
Rule 2: of values of the machine (a folder, a home) the caller gives name and text; one counts where
it stands as a whole: `/srv/app` is not in `/srv/apple`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pvc.core import moments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORTEST = 4
"""Characters of a value that can be told from an accident."""


@dataclass(frozen=True, slots=True)
class Volatile:
    """A text that will be wrong: what it is, and where it stands (line and column from 1)."""

    name: str
    text: str
    line: int
    column: int


def find(text: str, today: date, values: Mapping[str, str]) -> tuple[Volatile, ...]:
    """Find what is true only now, in order of place."""
    found: list[Volatile] = []
    for number, line in enumerate(text.split("\n"), 1):
        found += (Volatile("clock", line[a:b], number, a + 1) for a, b in _clocks(line, today))
        for name, value in values.items():
            found += (Volatile(name, value, number, at + 1) for at in _places(line, value))
    return tuple(sorted(found, key=lambda one: (one.line, one.column)))


def _clocks(line: str, today: date) -> Iterator[tuple[int, int]]:
    near = {today + timedelta(days=days) for days in (-1, 0, 1)}
    known = {(day.year, day.month, day.day) for day in near}
    for start, end in moments.every(line):
        dates = moments.read(line[start:end]).dates
        if any((year or today.year, month, day) in known for year, month, day in dates):
            yield start, end


def _places(line: str, value: str) -> Iterator[int]:
    if len(value) >= SHORTEST:
        for match in re.finditer(rf"(?<![\w./-]){re.escape(value)}(?![\w-])", line):
            yield match.start()
