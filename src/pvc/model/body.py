"""A request body as a cache sees it: leaves in cache order, elements, markers and settings.

Rule 1: a leaf is a JSON pointer and bytes; the stream is every leaf followed by one zero byte, so a
byte offset names one place in one leaf, and a leaf's zero byte belongs to it.
Rule 2: an element is what a marker can stand on (a tool, a system block, a message block; a whole
message in the OpenAI shapes). Elements are numbered through all regions.
Rule 3: a setting has no bytes but a place: a change of it loses what lies at and after that place.
Its `normal` form is compared, in which an absent setting equals its documented default; its `text`
is what stood in the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Region(StrEnum):
    """The part of a request that a byte lies in, in cache order; settings stand beside it."""

    TOOLS = "tools"
    SETTINGS = "settings"
    SYSTEM = "system"
    MESSAGES = "messages"

    @property
    def rank(self) -> int:
        """Position in cache order; an output format stands between tools and system."""
        return tuple(Region).index(self)


DEFAULT_ORDER = (Region.TOOLS, Region.SETTINGS, Region.SYSTEM, Region.MESSAGES)


class Loss(StrEnum):
    """What a change costs: all behind the last mark, grain or whole unit in front of it."""

    MARK = "mark"
    GRAIN = "grain"
    UNIT = "unit"


class Verdict(StrEnum):
    """Whether everything that should have been read back can be."""

    HIT = "hit"
    MISS = "miss"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What happened: a closed list; the words are explained in `docs/investigate.md`."""

    NONE = "none"
    CLOCK = "clock"
    RANDOM_ID = "random_id"
    WORKSPACE_STATE = "workspace_state"
    USER_IDENTITY = "user_identity"
    LOCALE = "locale"
    PROMPT_TEXT_EDIT = "prompt_text_edit"
    AGENT_PROMPT = "agent_prompt"
    CATALOG = "catalog"
    LIST_ORDER = "list_order"
    TOOL_SET = "tool_set"
    TOOL_ORDER = "tool_order"
    SCHEMA_ORDER = "schema_order"
    SERIALIZER_FORM = "serializer_form"
    LINE_ENDINGS = "line_endings"
    WHITESPACE = "whitespace"
    UNICODE_FORM = "unicode_form"
    TEMPLATE_ESCAPE = "template_escape"
    BLOCK_MOVED = "block_moved"
    HISTORY_REWRITTEN = "history_rewritten"
    MODEL = "model"
    SETTING = "setting"
    ACCOUNT = "account"
    LOOKBACK_EXCEEDED = "lookback_exceeded"
    BREAKPOINT_MISSING = "breakpoint_missing"
    TTL_EXPIRED = "ttl_expired"
    PROVIDER_SIDE = "provider_side"
    VALUES_NOT_HERE = "values_not_here"


class Leaf(NamedTuple):
    """One value of the stream. `element` is -1 for what no marker can stand on, such as a role.

    A tuple, not a dataclass: a megabyte holds thousands of them.
    """

    region: Region
    pointer: str
    data: bytes
    element: int = -1
    shown: bytes | None = None
    """What the body holds, where `data` has bytes that count as equal to another body's."""

    @property
    def text(self) -> str:
        """The leaf as text; half a surrogate stays one."""
        return self.data.decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Marker:
    """A cache breakpoint: the element it stands on, and how long its entry lives, if known."""

    element: int
    pointer: str
    ttl_seconds: int | None


@dataclass(frozen=True, slots=True)
class Setting:
    """A field beside the stream that is part of the cache's key from byte `place` on.

    `text` is its compact JSON, null when absent. `normal` is the form to compare; null when absent
    and the default is not known.
    """

    name: str
    pointer: str
    place: int
    text: str | None
    normal: str | None
    routes: bool = False
    """Whether it only chooses the machine that is asked, so that it may lose all or nothing."""


class Counters(NamedTuple):
    """Input tokens of a call as its usage counts them; null is not given."""

    total: int | None = None
    read: int | None = None
    write: int | None = None


def _no_counters(usage: Mapping[str, Any]) -> Counters:  # noqa: ARG001 - the form of a reader
    return Counters()


@dataclass(frozen=True, slots=True)
class Rules:
    """What a provider's cache does with a model's requests: one row of its dated facts.

    `lookback_elements` is how many elements a marker of the request looks at, itself included;
    null where entries are not bound to markers of the request. `minimum_tokens` is the shortest
    prefix that is cached at all, `grain_tokens` the steps in which a prefix is read back; null
    where they are not known. `counters` reads the provider's usage.
    """

    lookback_elements: int | None = None
    minimum_tokens: int | None = None
    loss: Loss | None = None
    grain_tokens: int | None = None
    order: tuple[Region, ...] = DEFAULT_ORDER
    counters: Callable[[Mapping[str, Any]], Counters] = _no_counters
    marked_lookback: int | None = None
    """What `lookback_elements` is where a request through a gateway has markers, this one none."""

    @property
    def is_marked(self) -> bool:
        """Whether the request's own markers say where entries end."""
        return self.lookback_elements is not None

    @property
    def with_markers(self) -> Rules:
        """The rules that hold where the other request of a pair has markers."""
        return replace(self, lookback_elements=self.lookback_elements or self.marked_lookback)

    @property
    def kind_of_loss(self) -> Loss:
        """The kind of loss; where the facts do not say, by what bounds an entry."""
        return Loss.MARK if self.is_marked else self.loss or Loss.GRAIN


