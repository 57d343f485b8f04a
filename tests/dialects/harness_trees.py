"""Trees of form `harness` on the wheel's pack, and generated ones for properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects.base import findings_of, read_pack
from pvc.dialects.harness_files import ALWAYS_ON, MANIFESTS, SECTION_ORDER
from pvc.model.source import Source, Sources
from pvc.model.span import Rendered, lift
from pvc.packs import builtin_packs

if TYPE_CHECKING:
    from pvc.model.finding import Finding

MANIFEST = 'format = 1\nname = "agent"\nform = "harness"\n'
ON_PACK = MANIFEST + "packs = {builtin-harness = 1}\n"
PACK_FOLDER = ".pvc/packs/builtin-harness/"


def pack_files() -> dict[str, bytes]:
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-harness"]
    return {PACK_FOLDER + source.path: source.data for source in pack.files}


def tree(files: dict[str, str | bytes], more: str = "", *, on_pack: bool = False) -> Sources:
    named = {path: t.encode() if isinstance(t, str) else t for path, t in files.items()}
    named["pvc.toml"] = ((ON_PACK if on_pack else MANIFEST) + more).encode()
    return Sources.of(
        Source(path, data) for path, data in ((pack_files() if on_pack else {}) | named).items()
    )


def render(sources: Sources, *sections: dict[str, Any]) -> Rendered:
    compiled = compile_pack(read_pack(sources))
    return lift(*program.run(compiled, {"sections": [*sections]} if sections else {}))


def found(sources: Sources) -> list[Finding]:
    return [*findings_of(read_pack(sources), sources)]


def named(rendered: Rendered) -> list[str]:
    """The sections of a prompt in their order."""
    return [*dict.fromkeys(span.section for span in rendered.spans if span.section)]


# --- generated ------------------------------------------------------------------------------

_COMPONENTS = ("skills/tidy/SKILL.md", "scripts/check.sh", "sub_agents/x/AGENT.md", "plugins/p")
FILES = st.dictionaries(st.sampled_from([*ALWAYS_ON, *MANIFESTS, *_COMPONENTS]), TEXTS, max_size=8)
_IDS = st.sampled_from(
    ["identity", "role", "app.a", "app.b", "references", "wiki", "guardrails", "zed", "é"]
)


def _section(name: str, order: int | None, text: str, flags: tuple[bool, bool]) -> dict[str, Any]:
    dynamic, scoped = flags
    section: dict[str, Any] = {"id": name, "text": text}
    if order is not None or name not in SECTION_ORDER:
        section["order"] = order or 0
    if dynamic and name not in SECTION_ORDER:
        section["dynamic"] = True
    if scoped or f"{name}.md" in ALWAYS_ON:
        section["scope"] = "session"
    return section


SECTIONS = st.lists(
    st.builds(
        _section,
        _IDS,
        st.one_of(st.none(), st.integers(-5, 100)),
        TEXTS,
        st.tuples(st.booleans(), st.booleans()),
    ),
    max_size=6,
    unique_by=lambda section: section["id"],
)
