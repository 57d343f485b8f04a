"""The prompt of a fleet worker: fixed sections, and guards before them. Pure.

Rule 1: the order never changes: identity, operating contract, tool contract, safety, the read-only
restriction, persona, additional fragments, the scope of the turn.
Rule 2: guards are asked in the order of `GUARDS`, the first that fails refuses the launch. A
persona must be stable and must say something; who claims that `context` is attached must be right;
and skills that are bound to a run need it.
Rule 3: a tool support of null is unknown, which is not attached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects.clio_table import (
    CONTRACT,
    READ_ONLY,
    WORKER_CONTRACT,
    WORKER_IDENTITIES,
    WORKER_SAFETIES,
)
from pvc.dialects.clio_turn import (
    BLANK_LINE,
    GAP,
    additional,
    fragment,
    heading,
    on_surface,
    tool_names,
    turn_scope,
    words,
)
from pvc.model.javascript import trim
from pvc.model.recipe import (
    Body,
    Every,
    Filled,
    Held,
    Hints,
    Is,
    Joined,
    Named,
    Not,
    Parts,
    Refuse,
    Some,
    Value,
    When,
    Words,
)

if TYPE_CHECKING:
    from pvc.dialects.clio_table import Table
    from pvc.model.recipe import Part

_W = "worker"
TOOLS = (_W, "providerSupportsTools")
NAMES = (_W, "toolNames")
ATTACHED = Every((Is(TOOLS, value=True), on_surface("context", _W)))
_CLAIMED = Is((_W, "hasCanonicalContext"), value=True)
_DISAGREE = Some((Every((_CLAIMED, Not(ATTACHED))), Every((Not(_CLAIMED), ATTACHED))))

GUARDS = (
    (
        "persona-dynamic",
        Refuse(
            Is((_W, "persona", "dynamic"), value=True),
            "a worker's persona must be a stable fragment",
            "/worker/persona/dynamic",
            hint="give text that changes as `additional`",
        ),
    ),
    (
        "persona-empty",
        Refuse(
            Not(Held((_W, "persona", "body"))),
            "a worker's persona must not be empty",
            "/worker/persona/body",
        ),
    ),
    (
        "context-mismatch",
        Refuse(
            _DISAGREE,
            "`hasCanonicalContext` must agree with the attached tools",
            "/worker/hasCanonicalContext",
            hint="true when tools are supported and `context` is among `toolNames`",
        ),
    ),
    (
        "skills-without-context",
        Refuse(
            Every((Is((_W, "hasBoundSkills"), value=True), Not(_CLAIMED))),
            "bound skills need the tool `context`",
            "/worker/hasBoundSkills",
        ),
    ),
)


def worker(table: Table) -> Parts:
    """Lay out the worker's prompt from the fragments of `table`."""
    sections = (
        Named("identity", (Body(table.first(WORKER_IDENTITIES)),)),
        Named("operating-contract", _contract()),
        Named("tool-contract", (_tool_contract(),)),
        Named("safety", _safety(table)),
        Named(READ_ONLY, (When(Is((_W, "readOnly"), value=True), (Body(READ_ONLY),)),)),
        Named("persona", (Value("persona", (_W, "persona", "body")),)),
        additional(_W),
        turn_scope(_W),
    )
    guards = tuple(guard for _, guard in GUARDS)
    return (*_missing(table), *guards, Joined(BLANK_LINE, sections))


def _missing(table: Table) -> tuple[Refuse, ...]:
    needed = (
        ("worker identity", table.first(WORKER_IDENTITIES), WORKER_IDENTITIES[0]),
        ("operating contract", CONTRACT, CONTRACT),
        ("worker contract", WORKER_CONTRACT, WORKER_CONTRACT),
        ("safety", table.first(WORKER_SAFETIES), WORKER_SAFETIES[0]),
    )
    missing = [
        Refuse(Every(()), f"{role} fragment `{name}` is not found", "/worker")
        for role, there, name in needed
        if not table.has(there)
    ]
    if not table.has(READ_ONLY):
        wanted = Is((_W, "readOnly"), value=True)
        message = f"read-only restriction fragment `{READ_ONLY}` is not found"
        missing.append(Refuse(wanted, message, "/worker/readOnly"))
    return tuple(missing)


def _contract() -> Parts:
    return (
        fragment(CONTRACT),
        GAP,
        fragment(WORKER_CONTRACT),
        GAP,
        words("worker-claim"),
    )


def _tool_contract() -> Part:
    attached = Is(TOOLS, value=True)
    some = Every((attached, Filled(NAMES)))
    lines: Parts = (
        heading("Tool Contract", "tool-heading"),
        words("tools-trust"),
        When(Is(TOOLS, value=False), (words("worker-tools-unavailable"),)),
        When(Is(TOOLS, None), (words("worker-tools-unknown"),)),
        When(Every((attached, Not(Filled(NAMES)))), (words("worker-tools-none"),)),
        When(some, (words("worker-tools", tool_names(_W)),)),
        When(some, (Hints("toolPromptHints", (_W, "toolPromptHints"), NAMES),)),
    )
    return Joined(b"\n", lines)


def _safety(table: Table) -> Parts:
    name = table.first(WORKER_SAFETIES)
    level = name.removeprefix("safety.")
    line: Parts = (
        Words(f"Autonomy: {level}. ".encode(), "autonomy"),
        words("worker-safety"),
        Words(b" ", "joint"),
        _permission(),
    )
    return (*line, GAP, fragment(name)) if trim(table.body(name)) else line


def _permission() -> Part:
    mode = (_W, "onPermission")
    asked = (
        When(Some((Is(mode, ""), Is(mode, "deny"))), (words("permission-deny"),)),
        When(Is(mode, "fail"), (words("permission-fail"),)),
        When(Is(mode, "escalate"), (words("permission-escalate"),)),
    )
    return Joined(b"", asked)
