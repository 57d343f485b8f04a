"""Form `clio`: a folder of fragments, and two compilers that make prompts of them.

`clio_table` reads the folder, `clio_session` and `clio_worker` say which sections there are and
when; here they become one pack, and a rendered prompt becomes the report that Clio gives with it.

Rule 1: one program renders both prompts: the worker's when the environment has a `worker`, else
the session's.
Rule 2: a program cannot select project context (`clio_preload` searches for block boundaries);
`clio_full` renders it, and a launch gives the selected text as `contextFiles`.
Rule 3: the stable prefix is identity and contract, each trimmed and each followed by a blank line,
so it is a prefix of the prompt whenever anything follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core import inputs, program
from pvc.core.compile import compile_pack
from pvc.core.compile_recipe import compile_condition
from pvc.dialects import clio_session, clio_worker
from pvc.dialects.clio_fields import fields
from pvc.dialects.clio_js import token_estimate, trim
from pvc.dialects.clio_json import digest
from pvc.dialects.clio_table import (
    CONTRACT,
    DELEGATION,
    DOCS_ROUTING,
    HOLES,
    IDENTITY,
    READ_ONLY,
    SELF_AWARENESS,
    SETTINGS_ROUTING,
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
from pvc.model.manifest import Form
from pvc.model.pack import Layout, Pack, Text
from pvc.model.recipe import Body, Is, Not, When
from pvc.model.span import lift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.program import Values
    from pvc.dialects.base import Layer
    from pvc.model.recipe import Condition
    from pvc.model.source import Sources
    from pvc.model.span import Rendered

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


# --- what Clio reports of a prompt ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A section that was rendered, and how many tokens it may have."""

    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A fragment that went into a prompt; a blank one is here though no section shows it."""

    id: str
    path: str
    hash: str
    dynamic: bool


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


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rendered prompt with its report."""

    rendered: Rendered
    sections: tuple[PromptSection, ...]
    manifest: tuple[ManifestEntry, ...]
    prefix: StablePrefix

    @property
    def hash(self) -> str:
        """SHA-256 of the prompt."""
        return digest(self.rendered.data.decode())

    @property
    def tokens(self) -> int:
        """How many tokens the prompt may have."""
        return token_estimate(self.rendered.data.decode())


def compile_prompt(
    table: Table, environment: Values, order: tuple[str, ...] = clio_session.ORDER
) -> Compiled:
    """Render a prompt by the one renderer and report on it.

    Raises `UsageError` when the environment does not fit or a guard refuses it.
    """
    compiled = compile_pack(pack_of(table, order))
    rendered = lift(*program.run(compiled, environment))
    values = program.check(compiled[2], environment, "")  # type: ignore[arg-type]  # tuples of fields
    return Compiled(rendered, sections(rendered), manifest(table, values), prefix(table, values))


def sections(rendered: Rendered) -> tuple[PromptSection, ...]:
    """List the sections of a prompt as they stand."""
    found: list[tuple[str, int, int]] = []
    for span in rendered.spans:
        if found and found[-1][0] == span.section and found[-1][2] == span.start:
            found[-1] = (span.section, found[-1][1], span.end)
        else:
            found.append((span.section, span.start, span.end))
    return tuple(
        PromptSection(name, token_estimate(rendered.data[start:end].decode()))
        for name, start, end in found
        if name
    )


def manifest(table: Table, values: Values) -> tuple[ManifestEntry, ...]:
    """List the fragments that went into a prompt, base fragments first."""
    worker = values["worker"]
    names = _worker_base(table, values) if worker else _session_base(table, values)
    base = [_entry(table, name) for name in names]
    if worker:
        base.append(_inline(worker["persona"], "persona"))
    added = worker["additional"] if worker else values["additional"]
    return (*base, *(_inline(entry, entry["id"]) for entry in added))


def _session_base(table: Table, values: Values) -> Iterator[str]:
    yield values["identity"]
    companions: tuple[tuple[str, Condition], ...] = (
        (SELF_AWARENESS, clio_session.IS_CLIO),
        (DOCS_ROUTING, clio_session.ROUTES_DOCS),
        (SETTINGS_ROUTING, clio_session.HAS_CONTEXT),
    )
    if table.has(SELF_AWARENESS) and values["identity"] == IDENTITY:
        yield from _held(table, values, companions)
    yield values["contract"]
    roles = ((DELEGATION, clio_session.CAN_DISPATCH), (SKILLS, clio_session.SKILLS_ON))
    yield from _held(table, values, roles)
    yield values["safety"]


def _worker_base(table: Table, values: Values) -> Iterator[str]:
    yield table.first(WORKER_IDENTITIES)
    yield from (CONTRACT, WORKER_CONTRACT, table.first(WORKER_SAFETIES))
    if values["worker"]["readOnly"]:
        yield READ_ONLY


def _held(table: Table, values: Values, gated: tuple[tuple[str, Condition], ...]) -> Iterator[str]:
    for name, condition in gated:
        if table.has(name) and inputs.holds(compile_condition(condition), values):
            yield name


def _entry(table: Table, name: str) -> ManifestEntry:
    fragment = table.get(name)
    if fragment is None:
        raise KeyError(name)
    return ManifestEntry(fragment.id, fragment.path, fragment.hash, fragment.dynamic)


def _inline(given: Values, name: str) -> ManifestEntry:
    name = given["id"] or name
    path = given.get("relPath") or f"inline/{name}"
    return ManifestEntry(name, path, digest(given["body"]), given["dynamic"] is True)


def prefix(table: Table, values: Values) -> StablePrefix:
    """Give the stable prefix of the prompt that `values` would render."""
    if not values["worker"]:
        return stable_prefix(table.body(values["identity"]), table.body(values["contract"]))
    parts = [trim(table.body(name)) for name in (CONTRACT, WORKER_CONTRACT, "words.worker-claim")]
    return stable_prefix(table.body(table.first(WORKER_IDENTITIES)), "\n\n".join(parts))


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
        *_unfilled(pack, sources),
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


def _unfilled(pack: Pack, sources: Sources | None) -> Iterator[Finding]:
    for section in pack.sections:
        for piece in section.pieces:
            if isinstance(piece, Text):
                for match in _PLACEHOLDER.finditer(piece.data):
                    yield _open(section.name, match, piece, sources)


def _open(section: str, match: re.Match[bytes], piece: Text, sources: Sources | None) -> Finding:
    name = match[1].decode()
    again = name in HOLES.get(section, ())
    source = sources.get(piece.path) if sources else None
    offset = piece.offset + match.start()
    return Finding(
        "placeholder-unfilled",
        Severity.CORRUPTING,
        f"`{{{name}}}` stands again, and only the first is filled"
        if again
        else f"nothing fills `{{{name}}}` here",
        section=section,
        name=name,
        at=source.position(offset) if source else piece.path,
    )
