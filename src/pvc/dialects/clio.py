"""Form `clio`: a folder of fragments, and two compilers that make prompts of them.

`clio_table` reads the folder, `clio_session` and `clio_worker` say which sections there are and
when; here they become one pack. `ops.clio` gives the report that Clio has beside a prompt.

Rule 1: one program renders both prompts: the worker's when the environment has a `worker`, else
the session's.
Rule 2: a program cannot select project context (`clio_preload` searches for block boundaries);
`ops.clio_project` renders it, and a launch gives the selected text as `contextFiles`.
Rule 3: the stable prefix is identity and contract, each trimmed and each followed by a blank line,
so it is a prefix of the prompt whenever anything follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects import clio_session, clio_worker
from pvc.dialects.clio_fields import fields
from pvc.dialects.clio_json import digest
from pvc.dialects.clio_table import (
    CONTRACT,
    DELEGATION,
    HOLES,
    IDENTITY,
    SELF_AWARENESS,
    SKILLS,
    WORDS,
    WORKER_CONTRACT,
    WORKER_IDENTITIES,
    WORKER_SAFETIES,
    Table,
    read_table,
)
from pvc.dialects.clio_turn import BLANK_LINE
from pvc.model.finding import Finding, Severity
from pvc.model.javascript import trim
from pvc.model.manifest import Form
from pvc.model.pack import Added, Layout, Pack, Text
from pvc.model.recipe import Body, Is, Not, When

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.dialects.base import Layer
    from pvc.model.source import Sources

RULE = 1
LAYOUT = Layout(joint=BLANK_LINE)
_PLACEHOLDER = re.compile(rb"\{([A-Z][A-Z0-9_]+)\}")
_IS_WORKER = Not(Is(("worker",), None))


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Lay a tree's fragments over its packs'. Raises `FragmentError` at the first fault."""
    return pack_of(read_table(layers))


def pack_of(table: Table, order: tuple[str, ...] = clio_session.ORDER) -> Pack:
    """Make the pack of a table; another `order` is for tests."""
    worker = When(_IS_WORKER, clio_worker.worker(table))
    session = When(Not(_IS_WORKER), clio_session.session(table, order))
    return Pack(
        form=Form.CLIO,
        rule=RULE,
        sections=tuple(entry.section for entry in table.entries),
        bindings=(),
        fields=fields(table),
        layout=LAYOUT,
        recipe=(worker, session),
    )


# --- the stable prefix ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StablePrefix:
    """The text that no input of a session can change."""

    text: str

    @property
    def size_bytes(self) -> int:
        """Its length in UTF-8."""
        return len(self.text.encode())

    @property
    def hash(self) -> str:
        """Its SHA-256."""
        return digest(self.text)


def stable_prefix(identity: str, contract: str) -> StablePrefix:
    """Join identity and contract as they stand at the front of a prompt; see rule 3."""
    return StablePrefix(f"{trim(identity)}\n\n{trim(contract)}\n\n")


# --- findings -------------------------------------------------------------------------------

BASE = (
    ((IDENTITY,), Severity.CORRUPTING),
    ((SELF_AWARENESS,), Severity.SHAPING),
    ((CONTRACT,), Severity.CORRUPTING),
    ((DELEGATION,), Severity.SHAPING),
    ((SKILLS,), Severity.SHAPING),
    (WORKER_SAFETIES, Severity.CORRUPTING),
    (WORKER_IDENTITIES, Severity.SHAPING),
    ((WORKER_CONTRACT,), Severity.SHAPING),
)


def findings(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report fragments and words that sections ask for and nobody has, and braces left open.

    Missing fragments come first, in the order of the prompt, then words by name, then what stands
    in the fragments that are there.
    """
    there = {section.name for section in pack.sections}
    asked = dict.fromkeys(_bodies(pack.recipe))
    return (
        *(_missing(names[0], how) for names, how in BASE if there.isdisjoint(names)),
        *(
            _missing(name, Severity.CORRUPTING)
            for name in sorted(asked)
            if name.startswith(WORDS) and name not in there
        ),
        *_inside(pack, sources),
    )


def _bodies(value: object) -> Iterator[str]:
    """Find the fragments that a recipe asks for."""
    if isinstance(value, tuple):
        for part in value:
            yield from _bodies(part)
    elif isinstance(value, Body):
        yield value.name
        yield from _bodies(value.fills)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _bodies(getattr(value, name))


def _missing(name: str, severity: Severity) -> Finding:
    return Finding("fragment-missing", severity, f"no fragment `{name}`", name=name)


def _inside(pack: Pack, sources: Sources | None) -> Iterator[Finding]:
    for section in pack.sections:
        for piece in section.pieces:
            if isinstance(piece, Text):
                for match in _PLACEHOLDER.finditer(piece.data):
                    yield _open(section.name, match, piece, sources)
            elif isinstance(piece, Added):
                yield Finding(
                    "bad-byte",
                    Severity.HYGIENE,
                    "a byte that is no UTF-8 is rendered as U+FFFD",
                    section=section.name,
                    at=_place(piece.path, piece.offset, sources),
                )


def _place(path: str, offset: int, sources: Sources | None) -> str:
    source = sources.get(path) if sources else None
    return source.position(offset) if source else path


def _open(section: str, match: re.Match[bytes], piece: Text, sources: Sources | None) -> Finding:
    name = match[1].decode()
    again = name in HOLES.get(section, ())
    return Finding(
        "placeholder-unfilled",
        Severity.CORRUPTING,
        f"`{{{name}}}` stands again, and only the first is filled"
        if again
        else f"nothing fills `{{{name}}}` here",
        section=section,
        name=name,
        at=_place(piece.path, piece.offset + match.start(), sources),
    )
