"""Fragments found again in a text that pvc did not render.

    program  "Work in {cwd}.⏎Never force a push.⏎"      rendered with marks in its holes
    text     "Work in /srv/a.⏎Never force a push.⏎"     compared with that, word by word
              ├ source ┤├binding┤├──── source ────┤     what is between the matches fills the holes

Rule 1: the program is run, not imitated: trimming, joints and dropped sections are those of the one
renderer. Each value is a mark that the text does not hold; of a choice, the one whose words do
stand in the text is taken.
Rule 2: a value is what stands between the texts around its placeholder. Where these are not there,
or no placeholder is, the bytes are unversioned: pvc names no owner that it cannot show.
Rule 3: which version to compare with is told by whole lines (`Lines`): the one with most of the
text's lines, of several the one with least beside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pvc.core.diff import compare
from pvc.core.program import run
from pvc.core.stand_in import example, rows_of
from pvc.model.span import FromBinding, FromSource, Glue, Rendered, Span, Unversioned, lift

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.compile import Program
    from pvc.model.span import Origin

_HOLE = re.compile(rb"\{[^{}\n]{1,64}\}")
_CRUMB = 4
_SHORT = 3  # a shorter piece of a line stands in any text


class Lines:
    """The lines of a text, to tell how much of a file stands in it."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.held = {line.strip() for line in text.split(b"\n")}
        self._pieces: dict[bytes, bool] = {}

    def shared(self, data: bytes) -> tuple[int, int]:
        """Count the bytes of a file whose lines stand in the text, and of those that do not.

        A line with placeholders is taken apart at them.
        """
        found = lacking = 0
        for raw in data.split(b"\n"):
            line = raw.strip()
            if line in self.held:
                found += len(line)
            elif b"{" not in line:
                lacking += len(line)
            else:
                for piece in _HOLE.split(line):
                    if self._stands(piece):
                        found += len(piece)
                    else:
                        lacking += len(piece)
        return found, lacking

    def _stands(self, piece: bytes) -> bool:
        if piece not in self._pieces:
            self._pieces[piece] = len(piece) >= _SHORT and piece in self.text
        return self._pieces[piece]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text tiled by what a program says of it; `unused` counts bytes of the program not in it."""

    rendered: Rendered
    unused: int

    @property
    def source_bytes(self) -> int:
        """Bytes that stand in the version's files."""
        return sum(len(s) for s in self.rendered.spans if isinstance(s.origin, FromSource))

    @property
    def stray_bytes(self) -> int:
        """Bytes that nothing accounts for."""
        return sum(len(s) for s in self.rendered.spans if isinstance(s.origin, Unversioned))


def align(program: Program, text: bytes) -> Aligned:
    """Find what `program` renders in `text`; the spans given tile the text."""
    template = _template(program, text)
    spans: list[Span] = []
    old = new = unused = 0
    for i1, i2, j1, j2 in [
        *compare(template.data, text)[0],
        (len(template.data), len(template.data), len(text), len(text)),
    ]:
        spans += _moved(_cut(template, old, i1), new - old)
        filled = _filled(template, (i1, i2), text[j1:j2], j1)
        sources = [s for s in _cut(template, i1, i2) if isinstance(s.origin, FromSource)]
        used = sum(len(span) for span in filled if isinstance(span.origin, FromSource))
        unused += sum(map(len, sources)) - used
        spans += filled
        old, new = i2, j2
    whole = _joined(_without_crumbs(list(_joined(spans))))
    return Aligned(Rendered(text, tuple(whole), (len(text),)), unused)


# --- the program, run with marks -------------------------------------------------------------


def _template(program: Program, text: bytes) -> Rendered:
    """Run the program with a mark in every hole."""
    mark = "hole"
    while mark.encode() in text:
        mark += "x"
    chosen = _choices(program, text)
    values = {f[0]: example(f, (str(f[0]),), lambda _: mark, chosen) for f in rows_of(program[2])}
    return lift(*run(program, values))


def _choices(program: Program, text: bytes) -> dict[tuple[str, ...], str]:
    """Choose, for each field that picks a fragment, the one most of whose words are in the text."""
    scores: dict[tuple[str, ...], dict[str, tuple[int, int]]] = {}
    for _, field, choices in _picks(program[3]):
        for choice, block in choices:
            pieces = [piece.strip() for piece in _literals(block)]
            held = sum(len(piece) for piece in pieces if piece and piece in text)
            lacking = sum(map(len, pieces)) - held
            before = scores.setdefault(field, {}).get(choice, (0, 0))
            scores[field][choice] = (before[0] + held, before[1] - lacking)
    return {field: max(found, key=found.__getitem__) for field, found in scores.items()}


