"""Each form: spans tile what is rendered, and each byte is its file's or value's, at its place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import clio as clio_vectors
from dialects import clio_trees, harness_trees
from dialects.generated import ENVIRONMENTS, SOURCES, TEXTS
from pvc.core.compile import compile_pack
from pvc.core.program import run
from pvc.dialects.base import read_pack
from pvc.dialects.clio_table import table_of as read_table
from pvc.dialects.loom import read
from pvc.dialects.panto import APPEND, SEED, WIRES
from pvc.model.javascript import trim
from pvc.model.source import Source, Sources
from pvc.model.span import FromBinding, FromSource, Rendered, lift
from pvc.ops.clio import compile_prompt as compile_as_clio
from traced import untraced

if TYPE_CHECKING:
    from pvc.dialects.clio_table import Table
    from pvc.ops.clio import Compiled

VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(system: str, *operations: str) -> list[Any]:
    """The vectors whose operation renders text, by name."""
    found = [json.loads(path.read_bytes()) for path in sorted((VECTORS / system).glob("*.json"))]
    chosen = [vector for vector in found if vector["op"] in operations]
    assert {vector["op"] for vector in chosen} == {*operations}
    return [pytest.param(vector, id=vector["name"]) for vector in chosen]


def render(sources: Sources, environment: dict[str, Any]) -> Rendered:
    return lift(*run(compile_pack(read_pack(sources)), environment))


# --- vectors --------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", vectors("loom", "render"))
def test_a_loom_vector_is_traced(vector: dict[str, Any]) -> None:
    source = Source("pack.loom", vector["input"]["source"].encode())
    environment = vector["input"]["environment"]
    rendered = lift(*run(compile_pack(read(source)), environment))
    assert rendered.data.decode() == vector["expected_output"]["text"]
    assert untraced(rendered, Sources.of([source]), environment) == []


@pytest.mark.parametrize("vector", vectors("loom", "fill"))
def test_a_filled_loom_template_is_a_prompt_whose_values_are_traced(vector: dict[str, Any]) -> None:
    """`fill` alone trims and tidies nothing; in a prompt of form plain the same bytes come out."""
    values = dict(vector["input"]["bindings"])
    manifest = f'format = 1\nname = "a"\nform = "plain"\nbindings = {json.dumps([*values])}\n'
    sources = Sources.of(
        [
            Source("pvc.toml", manifest.encode()),
            Source("a.md", vector["input"]["template"].encode()),
        ]
    )
    assert untraced(render(sources, values), sources, values) == []


@pytest.mark.parametrize(
    "vector",
    vectors("clio", "compile", "compose-sections", "runtime-block", "memory-block", "worker-guard"),
)
def test_a_clio_vector_is_traced(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The vector's own operation runs; what it loads, is given and renders is looked at."""
    loaded: list[Sources] = []
    seen: list[tuple[Rendered, Any]] = []

    def table_of(sources: Any) -> Table:
        loaded.append(Sources.of(sources))
        return read_table(loaded[-1])

    def compile_prompt(table: Table, environment: Any, *order: Any) -> Compiled:
        compiled = compile_as_clio(table, environment, *order)
        seen.append((compiled.rendered, environment))
        return compiled

    def run_parts(parts: Any, fields: Any, environment: Any) -> Rendered:
        seen.append((run_before(parts, fields, environment), environment))
        return seen[-1][0]

    run_before = clio_vectors.run
    monkeypatch.setattr(clio_vectors, "table_of", table_of)
    monkeypatch.setattr(clio_vectors, "compile_prompt", compile_prompt)
    monkeypatch.setattr(clio_vectors, "run", run_parts)
    clio_vectors.OPS[vector["op"]](vector["input"])
    refused = "error_code" in vector["expected_output"]
    assert len(seen) == (0 if refused else 1)
    for rendered, environment in seen:
        assert untraced(rendered, loaded[0] if loaded else Sources(()), environment) == []


@pytest.mark.parametrize("vector", vectors("xingular", "order-sections", "split-stable-dynamic"))
def test_sections_of_a_harness_vector_are_traced_in_their_order(vector: dict[str, Any]) -> None:
    expected = vector["expected_output"]
    given_sections = [
        {
            key: section[key]
            for key in ("id", "order", "text", "dynamic", "complete")
            if key in section
        }
        | ({"scope": "session"} if scoped else {})
        for scoped, name in ((False, "sections"), (True, "scoped"))
        for section in vector["input"].get(name, [])
    ]
    sources = harness_trees.tree({})
    environment = {"sections": given_sections}
    rendered = render(sources, environment)
    assert untraced(rendered, sources, environment) == []
    assert harness_trees.named(rendered) == expected.get("ids", expected.get("stable"))


