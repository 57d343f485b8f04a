"""Pack → program: what `core.program` runs, as a tuple of instructions.

Pure and form-blind: bindings, fields and layout are data of the pack. A placeholder that no
binding provides compiles to nothing, as Loom renders it; whether that is a fault is the business
of the form's findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pvc.model.pack import (
    Added,
    Binding,
    BlockBinding,
    Field,
    GuardBinding,
    Hole,
    ListBinding,
    Pack,
    PickBinding,
    Section,
    Text,
    TextBinding,
)
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.model.pack import Layout, Merge

Program = tuple[str, int, tuple[object, ...], tuple[object, ...]]
Instruction = tuple[object, ...]


def compile_pack(pack: Pack) -> Program:
    """Compile `pack`; equal packs give equal programs."""
    fields = compile_fields(pack.fields)
    if pack.recipe:
        from pvc.core.compile_recipe import compile_recipe  # one form has recipes, of many nouns

        return (pack.form, pack.rule, fields, (compile_recipe(pack),))
    fill = _Filler(pack)
    rendered = [section for section in pack.sections if not section.fragment]
    parts = tuple(fill.part(section) for section in rendered)
    if pack.layout.chosen:
        fragments = tuple(
            (section.name, fill.part(section))
            for section in pack.sections
            if section.fragment and section.plane is not Plane.DYNAMIC
        )
        parts = (*parts, ("chosen", pack.layout.chosen, pack.layout.joint, fragments))
    block: Instruction = (("join", pack.layout.joint, pack.layout.edges, parts),)
    if pack.layout.merge:
        block = (_merge(pack.layout, pack.layout.merge, rendered, parts),)
    if pack.layout.wire:
        block = (("wire", pack.layout.wire, pack.layout.joint, parts),)
    if pack.layout.tidy:
        block = (("tidy", block),)
    return (pack.form, pack.rule, fields, (block,))


def _merge(
    layout: Layout, merge: Merge, sections: list[Section], parts: tuple[Instruction, ...]
) -> Instruction:
    rows = tuple(
        (section.name, section.order, section.complete, str(section.plane), part)
        for section, part in zip(sections, parts, strict=True)
    )
    return ("merge", layout.joint, layout.edges, merge.field, merge.orders, merge.dynamic, rows)


def compile_fields(fields: tuple[Field, ...]) -> Instruction:
    """Compile what an environment may hold, for `core.program.check`."""
    return tuple(_field(field) for field in fields)


def _field(field: Field) -> Instruction:
    variants = tuple(tuple(_field(inner) for inner in fields) for fields in field.variants)
    return (field.name, field.kind, field.required, field.choices, field.tag, variants)


class _Filler:
    """Fills sections: the bindings of one pack by name."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.bindings = {binding.name: binding for binding in pack.bindings}

    def part(self, section: Section) -> Instruction:
        layout, block = self.pack.layout, self._pieces(section, self._hole)
        if layout.trim_end:
            block = (("trim-end", block),)
        return ("section", section.name, layout.trim, block)

    def _fragment(self, name: str) -> Instruction:
        """Fill a fragment from plain bindings only: no fragment reaches another."""
        section = self.pack.section(name)
        return () if section is None else self._pieces(section, self._plain_hole)

    def _pieces(self, section: Section, hole: Callable[[Hole], Instruction]) -> Instruction:
        instructions: list[object] = []
        for piece in section.pieces:
            match piece:
                case Text(data, path, offset):
                    instructions.append(("lit", data, path, section.name, offset))
                case Hole():
                    instructions.extend(hole(piece))
                case Added(data, rule):
                    instructions.append(("glue", data, rule))
                case _:
                    assert_never(piece)
        return tuple(instructions)

    def _hole(self, hole: Hole) -> Instruction:
        binding = self.bindings.get(hole.name)
        match binding:
            case PickBinding(_, field, fragments):
                choices = tuple((choice, self._fragment(name)) for choice, name in fragments)
                return (("pick", field, choices),)
            case GuardBinding(_, field, fragment):
                return (("guard", field, self._fragment(fragment)),)
            case BlockBinding(_, block):
                return (("written", block),)
            case _:
                return _plain(binding, hole)

    def _plain_hole(self, hole: Hole) -> Instruction:
        return _plain(self.bindings.get(hole.name), hole)


def _plain(binding: Binding | None, hole: Hole) -> Instruction:
    match binding:
        case TextBinding(name, field):
            return (("text", name, field, hole.path, hole.offset),)
        case ListBinding(name, field, joint, ordered):
            return (("list", name, field, joint, ordered, hole.path, hole.offset),)
        case PickBinding() | GuardBinding() | BlockBinding() | None:
            return ()
        case _:
            assert_never(binding)
