"""Form `plain`: a folder of text files, whole, in byte order of their paths.

For people who start from an `AGENTS.md`: nothing has to be learnt, and a single file is rendered
to itself.

Rule 1: a pack's files come before the tree's, packs in byte order of their names. Every file is a
section, named by its path.
Rule 2: files are joined by one blank line. Line ends that touch the joint give way to it; the
first ones and the last ones of the whole stay as they are, byte for byte.
Rule 3: `{name}` is a placeholder only where the manifest of the same layer declares it under
`bindings`: prose is full of braces, and a tree must not change how its pack is read. Every
declared name is a required text of the environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects import scan
from pvc.dialects.base import only_planes
from pvc.model.finding import Finding, Severity
from pvc.model.manifest import MANIFEST, Form
from pvc.model.pack import Field, Layout, Pack, Section, Text, TextBinding

if TYPE_CHECKING:
    from pvc.dialects.base import Layer
    from pvc.model.source import Source, Sources
    from pvc.model.span import Plane

RULE = 1
LAYOUT = Layout(joint=b"\n\n", edges=True)


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Read every file of every layer. Raises `DecodeError` when one is no UTF-8."""
    sections: list[Section] = []
    for layer in layers:
        only_planes(layer)
        names = frozenset(layer.manifest.bindings)
        sections += [_section(source, layer.plane(source), names) for source in layer.files]
    declared = dict.fromkeys(name for layer in layers for name in layer.manifest.bindings)
    return Pack(
        form=Form.PLAIN,
        rule=RULE,
        sections=tuple(sections),
        bindings=tuple(TextBinding(name, (name,)) for name in declared),
        fields=tuple(Field(name, "text", required=True) for name in declared),
        layout=LAYOUT,
    )


def _section(source: Source, plane: Plane, names: frozenset[str]) -> Section:
    scan.decoded(source)
    return Section(source.path, scan.pieces([Text(source.data, source.path, 0)], only=names), plane)


def findings(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report declared names that no file asks for; they must be given and do nothing."""
    del sources  # the place is the manifest, not a file
    asked = {name for section in pack.sections for name in section.placeholders}
    return tuple(
        Finding(
            "binding-unused",
            Severity.SHAPING,
            f"no file asks for `{{{binding.name}}}`",
            name=binding.name,
            at=f"{MANIFEST} `bindings`",
        )
        for binding in pack.bindings
        if binding.name not in asked
    )
