"""Decoded source: sections made of text and placeholders, and how they come together.

Parse at the door, then trust: a dialect turns text into pieces, and nothing after it looks for
braces again, so a filled value cannot open another placeholder.

Rule 1: a `Text` is a contiguous range of one file. Where a form drops bytes inside a section (a
comment line, a carriage return), the section holds two texts.
Rule 2: the bindings, fields and layout are data, not code: `core.compile` turns any pack into a
program without knowing its form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pvc.model.span import Plane

if TYPE_CHECKING:
    from pvc.model.recipe import Parts


@dataclass(frozen=True, slots=True)
class Text:
    """Bytes of a file that are rendered as they stand."""

    data: bytes
    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class Hole:
    """A placeholder `{name}` at byte `offset` of a file."""

    name: str
    path: str
    offset: int

    @property
    def data(self) -> bytes:
        """The placeholder as it is written."""
        return b"{%s}" % self.name.encode()


@dataclass(frozen=True, slots=True)
class Added:
    """Bytes that `rule` of the form puts where a file has others or none: U+FFFD, a heading."""

    data: bytes
    rule: str
    path: str
    offset: int


Piece = Text | Hole | Added


@dataclass(frozen=True, slots=True)
class Section:
    """Named pieces. A fragment is rendered only where a binding selects it."""

    name: str
    pieces: tuple[Piece, ...]
    plane: Plane = Plane.SURFACE
    fragment: bool = False
    order: int | None = None
    """Where it stands in a form that arranges by number; null is after every number."""
    complete: bool = False
    """Whether it takes the place of all others."""

    @property
    def template(self) -> bytes:
        """The section as text, placeholders written out."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names it asks for, by first appearance, each once."""
        return tuple(dict.fromkeys(p.name for p in self.pieces if isinstance(p, Hole)))


# --- what an environment may hold -----------------------------------------------------------

FieldKind = Literal[
    "text",
    "nullable",
    "list",
    "choice",
    "variant",
    "records",
    "whole",
    "flag",
    "any",
    "optional",
    "truth",
    "number",
    "texts",
    "object",
    "part",
    "objects",
    "fragment",
    "full",
]


@dataclass(frozen=True, slots=True)
class Field:
    """One key of the environment.

    `kind`: `text`; `nullable` (text, null or absent; a blank text counts as null); `list` (of
    texts); `choice` (one of `choices`); `variant` (an object whose `tag` is one of `choices`, each
    with its own fields in `variants`); `records` (a list of objects, whose fields are the one entry
    of `variants`); `whole` (a whole number, null when absent); `flag` (true or false); `any` (JSON
    that the form checks itself, null when absent). A text without `required` is empty when absent,
    and so is a choice; a list has no entries. Forms with a recipe have further kinds, which
    `core.inputs` lists.
    """

    name: str
    kind: FieldKind
    required: bool = False
    choices: tuple[str, ...] = ()
    tag: str = ""
    variants: tuple[tuple[Field, ...], ...] = ()


# --- what fills a placeholder ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextBinding:
    """The text at `field`, as given."""

    name: str
    field: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListBinding:
    """The entries at `field`: trimmed, empties dropped, made unique, joined by `joint`."""

    name: str
    field: tuple[str, ...]
    joint: bytes
    ordered: bool = True
    """Sorted by UTF-8 bytes; else in given order."""


@dataclass(frozen=True, slots=True)
class PickBinding:
    """The fragment that the choice at `field` selects: pairs of choice and fragment name."""

    name: str
    field: tuple[str, ...]
    fragments: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GuardBinding:
    """The fragment, when `field` holds anything: a text that is not blank, a list with entries."""

    name: str
    field: tuple[str, ...]
    fragment: str


@dataclass(frozen=True, slots=True)
class BlockBinding:
    """A block that `core.raku_blocks` writes from the whole environment."""

    name: str
    block: Literal["environment", "tools"]


Binding = TextBinding | ListBinding | PickBinding | GuardBinding | BlockBinding


@dataclass(frozen=True, slots=True)
class Merge:
    """How a launch brings sections along: records at the environment's `field`.

    `orders` are the numbers of ids that need not give one, `dynamic` the ids that never get into
    the prompt. `core.sections` is the contract.
    """

    field: str
    orders: tuple[tuple[str, int | None], ...]
    dynamic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How rendered sections become one text.

    `trim`: each is trimmed at both ends and dropped when empty. `edges`: line ends that touch the
    joint give way to it, the outer ones stay. `tidy`: trailing white space goes, runs of blank
    lines shrink to one, none at either end. `merge`: sections are arranged by number, those of the
    launch among them, and each change of plane ends a block. `trim_end`: trailing white space in
    Unicode's sense goes from each, and what is blank is dropped. `chosen`: the fragments follow
    that the list at this field names, in its order; all of them when it is empty. `wire`: the text
    at this field says whether each section is a block of its own (`messages`) or all are one text,
    each without its trailing line feeds.
    """

    joint: bytes
    trim: bool = False
    edges: bool = False
    tidy: bool = False
    merge: Merge | None = None
    trim_end: bool = False
    chosen: str = ""
    wire: str = ""


@dataclass(frozen=True, slots=True)
class Pack:
    """A prompt's decoded source: all that rendering needs besides the environment.

    `rule` is the number of the form's rendering rules (DESIGN §3: rules never change). `label` is
    the pack's own version id and `fingerprint` its form's own change mark; both may be empty.
    Section names are unique among sections and fragments together. With a `recipe` the sections
    are all fragments, and it says how they come together; bindings and layout then say nothing.
    """

    form: str
    rule: int
    sections: tuple[Section, ...]
    bindings: tuple[Binding, ...]
    fields: tuple[Field, ...]
    layout: Layout
    label: str = ""
    fingerprint: str = ""
    recipe: Parts = ()

    def __post_init__(self) -> None:
        names = [section.name for section in self.sections]
        if len(set(names)) != len(names):
            raise ValueError(f"section names repeat: {names}")

    def section(self, name: str) -> Section | None:
        """Find the section or fragment of that name; null when there is none."""
        return next((section for section in self.sections if section.name == name), None)
