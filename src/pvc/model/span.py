"""Rendered bytes, tiled by spans that say where each byte came from.

Rule 1: spans tile the bytes: the first starts at 0, each starts where the one before ends, the
last ends at the length. A `Rendered` that breaks this cannot be built.
Rule 2: a span is linear: output byte `start + k` is byte `offset + k` of its origin. Where a form
deletes bytes inside a source (trim, tidy), the span is cut in two.
Rule 3: ranges are half-open and count bytes from zero.

The tuples that `core.program` gives are the same spans without classes; `lift` turns them into
these values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from pvc.model.digest import Digest


class Plane(StrEnum):
    """How often a text may change (DESIGN §2), from rarely to every turn."""

    FOUNDATION = "foundation"
    SURFACE = "surface"
    LAUNCH = "launch"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class FromSource:
    """Bytes of a file in the version; `offset` is where in that file."""

    path: str
    name: str
    """The section or fragment that the text belongs to in its file."""
    offset: int


@dataclass(frozen=True, slots=True)
class FromBinding:
    """Bytes of a value given at launch.

    `pointer` is the JSON pointer of the value in the environment, `offset` counts bytes of that
    value. `path` and `at` are the placeholder that asked for it; `path` is empty where the launch
    brought the text along unasked, as a section of its own.
    """

    name: str
    pointer: str
    offset: int
    path: str
    at: int


@dataclass(frozen=True, slots=True)
class FromTool:
    """Bytes of a tool definition, by its JSON pointer in the tool list."""

    name: str
    pointer: str
    offset: int


@dataclass(frozen=True, slots=True)
class Glue:
    """Bytes that a rule of the form added: joints, headings, the form's own words."""

    rule: str


@dataclass(frozen=True, slots=True)
class Unversioned:
    """Bytes that nothing under version control accounts for."""

    offset: int = 0


Origin = FromSource | FromBinding | FromTool | Glue | Unversioned


@dataclass(frozen=True, slots=True)
class Span:
    """A byte range of a rendered prompt, and where those bytes came from."""

    start: int
    end: int
    origin: Origin
    section: str = ""
    """The section of the prompt that the bytes stand in; empty between sections."""

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt: exact bytes, the spans that tile them, and the ends of its blocks.

    Blocks are what a provider gets as separate system texts; a form with one text has one block.
    Raises `ValueError` when the spans do not tile or a block end lies outside.
    """

    data: bytes
    spans: tuple[Span, ...]
    block_ends: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        at = 0
        for span in self.spans:
            if span.start != at or span.end <= span.start:
                raise ValueError(f"spans do not tile: {span} at byte {at}")
            at = span.end
        if at != len(self.data):
            raise ValueError(f"spans end at {at} of {len(self.data)} bytes")
        ends = (0, *self.block_ends)
        if any(a > b for a, b in pairwise(ends)) or ends[-1] > len(self.data):
            raise ValueError(f"block ends {self.block_ends} do not rise within the bytes")

    @property
    def digest(self) -> Digest:
        """BLAKE3 of the bytes."""
        return Digest.of(self.data)

    @property
    def blocks(self) -> tuple[bytes, ...]:
        """The texts that a provider gets; an empty prompt has none."""
        starts = (0, *self.block_ends)
        pairs = zip(starts, self.block_ends, strict=False)
        return tuple(self.data[start:end] for start, end in pairs if start < end)

    def span_at(self, at: int) -> Span:
        """Find the span that holds byte `at`; raises `IndexError` outside of the bytes."""
        from bisect import bisect_right

        if not 0 <= at < len(self.data):
            raise IndexError(f"byte {at} of {len(self.data)}")
        return self.spans[bisect_right(self.spans, at, key=lambda span: span.end)]

    def section_range(self, name: str) -> tuple[int, int] | None:
        """First and last byte (half-open) of a section; null when nothing of it was rendered."""
        inside = [span for span in self.spans if span.section == name]
        return (inside[0].start, inside[-1].end) if inside else None


SpanTuple = tuple[int, int, tuple[str, ...], int, str]
"""`(start, end, origin, offset, section)` as `core.program` gives it.

`origin` is `("source", path, name)`, `("binding", name, pointer, path, at)`, `("tool", name,
pointer)`, `("glue", rule)` or `("unversioned",)`; `at` is decimal text.
"""


def lift(data: bytes, spans: list[SpanTuple], block_ends: tuple[int, ...]) -> Rendered:
    """Turn the tuples of `core.program.run` into a `Rendered`."""
    return Rendered(
        data,
        tuple(Span(start, end, origin_of(o, offset), sec) for start, end, o, offset, sec in spans),
        block_ends,
    )


def lower(span: Span) -> SpanTuple:
    """Turn a span back into the tuple that it was lifted from."""
    match span.origin:
        case FromSource(path, name, offset):
            origin: tuple[str, ...] = ("source", path, name)
        case FromBinding(name, pointer, offset, path, at):
            origin = ("binding", name, pointer, path, str(at))
        case FromTool(name, pointer, offset):
            origin = ("tool", name, pointer)
        case Glue(rule):
            origin, offset = ("glue", rule), 0
        case Unversioned(offset):
            origin = ("unversioned",)
    return span.start, span.end, origin, offset, span.section


def origin_of(origin: tuple[str, ...], offset: int) -> Origin:
    """Give the value of an origin's tuple."""
    match origin:
        case ("source", path, name):
            return FromSource(path, name, offset)
        case ("binding", name, pointer, path, at):
            return FromBinding(name, pointer, offset, path, int(at))
        case ("tool", name, pointer):
            return FromTool(name, pointer, offset)
        case ("glue", rule):
            return Glue(rule)
        case ("unversioned",):
            return Unversioned(offset)
        case _:
            raise ValueError(f"no such origin: {origin}")