Sizes = tuple[int, tuple[int, ...], int]
"""Bytes of the stream that a part takes: before its elements, in each, after them."""


class Restated(NamedTuple):
    """A value written the way another body has it, where the two are one to a cache.

    Keys of both tables are pointers below the value's own: `pointers` names where a leaf of the
    restated value stands in the body, `shown` the bytes that stand there.
    """

    value: Any
    pointers: Mapping[str, str]
    shown: Mapping[str, bytes] = {}


class Form(NamedTuple):
    """How a value becomes leaves: told their sizes without writing them, and written."""

    measure: Callable[[Any], Sizes]
    write: Callable[[Any, str], Sequence[Sequence[tuple[str, bytes]]]]
    """Gives pointers and bytes: the leading leaves, those of each element, the trailing ones."""
    restate: Callable[[Any, Any], Restated | None] | None = None
    """Writes a value as another body's value at its place is written; null where it is already."""
    own_endpoint: bool = False
    """Whether the two spellings are one to the provider's own endpoint alone."""


@dataclass(slots=True, eq=False)
class Part:
    """What one value of a body's lists gives: loose leaves, elements, loose leaves again.

        messages/3   role │ block │ block │ …
                     lead   elements        tail

    It is measured when somebody asks for a place behind it, and written into leaves when somebody
    looks inside. Two bodies may share a part, which then is the same bytes at the same turn.
    """

    region: Region
    pointer: str
    value: Any = field(repr=False)
    first_element: int
    count: int
    form: Form = field(repr=False)
    marks: Sequence[Marker] = ()
    twin: Part | None = field(default=None, repr=False)
    """A part of another body that was made of the same value."""
    restated: Restated | None = None
    """Set where `value` is not the body's own; see `Restated`."""
    _sizes: Sizes | None = field(default=None, repr=False)
    _groups: list[list[Leaf]] | None = field(default=None, repr=False)

    @property
    def sizes(self) -> Sizes:
        """Bytes of the stream, by group of leaves."""
        if self._sizes is None:
            twin = self.twin if self.twin and self.twin.form is self.form else None
            self._sizes = twin.sizes if twin else self.form.measure(self.value)
        return self._sizes

    @property
    def size(self) -> int:
        """Bytes of the stream."""
        lead, elements, tail = self.sizes
        return lead + sum(elements) + tail

    @property
    def groups(self) -> list[list[Leaf]]:
        """Its leaves: the leading ones, those of each element, the trailing ones."""
        if self._groups is None:
            written = self.form.write(self.value, self.pointer)
            ends = (0, len(written) - 1)
            groups = [
                [
                    Leaf(self.region, at, data, -1 if i in ends else self.first_element + i - 1)
                    for at, data in pairs
                ]
                for i, pairs in enumerate(written)
            ]
            if self.restated:
                groups = [[self._as_it_stands(leaf) for leaf in group] for group in groups]
            self._groups = groups
        return self._groups

    def _as_it_stands(self, leaf: Leaf) -> Leaf:
        """Give a leaf of a restated value the pointer and the text that the body has there."""
        restated, below = self.restated, leaf.pointer.removeprefix(self.pointer)
        if restated is None:
            return leaf
        pointer = self.pointer + restated.pointers.get(below, below)
        return leaf._replace(pointer=pointer, shown=restated.shown.get(below))

    def restate(self, value: Restated) -> Part:
        """Give this part with its value written another way."""
        return replace(
            self, value=value.value, restated=value, twin=None, _sizes=None, _groups=None
        )

    @property
    def leaves(self) -> list[Leaf]:
        """All of its leaves."""
        return [leaf for group in self.groups for leaf in group]

    @property
    def data(self) -> bytes:
        """Its bytes of the stream."""
        return b"".join([leaf.data + b"\0" for leaf in self.leaves])


_FIRST = attrgetter("first_element")
_PLAIN = re.compile(r"[A-Za-z0-9 ]+")
_ESCAPED_ASCII = re.compile(r"\\u00[2-7]")


