"""A prompt of form `clio` with the report that Clio gives with it: sections, manifest, prefix.

The renderer is the one renderer; this joins it with the form's tables. `ops.clio_project` selects
project context first, where it is given.

Rule 1: a section is listed as it stands in the prompt, with its own token estimate.
Rule 2: the manifest lists fragments in a fixed order: identity and its companions, contract,
delegation, skills, safety, then additional ones; a worker's persona stands before those. A fragment
that is blank is in it all the same. The words pack is not: it stands for constants of the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pvc.core import inputs, program
from pvc.core.compile import compile_fields
from pvc.core.compile_recipe import compile_condition
from pvc.dialects import clio_session
from pvc.dialects.clio import StablePrefix, pack_of, stable_prefix
from pvc.dialects.clio_js import token_estimate
from pvc.dialects.clio_json import digest
from pvc.dialects.clio_table import (
    CONTRACT,
    DELEGATION,
    DOCS_ROUTING,
    IDENTITY,
    READ_ONLY,
    SELF_AWARENESS,
    SETTINGS_ROUTING,
    SKILLS,
    WORKER_CONTRACT,
    WORKER_IDENTITIES,
    WORKER_SAFETIES,
)
from pvc.model.javascript import trim
from pvc.ops.clio_project import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.dialects.clio_table import Table
    from pvc.model.recipe import Condition
    from pvc.model.span import Rendered

    Values = dict[str, Any]


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
    table: Table, environment: Mapping[str, Any], order: tuple[str, ...] = clio_session.ORDER
) -> Compiled:
    """Render a prompt and report on it; another `order` than the form's is for tests.

    Raises `UsageError` when the environment does not fit or a guard refuses it.
    """
    pack = pack_of(table, order)
    rendered = render(pack, environment)
    session = environment.get("session")
    if isinstance(session, dict):  # `render` has dealt with project context
        session = {key: value for key, value in session.items() if key != "project"}
        environment = {**environment, "session": session}
    fields: Any = compile_fields(pack.fields)
    values = program.check(fields, environment, "")
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
