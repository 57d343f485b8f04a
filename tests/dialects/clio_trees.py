"""Fragments, trees and environments of form `clio` for tests and properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.core.compile import compile_pack
from pvc.core.program import run
from pvc.dialects.base import read_layers, read_pack
from pvc.dialects.clio_table import Table, read_table
from pvc.model.source import Source, Sources
from pvc.model.span import FromSource, Rendered, lift
from pvc.packs import builtin_packs

MANIFEST = b'format = 1\nname = "agent"\nform = "clio"\npacks = {builtin-clio = 1}\n'
BODIES = {
    "identity.clio": "You are the one.\n",
    "identity.self-awareness": "Docs {CLIO_DOCS_PATH}, again {CLIO_DOCS_PATH}.\n",
    "identity.docs-routing": "Ask the docs.\n",
    "identity.settings-routing": "Settings: {SETTINGS_CHANGE_POLICY}\n",
    "identity.clio-coder-worker": "You are a worker.\n",
    "operating.contract": "Keep the contract.\n",
    "operating.delegation": "Delegate.\n",
    "operating.skills": "Skills: {SKILL_ACTIVATION_POLICY}\n",
    "operating.worker": "Do the task.\n",
    "safety.default": "Be safe.\n",
    "safety.yolo": "Be quick.\n",
    "dispatch.read-only": "Read only.\n",
}
WORKER: dict[str, Any] = {
    "providerSupportsTools": True,
    "toolNames": ["read"],
    "hasCanonicalContext": False,
    "hasBoundSkills": False,
    "persona": {"id": "agent.p", "body": "A persona."},
}


def fragment(name: str, body: str | bytes, extra: str = "") -> bytes:
    data = body if isinstance(body, bytes) else body.encode()
    return f"---\nid: {name}\nversion: 1\ndescription: a piece\n{extra}---\n".encode() + data


def tree(changes: dict[str, str | bytes | None] | None = None) -> Sources:
    """A complete tree on the words pack; `changes` are bodies by id, null for no such fragment."""
    bodies = {**BODIES, **(changes or {})}
    files = [
        Source(f"{name.replace('.', '/')}.md", fragment(name, body))
        for name, body in bodies.items()
        if body is not None
    ]
    (words,) = [pack for pack in builtin_packs() if pack.name == "builtin-clio"]
    files += [Source(f".pvc/packs/builtin-clio/{f.path}", f.data) for f in words.files]
    return Sources.of([*files, Source("pvc.toml", MANIFEST)])


def table(sources: Sources) -> Table:
    return read_table(read_layers(sources))


def render(sources: Sources, **environment: Any) -> Rendered:
    return lift(*run(compile_pack(read_pack(sources)), environment))


def sections(rendered: Rendered) -> dict[str, str]:
    """Every section of a prompt with its text, in order."""
    found: dict[str, str] = {}
    for span in rendered.spans:
        if span.section:
            text = rendered.data[span.start : span.end].decode(errors="surrogateescape")
            found[span.section] = found.get(span.section, "") + text
    return found


def is_traced(rendered: Rendered, sources: Sources) -> bool:
    """Whether every byte that claims a file is that file's byte at that place."""
    for span in rendered.spans:
        match span.origin:
            case FromSource(path, _, offset):
                source = sources.get(path)
                there = source.data[offset : offset + len(span)] if source else None
                if there != rendered.data[span.start : span.end]:
                    return False
    return True


# --- generated ------------------------------------------------------------------------------

HOLES = st.sampled_from(
    ["{CLIO_DOCS_PATH}", "{SETTINGS_CHANGE_POLICY}", "{SKILL_ACTIVATION_POLICY}", "{TOOL_NAMES}"]
)
CHANGES = st.dictionaries(
    st.sampled_from([*BODIES, "words.demo", "words.tools-surface"]),
    st.lists(
        st.one_of(
            TEXTS.map(str.encode), HOLES.map(str.encode), st.sampled_from([b"\xff", b"\xe2"])
        ),
        max_size=4,
    ).map(b"".join),
    max_size=6,
)
TOOLS = st.lists(st.sampled_from(["gateway", " context", "read", "dispatch", "\u3000", "é"]))
ENTRIES = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from(["a.b", "c.d"]), "body": TEXTS}), max_size=3
)
TURN = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["answer", "proposal", "change"]),
        "delegation": st.sampled_from(["allowed", "forbidden"]),
        "skills": st.sampled_from(["enabled", "disabled"]),
        "allowedTools": st.one_of(st.none(), TOOLS),
    },
)
HINTS = st.lists(
    st.fixed_dictionaries({"tool": st.sampled_from(["read", " read", "context"]), "hint": TEXTS}),
    max_size=4,
)
TRUTH = st.sampled_from([True, False, None])
SESSIONS = st.fixed_dictionaries(
    {},
    optional={
        "provider": st.one_of(st.none(), TEXTS),
        "contextWindow": st.one_of(st.none(), st.integers(-2, 10**25), st.floats(-1, 1e30)),
        "thinkingGuidance": TEXTS,
        "providerSupportsTools": TRUTH,
        "toolNames": TOOLS,
        "toolPromptHints": HINTS,
        "fleetRoster": TEXTS,
        "contextFiles": TEXTS,
        "memorySection": st.one_of(TEXTS, TEXTS.map(lambda text: f"# Memory\n{text}")),
        "demo": TRUTH,
        "headless": TRUTH,
        "canConfigureClio": TRUTH,
        "readySkillCount": st.one_of(st.none(), st.integers(0, 2)),
        "turnConstraints": TURN,
    },
)