def _picks(block: Any) -> Iterator[tuple[Any, ...]]:
    for item in block:
        if isinstance(item, tuple):
            if item and item[0] == "pick":
                yield item
            yield from _picks(item)


def _literals(block: Any) -> Iterator[bytes]:
    for item in block:
        if isinstance(item, tuple):
            if item and item[0] == "lit":
                yield item[1]
            else:
                yield from _literals(item)


# --- spans of the template, moved to the text -------------------------------------------------


def _cut(rendered: Rendered, start: int, end: int) -> Iterator[Span]:
    """Give the parts of spans that lie in a byte range."""
    if start >= end:
        return
    from bisect import bisect_right

    at = bisect_right(rendered.spans, start, key=lambda span: span.end)
    for span in rendered.spans[at:]:
        if span.start >= end:
            return
        first, last = max(span.start, start), min(span.end, end)
        yield replace(span, start=first, end=last, origin=_shifted(span.origin, first - span.start))


def _shifted(origin: Origin, by: int) -> Origin:
    return (
        origin if isinstance(origin, Glue) or not by else replace(origin, offset=origin.offset + by)
    )


def _moved(spans: Iterable[Span], by: int) -> Iterator[Span]:
    for span in spans:
        origin = span.origin
        if isinstance(origin, FromBinding):
            origin = _whole(origin)
        yield replace(span, start=span.start + by, end=span.end + by, origin=origin)


def _whole(binding: FromBinding) -> FromBinding:
    """Speak of the value as a whole: of a list, which entry it is cannot be told."""
    head, _, last = binding.pointer.rpartition("/")
    return replace(
        binding, offset=0, pointer=head if last.isdecimal() and head else binding.pointer
    )


def _filled(template: Rendered, old: tuple[int, int], new: bytes, base: int) -> list[Span]:
    """Tile replaced bytes: texts around placeholders where they stand, values between them."""
    pieces = list(_cut(template, *old))
    if not new or not any(isinstance(piece.origin, FromBinding) for piece in pieces):
        return [Span(base, base + len(new), Unversioned())] if new else []
    out: list[Span] = []
    at, hole, lost = 0, None, False
    for index, piece in enumerate(pieces):
        if isinstance(piece.origin, FromBinding):
            hole = hole or (None if lost else piece)
            continue
        text = template.data[piece.start : piece.end]
        found = _find(new, text, at, open_end=hole is not None, last=index == len(pieces) - 1)
        if found < 0 and hole:  # edited after the value: the rest of its line tells where that ends
            text = text[: text.find(b"\n") + 1]
            found = new.find(text, at) if text else -1
        if found < 0:
            lost = lost or hole is None
            continue
        out += _between(hole, at, found, base)
        out.append(replace(piece, start=base + found, end=base + found + len(text)))
        at, hole, lost = found + len(text), None, False
    return [*out, *_between(hole, at, len(new), base)]


def _find(new: bytes, text: bytes, at: int, *, open_end: bool, last: bool) -> int:
    """Find a text after a value, which ends anywhere, or right here; -1 where it is not."""
    if not open_end:
        return at if new.startswith(text, at) else -1
    if last:
        found = len(new) - len(text)
        return found if found >= at and new.endswith(text) else -1
    return new.find(text, at)


def _between(hole: Span | None, start: int, end: int, base: int) -> list[Span]:
    if start == end:
        return []
    if hole is None or not isinstance(hole.origin, FromBinding):
        return [Span(base + start, base + end, Unversioned())]
    return [replace(hole, start=base + start, end=base + end, origin=_whole(hole.origin))]


def _without_crumbs(spans: list[Span]) -> Iterator[Span]:
    """Give up a byte or two between strays: any two texts share those."""
    for at, span in enumerate(spans):
        sides = (
            (at == 0 or _is_stray(spans[at - 1])),
            (at + 1 == len(spans) or _is_stray(spans[at + 1])),
        )
        crumb = len(span) < _CRUMB and not isinstance(span.origin, FromBinding)
        yield replace(span, origin=Unversioned(), section="") if crumb and all(sides) else span


def _is_stray(span: Span) -> bool:
    return isinstance(span.origin, Unversioned)


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Join neighbours that go on where the one before ends; a stray byte's offset is its own."""
    held: Span | None = None
    for span in spans:
        if isinstance(span.origin, Unversioned):
            span = replace(span, origin=Unversioned(span.start))  # noqa: PLW2901  # now it is known
        if (
            held
            and held.section == span.section
            and span.origin == _shifted(held.origin, len(held))
        ):
            held = replace(held, end=span.end)
            continue
        if held:
            yield held
        held = span
    if held:
        yield held
