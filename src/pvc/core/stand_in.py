"""A program whose values are not at hand, rendered with placeholders in their place. Pure.

    program  "Work in {cwd}.⏎"    values not here   ──►   "Work in {cwd}.⏎", `{cwd}` a binding still

Rule 1: the program is run, not imitated: trimming, joints and sections are those of the one
renderer. What a value would choose or guard is a placeholder too: which fragment was sent is not
known, so none is shown.
Rule 2: up to its first placeholder a prompt is as it was sent. White space and joints in front of
it are not certain: an empty value takes them along.
Rule 3: where values steer a program in another way (sections that a launch brings, blocks of the
form's own), nothing of its text is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pvc.core.entries import entry_number
from pvc.core.program import run
from pvc.model.span import FromBinding, Rendered, lift

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pvc.core.compile import Program

    Mark = Callable[[str, Any], str]
    """Gives the text for a value's name and what it chooses between; null where it is text."""

_WHITE = b" \t\r\n"
_PLAIN = ("text", "list", "choice", "variant", "nullable")


@dataclass(frozen=True, slots=True)
class StandIn:
    """A prompt with placeholders; its first `certain` bytes are those that were sent."""

    rendered: Rendered
    certain: int


def unfilled(program: Program, given: Mapping[str, object]) -> dict[str, object]:
    """Complete an environment: a value that is not given is its placeholder, written out."""
    return {**_examples(program[2]), **given}


def _examples(fields: Any) -> dict[str, object]:
    """Give a placeholder for each value that has one; sections that a launch brings have none."""
    return {
        row[0]: example(row, (row[0],), lambda path: f"{{{path[-1]}}}", {})
        for row in rows_of(fields)
        if row[2] or row[1] in _PLAIN
    }


def stand_in(program: Program, mark: Mark | None = None, entries: Collection[int] = ()) -> StandIn:
    """Render a program with a placeholder for all that depends on a value.

    `entries` are numbers of entries whose text is a placeholder too. Raises `UsageError` where the
    form cannot be rendered without its values.
    """
    form, rule, fields, blocks = program
    values = _examples(fields)
    writer = _Writer(mark or _name)
    rendered = lift(*run((form, rule, fields, writer.block(blocks)), values))
    if writer.is_steered:
        return StandIn(rendered, 0)
    holes = (span.start for span in rendered.spans if _is_stand_in(span.origin, entries))
    first = next(holes, None)
    if first is None:
        return StandIn(rendered, len(rendered.data))
    return StandIn(rendered, len(rendered.data[:first].rstrip(_WHITE)))


def with_contents(name: str, choices: Any) -> str:
    """Mark a placeholder by what it chooses between, so that an edit of that shows."""
    if choices is None:
        return _name(name, None)
    return f"{{{name} {blake2b(repr(choices).encode(), digest_size=4).hexdigest()}}}"


def tagged(tag: str) -> Mark:
    """Mark every placeholder with a tag, so that values that differ do."""
    return lambda name, _choices: f"{{{name} {tag}}}"


def _name(name: str, _choices: Any) -> str:
    return f"{{{name}}}"


def _is_stand_in(origin: object, entries: Collection[int]) -> bool:
    """Whether bytes stand for a value: those of entries that are here do not."""
    if not isinstance(origin, FromBinding):
        return False
    number = entry_number(origin.pointer)
    return number is None or number in entries


class _Writer:
    """Writes a program with placeholders; `is_steered` when that leaves something out."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.is_steered = False

    def block(self, block: Any) -> Any:
        return tuple(self._item(item) for item in block)

    def _item(self, item: Any) -> Any:
        """Write an instruction, or a block of them."""
        if not item or isinstance(item[0], tuple):
            return self.block(item)
        match item:
            case ("text", name, field, path, at) | ("list", name, field, _, _, path, at):
                return self._hole(name, field, path, at)
            case ("pick", field, choices):
                return self._hole(field[0], field, "", 0, choices)
            case ("guard", field, block):
                return self._hole(field[0], field, "", 0, block)
            case ("section", name, trim, block):
                return ("section", name, trim, self.block(block))
            case ("join", joint, edges, parts):
                return ("join", joint, edges, self.block(parts))
            case ("tidy" | "trim-end" as word, block):
                return (word, self.block(block))
            case ("lit" | "glue" | "added", *_):
                return item
        self.is_steered = True
        return self._steered(item)

    def _steered(self, item: Any) -> Any:
        """Write what is in an instruction that values steer, where it is known what that is."""
        match item:
            case ("chosen", field, joint, parts):
                inner = tuple((name, self._item(part)) for name, part in parts)
                return ("chosen", field, joint, inner)
            case ("wire", field, joint, parts):
                return ("wire", field, joint, self.block(parts))
            case ("merge", *front, rows):
                return ("merge", *front, tuple((*row[:-1], self._item(row[-1])) for row in rows))
        return item

    def _hole(self, name: str, field: Any, path: str, at: int, choices: Any = None) -> Any:
        pointer = "/" + "/".join(field)
        return ("hole", self.mark(name, choices), name, pointer, path, at)


# --- values that stand for themselves ---------------------------------------------------------


def rows_of(fields: Any) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a program's fields."""
    yield from fields


def example(
    field: tuple[Any, ...],
    path: tuple[str, ...],
    mark: Callable[[tuple[str, ...]], str],
    chosen: dict[tuple[str, ...], str],
) -> Any:
    """Make a value of a field's kind, with `mark` where it is text."""
    _, kind, _, choices, tag, variants = field
    if kind == "list":
        return [mark(path)]
    if kind == "choice":
        return chosen.get(path, choices[0])
    if kind == "variant":
        choice = chosen.get((*path, tag), choices[0])
        inner = variants[choices.index(choice)]
        rows = rows_of(inner)
        return {tag: choice} | {row[0]: example(row, (*path, row[0]), mark, chosen) for row in rows}
    return mark(path)
