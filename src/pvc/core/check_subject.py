"""What the rules of `pvc check` read, and what they give: files with planes, and hits with bytes.

Rule 1: a hit is a range of bytes of one file; lines and columns are counted from it, never guessed.
Rule 2: what people write *about* is not what they say: code, addresses and sentences that announce
an example are blanked out, byte for byte, before a rule about prose looks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pvc.model.manifest import Budget
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.check_tool_list import ToolList
    from pvc.model.pack import Pack
    from pvc.model.source import Source

STABLE = (Plane.FOUNDATION, Plane.SURFACE)

_FENCE = re.compile(rb"[ \t>]*(?P<mark>`{3,}|~{3,})")
_TICKS = re.compile(rb"`+|\n[ \t]*(?=\n)")
_ADDRESS = re.compile(rb"\b[a-z][a-z0-9+.-]{1,15}://[^\s)>\"'`]+", re.IGNORECASE)
_EXAMPLE = re.compile(
    rb"\b(?:e\.g\.|for (?:example|instance)|examples?:|such as|sample|placeholder|looks? like"
    rb"|in the (?:form|format)|formatted|format:)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of prompt text. Where `is_tidied`, its form drops blanks at line ends."""

    source: Source
    plane: Plane = Plane.SURFACE
    is_tidied: bool = False
    ends_prompt: bool = True
    """Whether its last byte is the prompt's, so that a line end there is content."""

    @property
    def path(self) -> str:
        """Where it is."""
        return self.source.path

    @property
    def data(self) -> bytes:
        """What is in it."""
        return self.source.data

    @property
    def is_stable(self) -> bool:
        """Whether its text should outlive a session."""
        return self.plane in STABLE


@dataclass(frozen=True, slots=True)
class Subject:
    """One prompt: its own files, what they decode to where they are a tree, and its tools."""

    files: tuple[TextFile, ...]
    pack: Pack | None = None
    tools: ToolList | None = None
    budget: Budget = field(default_factory=Budget)
    manifest: str = ""
    """The path of its `pvc.toml`; empty for files that belong to no tree."""
    prefix: str = ""
    """What stands before every path when it is shown: the tree's folder."""


class Hit(NamedTuple):
    """What one rule found: bytes `start` to `end` (half-open) of the file at `path`."""

    path: str
    start: int
    end: int
    message: str
    hint: str = ""
    name: str = ""


class Line(NamedTuple):
    """A line without its line feed, and where it starts."""

    start: int
    data: bytes


def lines(data: bytes) -> Iterator[Line]:
    """Split at line feeds alone."""
    at = 0
    for piece in data.split(b"\n"):
        yield Line(at, piece)
        at += len(piece) + 1


@lru_cache(maxsize=256)
def without_fences(data: bytes) -> bytes:
    """Blank out fenced code, addresses and sentences that announce an example."""
    kept, fence = [], b""
    for _, line in lines(data):
        opened = _FENCE.match(line)
        inside = bool(fence)
        if opened and not fence:
            fence = opened["mark"]
        elif opened and opened["mark"].startswith(fence) and not line[opened.end() :].strip():
            fence = b""
        blank = inside or opened or _EXAMPLE.search(line)
        kept.append(b" " * len(line) if blank else line)
    return _ADDRESS.sub(_blank, b"\n".join(kept))


@lru_cache(maxsize=256)
def prose(data: bytes) -> bytes:
    """Blank out inline code too."""
    text = without_fences(data)
    kept, at = [], 0
    for start, end in _inline_code(text):
        kept += [text[at:start], _blanked(text[start:end])]
        at = end
    return b"".join([*kept, text[at:]])


def _inline_code(text: bytes) -> Iterator[tuple[int, int]]:
    """Find code between two runs of as many backticks, both in one paragraph.

    Where a run ends is looked up, not searched for: a hostile text must not cost its square.
    """
    paragraph = 0
    runs: list[tuple[int, int, int]] = []  # paragraph, start, end
    for match in _TICKS.finditer(text):
        if match[0].startswith(b"`"):
            runs.append((paragraph, *match.span()))
        else:
            paragraph += 1
    closing: dict[tuple[int, int], int] = {}
    closes: dict[int, int] = {}
    for where, start, end in reversed(runs):
        key = (where, end - start)
        if key in closing:
            closes[start] = closing[key]
        closing[key] = end
    at = 0
    for _, start, _ in runs:
        if start >= at and start in closes:
            at = closes[start]
            yield start, at


def _blank(match: re.Match[bytes]) -> bytes:
    return _blanked(match[0])


def _blanked(data: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", data)
