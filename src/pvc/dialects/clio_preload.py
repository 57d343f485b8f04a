"""How much of a project's context goes into a prompt: all of it, whole blocks of it, or none. Pure.

Rule 1: lengths are UTF-16 code units and both limits are inclusive. What fits goes in untouched.
Rule 2: else a notice says which lines of which handbook are in, and the excerpts follow. Room for
the notice is reserved first, at its longest; when even that does not fit, the launch is refused.
Rule 3: the nearest handbook, the last one, is served first, block by block until the next does not
fit; they stand in given order all the same. Support pieces come last, each if it fits.
Rule 4: an excerpt ends where a block does: behind a blank line, or at the end of the text, outside
of any fence. A fence inside a quote or a list ends the search.
Rule 5: every piece of the text says where it came from, so that its bytes have an origin too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pvc.dialects.clio_json import digest, quoted
from pvc.errors import RefusedError
from pvc.model.javascript import WHITE, length, trim, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_CHARS = 24_000
MAX_LINES = 220
_NEAR = 0.9

TEXT = "/text"
NOTICE = "/noticeLine"
RETRIEVAL = "/retrievalLine"

_DOT = "[^\n\r\u2028\u2029]"  # JavaScript's `.`
_RUN = "(?:`{3,}|~{3,})"
_FENCE = re.compile(f"[ \t]*(`{{3,}}|~{{3,}})({_DOT}*)")
_CONTAINER = re.compile(f"[{WHITE}]*(?:>|[-+*]|[0-9]+[.)])[{WHITE}]*{_DOT}*{_RUN}")
_ESCAPES = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


class Handbook(NamedTuple):
    """One source of project context: its absolute path and its text."""

    path: str
    source: str


class Piece(NamedTuple):
    """Consecutive text of a preload; `pointer` is empty for what the form adds.

    `offset` counts characters of the value at `pointer`.
    """

    text: str
    pointer: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much fits; see rule 1."""

    chars: int = MAX_CHARS
    lines: int = MAX_LINES

    def hold(self, text: str) -> bool:
        """Whether `text` fits."""
        return length(text) <= self.chars and rendered_lines(text) <= self.lines


@dataclass(frozen=True, slots=True)
class Project:
    """What there is to preload, and the two lines of the notice, which are the words pack's."""

    text: str
    handbooks: tuple[Handbook, ...] = ()
    support: tuple[str, ...] = ()
    notice: str = ""
    retrieval: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of one handbook went in; ranges are of physical lines, both ends inclusive."""

    path: str
    hash: str
    available_chars: int
    available_lines: int
    included_chars: int
    included_lines: int

    @property
    def complete(self) -> bool:
        """Whether all of it is in."""
        return self.included_chars == self.available_chars

    @property
    def included(self) -> tuple[int, int] | None:
        """The lines that are in."""
        return (1, self.included_lines) if self.included_lines else None

    @property
    def omitted(self) -> tuple[int, int] | None:
        """The lines that are not."""
        return None if self.complete else (self.included_lines + 1, self.available_lines)


@dataclass(frozen=True, slots=True)
class Preload:
    """What was selected. `mode` is `full`, `partial` or `none`; `tools` is null when unknown."""

    pieces: tuple[Piece, ...]
    project: Project
    limits: Limits
    mode: str
    sources: tuple[Coverage, ...]
    omitted_support: int
    tools: bool | None

    @property
    def text(self) -> str:
        """The text that goes into the prompt."""
        return _joined(self.pieces)

    @property
    def reason(self) -> str | None:
        """Why not all of it is in: `size`, `lines`, or null."""
        if self.mode != "partial":
            return None
        return "size" if length(self.project.text) > self.limits.chars else "lines"

    @property
    def near_limit(self) -> bool:
        """Whether a full preload is above nine tenths of a limit."""
        chars, lines = length(self.project.text), rendered_lines(self.project.text)
        over = chars > self.limits.chars * _NEAR or lines > self.limits.lines * _NEAR
        return self.mode == "full" and over

    @property
    def label(self) -> str:
        """The selection on one line, for people."""
        chars = f"{length(self.text)}/{length(self.project.text)} UTF-16 units"
        lines = f"{rendered_lines(self.text)}/{rendered_lines(self.project.text)} rendered lines"
        incomplete = sum(not source.complete for source in self.sources)
        books = f"{incomplete} of {len(self.sources)} handbook sources incomplete"
        unknown = "; tool capability unknown" if self.tools is None else ""
        return f"{self.mode} (included {chars}, {lines}; {books}{unknown})"


# --- lines and blocks -----------------------------------------------------------------------


def rendered_lines(text: str) -> int:
    """Count lines as they stand in a prompt: a final newline begins another."""
    return text.count("\n") + 1 if text else 0


def physical_lines(text: str) -> int:
    """Count lines of a file: a final newline ends the last one."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def safe_prefix_offsets(source: str, limit: int) -> list[int]:
    """List the offsets, in UTF-16 units and up to `limit`, at which an excerpt may end."""
    offsets, at, end = [0], 0, length(source)
    fence = ""
    for line in _lines(source):
        at += length(line)
        bare = line.removesuffix("\n")
        bare = bare.removesuffix("\r") if bare != line else bare
        if at > limit or (not fence and _CONTAINER.match(bare)):
            break
        fence = _fence_after(bare, fence)
        if not fence and (not trim(bare) or at == end):
            offsets.append(at)
    return offsets


