"""Read a request body of a known shape into leaves, elements, markers and settings.

What is common to all shapes stands here: decoding with notes, the collector that numbers leaves
and elements, the choice of the shape, and the dated facts. Which leaf comes when is the business of
`anthropic` and `openai`; tools and system go through `core.stream`, so that a pin's head and a
captured body are written by the same code.

Rule 1: a captured body is compared as it is. A repeated key, half a surrogate or an integer beyond
2^53 is noted, never mended and never a reason to refuse.
Rule 2: figures of providers are data with a date and a source; `Facts.parse` reads a user's own.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from pvc.core import json_text, stream
from pvc.core.json_text import Number, Value
from pvc.errors import DecodeError
from pvc.model.body import Element, Leaf, Marker, Region

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.model.body import Body

_EXACT = 2**53


def read(
    body_json: bytes, shape: str | None = None, *, at: str = "", facts: Facts | None = None
) -> Body:
    """Read a request body; without `shape` it is told from the body itself.

    Raises `DecodeError` with the place when the bytes are no JSON object, or when a part of it has
    not the form that the shape gives it.
    """
    value, notes = decode(body_json, at)
    shape = shape or detect_shape(value, at)
    if shape == stream.ANTHROPIC:
        from pvc.providers import anthropic

        return anthropic.read(value, notes, facts or load_facts("anthropic"))
    if shape in (stream.CHAT, stream.RESPONSES):
        from pvc.providers import openai

        return openai.read(value, shape, notes, facts or load_facts("openai"))
    raise DecodeError(
        f"no request shape `{shape}`", at=at, hint="one of " + ", ".join(stream.SHAPES)
    )


def detect_shape(value: Value, at: str = "") -> str:
    """Tell the shape of a body by what only one shape has; raises `DecodeError` if nothing does."""
    if not isinstance(value, dict):
        raise DecodeError("a request body is a JSON object", at=at)
    if "input" in value or "instructions" in value:
        return stream.RESPONSES
    tools = [tool for tool in _list(value.get("tools")) if isinstance(tool, dict)]
    messages = [message for message in _list(value.get("messages")) if isinstance(message, dict)]
    if any("function" in tool for tool in tools) or any(
        message.get("role") in {"developer", "tool"} or "tool_calls" in message
        for message in messages
    ):
        return stream.CHAT
    if "system" in value or any("input_schema" in tool for tool in tools):
        return stream.ANTHROPIC
    if "messages" in value:
        return stream.ANTHROPIC if "claude" in str(value.get("model", "")) else stream.CHAT
    raise DecodeError(
        "no request body that pvc knows",
        at=at,
        hint="it has none of `messages`, `system`, `input`, `instructions`",
    )


def decode(body_json: bytes, at: str) -> tuple[dict[str, Value], list[str]]:
    """Parse a body and note what readers of JSON treat differently."""
    try:
        text = body_json.decode()
    except UnicodeDecodeError as error:
        line = body_json.count(b"\n", 0, error.start) + 1
        raise DecodeError(
            f"byte 0x{body_json[error.start]:02x} is no UTF-8",
            at=f"{at}:{line}" if at else f"line {line}",
            hint="a request body is JSON in UTF-8",
        ) from None
    repeated: list[str] = []
    long: list[str] = []
    value = json_text.parse(text, at=at, duplicates=repeated, long_integers=long)
    if not isinstance(value, dict):
        raise DecodeError("a request body is a JSON object", at=at, hint="one object per file")
    notes = [f"key `{name}` stands twice in one object; the last one counts" for name in repeated]
    if b"\\ud" in body_json or b"\\uD" in body_json:
        stray = json_text.lone_surrogate(value)
        notes += [f"half of a surrogate pair at `{stray}`"] if stray else []
    if long:
        notes += [f"integer beyond 2^53 at `{pointer}`" for pointer in _long_integers(value)]
    return value, notes


def _long_integers(value: Value, pointer: str = "") -> Iterator[str]:
    if isinstance(value, Number):
        digits = value.lstrip("-")
        if digits.isdecimal() and (len(digits) > 16 or int(digits) > _EXACT):
            yield pointer
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _long_integers(child, f"{pointer}/{json_text.escape(key)}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _long_integers(child, f"{pointer}/{index}")


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


@dataclass(slots=True)
class Collector:
    """Numbers leaves and elements while a body is read."""

    leaves: list[Leaf] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)

    def loose(self, region: Region, pairs: Iterable[tuple[str, bytes]]) -> None:
        """Add leaves that belong to no element."""
        self.leaves += [Leaf(region, pointer, data) for pointer, data in pairs]

    def element(self, region: Region, pointer: str, pairs: Iterable[tuple[str, bytes]]) -> int:
        """Add an element with its leaves; gives its number."""
        number, first = len(self.elements), len(self.leaves)
        self.leaves += [Leaf(region, at, data, number) for at, data in pairs]
        self.elements.append(Element(region, pointer, first, len(self.leaves)))
        return number

    def length(self) -> int:
        """Bytes of the stream so far."""
        return sum(len(leaf.data) + 1 for leaf in self.leaves)


# --- facts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is documented for a family of models; null is not known."""

    minimum_tokens: int | None = None
    read_price: float | None = None
    write_price: float | None = None
    thinking: str | None = None
    effort: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """A provider's dated figures. Prices are multiples of one uncached input token."""

    as_of: str
    source: str
    lookback_elements: int | None
    default_ttl: str
    lifetime_seconds: dict[str, int]
    write_price: dict[str, float]
    read_price: float
    defaults: dict[str, dict[str, Value]]
    models: tuple[tuple[str, ModelFacts], ...]
    breakpoints: int | None = None
    """Most markers of one request; null is not known."""

    @classmethod
    def parse(cls, data: bytes, *, at: str = "facts") -> Facts:
        """Read a facts file; raises `DecodeError` when it lacks a table or is no TOML."""
        try:
            table = tomllib.loads(data.decode())
            return cls(
                table["as_of"],
                table["source"],
                table["rules"].get("lookback_elements"),
                table["rules"]["default_ttl"],
                table["lifetime_seconds"],
                table["price"]["write"],
                table["price"]["read"],
                table.get("defaults", {}),
                tuple((row["match"], _model_facts(row)) for row in table["models"]),
                table["rules"].get("breakpoints"),
            )
        except KeyError as error:
            raise DecodeError(f"no {error} in the facts", at=at, hint="as in pvc's own") from None
        except ValueError as error:
            raise DecodeError(f"no facts file: {error}", at=at, hint="TOML in UTF-8") from None

    def model(self, name: str) -> ModelFacts:
        """Give the facts of the longest match that begins the model's name, else empty ones."""
        start = name.find("claude")
        name = name[max(start, 0) :].lower()
        matches = [(len(match), facts) for match, facts in self.models if name.startswith(match)]
        return max(matches, key=lambda pair: pair[0])[1] if matches else ModelFacts()


def _model_facts(row: dict[str, Any]) -> ModelFacts:
    return ModelFacts(
        row.get("minimum_tokens"),
        row.get("read"),
        row.get("write"),
        row.get("thinking"),
        row.get("effort"),
        row.get("source", ""),
    )


@cache
def load_facts(provider: str) -> Facts:
    """Read the facts that ship with pvc."""
    name = f"{provider}.toml"
    data = resources.files("pvc.providers").joinpath("facts", name).read_bytes()
    return Facts.parse(data, at=name)
