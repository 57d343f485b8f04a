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

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from pvc.core import json_text, stream
from pvc.core.json_split import Split, split
from pvc.core.json_text import Number, Value
from pvc.errors import DecodeError, UsageError
from pvc.model.body import DEFAULT_ORDER, Form, Loss, Part, Region, Rules
from pvc.providers import proxy_log
from pvc.providers.usage import counters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pvc.model.body import Body, Marker

_EXACT = 2**53
_LISTS = ("tools", "system", "messages", "input")


def read(
    body_json: bytes, shape: str | None = None, *, at: str = "", facts: Facts | None = None
) -> Body:
    """Read a request body; without `shape` it is told from the body itself.

    Raises `DecodeError` with the place when the bytes are no JSON object, or when a part of it has
    not the form that the shape gives it.
    """
    return _read(decode(body_json, at), shape, at, facts, Collector())


def read_pair(
    a_json: bytes,
    b_json: bytes,
    shapes: tuple[str | None, str | None] = (None, None),
    *,
    at: tuple[str, str] = ("", ""),
    facts: Facts | None = None,
) -> tuple[Body, Body]:
    """Read two bodies like `read`; elements with the same text are read once and shared."""
    decoded_a = decode(a_json, at[0])
    collector = Collector()
    a = _read(decoded_a, shapes[0], at[0], facts, collector)
    decoded_b = decode(b_json, at[1], like=decoded_a.split)
    shape = shapes[1] or detect_shape(decoded_b.value, at[1])
    like = collector if shape == a.shape else None
    return a, _read(decoded_b, shape, at[1], facts, Collector(like=like))


def _read(
    decoded: Decoded, shape: str | None, at: str, facts: Facts | None, made: Collector
) -> Body:
    value, notes = decoded.value, decoded.notes
    shape = shape or detect_shape(value, at)
    record = None
    if proxy_log.is_record(value):
        record = proxy_log.request(value, at)
        value = record.body
    if shape == stream.ANTHROPIC:
        from pvc.providers import anthropic

        body = anthropic.read(value, notes, facts or load_facts("anthropic"), made)
    elif shape == stream.CONVERSE:
        from pvc.providers import anthropic, converse

        value = converse.as_anthropic(value, at)
        body = anthropic.read(value, notes, facts or load_facts("anthropic"), made, shape)
    elif shape in (stream.CHAT, stream.RESPONSES):
        from pvc.providers import openai

        model = value.get("model")
        home = platform_of(shape, model if isinstance(model, str) else "")
        body = openai.read(value, shape, notes, facts or load_facts(home), made)
    else:
        raise DecodeError(
            f"no request shape `{shape}`", at=at, hint="one of " + ", ".join(stream.READABLE)
        )
    body.json_text = decoded.text
    if record is not None and record.endpoint:
        body.own_endpoint = shape == stream.ANTHROPIC and is_anthropic(record.endpoint)
    return body


def is_anthropic(endpoint: str) -> bool:
    """Tell whether an endpoint, given as an address or a name, is Anthropic's own."""
    host = re.sub(r"^\w+://", "", endpoint.strip().lower()).split("/")[0].split(":")[0]
    return host in ("anthropic", "anthropic.com") or host.endswith(".anthropic.com")


def detect_shape(value: Value, at: str = "") -> str:
    """Tell the shape of a body by what only one shape has; raises `DecodeError` if nothing does."""
    if not isinstance(value, dict):
        raise DecodeError("a request body is a JSON object", at=at)
    if proxy_log.is_record(value):
        return proxy_log.shape(value) or detect_shape(proxy_log.request(value, at).body, at)
    if converse_like(value):
        return stream.CONVERSE
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
    from pvc.providers.formats import format_of, seen_in

    found = format_of(value)
    where = f"its request is inside, at {found.inside}; " if found and found.inside else ""
    raise DecodeError(
        f"not a request body that pvc reads, but {seen_in(value)}",
        at=at,
        hint=f"{where}a body has `messages`, `system`, `input` or `instructions`",
    )


def converse_like(value: dict[str, Value]) -> bool:
    """Tell a Converse body by the keys that only it has, or by blocks that have no type."""
    if any(key in value for key in ("modelId", "toolConfig", "inferenceConfig")):
        return True
    blocks = [
        block
        for message in _list(value.get("messages"))[:8]
        for block in _list(message.get("content") if isinstance(message, dict) else None)[:8]
    ]
    held = [b for b in [*blocks, *_list(value.get("system"))[:8]] if isinstance(b, dict)]
    return bool(held) and all("type" not in block for block in held)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body's text and value, what a reader should know about it, and where its elements stand."""

    text: str
    value: dict[str, Value]
    notes: list[str]
    split: Split | None


