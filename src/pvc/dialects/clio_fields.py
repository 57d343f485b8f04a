"""What a launch gives to form `clio`: the inputs of its two compilers, under their own names. Pure.

    {"identity": "identity.clio", "contract": "operating.contract", "safety": "safety.default",
     "paths": {"docs": "/opt/clio/docs", …},
     "session": {"provider": "p", "model": "m", "contextWindow": 8192, "toolNames": ["read"], …},
     "additional": [{"id": "context.project-rules", "body": "…"}]}

    {"worker": {"providerSupportsTools": true, "toolNames": ["read"], "persona": {…}, …}}

Rule 1: with `worker` the worker's prompt is rendered, without it the session's.
Rule 2: fragments are chosen by id among those of their kind, and an unknown id is refused.
Rule 3: nothing is looked up. The paths of an installation, which Clio finds by itself, come in
here like every other value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects.clio_table import COMPANIONS, CONTRACT, IDENTITY, PATHS, SAFETY, WORKER_SAFETIES
from pvc.model.pack import Field

if TYPE_CHECKING:
    from pvc.dialects.clio_table import Table

MODES = ("answer", "proposal", "change")
PERMISSIONS = ("deny", "fail", "escalate")

TURN = Field(
    "turnConstraints",
    "object",
    variants=(
        (
            Field("mode", "choice", choices=MODES),
            Field("delegation", "choice", choices=("allowed", "forbidden")),
            Field("skills", "choice", choices=("enabled", "disabled")),
            Field("allowedTools", "texts"),
        ),
    ),
)
TOOL_HINTS = Field(
    "toolPromptHints",
    "objects",
    variants=((Field("tool", "text", required=True), Field("hint", "text", required=True)),),
)
ADDITIONAL = Field(
    "additional",
    "objects",
    variants=(
        (
            Field("id", "text", required=True),
            Field("body", "text", required=True),
            Field("relPath", "optional"),
            Field("dynamic", "truth"),
        ),
    ),
)
PROJECT = Field(
    "project",
    "full",
    tag="give the selected text as `contextFiles`; or let `pvc render` select it, and pin the bytes"
    " with `--rendered FILE`",
)
SESSION = Field(
    "session",
    "object",
    variants=(
        (
            Field("provider", "optional"),
            Field("model", "optional"),
            Field("contextWindow", "number"),
            Field("thinkingGuidance", "optional"),
            Field("providerSupportsTools", "truth"),
            Field("toolNames", "list"),
            TOOL_HINTS,
            Field("fleetRoster", "optional"),
            Field("contextFiles", "optional"),
            PROJECT,
            Field("memorySection", "optional"),
            Field("demo", "truth"),
            Field("headless", "truth"),
            Field("canConfigureClio", "truth"),
            Field("skillDiscoveryEnabled", "truth"),
            Field("readySkillCount", "number"),
            Field("modelMayActivateSkills", "truth"),
            TURN,
        ),
    ),
)
PERSONA = Field(
    "persona",
    "object",
    required=True,
    variants=(
        (Field("id", "optional"), Field("body", "text", required=True), Field("dynamic", "truth")),
    ),
)
WORKER = Field(
    "worker",
    "part",
    variants=(
        (
            Field("providerSupportsTools", "truth", required=True),
            Field("toolNames", "list"),
            TOOL_HINTS,
            Field("hasCanonicalContext", "truth", required=True),
            Field("hasBoundSkills", "truth", required=True),
            Field("onPermission", "choice", choices=PERMISSIONS),
            Field("readOnly", "truth"),
            PERSONA,
            ADDITIONAL,
            TURN,
        ),
    ),
)
PATHS_FIELD = Field(
    "paths", "object", variants=(tuple(Field(name, "optional") for _, name in PATHS),)
)


def fields(table: Table) -> tuple[Field, ...]:
    """List the fields, with the fragments of `table` to choose from."""
    return (
        Field("identity", "fragment", choices=identities(table), tag=IDENTITY),
        Field("contract", "fragment", choices=table.ids("operating."), tag=CONTRACT),
        Field("safety", "fragment", choices=table.ids(SAFETY), tag=table.first(WORKER_SAFETIES)),
        PATHS_FIELD,
        SESSION,
        ADDITIONAL,
        WORKER,
    )


def identities(table: Table) -> tuple[str, ...]:
    """List the fragments that can open a prompt."""
    return tuple(name for name in table.ids("identity.") if name not in COMPANIONS)
