"""Form `harness`: a tree of always-on files and components, arranged by number.

    .pvc/packs/builtin-harness/…    foundation: how a session works, in the package's words
    systemprompt.md …               surface: what the tree says in every request
    skills/tidy/SKILL.md …          components: not in the prompt at all
    sections of the environment     launch: identity and role, from the application

`harness_files` says what each path is, `harness_gates` checks texts, `harness_events` compares
prompts; `core.sections` is the ordering contract, which the renderer applies at each launch.

Rule 1: a section's id is the stem of its file. c1 to c4 and the manifests have their numbers, every
other file is a section only where a `[[section]]` of `pvc.toml` gives it one.
Rule 2: files that are no section are fragments named by their path, so a version knows its
components and the prompt does not hold a byte of them. Dynamic sections are fragments too.
Rule 3: packs are laid first, then the tree; a section takes the place of the one of its id below
it. Within a layer an id stands twice only if one of the two is scoped, and that one wins.
Rule 4: foundation text is what a pack says beside c1 to c4 and the manifests. A file of the tree
that would take its place, or calls itself foundation, never gets into the prompt, and is reported
as corrupting.
Rule 5: sections are joined by one blank line; line ends that touch the joint give way to it. Text
is never templated: braces are braces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects import scan
from pvc.dialects.harness_files import ALWAYS_ON, FOLDERS, MANIFESTS, SECTION_ORDER
from pvc.dialects.harness_report import findings
from pvc.dialects.manifest import near
from pvc.errors import DecodeError, UsageError
from pvc.model.manifest import MANIFEST, Form, Kind
from pvc.model.pack import Field, Layout, Merge, Pack, Section, Text
from pvc.model.span import Plane

if TYPE_CHECKING:
    from pvc.dialects.base import Layer
    from pvc.model.manifest import SectionRow
    from pvc.model.source import Source

__all__ = ["BUILT_IN_DYNAMIC", "FIELDS", "decode", "findings"]

RULE = 1
BUILT_IN_DYNAMIC = ("references", "wiki")
"""Ids that are dynamic by themselves; the only others are those that somebody flagged."""

FIELDS = (
    Field(
        "sections",
        "records",
        variants=(
            (
                Field("id", "text", required=True),
                Field("order", "whole"),
                Field("text", "text", required=True),
                Field("dynamic", "flag"),
                Field("scope", "text"),
                Field("complete", "flag"),
            ),
        ),
    ),
)


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Lay a tree over the packs that it stands on."""
    sections: dict[str, Section] = {}
    for layer in layers:
        for part in _Laid(layer).sections:
            _lay(part, sections, layer)
    dynamic = {*BUILT_IN_DYNAMIC, *(name for layer in layers for name in layer.manifest.dynamic)}
    dynamic |= {part.name for part in sections.values() if part.plane is Plane.DYNAMIC}
    _check(sections, dynamic)
    merge = Merge("sections", tuple(SECTION_ORDER.items()), tuple(sorted(dynamic)))
    return Pack(
        form=Form.HARNESS,
        rule=RULE,
        sections=tuple(sorted(sections.values(), key=_place)),
        bindings=(),
        fields=FIELDS,
        layout=Layout(joint=b"\n\n", edges=True, merge=merge),
    )


def _lay(part: Section, sections: dict[str, Section], layer: Layer) -> None:
    below = sections.get(part.name)
    if layer.manifest.kind is Kind.PACK:
        if below is not None and Plane.FOUNDATION in (below.plane, part.plane):
            raise DecodeError(
                f"section `{part.name}` is foundation text of `{path_of(below)}` too",
                at=path_of(part),
                hint="stand on one of the two packs",
            )
        sections[part.name] = part
    elif part.plane is Plane.FOUNDATION or (below and below.plane is Plane.FOUNDATION):
        name = f"./{path_of(part)}"
        sections[name] = Section(name, part.pieces, Plane.FOUNDATION, fragment=True)
    else:
        sections[part.name] = part


