"""Form `loom`: packs of named sections over a typed environment.

`loom_source` reads one `.loom` file and `loom_write` writes one; here stands what is the form's:
how files come together, what an environment holds, what fills a placeholder, and what a complete
pack has.

    .pvc/packs/base/default.loom    sections a b c
    conduct.loom                    a section b: stands where the pack's b stood
    house_style.md                  a new section house_style: stands at the end

Rule 1: packs are laid in byte order of their names, then the tree. A section replaces the one of
its name that lies below, in place, and a new one follows at the end, in path byte order. A file
that is no `.loom` is one section, named after its stem with `-` read as `_`, its text trimmed as a
section's is.
Rule 2: a name stands once in a layer. Which of two files wins must not hang on what they are
called.
Rule 3: reading accepts more than `problems` approves. A pack that leaves a section out may be
just what was meant, so that is reported and never refused.
Rule 4: an environment has no number and cannot have one: clocks, costs and counts all arrive as
numbers, and each would break the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects import scan
from pvc.dialects.base import only_planes
from pvc.dialects.loom_source import SECTION_NAME, LoomError, LoomSource
from pvc.dialects.loom_source import section as build_section
from pvc.dialects.manifest import near
from pvc.errors import DecodeError
from pvc.model.finding import Assessment, Finding, Severity
from pvc.model.manifest import Form
from pvc.model.pack import (
    Field,
    GuardBinding,
    Hole,
    Layout,
    ListBinding,
    Pack,
    PickBinding,
    Section,
    Text,
    TextBinding,
)
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.dialects.base import Layer
    from pvc.model.pack import Binding
    from pvc.model.source import Source, Sources

__all__ = [
    "BINDINGS",
    "CANONICAL_SECTIONS",
    "FIELDS",
    "LAYOUT",
    "REQUIRED_FRAGMENTS",
    "LoomError",
    "assess",
    "decode",
    "fill",
    "findings",
    "fingerprint",
    "placeholders",
    "problems",
    "read",
    "section",
]

RULE = 1
SUFFIX = ".loom"

CANONICAL_SECTIONS = (
    "identity",
    "tool_discipline",
    "available_tools",
    "delegation",
    "conduct",
    "environment",
    "sandbox",
    "repository_guidance",
)

ENFORCEMENT = (
    ("FullyEnforced", "_enforcement_enforced"),
    ("PlatformEnforced", "_enforcement_platform"),
    ("DegradedRefusing", "_enforcement_degraded"),
    ("BestEffort", "_enforcement_best_effort"),
)
NETWORK = (
    ("NetworkBlocked", "_network_blocked"),
    ("NetworkProxied", "_network_proxied"),
    ("NetworkOpen", "_network_open"),
)
REQUIRED_FRAGMENTS = (
    *(fragment for _, fragment in ENFORCEMENT),
    *(fragment for _, fragment in NETWORK),
    "_protected_paths",
    "_available_tools",
    "_repository_guidance",
)

FIELDS = (
    Field("workspace", "text", required=True),
    Field("platform", "text", required=True),
    Field("shell", "text", required=True),
    Field("tools", "list"),
    Field("available_tools", "list"),
    Field(
        "enforcement", "choice", required=True, choices=tuple(choice for choice, _ in ENFORCEMENT)
    ),
    Field(
        "network",
        "variant",
        required=True,
        choices=tuple(choice for choice, _ in NETWORK),
        tag="kind",
        variants=((), (Field("allow", "list"),), ()),
    ),
    Field("protected_paths", "list"),
    Field("repository_guidance", "nullable"),
)

BINDINGS: tuple[Binding, ...] = (
    TextBinding("workspace", ("workspace",)),
    TextBinding("platform", ("platform",)),
    TextBinding("shell", ("shell",)),
    ListBinding("tools", ("tools",), b", "),
    ListBinding("available_tools_list", ("available_tools",), b"\n", ordered=False),
    ListBinding("protected_paths", ("protected_paths",), b", "),
    ListBinding("network_allow", ("network", "allow"), b", "),
    TextBinding("repository_guidance_text", ("repository_guidance",)),
    PickBinding("enforcement", ("enforcement",), ENFORCEMENT),
    PickBinding("network", ("network", "kind"), NETWORK),
    GuardBinding("protected", ("protected_paths",), "_protected_paths"),
    GuardBinding("available_tools", ("available_tools",), "_available_tools"),
    GuardBinding("repository_guidance", ("repository_guidance",), "_repository_guidance"),
)

LAYOUT = Layout(joint=b"\n\n", trim=True, tidy=True)


# --- reading --------------------------------------------------------------------------------


def read(source: Source, plane: Plane = Plane.SURFACE) -> Pack:
    """Read one `.loom` file as a whole pack."""
    file = LoomSource(source, plane)
    return _pack(file.sections, file.version, source.data)


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Lay a tree over the packs that it stands on.

    The label joins the files' versions by ` + `, and the fingerprint is taken over the files in
    the order in which they are laid, so that one file's is its own.
    """
    laid = [_Laid(layer) for layer in layers]
    sections: dict[str, Section] = {}
    for one in laid:
        sections |= one.sections  # an update keeps the place of a name that is there
    label = " + ".join(version for one in laid for version in one.versions)
    data = b"".join(source.data for layer in layers for source in layer.files)
    return _pack(sections.values(), label, data)


