"""A JSON object read element by element, so that what two texts share is read once.

    {"model": …, "tools": [{…}, {…}], "messages": [{…}, {…}, {…}]}
                           └──┘  └──┘              └──┘  └──┘  └──┘   elements: place and value

Two bodies of one session are the same text but for a few elements. Where each element of the first
stands is kept; where the second has the same text at the same turn, the bytes are compared once,
the values of the whole run are taken over, and nothing is scanned.

Rule 1: a run ends with an object, whose text closes itself; a number could go on.
Rule 2: an element in which a reader must be told something (a repeated key, a long integer, maybe
half a surrogate pair) is scanned on both sides, so that both are noted.
Rule 3: this is the good path. On anything that it does not expect it gives null, and
`json_text.parse` reads the text anew and says what is wrong and where.
Rule 4: `find` leaps from one character to the next where a search for two of them, or a count,
steps. Rare characters are looked for that way, and only where they are frequent another.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.core import json_text
from pvc.core.divergence import common_prefix
from pvc.core.json_text import MAX_DEPTH, Value
from pvc.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Collection

_WHITE = (" ", "\t", "\n", "\r")
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HIGH, _LOW = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F]"
_HALF = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")
_SPARSE = 200  # characters an escape, from which on leaping costs less than stepping
_NEAR = 2  # an element that was put in or taken out shifts the rest by one


@dataclass(slots=True)
class Elements:
    """A list: its values, where each stands in the text, and which are those of rule 2."""

    values: list[Value] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    noted: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Split:
    """An object, and the elements of those of its lists that were asked for."""

    text: str = ""
    value: dict[str, Value] = field(default_factory=dict)
    lists: dict[str, Elements] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)
    long_integers: list[str] = field(default_factory=list)
    halves: bool = False
    """Whether an escape may be half of a surrogate pair; a walk over the value tells."""


def split(text: str, lists: Collection[str], like: Split | None = None) -> Split | None:
    """Read an object; null when it is none, or when something in it needs `json_text.parse`."""
    try:
        return _Reader(text, lists, like).read()
    except (*_UNREADABLE, *json_text.SIGNALS):
        return None


def may_hold_half_a_pair(text: str, start: int, end: int) -> bool:
    """Tell whether a walk over all strings is needed; true where an escape is hard to read."""
    at, seen = text.find("\\", start, end), 0
    while at >= 0 and at - start >= seen * _SPARSE:
        if text[at + 1] == "u" and text[at + 2] in "dD":
            break
        seen += 1
        at = text.find("\\", at + 2, end)
    if at < 0 or not _SURROGATE.search(text, at, end):
        return False
    part = text[start:end]
    return "\\\\u" in part or _HALF.search(part) is not None


class _Unexpected(Exception):  # noqa: N818 - a signal within this module, never seen outside
    """The text has not the plain form that is read here."""


_UNREADABLE = (
    *(StopIteration, IndexError, ValueError, RecursionError, SystemError),
    *(DecodeError, _Unexpected),
)


class _Reader:
    """A place in one text."""

    def __init__(self, text: str, lists: Collection[str], like: Split | None) -> None:
        self.text, self.lists, self.like = text, lists, like
        self.made = Split(text)
        self.scanned: list[Value] = []
        self.scan = json_text.scanner(self.made.duplicates, self.made.long_integers)
        self.at = 0

    def read(self) -> Split:
        self.expect("{")
        if self.peek() != "}":
            self.member()
            while self.peek() == ",":
                self.expect(",")
                self.member()
        self.expect("}")
        if self.space() != len(self.text):
            raise _Unexpected
        json_text.bound_depth(self.scanned, MAX_DEPTH - 1)
        return self.made

    def space(self) -> int:
        if self.text[self.at : self.at + 1] in _WHITE:
            match = _SPACE.match(self.text, self.at)
            self.at = match.end() if match else self.at
        return self.at

    def peek(self) -> str:
        return self.text[self.space()]

    def expect(self, char: str) -> None:
        if self.peek() != char:
            raise _Unexpected
        self.at += 1

    def member(self) -> None:
        self.expect('"')
        key, self.at = json_text.scan_string(self.text, self.at)
        if key in self.made.value or not key.isascii():
            raise _Unexpected
        self.expect(":")
        if self.peek() == "[" and key in self.lists:
            self.at += 1
            self.made.value[key] = self.elements(key).values
            return
        start = self.at
        value, self.at = self.scan(self.text, start)
        self.scanned.append(value)
        self.made.halves |= may_hold_half_a_pair(self.text, start, self.at)
        self.made.value[key] = value

    def elements(self, key: str) -> Elements:
        """Read a list behind its bracket; what `like` has at the same turn is taken over."""
        made = self.made.lists[key] = Elements()
        known = self.like.lists.get(key) if self.like else None
        turn = 0
        more = self.peek() != "]"
        while more:
            self.space()
            after = self.taken(made, known, turn) if known else turn
            if after == turn:
                self.run(made, alone=known is not None)
            turn = after
            more = self.peek() == ","
            self.at += more
        self.expect("]")
        return made

    def run(self, made: Elements, *, alone: bool) -> None:
        """Scan one element of a list, or as many as follow each other in the plainest form."""
        text, scan, at, first = self.text, self.scan, self.at, len(made.values)
        duplicates, long_integers = self.made.duplicates, self.made.long_integers
        while True:
            before = len(duplicates) + len(long_integers)
            value, end = scan(text, at)
            if len(duplicates) + len(long_integers) != before:
                made.noted.append(len(made.values))
            made.values.append(value)
            made.starts.append(at)
            made.ends.append(end)
            at = end + 2 if text.startswith(", {", end) else end + 1
            if alone or not text.startswith(",", end) or text[at] != "{":
                break
        self.at = end
        self.scanned += made.values[first:]
        if may_hold_half_a_pair(text, made.starts[first], end):
            self.made.halves = True
            places = zip(made.starts[first:], made.ends[first:], strict=True)
            halves = [may_hold_half_a_pair(text, *place) for place in places]
            made.noted += [first + index for index, half in enumerate(halves) if half]
            made.noted.sort()

    def taken(self, made: Elements, known: Elements, turn: int) -> int:
        """Take over the run that stands here and, near that turn, there; gives the turn after."""
        text, other, at = self.text, self.like.text if self.like else "", self.at
        for first in range(turn, min(turn + _NEAR, len(known.starts))):
            start, end = known.starts[first], known.ends[first]
            if not text.startswith(other[start:end], at):
                continue
            same = common_prefix(other, text, start, at)
            after = bisect_right(known.ends, start + same)
            if (noted := bisect_left(known.noted, first)) < len(known.noted):
                after = min(after, known.noted[noted])
            while after > first and other[known.ends[after - 1] - 1] != "}":
                after -= 1
            if after == first:
                continue
            shift = at - start
            made.values += known.values[first:after]
            made.starts += [place + shift for place in known.starts[first:after]]
            made.ends += [place + shift for place in known.ends[first:after]]
            self.at = made.ends[-1]
            return after
        return turn
