"""The prompt of a session: its sections by name, their gates and their order. Pure.

Rule 1: a section stands the later, the more often its text changes: the constitution first, the
runtime last. So a change loses as little of a provider's cache as it can. Behind the sections come
the harness's additional fragments, and the scope of the turn at the very end.
Rule 2: every section is trimmed and dropped when empty; a blank line joins them.
Rule 3: text that teaches a tool appears only where that tool can be called.
Rule 4: `LEGACY_ORDER` is release 0.3.8's and older ones'. It is for tests, and nothing else asks
for it: under it a changed runtime loses all that follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects.clio_fields import identities
from pvc.dialects.clio_table import (
    DELEGATION,
    DOCS_ROUTING,
    IDENTITY,
    PATHS,
    SAFETY,
    SELF_AWARENESS,
    SETTINGS_POLICY,
    SETTINGS_ROUTING,
    SKILL_POLICY,
    SKILLS,
    WORDS,
)
from pvc.dialects.clio_turn import (
    BLANK_LINE,
    GAP,
    additional,
    allowed,
    fragment,
    heading,
    on_surface,
    tool_names,
    tools_work,
    turn_scope,
    words,
)
from pvc.model.javascript import trim
from pvc.model.recipe import (
    Above,
    Body,
    Choose,
    Count,
    Every,
    Filled,
    Heads,
    Held,
    Hints,
    Is,
    Joined,
    Named,
    Not,
    Parts,
    Refuse,
    Some,
    Trimmed,
    Value,
    When,
    Words,
)

if TYPE_CHECKING:
    from pvc.dialects.clio_table import Table
    from pvc.model.recipe import Condition, Part, Path

ORDER = (
    "identity",
    "operating-contract",
    "delegation",
    "skills",
    "safety",
    "tool-contract",
    "fleet",
    "retrieval-hints",
    "project-context",
    "harness-awareness",
    "memory",
    "runtime",
)
LEGACY_ORDER = (
    "identity",
    "harness-awareness",
    "operating-contract",
    "delegation",
    "skills",
    "safety",
    "runtime",
    "tool-contract",
    "fleet",
    "retrieval-hints",
    "memory",
    "project-context",
)

_S = "session"
CAN_DISPATCH = Every((tools_work(_S), on_surface("gateway", _S), allowed("dispatch", _S)))
HAS_CONTEXT = Every((tools_work(_S), on_surface("context", _S)))
ROUTES_DOCS = Every((tools_work(_S), on_surface("gateway", _S), allowed("clio_docs", _S)))
SKILLS_ON = Every(
    (
        HAS_CONTEXT,
        allowed("context", _S),
        Not(Is((_S, "skillDiscoveryEnabled"), value=False)),
        Not(Is((_S, "turnConstraints", "skills"), "disabled")),
        Not(Is((_S, "turnConstraints", "mode"), "answer")),
        Some((Is((_S, "readySkillCount"), None), Above((_S, "readySkillCount")))),
    )
)
IS_CLIO = Is(("identity",), IDENTITY)
AUTONOMY = ("default", "yolo")


def session(table: Table, order: tuple[str, ...] = ORDER) -> Parts:
    """Lay out the session prompt from the fragments of `table`."""
    sections = _sections(table)
    laid = tuple(Named(name, sections[name]) for name in order)
    parts: Parts = (*laid, additional(), turn_scope(_S))
    return (*_required(), Joined(BLANK_LINE, parts))


def _required() -> tuple[Refuse, ...]:
    return tuple(
        Refuse(
            Is((role,), ""),
            f"no {role} fragment is found",
            f"/{role}",
            hint="name one of the tree's fragments by its id",
        )
        for role in ("identity", "contract", "safety")
    )


def _sections(table: Table) -> dict[str, Parts]:
    contracts = table.ids("operating.")
    return {
        "identity": (_one_of("identity", identities(table)),),
        "operating-contract": (Joined(BLANK_LINE, (_one_of("contract", contracts), _demo())),),
        "delegation": (When(CAN_DISPATCH, (Body(DELEGATION),)),),
        "skills": (When(SKILLS_ON, (Body(SKILLS, ((SKILL_POLICY, _skill_policy()),)),)),),
        "safety": (_safety(table),),
        "tool-contract": (_tool_contract(),),
        "fleet": (
            When(
                Every((CAN_DISPATCH, Not(Is((_S, "turnConstraints", "mode"), "answer")))),
                (Value("fleetRoster", (_S, "fleetRoster")),),
            ),
        ),
        "retrieval-hints": (_retrieval_hints(),),
        "project-context": (_headed("Project", "contextFiles"),),
        "harness-awareness": (_harness_awareness(table),),
        "memory": MEMORY,
        "runtime": RUNTIME,
    }


def _one_of(role: str, names: tuple[str, ...]) -> Choose:
    return Choose((role,), tuple((name, (Body(name),)) for name in names))


def _demo() -> When:
    return When(Is((_S, "demo"), value=True), (words("demo"),))


def _skill_policy() -> Parts:
    levels = Some(tuple(Is(("safety",), SAFETY + level) for level in AUTONOMY))
    by_model = Every((levels, Not(Is((_S, "modelMayActivateSkills"), value=False))))
    return (
        When(by_model, (words("skills-by-model"),)),
        When(Not(by_model), (words("skills-by-operator"),)),
    )


# --- safety ---------------------------------------------------------------------------------


def _safety(table: Table) -> Choose:
    return Choose(("safety",), tuple((name, _level(table, name)) for name in table.ids(SAFETY)))


def _level(table: Table, name: str) -> Parts:
    """Name the level with its sentence; what approval means stands there only with a body."""
    line = _level_line(table, name.removeprefix(SAFETY))
    if not trim(table.body(name)):
        return line
    headless = Is((_S, "headless"), value=True)
    approval: Parts = (
        When(headless, (words("approval-headless"),)),
        When(Not(headless), (words("approval-attached"),)),
    )
    return (*line, Words(b"\n", "joint"), *approval, GAP, fragment(name))


def _level_line(table: Table, level: str) -> Parts:
    known = f"autonomy-{level}"
    sentence = known if table.has(WORDS + known) else "autonomy-other"
    return (Words(f"Autonomy: {level}. ".encode(), "autonomy"), words(sentence))


# --- tools ----------------------------------------------------------------------------------


def _tool_contract() -> Part:
    names = (_S, "toolNames")
    lines: Parts = (
        heading("Tool Contract", "tool-heading"),
        words("tools-trust"),
        When(Not(tools_work(_S)), (words("tools-unavailable"),)),
        When(tools_work(_S), (When(Filled(names), (words("tools-surface", tool_names(_S)),)),)),
        When(Every((tools_work(_S), Not(Filled(names)))), (words("tools-none"),)),
        When(tools_work(_S), (words("tools-kinds"),)),
        When(CAN_DISPATCH, (words("tools-kinds-dispatch"),)),
        When(HAS_CONTEXT, (words("tools-kinds-skills"),)),
        When(tools_work(_S), (words("tools-inventory"),)),
        When(tools_work(_S), (Hints("toolPromptHints", (_S, "toolPromptHints"), names),)),
    )
    return Joined(b"\n", lines)


def _retrieval_hints() -> Part:
    lines: Parts = (
        heading("Retrieval Hints", "retrieval-heading"),
        When(tools_work(_S), (words("retrieval"),)),
        When(Not(tools_work(_S)), (words("retrieval-no-tools"),)),
    )
    return Joined(b"\n", lines)


# --- what the session brings ----------------------------------------------------------------


def _headed(word: str, name: str, unless: Condition | None = None) -> Part:
    """Put a heading and a blank line over a text that is not blank."""
    field: Path = (_S, name)
    over: Parts = (heading(word, f"{word.lower()}-heading"), GAP)
    if unless is not None:
        over = (When(Not(unless), over),)
    return When(Held(field), (*over, Trimmed((Value(name, field),))))


def _harness_awareness(table: Table) -> Part:
    if not table.has(SELF_AWARENESS):
        return Joined(b"", ())
    paths = tuple((hole, (Value(name, ("paths", name)),)) for hole, name in PATHS)
    settings = (SETTINGS_POLICY, _settings_policy())
    routes: tuple[tuple[str, Condition, Part], ...] = (
        (DOCS_ROUTING, ROUTES_DOCS, fragment(DOCS_ROUTING)),
        (SETTINGS_ROUTING, HAS_CONTEXT, fragment(SETTINGS_ROUTING, settings)),
    )
    there = tuple(When(gate, (GAP, part)) for name, gate, part in routes if table.has(name))
    return When(IS_CLIO, (fragment(SELF_AWARENESS, *paths), *there))


def _settings_policy() -> Parts:
    can = Is((_S, "canConfigureClio"), value=True)
    gates = [Every((can, Is(("safety",), SAFETY + level))) for level in AUTONOMY]
    by_level = tuple(
        When(gate, (words(f"settings-{level}"),))
        for gate, level in zip(gates, AUTONOMY, strict=True)
    )
    return (*by_level, When(Not(Some(tuple(gates))), (words("settings-by-operator"),)))


MEMORY: Parts = (_headed("Memory", "memorySection", Heads((_S, "memorySection"), "Memory")),)


def _fact(label: str, shown: Condition, value: Part) -> Part:
    return When(shown, (Words(f"{label}: ".encode(), "runtime"), value))


_PROVIDER, _MODEL, _WINDOW = (_S, "provider"), (_S, "model"), (_S, "contextWindow")
RUNTIME: Parts = (
    Joined(
        BLANK_LINE,
        (
            Joined(
                b"\n",
                (
                    heading("Runtime", "runtime-heading"),
                    _fact("Provider", Not(Is(_PROVIDER, "")), Value("provider", _PROVIDER)),
                    _fact("Model", Not(Is(_MODEL, "")), Value("model", _MODEL)),
                    _fact("Context window", Above(_WINDOW), Count("contextWindow", _WINDOW)),
                ),
            ),
            Trimmed((Value("thinkingGuidance", (_S, "thinkingGuidance")),)),
        ),
    ),
)
