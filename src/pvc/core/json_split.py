"""A JSON object read element by element, so that what two texts share is read once.

    {"model": …, "tools": [{…}, {…}], "messages": [{…}, {…}, {…}]}
                           └──┘  └──┘              └──┘  └──┘  └──┘   items: raw text and value

Two bodies of one session are the same text but for a few elements. The raw text of each element of
the first is kept; where the second has the same text at the same turn, the value is taken over
and nothing is scanned.

Rule 1: only an object whose text closes itself is taken over; a number could go on.
Rule 2: an item in which a reader must be told something (a repeated key, a long integer, maybe half
a surrogate pair) is scanned on both sides, so that both are noted.
Rule 3: this is the good path. On anything that it does not expect it gives null, and
`json_text.parse` reads the text anew and says what is wrong and where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pvc.core import json_text
from pvc.core.json_text import MAX_DEPTH, Value
from pvc.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Collection

_WHITE = (" ", "\t", "\n", "\r")
_SPACE = re.compile(r"[ \t\n\r]*")
_HIGH, _LOW = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F]"
_HALF = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")
_LONG = 4_000  # from here on walking the values costs less than counting brackets
_NEAR = 2  # an element that was put in or taken out shifts the rest by one


class Item(NamedTuple):
    """One element of a list: its text and its value; `plain` when there is nothing to note."""

    raw: str
    value: Value
    plain: bool


@dataclass(slots=True)
class Split:
    """An object, and the items of those of its lists that were asked for."""

    value: dict[str, Value] = field(default_factory=dict)
    items: dict[str, list[Item]] = field(default_factory=dict)
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


def may_hold_half_a_pair(text: str) -> bool:
    """Tell whether a walk over all strings is needed; true where an escape is hard to read."""
    if "\\u" not in text or ("\\ud" not in text and "\\uD" not in text):
        return False
    return "\\\\u" in text or _HALF.search(text) is not None


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
        self.made = Split()
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
            self.made.value[key] = self.elements(key)
        else:
            self.made.value[key] = self.value()

    def value(self) -> Value:
        start = self.space()
        value, self.at = self.scan(self.text, start)
        self.bound(value, start)
        self.made.halves |= may_hold_half_a_pair(self.text[start : self.at])
        return value

    def bound(self, value: Value, start: int) -> None:
        """Refuse what may be nested too deep: by its brackets, or level by level if it is long."""
        count, end = self.text.count, self.at
        if end - start > _LONG or (
            end - start > MAX_DEPTH
            and count("[", start, end) + count("{", start, end) > MAX_DEPTH - 2
        ):
            json_text.bound_depth(value, MAX_DEPTH - 2)

    def elements(self, key: str) -> Value:
        """Read a list; what `like` has at the same turn is taken over."""
        items: list[Item] = []
        known = self.like.items.get(key, []) if self.like else []
        text, turn = self.text, 0
        self.expect("[")
        while (char := self.peek()) != "]":
            if items:
                if char != ",":
                    raise _Unexpected
                self.at += 1
                self.space()
            held = self.held(known, turn)
            if held is None:
                items.append(self.item(self.at))
                continue
            item = known[held]
            items.append(item)
            self.at, turn = self.at + len(item.raw), held + 1
            # A run of elements that follow each other in both, which is nearly all of them.
            while turn < len(known) and text[self.at] == ",":
                ahead = self.at + 1 + (text[self.at + 1] == " ")
                item = known[turn]
                if not (item.plain and item.raw[0] == "{" and text.startswith(item.raw, ahead)):
                    break
                items.append(item)
                self.at, turn = ahead + len(item.raw), turn + 1
        self.expect("]")
        self.made.items[key] = items
        return [item.value for item in items]

    def item(self, start: int) -> Item:
        noted = len(self.made.duplicates) + len(self.made.long_integers)
        value, self.at = self.scan(self.text, start)
        self.bound(value, start)
        raw = self.text[start : self.at]
        halves = may_hold_half_a_pair(raw)
        self.made.halves |= halves
        plain = noted == len(self.made.duplicates) + len(self.made.long_integers)
        return Item(raw, value, plain and not halves)

    def held(self, known: list[Item], turn: int) -> int | None:
        """Find the known item whose text stands here."""
        for index in range(turn, min(turn + _NEAR, len(known))):
            raw, _, plain = known[index]
            if plain and raw[0] == "{" and self.text.startswith(raw, self.at):
                return index
        return None