def decode(body_json: bytes, at: str, like: Split | None = None) -> Decoded:
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
    found = split(text, _LISTS, like)
    if found is None:
        return _decode_whole(text, at)
    return Decoded(text, found.value, _notes(found.value, found), found)


def _decode_whole(text: str, at: str) -> Decoded:
    """Parse a body in one go; says what is wrong with it, and where."""
    noted = Split(halves=True)
    value = json_text.parse(
        text, at=at, duplicates=noted.duplicates, long_integers=noted.long_integers
    )
    if not isinstance(value, dict):
        raise DecodeError("a request body is a JSON object", at=at, hint="one object per file")
    return Decoded(text, value, _notes(value, noted), None)


def _notes(value: dict[str, Value], noted: Split) -> list[str]:
    notes = [
        f"key `{name}` stands twice in one object; the last one counts" for name in noted.duplicates
    ]
    if noted.halves:
        stray = json_text.lone_surrogate(value)
        notes += [f"half of a surrogate pair at `{stray}`"] if stray else []
    if noted.long_integers:
        notes += [f"integer beyond 2^53 at `{pointer}`" for pointer in _long_integers(value)]
    return notes


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
    """Numbers parts and elements while a body is read.

    With `like`, the collector of another body, a part that is the very same value at the same
    place is shared with it.
    """

    like: Collector | None = None
    parts: list[Part] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    element_count: int = 0
    starts: dict[str, int] = field(default_factory=dict)
    """Where the parts of a list begin, by the list's pointer."""
    in_blocks: bool = False
    """Whether messages are read as Claude's blocks; parts that are not are not shared."""
    _known: dict[str, Part] = field(default_factory=dict)
    _twins: dict[int, Part] = field(default_factory=dict)

    def unshared(self, pointer: str, values: Value) -> Iterator[tuple[str, Value]]:
        """Give a list's elements with their pointers, after those that it begins with in both.

        The parts of these are shared at once: they follow each other in the other body too.
        """
        self.starts[pointer] = len(self.parts)
        start = self._share(pointer, values) if isinstance(values, list) else 0
        return stream.elements(values, pointer, start)

    def _share(self, pointer: str, values: list[Value]) -> int:
        """Take over the leading parts whose values are the very same; gives their number."""
        if self.like is None or pointer not in self.like.starts:
            return 0
        theirs = self.like.parts[self.like.starts[pointer] :][: len(values)]
        same = [part.value is value for part, value in zip(theirs, values, strict=False)]
        count = same.index(False) if False in same else len(same)
        if not (
            count
            and theirs[0].first_element == self.element_count
            and theirs[count - 1].pointer == f"{pointer}/{count - 1}"
        ):
            return 0
        self.parts += theirs[:count]
        self.element_count += sum([part.count for part in theirs[:count]])
        self.markers += [mark for part in theirs[:count] for mark in part.marks]
        return count

    def add(
        self,
        region: Region,
        pointer: str,
        value: object,
        count: int,
        form: Form,
        marks: Sequence[Marker] = (),
    ) -> None:
        """Add a part with some elements: the one that the other body made of the value, if any."""
        part = self._other(pointer) if self.like else None
        if part is None or not (
            (part.value is value or (isinstance(value, str) and part.value == value))
            and part.region is region
            and part.first_element == self.element_count
        ):
            twin = self._twins.get(id(value))
            part = Part(region, pointer, value, self.element_count, count, form, marks, twin)
        self.parts.append(part)
        self.element_count += count
        if part.marks:
            self.markers += part.marks

    def _other(self, pointer: str) -> Part | None:
        """Find the other body's part at a pointer; the first time, all are listed.

        By pointer, and by the identity of their values: one that moved is as long as it was.
        """
        if not self._known and self.like:
            self._known = {part.pointer: part for part in self.like.parts}
            self._twins = {id(part.value): part for part in self.like.parts}
        return self._known.get(pointer)

    @property
    def size(self) -> int:
        """Bytes of the stream so far."""
        return sum([part.size for part in self.parts])


