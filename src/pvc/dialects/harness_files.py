"""Form `harness`: what each path of a tree is, and who may change it. Pure.

    systemprompt.md  guardrails.md  memory.md  tool_guidance.md     always-on text: c1 c2 c3 c4
    sub_agents/<name>/AGENT.md   skills/<name>/SKILL.md             on demand:      c5 c6
    scripts/…   plugins/…                                           they act:       c7 c8
    sub_agents/MANIFEST.md   scripts/MANIFEST.md                    told in the prompt, at 64 and 66

Rule 1: components cost no always-on byte. What the prompt says of sub-agents and scripts stands in
a manifest file that somebody wrote, so adding a component moves no prefix until it is named there.
Rule 2: the editable surface is c1 to c7. Whatever else a proposal names, the foundation's texts
included, is not editable, and one such path refuses the whole proposal: half of an edit is an edit
that nobody proposed. Plugins run with the harness's own rights, so they need trust as well.
Rule 3: a proposal may say what moves it. `INV` (how the agent works) may shape c1, c2, c4, c6 and
c7, `DOM` (what practitioners know) c3 and c6, and c2 only beside a skill, whose trigger line must
land in the same edit. Rules for c5 are written nowhere, so only a proposal without a dimension
changes it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from pvc.model.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SKILLS = "skills/"
SUB_AGENTS = "sub_agents/"
SCRIPTS = "scripts/"
PLUGINS = "plugins/"
FOLDERS = (SKILLS, SUB_AGENTS, SCRIPTS, PLUGINS)
SKILL_FILE = "SKILL.md"


class Component(StrEnum):
    """The eight kinds of things that a tree is made of."""

    SYSTEM_PROMPT = "c1"
    GUARDRAILS = "c2"
    MEMORY = "c3"
    TOOL_GUIDANCE = "c4"
    SUB_AGENT = "c5"
    SKILL = "c6"
    SCRIPT = "c7"
    PLUGIN = "c8"


class Dimension(StrEnum):
    """What moves a proposal: how the agent works, or what practitioners know."""

    INV = "INV"
    DOM = "DOM"


ALWAYS_ON = {
    "systemprompt.md": Component.SYSTEM_PROMPT,
    "guardrails.md": Component.GUARDRAILS,
    "memory.md": Component.MEMORY,
    "tool_guidance.md": Component.TOOL_GUIDANCE,
}
MANIFESTS = {"sub_agents/MANIFEST.md": "subagents", "scripts/MANIFEST.md": "scripts"}
"""Files in component folders that are sections of the prompt, and their ids."""

SECTION_ORDER: dict[str, int | None] = {
    "framing": 5,
    "identity": 10,
    "role": 20,
    "systemprompt": 25,
    "guardrails": 40,
    "memory": 45,
    "references": 50,
    "subagents": 64,
    "scripts": 66,
    "wiki": 80,
    "tool_guidance": 90,
    "tool_manifest": 90,
    "context_updates": None,
}
"""Where a section stands whose order nobody gives; null is after every number."""

_BY_FOLDER = {
    SKILLS: Component.SKILL,
    SUB_AGENTS: Component.SUB_AGENT,
    SCRIPTS: Component.SCRIPT,
    PLUGINS: Component.PLUGIN,
}
_BY_DIMENSION = {
    Dimension.INV: {
        Component.SYSTEM_PROMPT,
        Component.GUARDRAILS,
        Component.TOOL_GUIDANCE,
        Component.SKILL,
        Component.SCRIPT,
    },
    Dimension.DOM: {Component.MEMORY, Component.SKILL},
}


def component(path: str) -> Component | None:
    """Tell what a path of a tree is; null for anything that is no part of the surface."""
    if path in ALWAYS_ON:
        return ALWAYS_ON[path]
    for folder, kind in _BY_FOLDER.items():
        if path.startswith(folder) and len(path) > len(folder):
            return kind
    return None


def utf16_units(text: str) -> int:
    """Count UTF-16 code units, as a `.length` of JavaScript does."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# --- proposals ------------------------------------------------------------------------------


def not_editable(paths: Iterable[str], *, trusted: bool = False) -> tuple[str, ...]:
    """List the paths that no proposal may touch; one of them refuses all."""
    return tuple(path for path in paths if not _is_editable(path, trusted=trusted))


def _is_editable(path: str, *, trusted: bool) -> bool:
    if any(part in ("", ".", "..") for part in path.split("/")):
        return False
    kind = component(path)
    return kind is not None and (trusted or kind is not Component.PLUGIN)


def judge(
    base: Mapping[str, str],
    edit: Mapping[str, str | None],
    *,
    dimension: Dimension | None = None,
    trusted: bool = False,
) -> tuple[Finding, ...]:
    """Report what is wrong with a proposal: `edit` is the new text by path, null to remove.

    Corrupting findings refuse it whole. That prose grows where no component is proposed is only
    pointed out: components come before prose, but the proposer may have a reason.
    """
    found = [_refused(path, trusted=trusted) for path in not_editable(edit, trusted=trusted)]
    kinds = {path: kind for path in edit if (kind := component(path)) is not None}
    if dimension is not None:
        found += _beyond(kinds, dimension)
    grown = [path for path in ALWAYS_ON if path in edit and _grows(base.get(path), edit[path])]
    if grown and all(path in ALWAYS_ON for path in edit):
        found.append(
            Finding(
                "prose-before-component",
                Severity.SHAPING,
                f"`{grown[0]}` grows, and no component is proposed",
                at=grown[0],
                hint="a skill, script or sub-agent costs nothing until it is used",
            )
        )
    return tuple(found)


def _refused(path: str, *, trusted: bool) -> Finding:
    plugin = component(path) is Component.PLUGIN and not trusted
    return Finding(
        "plugin-untrusted" if plugin else "not-editable",
        Severity.CORRUPTING,
        f"`{path}` is on no editable surface",
        name=path,
        at=path,
        hint="a plugin needs trust" if plugin else "foundation text changes by a pack release",
    )


def _beyond(kinds: Mapping[str, Component], dimension: Dimension) -> list[Finding]:
    allowed = set(_BY_DIMENSION[dimension])
    if Component.SKILL in kinds.values():
        allowed.add(Component.GUARDRAILS)
    return [
        Finding(
            "dimension",
            Severity.CORRUPTING,
            f"an edit of dimension {dimension} may not shape {kind} (`{path}`)",
            name=path,
            at=path,
        )
        for path, kind in kinds.items()
        if kind not in allowed
    ]


def _grows(before: str | None, after: str | None) -> bool:
    return after is not None and utf16_units(after) > utf16_units(before or "")