def _pack(sections: Iterable[Section], label: str, data: bytes) -> Pack:
    return Pack(
        form=Form.LOOM,
        rule=RULE,
        sections=tuple(sections),
        bindings=BINDINGS,
        fields=FIELDS,
        layout=LAYOUT,
        label=label,
        fingerprint=fingerprint(data),
    )


class _Laid:
    """The sections of one layer, each name once."""

    def __init__(self, layer: Layer) -> None:
        self.sections: dict[str, Section] = {}
        self.versions: list[str] = []
        self._paths: dict[str, str] = {}
        only_planes(layer)
        for source in layer.files:
            self._file(source, layer.plane(source))

    def _file(self, source: Source, plane: Plane) -> None:
        if not source.path.endswith(SUFFIX):
            self._add(_whole(source, plane), source.path)
            return
        file = LoomSource(source, plane)
        self.versions.append(file.version)
        for part in file.sections:
            self._add(part, source.path)

    def _add(self, part: Section, path: str) -> None:
        if part.name in self.sections:
            raise DecodeError(
                f"section `{part.name}` stands in `{self._paths[part.name]}` too",
                at=path,
                hint="rename one of them, or leave its file out of `files`",
            )
        self.sections[part.name] = part
        self._paths[part.name] = path


def _whole(source: Source, plane: Plane) -> Section:
    """Read a file that is one section, named after its stem."""
    scan.decoded(source)
    stem = source.path.rpartition("/")[2].rpartition(".")[0]
    name = stem.replace("-", "_")
    if not SECTION_NAME.fullmatch(name):
        raise DecodeError(
            f"`{stem}` gives no section name",
            at=source.path,
            hint="1 to 64 of a-z 0-9 _ -; rename the file, or leave it out of `files`",
        )
    return build_section(name, [Text(source.data, source.path, 0)], plane)


# --- problems -------------------------------------------------------------------------------


def problems(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report what a complete pack would have, and every placeholder that nothing fills.

    Missing sections come first, in canonical order, then missing fragments, then unknown
    placeholders section by section. With `sources` a placeholder's finding has its place.
    """
    missing = [name for name in CANONICAL_SECTIONS if pack.section(name) is None]
    fragments = [name for name in REQUIRED_FRAGMENTS if pack.section(name) is None]
    return (
        *(_missing_section(name) for name in missing),
        *(_missing_fragment(name) for name in fragments),
        *(finding for part in pack.sections for finding in _unknown(part, sources)),
    )


findings = problems


def assess(pack: Pack) -> Assessment:
    """Split `problems` by whether the pack says what was meant."""
    return Assessment.of(problems(pack))


def _missing_section(name: str) -> Finding:
    return Finding("section-missing", Severity.SHAPING, f"no section `{name}`", name=name)


def _missing_fragment(name: str) -> Finding:
    return Finding(
        "fragment-missing",
        Severity.CORRUPTING,
        f"no fragment `{name}`, so what selects it says nothing",
        name=name,
    )


def _unknown(part: Section, sources: Sources | None) -> list[Finding]:
    known = {binding.name for binding in BINDINGS}
    found: dict[str, Finding] = {}
    for hole in part.pieces:
        if isinstance(hole, Hole) and hole.name not in known and hole.name not in found:
            source = sources.get(hole.path) if sources else None
            found[hole.name] = Finding(
                "placeholder-unknown",
                Severity.CORRUPTING,
                f"nothing fills `{{{hole.name}}}`",
                section=part.name,
                name=hole.name,
                at=source.position(hole.offset) if source else hole.path,
                hint=near(hole.name, known),
            )
    return list(found.values())


# --- reading a pack by hand -----------------------------------------------------------------


def section(pack: Pack, name: str) -> bytes | None:
    """Give the template of a section or fragment, or null."""
    part = pack.section(name)
    return None if part is None else part.template


def placeholders(template: bytes) -> tuple[str, ...]:
    """List the names that a template asks for, by first appearance, each once."""
    return Section("", scan.pieces([Text(template, "", 0)])).placeholders


def fill(template: bytes, values: Iterable[tuple[str, bytes]]) -> bytes:
    """Fill a template in one pass: a value is never looked at again, an unknown name is empty.

    Of two values of one name the later counts. Nothing is trimmed and nothing tidied.
    """
    known = dict(values)
    return b"".join(
        known.get(piece.name, b"") if isinstance(piece, Hole) else piece.data
        for piece in scan.pieces([Text(template, "", 0)])
    )


def fingerprint(data: bytes) -> str:
    """Digest `data` by FNV-1a, 64 bits, as 16 hex digits: to notice a change, not to trust."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"