def one_element(
    size: Callable[[Any], int], leaves: Callable[[Any, str], list[tuple[str, bytes]]]
) -> Form:
    """Make the form of a value that is one element as a whole."""
    return Form(lambda value: (0, (size(value),), 0), lambda value, at: [[], leaves(value, at), []])


# --- facts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is documented for a family of models; null is not known, or as the provider's own."""

    minimum_tokens: int | None = None
    read_price: float | None = None
    write_price: float | None = None
    thinking: str | None = None
    effort: str | None = None
    source: str = ""
    loss: Loss | None = None
    grain_tokens: int | None = None
    write_by_lifetime: Mapping[str, float] = field(default_factory=dict)
    bands: tuple[tuple[int, float], ...] = ()
    """From how many tokens of context on every price is how many times as high."""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """A provider's dated figures. Prices are multiples of one uncached input token."""

    as_of: str
    source: str
    lookback_elements: int | None
    default_ttl: str
    lifetime_seconds: dict[str, int]
    write_price: dict[str, float]
    read_price: float | None
    defaults: dict[str, Value]
    models: tuple[tuple[str, ModelFacts], ...]
    breakpoints: int | None = None
    """Most markers of one request; null is not known."""
    loss: Loss | None = None
    grain_tokens: int | None = None
    minimum_tokens: int | None = None
    order: tuple[Region, ...] = DEFAULT_ORDER
    read_unmarked: float | None = None
    """What a read costs where the request marks nothing, if that differs."""
    renewed: bool | None = None
    """Whether each read renews an entry; null is not known."""
    clock: str | None = None
    """From when an entry's time counts, `request` or `response`; null is not known."""
    keys: tuple[str, ...] = ()
    """Fields and headers that steer which cache is asked."""
    usage: tuple[str, ...] = ()
    """Counters that hold what was read back."""
    evidence: str = ""
    """`documented`, `measured` or `table`."""
    keyed_models: tuple[str, ...] = ()
    """Beginnings of the names of models whose cache key holds `prompt_cache_key`."""

    @classmethod
    def parse(cls, data: bytes, *, at: str = "facts") -> Facts:
        """Read a facts file; raises `DecodeError` when it lacks a table or is no TOML."""
        return cls.of(_toml(data, at), at)

    @classmethod
    def over(cls, provider: str, data: bytes, *, at: str = "facts") -> Facts:
        """Read the facts that ship with pvc with a user's own put over them, table by table."""
        return cls.of(_laid_over(_shipped_table(provider), _toml(data, at), at), at)

    @classmethod
    def of(cls, table: dict[str, Any], at: str) -> Facts:
        """Read a facts table; raises `DecodeError` when it lacks a part."""
        try:
            as_of, source = table["as_of"], table["source"]
            rules, price = table["rules"], table.get("price", {})
            lifetime = rules.get("lifetime", {})
            return cls(
                as_of,
                source,
                rules.get("lookback_elements"),
                rules.get("default_ttl", ""),
                table.get("lifetime_seconds", {}),
                price.get("write", {}),
                price.get("read"),
                table.get("defaults", {}),
                tuple((row["match"], _model_facts(row)) for row in table.get("models", ())),
                rules.get("breakpoints"),
                Loss(rules["loss"]) if "loss" in rules else None,
                rules.get("grain_tokens"),
                rules.get("minimum_tokens"),
                tuple(Region(name) for name in rules.get("order", DEFAULT_ORDER)),
                price.get("read_unmarked"),
                lifetime.get("renewed"),
                lifetime.get("clock"),
                tuple(table.get("keys", ())),
                tuple(table.get("usage", ())),
                table.get("evidence", ""),
                tuple(rules.get("keyed_models", ())),
            )
        except KeyError as error:
            raise DecodeError(f"no {error} in the facts", at=at, hint="as in pvc's own") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise DecodeError(f"no facts: {error}", at=at, hint="as in pvc's own") from None

    def is_keyed(self, model: str) -> bool:
        """Tell whether a request's own cache key is part of the key, for a model of any gateway."""
        return bare_model(model).startswith(self.keyed_models or "\0")

    def model(self, name: str) -> ModelFacts:
        """Give the facts of the longest match that begins the model's name, else empty ones."""
        name = bare_model(name)
        matches = [(len(match), facts) for match, facts in self.models if name.startswith(match)]
        return max(matches, key=lambda pair: pair[0])[1] if matches else ModelFacts()

    def rules(self, name: str, *, marked: bool = True) -> Rules:
        """Give what the cache does with a model's requests: a row of the provider table.

        Without markers, a provider that takes them or goes by the prefix does the latter.
        """
        known = self.model(name)
        loss = known.loss or self.loss
        return Rules(
            self.lookback_elements if marked else None,
            known.minimum_tokens or self.minimum_tokens,
            Loss.GRAIN if not marked and self.lookback_elements is not None else loss,
            known.grain_tokens or self.grain_tokens,
            self.order,
            counters,
        )

    def read(self, name: str, *, marked: bool = True) -> float | None:
        """Give the price of a token that is read back; null is not known."""
        known = self.model(name).read_price
        if known is None:
            known = self.read_price if marked else self.read_unmarked or self.read_price
        return known

    def write(self, name: str, lifetime: str) -> float:
        """Give the price of a token that is written, which is that of input where none is asked."""
        known = self.model(name)
        by_lifetime = known.write_by_lifetime
        if by_lifetime:
            return by_lifetime.get(lifetime, min(by_lifetime.values()))
        return known.write_price or self.write_price.get(lifetime, 1.0)

    def band(self, name: str, tokens: int) -> float:
        """Give how many times as high prices are for a context of so many tokens."""
        return max((by for start, by in self.model(name).bands if tokens > start), default=1.0)


