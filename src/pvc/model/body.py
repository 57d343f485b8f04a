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

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


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


class Leaf(NamedTuple):
    """One value of the stream. `element` is -1 for what no marker can stand on, such as a role.

    A tuple, not a dataclass: a megabyte holds thousands of them.
    """

    region: Region
    pointer: str
    data: bytes
    element: int = -1

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


@dataclass(frozen=True, slots=True)
class Rules:
    """What the provider's cache does, from its dated facts.

    `lookback_elements` is how many elements a marker looks at, itself included; null where entries
    are not bound to markers and every common leading byte can be read back. `read_counter` is the
    path of the counter of read tokens in the provider's usage. `minimum_tokens` is the shortest
    prefix that is cached at all, null where it is not known.
    """

    read_counter: tuple[str, ...]
    lookback_elements: int | None = None
    minimum_tokens: int | None = None


@dataclass(slots=True, eq=False)
class Part:
    """What one value of a body's lists gives: loose leaves, elements, loose leaves again.

        messages/3   role │ block │ block │ …
                     lead   sizes[0] [1]   tail

    It is measured when it is read and written into leaves when somebody looks inside. Two bodies
    may share a part, which then is the same bytes at the same turn.
    """

    region: Region
    pointer: str
    value: object = field(repr=False)
    first_element: int
    lead: int
    sizes: tuple[int, ...]
    tail: int
    write: Callable[[], Sequence[Sequence[tuple[str, bytes]]]] = field(repr=False)
    """Gives pointers and bytes: the leading leaves, those of each element, the trailing ones."""
    _groups: list[list[Leaf]] | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Bytes of the stream."""
        return self.lead + sum(self.sizes) + self.tail

    @property
    def groups(self) -> list[list[Leaf]]:
        """Its leaves: the leading ones, those of each element, the trailing ones."""
        if self._groups is None:
            written = self.write()
            ends = (0, len(written) - 1)
            self._groups = [
                [
                    Leaf(self.region, at, data, -1 if i in ends else self.first_element + i - 1)
                    for at, data in pairs
                ]
                for i, pairs in enumerate(written)
            ]
        return self._groups

    @property
    def leaves(self) -> list[Leaf]:
        """All of its leaves."""
        return [leaf for group in self.groups for leaf in group]

    @property
    def data(self) -> bytes:
        """Its bytes of the stream."""
        return b"".join([leaf.data + b"\0" for leaf in self.leaves])


@dataclass(eq=False)
class Body:
    """A request body, read: parts in cache order, and what stands beside them.

    Sizes are known from the start; leaves and elements are written on first use, so that a
    comparison pays for the parts that it looks into.
    """

    shape: str
    model: str
    rules: Rules
    parts: tuple[Part, ...]
    markers: tuple[Marker, ...] = ()
    settings: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know: repeated keys, half surrogates, integers beyond 2^53."""

    @cached_property
    def part_starts(self) -> list[int]:
        """Where each part begins in the stream, and at the end the stream's length."""
        return list(accumulate([part.size for part in self.parts], initial=0))

    @cached_property
    def element_parts(self) -> list[Part]:
        """The part of each element."""
        return [part for part in self.parts for _ in part.sizes]

    @cached_property
    def element_sizes(self) -> list[int]:
        """Bytes of each element in the stream."""
        return [size for part in self.parts for size in part.sizes]

    @cached_property
    def element_ends(self) -> list[int]:
        """Stream offset after the last leaf of each element."""
        ends: list[int] = []
        for part, start in zip(self.parts, self.part_starts, strict=False):
            at = start + part.lead
            for size in part.sizes:
                at += size
                ends.append(at)
        return ends

    def element(self, index: int) -> list[Leaf]:
        """Give the leaves of an element."""
        part = self.element_parts[index]
        return part.groups[1 + index - part.first_element]

    @property
    def leaves(self) -> Iterator[Leaf]:
        """All leaves, in cache order."""
        return (leaf for part in self.parts for leaf in part.leaves)

    def __len__(self) -> int:
        return self.part_starts[-1]

    def stream(self) -> bytes:
        """Join all leaves, each followed by its zero byte."""
        return self.stream_from(0)

    def stream_from(self, part: int) -> bytes:
        """Join the stream from a part on."""
        return b"".join([part.data for part in self.parts[part:]])

    def part_at(self, offset: int) -> int:
        """Find the part that holds a byte of the stream, by its index."""
        return bisect_right(self.part_starts, offset) - 1

    def leaf_at(self, offset: int) -> tuple[Leaf, int] | None:
        """Find the leaf that holds a byte of the stream, and where it begins; null past the end."""
        if not 0 <= offset < len(self):
            return None
        part = self.part_at(offset)
        at = self.part_starts[part]
        for leaf in self.parts[part].leaves:
            if offset <= at + len(leaf.data):
                return leaf, at
            at += len(leaf.data) + 1
        raise AssertionError("a part is not as long as it was measured")

    def region_start(self, region: Region) -> int:
        """Stream offset where a region begins, or would begin if it had a leaf."""
        for part, start in zip(self.parts, self.part_starts, strict=False):
            if part.size and part.region.rank >= region.rank:
                return start
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
