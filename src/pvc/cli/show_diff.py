"""A difference for people: what was taken away and what was put in, within the lines around it.

    system 20-rules.md (surface): 14 bytes removed, 12 added
      Work in /srv.
      [-Never-]{+Always+} force a push.

Rule 1: on a terminal with colour the brackets give way to red and green; colour is put on after
control characters were escaped.
Rule 2: lines that hold no change are shown up to `CONTEXT` before and after one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pvc.cli.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.cli.app import App
    from pvc.ops.diff import Difference, UnitDiff

CONTEXT = 1
Piece = tuple[str, str]
"""A sign (`-`, `+`, or a blank for what is the same) and text without line ends."""


def show_diff(app: App, found: Difference, *, stat: bool) -> None:
    """Print a difference."""
    for unit in found.units:
        if unit.status == "same":
            continue
        app.say(_heading(unit))
        if not stat:
            for line in _shown(list(_lines(unit))):
                click.echo("  " + "".join([_styled(piece, colour=app.colour) for piece in line]))
    if not found.differs:
        if found.is_unknown:
            app.say(f"No difference between {found.a} and {found.b} in what is in this clone.")
        else:
            about = "about " if found.absent else ""
            app.say(f"{found.a} and {found.b} are the same {about}{found.a_bytes} bytes.")
        _say_notes(app, found)
        return
    about = "about " if found.absent else ""
    app.say(f"the first {about}{found.same_bytes} of {found.a_bytes} bytes are the same")
    for cost in found.costs:
        app.say(cost.in_words())
    _say_notes(app, found)


def _say_notes(app: App, found: Difference) -> None:
    """Say what the comparison rests on."""
    for note in (*found.notes, *(row.in_words() for row in found.absent)):
        app.note(f"note: {note}")


def _heading(unit: UnitDiff) -> str:
    name = unit.unit.name
    plane = f" ({unit.unit.plane})" if unit.unit.plane else ""
    size = len(unit.unit.data)
    what = {
        "added": f"added, {size} bytes",
        "removed": f"removed, {size} bytes",
        "moved": f"moved, {size} bytes",
    }.get(unit.status, f"{unit.removed_bytes} bytes removed, {unit.added_bytes} added")
    return f"{unit.unit.region} {name}{plane}: {what}"


def _lines(unit: UnitDiff) -> Iterator[list[Piece]]:
    """Cut a unit into lines of pieces; a line feed belongs to the line that it ends."""
    if unit.status == "moved":
        return
    line: list[Piece] = []
    for sign, data in _pieces(unit):
        first, *rest = data.decode("utf-8", "replace").split("\n")
        line += [(sign, first)] if first else []
        for text in rest:
            if sign != " ":
                line.append((sign, "⏎"))
            yield line
            line = [(sign, text)] if text else []
    if line:
        yield line


def _pieces(unit: UnitDiff) -> Iterator[tuple[str, bytes]]:
    old = unit.old.data if unit.old else b""
    new = unit.new.data if unit.new else b""
    if unit.old is None or unit.new is None:
        yield ("+", new) if unit.old is None else ("-", old)
        return
    at = 0
    for edit in unit.edits:
        yield " ", new[at : edit.new_start]
        yield "-", old[edit.old_start : edit.old_end]
        yield "+", new[edit.new_start : edit.new_end]
        at = edit.new_end
    yield " ", new[at:]


def _shown(lines: list[list[Piece]]) -> Iterator[list[Piece]]:
    """Give the lines that changed and those around them."""
    changed = {i for i, line in enumerate(lines) if any(sign != " " for sign, _ in line)}
    near = {i + by for i in changed for by in range(-CONTEXT, CONTEXT + 1)}
    last = -1
    for i, line in enumerate(lines):
        if i in near:
            if i > last + 1:
                yield [(" ", "…")]
            yield line
            last = i


def _styled(piece: Piece, *, colour: bool) -> str:
    sign, text = piece[0], printable(piece[1])
    if sign == " ":
        return text
    if colour:
        return click.style(text, fg="red" if sign == "-" else "green")
    return f"[-{text}-]" if sign == "-" else f"{{+{text}+}}"
