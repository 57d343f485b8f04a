"""A list of tool definitions with the places of their parts, in any provider's shape or MCP's.

Rule 1: a tool has a name and may have a schema; where they stand is the business of its shape:
`input_schema`, `parameters`, `inputSchema`, or inside `function`.
Rule 2: places are bytes of the file as it was given, so the text is walked, not only parsed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import TYPE_CHECKING

from pvc.core import json_text
from pvc.errors import DecodeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.json_text import Value

_SCHEMAS = ("input_schema", "parameters", "inputSchema")
_STEP = 4096
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Part:
    """A value of the file: bytes `start` to `end` (half-open)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Required:
    """A `required` list of a schema, beside the names of that schema's `properties`."""

    names: tuple[str, ...]
    properties: tuple[str, ...]
    part: Part


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `arguments` are the names of properties at every depth of its schema."""

    name: str
    part: Part
    arguments: frozenset[str]
    required: tuple[Required, ...]


@dataclass(frozen=True, slots=True)
class ToolList:
    """All tools of a request, in their order."""

    path: str
    tools: tuple[Tool, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(tool.name for tool in self.tools)

    @property
    def by_name(self) -> dict[str, Tool]:
        """Each name's first tool."""
        return {tool.name: tool for tool in reversed(self.tools)}


def read_tool_list(data: bytes, path: str) -> ToolList:
    """Read a JSON list of tools, or an object that holds one under `tools`.

    Raises `DecodeError` where the bytes are no JSON, `UsageError` where they are no tools.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"byte {error.start} is no UTF-8", at=path, hint="JSON is UTF-8"
        ) from None
    value = json_text.parse(text, at=path)
    pointer: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        value, pointer = value.get("tools"), ("tools",)
    if not isinstance(value, list):
        raise UsageError("tools are a JSON list", at=path, hint="or an object with a list `tools`")
    places = _Places(text)
    return ToolList(
        path, tuple(_tool(item, places, (*pointer, number)) for number, item in enumerate(value))
    )


def _tool(item: Value, places: _Places, pointer: tuple[str | int, ...]) -> Tool:
    table = item if isinstance(item, dict) else {}
    inner = table.get("function")
    if isinstance(inner, dict):
        table, pointer = inner, (*pointer, "function")
    name = table.get("name")
    part = places.part((*pointer, "name") if "name" in table else pointer)
    key = next((key for key in _SCHEMAS if isinstance(table.get(key), dict)), None)
    schema = table[key] if key else None
    at = (*pointer, key) if key else pointer
    return Tool(
        str(name) if type(name) is str else "",
        part,
        frozenset(_properties(schema)),
        tuple(_required(schema, places, at)),
    )


def _properties(schema: Value) -> Iterator[str]:
    """Give the names of properties at every depth."""
    if isinstance(schema, dict):
        own = schema.get("properties")
        yield from own if isinstance(own, dict) else ()
        for child in schema.values():
            yield from _properties(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _properties(child)


def _required(schema: Value, places: _Places, pointer: tuple[str | int, ...]) -> Iterator[Required]:
    if isinstance(schema, list):
        for number, child in enumerate(schema):
            yield from _required(child, places, (*pointer, number))
    if not isinstance(schema, dict):
        return
    names, own = schema.get("required"), schema.get("properties")
    if isinstance(names, list) and isinstance(own, dict):
        texts = tuple(str(name) for name in names if type(name) is str)
        yield Required(texts, tuple(own), places.part((*pointer, "required")))
    for key, child in schema.items():
        yield from _required(child, places, (*pointer, key))


class _Places:
    """Finds where a value stands by walking the text from its beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks: list[int] | None = None if text.isascii() else [0]
        self._members: dict[int, dict[str, int]] = {}
        self._items: dict[int, list[int]] = {}
        self._decode = json.JSONDecoder(strict=False).raw_decode

    def part(self, pointer: tuple[str | int, ...]) -> Part:
        """Give the bytes of the value at `pointer`, which is there."""
        at = self._skip(0)
        for step in pointer:
            at = self._member(at, step) if isinstance(step, str) else self._item(at, step)
        return Part(self._bytes(at), self._bytes(self._decode(self._text, at)[1]))

    def _member(self, at: int, name: str) -> int:
        """Find a member of the object at `at`, whose members are gone through once."""
        if at not in self._members:
            members = self._members[at] = {}
            here = self._skip(at + 1)
            while self._text[here] != "}":
                key, here = scanstring(self._text, here + 1, False)
                here = self._skip(self._skip(here) + 1)
                members.setdefault(key, here)
                here = self._next(here)
        return self._members[at][name]

    def _item(self, at: int, number: int) -> int:
        """Find an item of the list at `at`, whose items are gone through once."""
        if at not in self._items:
            items = self._items[at] = []
            here = self._skip(at + 1)
            while self._text[here] != "]":
                items.append(here)
                here = self._next(here)
        return self._items[at][number]

    def _next(self, at: int) -> int:
        """Go past a value and the comma behind it, to what follows or to the closing bracket."""
        at = self._skip(self._decode(self._text, at)[1])
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _bytes(self, at: int) -> int:
        if self._marks is None:
            return at
        marks = self._marks
        while len(marks) * _STEP <= at:
            start = (len(marks) - 1) * _STEP
            marks.append(marks[-1] + len(self._text[start : start + _STEP].encode()))
        whole = at // _STEP
        return marks[whole] + len(self._text[whole * _STEP : at].encode())