def _lines(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        yield text[at:end]
        at = end


def _fence_after(line: str, fence: str) -> str:
    """Give the run that stands open behind `line`, or nothing."""
    run = _FENCE.fullmatch(line)
    if run is None:
        return fence
    if not fence:
        return run[1]
    closes = run[1][0] == fence[0] and len(run[1]) >= len(fence) and not trim(run[2])
    return "" if closes else fence


# --- selecting ------------------------------------------------------------------------------


def select(project: Project, limits: Limits, tools: bool | None) -> Preload:  # noqa: FBT001 - null is an answer too
    """Select what goes into the prompt. Raises `RefusedError` when not even the notice fits."""
    if limits.hold(project.text):
        mode = "full" if project.text else "none"
        pieces = (Piece(project.text, TEXT),) if project.text else ()
        sources = tuple(_coverage(book, book.source) for book in project.handbooks)
        return Preload(pieces, project, limits, mode, sources, 0, tools)
    return _Partial(project, limits).preload(tools)


def _coverage(book: Handbook, included: str) -> Coverage:
    return Coverage(
        path=book.path,
        hash=digest(book.source),
        available_chars=length(book.source),
        available_lines=physical_lines(book.source),
        included_chars=length(included),
        included_lines=physical_lines(included),
    )


class _Partial:
    """One selection that does not hold everything."""

    def __init__(self, project: Project, limits: Limits) -> None:
        self.project = project
        self.limits = limits
        self.excerpts = [""] * len(project.handbooks)
        self.support: list[int] = []
        self.reserved = self._notice(
            [_reserved(book) for book in project.handbooks], len(project.support)
        )
        if not limits.hold(_joined(self.reserved)):
            raise RefusedError(
                f"the notice of {len(project.handbooks)} handbooks does not fit into "
                f"{limits.chars} UTF-16 units and {limits.lines} lines",
                hint="name fewer handbooks, or raise the limits",
            )

    def preload(self, tools: bool | None) -> Preload:  # noqa: FBT001 - as `select`
        """Fill the room that the notice leaves."""
        for index in reversed(range(len(self.excerpts))):
            self._grow(index)
        for index in range(len(self.project.support)):
            if self._fits((*self.support, index)):
                self.support.append(index)
        sources = tuple(map(_coverage, self.project.handbooks, self.excerpts))
        omitted = len(self.project.support) - len(self.support)
        notice = self._notice([_record(source) for source in sources], omitted)
        pieces = tuple(self._pieces(notice, self.support))
        return Preload(pieces, self.project, self.limits, "partial", sources, omitted, tools)

    def _grow(self, index: int) -> None:
        source = self.project.handbooks[index].source
        encoded = units(source)
        for offset in safe_prefix_offsets(source, self.limits.chars)[1:]:
            before = self.excerpts[index]
            prefix = encoded[: offset * 2].decode("utf-16-be", "surrogatepass")
            self.excerpts[index] = prefix
            if not self._fits(()):
                self.excerpts[index] = before
                return

    def _fits(self, support: Sequence[int]) -> bool:
        return self.limits.hold(_joined(self._pieces(self.reserved, support)))

    def _notice(self, records: list[str], omitted: int) -> tuple[Piece, ...]:
        lines = [*records, f"Support fragments omitted: {omitted}.", "</project-preload>"]
        return (
            Piece("<project-preload>\n"),
            Piece(self.project.notice, NOTICE),
            Piece("\n"),
            Piece(self.project.retrieval, RETRIEVAL),
            Piece("".join(f"\n{line}" for line in lines)),
        )

    def _pieces(self, notice: tuple[Piece, ...], support: Sequence[int]) -> Iterator[Piece]:
        yield from notice
        for index, excerpt in enumerate(self.excerpts):
            if excerpt:
                path = self.project.handbooks[index].path.translate(_ESCAPES)
                yield Piece(f'\n\n<project-context path="{path}">\n')
                yield Piece(excerpt, f"/handbookSources/{index}/source")
                yield Piece("\n</project-context>")
        for index in support:
            yield Piece("\n\n")
            yield Piece(self.project.support[index], f"/supportFragments/{index}")


def _joined(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _reserved(book: Handbook) -> str:
    """Write a record as long as it can become."""
    last = physical_lines(book.source)
    lines = f"none/{last}-{last}"
    return _line(book.path, lines, f"{lines} (budget)")


def _record(source: Coverage) -> str:
    omitted = f"{_range(source.omitted)} (budget)" if source.omitted else "none"
    return _line(source.path, _range(source.included), omitted)


def _line(path: str, included: str, omitted: str) -> str:
    return f"{quoted(path)}: included physical lines {included}; omitted physical lines {omitted}."


def _range(lines: tuple[int, int] | None) -> str:
    return f"{lines[0]}-{lines[1]}" if lines else "none"