@dataclass(eq=False)
class Body:
    """A request body, read: parts in cache order, and what stands beside them.

    Parts are measured as far as somebody asks, and written into leaves where somebody looks inside,
    so that a comparison pays for what it looks at.
    """

    shape: str
    model: str
    rules: Rules
    parts: tuple[Part, ...]
    markers: tuple[Marker, ...] = ()
    settings: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know: repeated keys, half surrogates, integers beyond 2^53."""
    json_text: str | None = field(default=None, repr=False)
    """What it was read from."""
    own_endpoint: bool = False
    """Whether it was sent to the endpoint of the shape's own provider, as far as can be seen."""
    _starts: list[int] = field(default_factory=lambda: [0], repr=False)

    def part_start(self, part: int) -> int:
        """Tell where a part begins in the stream; after the last one stands the stream's end."""
        self._measure(part)
        return self._starts[part]

    def part_at(self, offset: int) -> int:
        """Find the part that holds a byte of the stream, by its index."""
        while self._starts[-1] <= offset and len(self._starts) <= len(self.parts):
            self._measure(len(self._starts))
        return bisect_right(self._starts, offset) - 1

    def begins_like(self, other: Body, parts: int) -> None:
        """Take over where the leading parts begin, which are the same bytes in both."""
        if len(self._starts) <= parts:
            self._starts = other._starts[: parts + 1]

    def _measure(self, part: int) -> None:
        """Find where all parts before this one end."""
        at = self._starts[-1]
        for each in self.parts[len(self._starts) - 1 : part]:
            lead, elements, tail = each.sizes
            at += lead + sum(elements) + tail
            self._starts.append(at)

    @property
    def element_count(self) -> int:
        """How many elements there are, in all regions."""
        return self.parts[-1].first_element + self.parts[-1].count if self.parts else 0

    def part_of(self, element: int) -> int:
        """Find the part that holds an element, by its index."""
        return bisect_right(self.parts, element, key=_FIRST) - 1

    def element_end(self, element: int) -> int:
        """Stream offset after the last leaf of an element."""
        index = self.part_of(element)
        part = self.parts[index]
        lead, sizes, _ = part.sizes
        return self.part_start(index) + lead + sum(sizes[: element - part.first_element + 1])

    @cached_property
    def element_sizes(self) -> list[int]:
        """Bytes of each element in the stream."""
        return [size for part in self.parts for size in part.sizes[1]]

    @property
    def element_ends(self) -> list[int]:
        """Stream offset after the last leaf of each element."""
        return [self.element_end(element) for element in range(self.element_count)]

    def element(self, index: int) -> list[Leaf]:
        """Give the leaves of an element."""
        part = self.parts[self.part_of(index)]
        return part.groups[1 + index - part.first_element]

    @property
    def leaves(self) -> Iterator[Leaf]:
        """All leaves, in cache order."""
        return (leaf for part in self.parts for leaf in part.leaves)

    def __len__(self) -> int:
        return self.part_start(len(self.parts))

    def stream(self) -> bytes:
        """Join all leaves, each followed by its zero byte."""
        return self.stream_from(0, len(self.parts))

    def stream_from(self, part: int, count: int) -> bytes:
        """Join the stream of so many parts from one on."""
        return b"".join([each.data for each in self.parts[part : part + count]])

    def leaf_at(self, offset: int) -> tuple[Leaf, int] | None:
        """Find the leaf that holds a byte of the stream, and where it begins; null past the end."""
        part = self.part_at(offset)
        if offset < 0 or part == len(self.parts):
            return None
        at = self.part_start(part)
        for leaf in self.parts[part].leaves:
            if offset <= at + len(leaf.data):
                return leaf, at
            at += len(leaf.data) + 1
        raise AssertionError("a part is not as long as it was measured")

    def may_hold(self, text: str) -> bool:
        """Tell whether a text may stand in a leaf, by what it was read from; false is certain.

        Letters, digits and spaces stand in JSON as they are, unless somebody escaped them.
        """
        plain = max(_PLAIN.findall(text), key=len, default="")
        if self.json_text is None or plain in self.json_text:
            return True
        return _ESCAPED_ASCII.search(self.json_text) is not None

    def region_start(self, region: Region) -> int:
        """Stream offset where a region begins, or would begin if it had a leaf."""
        for index, part in enumerate(self.parts):
            if part.region.rank >= region.rank and part.size:
                return self.part_start(index)
        return len(self)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place inside the scope where two bodies differ.

    The offsets within the leaf are null for settings. `near_a` and `near_b` are for reading: a few
    characters around the place, for settings the value; null where a side has nothing.
    """

    offset: int
    region: Region
    path_a: str | None
    path_b: str | None
    leaf_byte_offset: int | None
    leaf_char_offset: int | None
    near_a: str | None
    near_b: str | None

    def to_json(self) -> dict[str, object]:
        """Give the contract's keys."""
        return {
            "offset": self.offset,
            "region": str(self.region),
            "path_a": self.path_a,
            "path_b": self.path_b,
            "leaf_byte_offset": self.leaf_byte_offset,
            "leaf_char_offset": self.leaf_char_offset,
            "near_a": self.near_a,
            "near_b": self.near_b,
        }