# --- generated ------------------------------------------------------------------------------


@given(SOURCES, ENVIRONMENTS)
def test_a_loom_prompt_is_traced(source: Source, environment: dict[str, Any]) -> None:
    rendered = lift(*run(compile_pack(read(source)), environment))
    assert untraced(rendered, Sources.of([source]), environment) == []


PLAIN = st.dictionaries(st.sampled_from(["a.md", "b/c.md", "é.md", "z.md"]), TEXTS, max_size=4)


@given(PLAIN, PLAIN, st.fixed_dictionaries({"workspace": TEXTS, "shell": TEXTS}))
def test_a_plain_prompt_is_traced(
    own: dict[str, str], packs: dict[str, str], environment: dict[str, str]
) -> None:
    bindings = 'bindings = ["workspace", "shell"]\n'
    manifest = f'format = 1\nname = "a"\nform = "plain"\n{bindings}packs = {{p = 1}}\n'
    pack = f'format = 1\nkind = "pack"\nname = "p"\nform = "plain"\n{bindings}'
    files = {"pvc.toml": manifest, ".pvc/packs/p/pvc.toml": pack} | own
    files |= {f".pvc/packs/p/{path}": text for path, text in packs.items()}
    sources = Sources.of(Source(path, text.encode()) for path, text in files.items())
    assert untraced(render(sources, environment), sources, environment) == []


@given(harness_trees.FILES, harness_trees.SECTIONS)
def test_a_harness_prompt_is_traced(
    files: dict[str, str | bytes], sections: list[dict[str, Any]]
) -> None:
    sources, environment = harness_trees.tree(files, on_pack=True), {"sections": sections}
    assert untraced(render(sources, environment), sources, environment) == []


@given(clio_trees.CHANGES, clio_trees.SESSIONS, clio_trees.ENTRIES)
def test_a_clio_session_is_traced(
    changes: dict[str, bytes], session: dict[str, Any], additional: list[dict[str, str]]
) -> None:
    sources = clio_trees.tree(dict(changes))
    environment = {"session": session, "additional": additional}
    assert untraced(render(sources, environment), sources, environment) == []


@given(clio_trees.CHANGES, clio_trees.TOOLS, clio_trees.HINTS, TEXTS.filter(trim), clio_trees.TURN)
def test_a_clio_worker_is_traced(
    changes: dict[str, bytes], tools: list[str], hints: Any, persona: str, turn: Any
) -> None:
    sources = clio_trees.tree(dict(changes))
    worker = clio_trees.WORKER | {
        "toolNames": tools,
        "toolPromptHints": hints,
        "turnConstraints": turn,
        "hasCanonicalContext": " context" in tools,
        "persona": {"body": persona},
    }
    assert untraced(render(sources, {"worker": worker}), sources, {"worker": worker}) == []


LAYERS = [f"layers/{layer}/{name}" for layer in ("base", "user") for name in (SEED, APPEND)]


@given(st.dictionaries(st.sampled_from(LAYERS), TEXTS), TEXTS, st.sampled_from(WIRES))
def test_a_panto_prompt_is_traced(files: dict[str, str], seed: str, wire: str) -> None:
    sources = with_manifest("panto", {SEED: seed} | files)
    assert untraced(render(sources, {"wire": wire}), sources, {"wire": wire}) == []


@given(TEXTS, st.lists(TEXTS, max_size=2), st.fixed_dictionaries({"platform": TEXTS, "os": TEXTS}))
def test_a_raku_prompt_is_traced(
    identity: str, texts: list[str], environment: dict[str, str]
) -> None:
    files = {f"rules/{n}.md": text for n, text in enumerate(texts)}
    sources = with_manifest("raku", {"identity.md": f"Who.{identity}"} | files)
    assert untraced(render(sources, environment), sources, environment) == []


def with_manifest(form: str, files: dict[str, str]) -> Sources:
    manifest = f'format = 1\nname = "a"\nform = "{form}"\n'
    named = {"pvc.toml": manifest} | files
    return Sources.of(Source(path, text.encode()) for path, text in named.items())


def test_a_span_that_says_another_place_is_found() -> None:
    sources = clio_trees.tree()
    environment = {"session": {"contextFiles": "Mind the tide."}}
    rendered = render(sources, environment)
    for at, span in enumerate(rendered.spans):
        if isinstance(span.origin, FromSource | FromBinding):
            moved = replace(span, origin=replace(span.origin, offset=span.origin.offset + 1))
            spans = (*rendered.spans[:at], moved, *rendered.spans[at + 1 :])
            assert untraced(Rendered(rendered.data, spans), sources, environment) == [moved]
    assert {type(span.origin) for span in rendered.spans} >= {FromSource, FromBinding}
