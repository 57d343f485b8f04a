"""Recipe → instructions: what a pack with a recipe compiles to. Pure and form-blind.

A placeholder that no fill provides stands as it is written: forms with a recipe have placeholders
in prose that others fill later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pvc.model.javascript import WHITE
from pvc.model.pack import Added, Hole, Text
from pvc.model.recipe import (
    Above,
    Body,
    Choose,
    Condition,
    Count,
    Entries,
    Every,
    Filled,
    Has,
    Heads,
    Held,
    Hints,
    Is,
    Joined,
    Named,
    Names,
    Not,
    Part,
    Parts,
    Refuse,
    Some,
    Trimmed,
    Value,
    When,
    Words,
)

if TYPE_CHECKING:
    from pvc.model.pack import Pack, Piece

Instruction = tuple[object, ...]
_NOWHERE = ("", 0)


def compile_recipe(pack: Pack) -> Instruction:
    """Compile the recipe of `pack` to a block."""
    return _Writer(pack).block(pack.recipe)


def compile_condition(condition: Condition) -> Instruction:
    """Compile a condition for `core.inputs.holds`."""
    match condition:
        case Is(field, value):
            return ("is", field, value)
        case Held(field):
            return ("held", field)
        case Above(field):
            return ("above", field)
        case Filled(field, trimmed):
            return ("filled", field, trimmed)
        case Has(field, text, trimmed):
            return ("has", field, text, trimmed)
        case Heads(field, word):
            return ("heads", field, word)
        case Not(inner):
            return ("not", compile_condition(inner))
        case Every(conditions):
            return ("all", tuple(map(compile_condition, conditions)))
        case Some(conditions):
            return ("any", tuple(map(compile_condition, conditions)))
        case _:
            assert_never(condition)


class _Writer:
    """Writes the parts of one pack; a placeholder being filled is the place of its values."""

    def __init__(self, pack: Pack) -> None:
        self._sections = {section.name: section for section in pack.sections}

    def block(self, parts: Parts, place: tuple[str, int] = _NOWHERE) -> Instruction:
        return tuple(instruction for part in parts for instruction in self._part(part, place))

    def _part(self, part: Part, place: tuple[str, int]) -> Instruction:
        match part:
            case Words(data, rule):
                return (("glue", data, rule),)
            case Body():
                return self._body(part)
            case Value(name, field):
                return (("text", name, field, *place),)
            case Count(name, field):
                return (("number", name, field, *place),)
            case Names(name, field, joint, wrap, trimmed):
                return (("names", name, field, trimmed, wrap, joint, wrap),)
            case Hints(name, field, admitted):
                return (("hints", name, field, admitted),)
            case Entries(name, field, joint):
                return (("entries", name, field, joint),)
            case Trimmed(parts):
                return _trimmed(self.block(parts, place))
            case Refuse(condition, message, pointer, hint):
                return (("refuse", compile_condition(condition), message, pointer, hint),)
            case _:
                return (self._nested(part, place),)

    def _nested(self, part: When | Choose | Joined | Named, place: tuple[str, int]) -> Instruction:
        match part:
            case When(condition, parts):
                return ("when", compile_condition(condition), self.block(parts, place))
            case Choose(field, choices):
                blocks = tuple((choice, self.block(parts, place)) for choice, parts in choices)
                return ("pick", field, blocks)
            case Joined(joint, parts):
                return ("join", joint, False, self._each(parts, place))
            case Named(name, parts):
                return ("section", name, False, _trimmed(self.block(parts)))
            case _:
                assert_never(part)

    def _each(self, parts: Parts, place: tuple[str, int]) -> Instruction:
        """Compile parts that are glued: each is one instruction."""
        return tuple(_one(self.block((part,), place)) for part in parts)

    def _body(self, body: Body) -> Instruction:
        section = self._sections.get(body.name)
        fills = dict(body.fills)
        pieces = section.pieces if section else ()
        return tuple(
            instruction for piece in pieces for instruction in self._piece(piece, body.name, fills)
        )

    def _piece(self, piece: Piece, name: str, fills: dict[str, Parts]) -> Instruction:
        match piece:
            case Text(data, path, offset):
                return (("lit", data, path, name, offset),)
            case Added(data, rule):
                return (("glue", data, rule),)
            case Hole(hole, path, offset):
                if hole in fills:
                    return self.block(fills[hole], (path, offset))
                return (("lit", piece.data, path, name, offset),)
            case _:
                assert_never(piece)


def _one(block: Instruction) -> object:
    """Make one instruction of a block."""
    return block[0] if len(block) == 1 else ("when", ("all", ()), block)


def _trimmed(block: Instruction) -> Instruction:
    """Trim a block: now, when it is one text of a file, else whenever it runs."""
    match block:
        case () | (("trim", _),):
            return block
        case (("lit", bytes(data), path, name, int(offset)),):
            text = data.decode()
            front = len(data) - len(text.lstrip(WHITE).encode())
            return (("lit", text.strip(WHITE).encode(), path, name, offset + front),)
        case _:
            return (("trim", block),)
