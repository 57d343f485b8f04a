"""Form `harness`: the gates run over a tree, with places. Pure.

Rule 1: corrupting is what would be sent and mean nothing (a brace that was to be filled, a script
that is not there, a skill that nobody can trigger), always-on text over its cap, and a file that
reaches for foundation text. `supersede` refuses these.
Rule 2: inside components the same names are only pointed out: their texts are read on demand, and a
skill may speak of scripts of the place where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects import harness_gates as gates
from pvc.dialects.harness_files import (
    ALWAYS_ON,
    FOLDERS,
    SCRIPTS,
    SKILL_FILE,
    SKILLS,
    SUB_AGENTS,
)
from pvc.model.finding import Finding, Severity
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.pack import Pack, Section
    from pvc.model.source import Sources

_PACKS = ".pvc/packs/"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the version, and where it lies within its layer."""

    section: Section
    path: str
    inner: str
    text: str

    @classmethod
    def of(cls, section: Section) -> _File:
        path = section.pieces[0].path
        inner = path.split("/", 3)[3] if path.startswith(_PACKS) else path
        return cls(section, path, inner, section.template.decode(errors="replace"))

    @property
    def is_component(self) -> bool:
        return self.section.fragment and self.inner.startswith(FOLDERS)

    @property
    def is_prose(self) -> bool:
        """Whether it is part of a skill or a sub-agent, which are read and not run."""
        return self.section.fragment and self.inner.startswith((SKILLS, SUB_AGENTS))

    @property
    def home(self) -> str:
        """The folder of the component that it belongs to, from which that one names its scripts."""
        return "/".join(self.inner.split("/")[:2]) + "/"

    def at(self, sources: Sources | None, char: int) -> str:
        """`path:line:column` of a character; without sources the path alone."""
        source = sources.get(self.path) if sources else None
        return source.position(len(self.text[:char].encode())) if source else self.path


def findings(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report what the gates find; places need the `sources`."""
    files = [_File.of(section) for section in pack.sections]
    prompt = [file for file in files if not file.section.fragment]
    return (
        *_foundation(files),
        *_cap(prompt),
        *_braces(prompt, sources),
        *_scripts(files, sources),
        *_triggers(prompt, files, sources),
        *_memory(prompt, sources),
        *_unplaced(files),
    )


def _foundation(files: list[_File]) -> Iterator[Finding]:
    for file in files:
        if file.section.fragment and file.section.plane is Plane.FOUNDATION and _is_tree(file):
            yield Finding(
                "foundation-touched",
                Severity.CORRUPTING,
                f"`{file.inner}` reaches for foundation text",
                name=file.inner,
                at=file.path,
                hint="foundation text changes by a release of its pack; rename the file",
            )


def _cap(prompt: list[_File]) -> Iterator[Finding]:
    always_on = {file.inner: file.text for file in prompt if file.inner in ALWAYS_ON}
    total, ok = gates.always_on_cap(always_on)
    if not ok:
        longest = max(always_on, key=lambda path: len(always_on[path]))
        yield Finding(
            "always-on-too-long",
            Severity.CORRUPTING,
            f"always-on text is {total:,} characters of {gates.ALWAYS_ON_MAX:,}: "
            f"{gates.CAP_REASON}",
            name=longest,
            at=longest,
            hint="move what is not needed in every request into a skill",
        )


def _braces(prompt: list[_File], sources: Sources | None) -> Iterator[Finding]:
    for file in prompt:
        for at in gates.double_braces(file.text):
            yield Finding(
                "template-brace",
                Severity.CORRUPTING,
                "`{{` is sent as it stands: this text is rendered, not templated",
                section=file.section.name,
                at=file.at(sources, at),
            )


def _scripts(files: list[_File], sources: Sources | None) -> Iterator[Finding]:
    there = [file.inner for file in files if file.inner.startswith(SCRIPTS)]
    own: dict[str, list[str]] = {}
    for file in files:
        if file.is_prose:
            own.setdefault(file.home, []).append(file.inner.removeprefix(file.home))
    for file in files:
        if file.section.fragment and not file.is_prose:
            continue
        for name, at in gates.missing_scripts(file.text, [*there, *own.get(file.home, ())]):
            yield Finding(
                "script-missing",
                Severity.SHAPING if file.section.fragment else Severity.CORRUPTING,
                f"`{name}` is named and is not there",
                section="" if file.section.fragment else file.section.name,
                name=name,
                at=file.at(sources, at),
            )


def _triggers(
    prompt: list[_File], files: list[_File], sources: Sources | None
) -> Iterator[Finding]:
    skills = {
        file.inner.split("/")[1]: gates.trigger_line(file.text)
        for file in files
        if file.is_component
        and file.inner.startswith(SKILLS)
        and file.inner.split("/")[2:] == [SKILL_FILE]
    }
    always_on = [file for file in prompt if file.section.plane is Plane.SURFACE]
    whole = "\n".join([file.text for file in always_on])
    for name, _ in gates.untriggered(whole, skills.items()):
        file, at = next(
            (file, at) for file in always_on if (at := gates.mention(file.text, name)) is not None
        )
        trigger = skills[name]
        yield Finding(
            "trigger-missing",
            Severity.CORRUPTING,
            f"skill `{name}` is mentioned, and its trigger line is not there",
            section=file.section.name,
            name=name,
            at=file.at(sources, at),
            hint=f"add the line `{trigger}`"
            if trigger
            else f"give `{SKILLS}{name}/{SKILL_FILE}` a `trigger:` and add it as a line",
        )


def _memory(prompt: list[_File], sources: Sources | None) -> Iterator[Finding]:
    for file in prompt:
        if file.inner == "memory.md":
            for at in gates.procedures(file.text):
                yield Finding(
                    "memory-procedure",
                    Severity.SHAPING,
                    "memory holds facts; these are steps with their history",
                    section=file.section.name,
                    at=file.at(sources, at),
                    hint="a procedure belongs into a skill",
                )


def _unplaced(files: list[_File]) -> Iterator[Finding]:
    for file in files:
        stray = file.section.fragment and not file.is_component
        if stray and file.section.plane is Plane.SURFACE and _is_tree(file):
            yield Finding(
                "file-unplaced",
                Severity.SHAPING,
                f"`{file.inner}` is not part of the prompt",
                name=file.inner,
                at=file.path,
                hint="give it a `[[section]]` with an order, or leave it out of `files`",
            )


def _is_tree(file: _File) -> bool:
    return not file.path.startswith(_PACKS)
