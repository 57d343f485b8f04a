"""Write a pack as `.loom` source, for programs that change packs. Pure.

    %% loom-prompt-pack 1
    %% version default-1
    %% section identity
    …

Rule 1: what is written reads back as the same pack: the same version id, names and templates.
Comments and spacing are not kept, and writing what was read again gives the same bytes.
Rule 2: some packs have no such source, for the form has no escape: a line that begins with the
marker would come back as a directive, and a CR at a line's end would be lost. They are refused
with the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects import scan
from pvc.dialects.loom_source import FORMAT, MARKER, SECTION_NAME, VERSION_NAME
from pvc.errors import RefusedError
from pvc.model.pack import Section, Text

if TYPE_CHECKING:
    from pvc.model.pack import Pack


def encode(pack: Pack) -> bytes:
    """Write `pack`. Raises `RefusedError` when reading it back would give another one."""
    if not VERSION_NAME.fullmatch(pack.label):
        raise RefusedError(
            f"`{pack.label}` is no version id", hint="1 to 64 of a-z 0-9 . _ -: set the label"
        )
    for section in pack.sections:
        _check(section)
    return encode_unchecked(pack)


def encode_unchecked(pack: Pack) -> bytes:
    """Write `pack` as Loom itself does, whether or not it can be read back."""
    head = f"{MARKER} loom-prompt-pack {FORMAT}\n{MARKER} version {pack.label}\n".encode()
    parts = (
        f"{MARKER} section {section.name}\n".encode() + section.template + b"\n"
        for section in pack.sections
    )
    return head + b"".join(parts)


def _check(section: Section) -> None:
    name, template = section.name, section.template.decode()
    if not SECTION_NAME.fullmatch(name) or section.fragment != name.startswith("_"):
        raise RefusedError(
            f"`{name}` is no name for a {'fragment' if section.fragment else 'section'}",
            hint="1 to 64 of a-z 0-9 _; fragments alone begin with `_`",
        )
    for number, line in enumerate(template.split("\n"), 1):
        at = f"section `{name}`, line {number}"
        if line.startswith(MARKER):
            raise RefusedError(
                f"a line that begins with `{MARKER}` would be read as a directive",
                at=at,
                hint="put a space in front of it",
            )
        if line.endswith("\r"):
            raise RefusedError("a carriage return at the end of a line would be lost", at=at)
    if scan.trim(template) != template:
        raise RefusedError(f"white space around section `{name}` would be lost")
    if _read_again(section) != section.placeholders:
        raise RefusedError(f"text in section `{name}` would be read as a placeholder")


def _read_again(section: Section) -> tuple[str, ...]:
    return Section("", scan.pieces([Text(section.template, "", 0)])).placeholders
