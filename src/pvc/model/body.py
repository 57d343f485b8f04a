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
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of the stream. `element` is -1 for what no marker can stand on, such as a role."""

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
    ttl_seconds: int | None


@dataclass(frozen=True, slots=True)
class Element:
    """A run of leaves, `first` to `last` (half-open), that a marker can stand on."""

    region: Region
    pointer: str
    first: int
    last: int


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


@dataclass(frozen=True, slots=True)
class Body:
    """A request body, read. Build with `Body.of`."""

    shape: str
    model: str
    rules: Rules
    leaves: tuple[Leaf, ...]
    elements: tuple[Element, ...]
    markers: tuple[Marker, ...]
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]
    """What a reader should know: repeated keys, half surrogates, integers beyond 2^53."""
    starts: tuple[int, ...] = field(repr=False)
    """Where each leaf begins in the stream, and at the end the stream's length."""

    @classmethod
    def of(
        cls,
        shape: str,
        model: str,
        rules: Rules,
        leaves: Sequence[Leaf],
        elements: Sequence[Element],
        *,
        markers: Sequence[Marker] = (),
        settings: Sequence[Setting] = (),
        notes: Sequence[str] = (),
    ) -> Body:
        """Build a body, its offsets computed once."""
        starts = tuple(accumulate((len(leaf.data) + 1 for leaf in leaves), initial=0))
        return cls(
            shape,
            model,
            rules,
            tuple(leaves),
            tuple(elements),
            tuple(markers),
            tuple(settings),
            tuple(notes),
            starts,
        )

    def __len__(self) -> int:
        return self.starts[-1]

    def stream(self) -> bytes:
        """All leaves, each followed by its zero byte."""
        return b"".join([leaf.data + b"\0" for leaf in self.leaves])

    def leaf_at(self, offset: int) -> int | None:
        """Index of the leaf that holds a byte of the stream; null past its end."""
        return bisect_right(self.starts, offset) - 1 if 0 <= offset < len(self) else None

    def element_end(self, index: int) -> int:
        """Stream offset after the last leaf of an element."""
        return self.starts[self.elements[index].last]

    def region_start(self, region: Region) -> int:
        """Stream offset where a region begins, or would begin if it had a leaf."""
        for leaf, start in zip(self.leaves, self.starts, strict=False):
            if leaf.region.rank >= region.rank:
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
