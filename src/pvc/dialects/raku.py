"""Form `raku`: an identity, what the machine is like, which tools there are, instruction files.

    identity.md                who the agent is; required, not blank
    AGENTS.md, rules/git.md    instruction files, each under a heading with its base name
    words/closing.md           the two lines that end a context message (a pack gives them)

    platform, os, date, extra  the values of `## Environment`
    tools                      function tools, as they are sent, for `## Tools`
    paths                      which instruction files, in which order; all when it is empty

Rule 1: identity, environment, tools, files, joined by one blank line. Each loses its trailing white
space; what is blank then is dropped, leading white space stays.
Rule 2: files are read as Raku reads text: no byte-order mark, CRLF is LF, composed. What composing
changes is the form's doing and has the origin `glue`, so a span never names a byte that differs.
Rule 3: an empty file leaves its bare heading: it was found and had nothing to say.
Rule 4: a path that is not there is passed over, and one that is named twice comes twice.
Rule 5: packs lie below the tree, file by file, and files stand in byte order of their paths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pvc.dialects import scan
from pvc.dialects.base import only_planes
from pvc.dialects.raku_context import RakuError
from pvc.errors import DecodeError
from pvc.model.finding import Finding, Severity
from pvc.model.manifest import Form, Kind
from pvc.model.pack import Added, BlockBinding, Field, Hole, Layout, Pack, Section, Text
from pvc.model.raku_text import composed, is_blank, text_of, trimmed_end
from pvc.model.source import Source
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pvc.dialects.base import Layer
    from pvc.model.pack import Piece
    from pvc.model.source import Sources

RULE = 1
IDENTITY = "identity.md"
WORDS = "words/"
CLOSING = "words/closing.md"
JOINT = b"\n\n"

FIELDS = (
    Field("platform", "text"),
    Field("os", "text"),
    Field("date", "text"),
    Field("extra", "any"),
    Field("tools", "any"),
    Field("paths", "list"),
)
BINDINGS = (BlockBinding("environment", "environment"), BlockBinding("tools", "tools"))
LAYOUT = Layout(joint=JOINT, trim_end=True, chosen="paths")

_BOM = b"\xef\xbb\xbf"
_CRLF = re.compile(rb"\r(?=\n)")


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Read every file of every layer. Raises `RakuError` when there is no identity."""
    files: dict[str, tuple[Source, Plane]] = {}
    for layer in layers:
        only_planes(layer)
        files |= {layer.inner(source): (source, layer.plane(source)) for source in layer.files}
    identity = _identity(*files.pop(IDENTITY)) if IDENTITY in files else ()
    if not identity and layers[-1].manifest.kind is not Kind.PACK:
        raise RakuError(
            "empty-identity", f"there is no `{IDENTITY}`", hint="an agent needs an identity"
        )
    return Pack(
        form=Form.RAKU,
        rule=RULE,
        sections=(
            *identity,
            *(_written(binding.name) for binding in BINDINGS),
            *(_file(name, *files[name]) for name in sorted(files, key=str.encode)),
        ),
        bindings=BINDINGS,
        fields=FIELDS,
        layout=LAYOUT,
    )


def _identity(source: Source, plane: Plane) -> tuple[Section, ...]:
    identity = Section(IDENTITY, tuple(file_pieces(source)), plane)
    if is_blank(identity.template.decode()):
        raise RakuError("empty-identity", f"`{source.path}` is blank")
    return (identity,)


def _written(name: str) -> Section:
    return Section(name, (Hole(name, "", 0),), Plane.LAUNCH)


def _file(name: str, source: Source, plane: Plane) -> Section:
    pieces = tuple(file_pieces(source))
    if name.startswith(WORDS):
        return Section(name, pieces, Plane.DYNAMIC, fragment=True)
    heading = f"## {text_of(name.rpartition('/')[2], source.path)}" + ("\n\n" if pieces else "")
    return Section(
        name,
        (Added(heading.encode(), "file-heading", source.path, 0), *pieces),
        plane,
        fragment=True,
    )


def file_pieces(source: Source) -> Iterator[Piece]:
    """Read a file as Raku does, its trailing white space cut off."""
    text = scan.decoded(source)
    end = len(text[: trimmed_end(text)].encode())
    data = source.data[:end]
    start = len(_BOM) if data.startswith(_BOM) else 0
    for cr in [*(match.start() for match in _CRLF.finditer(data)), len(data)]:
        yield from _composed(data[start:cr], source.path, start)
        start = cr + 1


def _composed(data: bytes, path: str, offset: int) -> Iterator[Piece]:
    text = data.decode()
    for part, start, is_changed in composed(text):
        at = offset + len(text[:start].encode())
        data = part.encode()
        yield Added(data, "composed", path, at) if is_changed else Text(data, path, at)


# --- the functions of the original --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """The finished message: it is the system prompt, and no compaction may touch it."""

    text: str
    role: str = "system"
    is_sticky: bool = True
    is_sysprompt: bool = True


def assemble(identity: str, sections: Iterable[Any]) -> SystemMessage:
    """Join the identity and every section that is not blank. Raises `RakuError` without one."""
    if is_blank(identity):
        raise RakuError("empty-identity", "the identity is blank")
    texts = [text_of(part, f"/sections/{i}") for i, part in enumerate((identity, *sections))]
    kept = [text[: trimmed_end(text)] for text in texts if not is_blank(text)]
    return SystemMessage("\n\n".join(kept))


def instructions(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Write the instruction files of an application, by base name, in the order given."""
    sections = [_file(name, Source(name, data), Plane.SURFACE) for name, data in files]
    return JOINT.join([section.template for section in sections])


def closing_lines(pack: Pack) -> tuple[str, ...]:
    """Read the words that end a context message."""
    words = pack.section(CLOSING)
    if words is None:
        raise DecodeError(
            f"there is no `{CLOSING}`",
            hint="stand on the pack `builtin-raku`, or write the two lines",
        )
    return tuple(words.template.decode().split("\n"))


def findings(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report instruction files that have nothing to say."""
    del sources  # the place is the file itself
    return tuple(
        Finding(
            "file-empty",
            Severity.SHAPING,
            f"`{section.name}` is empty and leaves a bare heading",
            section=section.name,
            at=section.name,
        )
        for section in pack.sections
        if section.fragment and section.plane is not Plane.DYNAMIC and len(section.pieces) == 1
    )