def bare_model(name: str) -> str:
    """Strip a gateway's and a region's words from the front of a model's name."""
    name = name.lower().rpartition("/")[2]
    start = name.find("claude")
    return name[start:].replace(".", "-") if start >= 0 else name


def _model_facts(row: dict[str, Any]) -> ModelFacts:
    return ModelFacts(
        row.get("minimum_tokens"),
        row.get("read"),
        row.get("write"),
        row.get("thinking"),
        row.get("effort"),
        row.get("source", ""),
        Loss(row["loss"]) if "loss" in row else None,
        row.get("grain_tokens"),
        row.get("write_by_lifetime", {}),
        tuple((start, by) for start, by in row.get("bands", ())),
        row.get("evidence", ""),
    )


def _toml(data: bytes, at: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except ValueError as error:
        raise DecodeError(f"no facts file: {error}", at=at, hint="TOML in UTF-8") from None


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Lay a table over another; what both have as tables is laid over in turn."""
    return below | {
        key: _over(below[key], value)
        if isinstance(value, dict) and isinstance(below.get(key), dict)
        else value
        for key, value in above.items()
    }


def _laid_over(below: dict[str, Any], mine: dict[str, Any], at: str) -> dict[str, Any]:
    """Lay a facts table over another; its rows of models come first."""
    rows = mine.get("models", [])
    if not isinstance(rows, list):
        raise DecodeError("`models` is no list", at=at, hint="[[models]] opens a row")
    return {**_over(below, mine), "models": [*rows, *below.get("models", [])]}


def _shipped_table(provider: str) -> dict[str, Any]:
    """Read a provider's table, over the vendor's whose models it serves where it says so."""
    name = f"{provider}.toml"
    table = _toml(resources.files("pvc.providers").joinpath("facts", name).read_bytes(), name)
    under = table.pop("over", None)
    if under is None:
        return table
    below = _shipped_table(under)
    return _laid_over({key: below[key] for key in below if key != "home"}, table, name)


@cache
def load_facts(provider: str) -> Facts:
    """Read the facts that ship with pvc. Raises `UsageError` on a platform without any."""
    if provider not in PLATFORMS:
        raise UsageError(
            f"no facts of platform `{provider}`", hint="one of " + ", ".join(PLATFORMS)
        )
    return Facts.of(_shipped_table(provider), f"{provider}.toml")


PLATFORMS = (
    *("anthropic", "azure", "bedrock", "deepseek", "google", "groq", "minimax", "mistral"),
    *("moonshot", "openai", "qwen", "vllm", "xai", "zai"),
)
"""Whose caches pvc has figures of, each a file under `facts/`."""


@cache
def _homes() -> tuple[tuple[str, str], ...]:
    return tuple(
        (start, name) for name in PLATFORMS for start in _shipped_table(name).get("home", ())
    )


def platform_of(shape: str, model: str) -> str:
    """Tell whose cache a request meets where nothing but its shape and model is known.

    Anthropic's shape is read by Anthropic's rules; in OpenAI's the model's name tells.
    """
    if shape == stream.ANTHROPIC:
        return "anthropic"
    name = bare_model(model)
    return next((home for start, home in _homes() if name.startswith(start)), "openai")