def path_of(part: Section) -> str:
    """Give the file that a section was read from."""
    return part.pieces[0].path


def _place(part: Section) -> tuple[bool, bool, int, str]:
    return part.fragment, part.order is None, part.order or 0, part.name


def _check(sections: dict[str, Section], dynamic: set[str]) -> None:
    for name in sorted(dynamic & sections.keys()):
        if not sections[name].fragment:
            raise UsageError(
                f"section `{name}` stands in the prompt, so it cannot be dynamic",
                at=f"{MANIFEST} `dynamic`",
            )
    complete = [part for part in sections.values() if part.complete]
    if len(complete) > 1:
        raise DecodeError(
            f"section `{complete[1].name}` is complete, and so is `{complete[0].name}`",
            at=path_of(complete[1]),
            hint="a complete section stands alone; let one of them go",
        )


class _Laid:
    """The sections of one layer, each id once."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.found: dict[str, tuple[Section, bool]] = {}
        """Sections by id, and whether each is scoped."""
        for source in layer.files:
            self._file(source)

    @property
    def sections(self) -> list[Section]:
        return [part for part, _ in self.found.values()]

    def _file(self, source: Source) -> None:
        inner = self.layer.inner(source)
        row = self.layer.manifest.section(inner)
        if not is_section(inner, row):
            name = source.path if inner.startswith(FOLDERS) else f"./{source.path}"
            self.found[name] = Section(name, _whole(source), fragment=True), False
            return
        scan.decoded(source)
        scoped = bool(row and row.scope)
        part = self._section(source, inner, row)
        other = self.found.get(part.name)
        if other is not None and other[1] == scoped:
            raise DecodeError(
                f"section `{part.name}` stands in `{path_of(other[0])}` too",
                at=source.path,
                hint="rename one of them, or give it a `scope`",
            )
        if other is None or scoped:
            self.found[part.name] = part, scoped

    def _section(self, source: Source, inner: str, row: SectionRow | None) -> Section:
        name = MANIFESTS.get(inner) or _stem(source, inner)
        dynamic = (row and row.plane is Plane.DYNAMIC) or self._is_dynamic(name)
        complete = row is not None and row.complete
        if dynamic and (inner in ALWAYS_ON or complete):
            raise UsageError(
                f"`{inner}` stands in the prompt, so it cannot be dynamic", at=self._manifest
            )
        return Section(
            name,
            _whole(source),
            Plane.DYNAMIC if dynamic else self._plane(source, inner, row),
            fragment=bool(dynamic),
            order=self._order(name, inner, row),
            complete=complete,
        )

    def _plane(self, source: Source, inner: str, row: SectionRow | None) -> Plane:
        """Tell the plane: the form's own files are surface in packs as well."""
        if inner in ALWAYS_ON or inner in MANIFESTS:
            return Plane.SURFACE if row is None or row.plane is None else row.plane
        return self.layer.plane(source)

    def _order(self, name: str, inner: str, row: SectionRow | None) -> int | None:
        if row is not None and row.order is not None:
            return row.order
        if name not in SECTION_ORDER:
            raise UsageError(
                f"`{inner}` has no order, and section `{name}` has none of its own",
                at=self._manifest,
                hint=near(name, SECTION_ORDER),
            )
        return SECTION_ORDER[name]

    def _is_dynamic(self, name: str) -> bool:
        return name in BUILT_IN_DYNAMIC or name in self.layer.manifest.dynamic

    @property
    def _manifest(self) -> str:
        return self.layer.folder + MANIFEST


def is_section(inner: str, row: SectionRow | None) -> bool:
    """Tell whether a file of a layer is a section, in the prompt or dynamic."""
    return inner in ALWAYS_ON or inner in MANIFESTS or row is not None


def _whole(source: Source) -> tuple[Text, ...]:
    return (Text(source.data, source.path, 0),)


def _stem(source: Source, inner: str) -> str:
    name = inner.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    if not stem.isprintable():
        raise DecodeError(f"`{inner}` gives no section id", at=source.path)
    return stem
