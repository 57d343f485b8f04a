from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.vectors import run as run_vector
from dialects import clio_trees as trees
from dialects.clio_trees import ENTRIES, is_traced, render, sections, tree
from dialects.generated import TEXTS
from pvc.core.compile import compile_pack
from pvc.core.program import dump, load
from pvc.dialects import clio_session
from pvc.dialects.base import findings_of, read_pack
from pvc.dialects.clio import pack_of, stable_prefix
from pvc.dialects.clio_source import FragmentError
from pvc.errors import UnsupportedError, UsageError
from pvc.model.finding import Severity
from pvc.model.javascript import trim
from pvc.model.source import Source, Sources
from pvc.model.span import FromBinding, FromSource, Glue, Plane
from pvc.ops.clio import compile_prompt

VECTORS = sorted((Path(__file__).parents[1] / "vectors" / "clio").glob("*.json"))
ALL_TOOLS = ["read", "gateway", "context"]


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_every_vector_passes(path: Path) -> None:
    assert run_vector(json.loads(path.read_bytes())) == []


# --- properties -----------------------------------------------------------------------------


@given(trees.CHANGES, trees.SESSIONS, ENTRIES)
def test_every_byte_of_a_session_has_its_origin(
    changes: dict[str, bytes], session: dict[str, Any], additional: list[dict[str, str]]
) -> None:
    sources = tree(dict(changes))
    rendered = render(sources, session=session, additional=additional)
    assert is_traced(rendered, sources)
    assert all(text == trim(text) for text in sections(rendered).values())


@given(trees.CHANGES, trees.TOOLS, trees.HINTS, TEXTS.filter(trim), trees.TURN)
def test_every_byte_of_a_worker_has_its_origin(
    changes: dict[str, bytes], tools: list[str], hints: Any, persona: str, turn: Any
) -> None:
    sources = tree(dict(changes))
    given_tools = {"toolNames": tools, "toolPromptHints": hints, "turnConstraints": turn}
    attached = {"hasCanonicalContext": " context" in tools, "persona": {"body": persona}}
    rendered = render(sources, worker=trees.WORKER | given_tools | attached)
    assert is_traced(rendered, sources)
    assert sections(rendered)["persona"] == trim(persona)


@given(st.permutations(["x", "y", "z"]), ENTRIES)
def test_sections_are_joined_by_one_blank_line(names: list[str], entries: list[Any]) -> None:
    rendered = render(tree(), session={"fleetRoster": names[0]}, additional=entries)
    held = [trim(entry["body"]) for entry in entries if trim(entry["body"])]
    fixed = [text for name, text in sections(render(tree())).items() if name]
    assert rendered.data.decode() == "\n\n".join([*fixed, *held])


def test_a_program_survives_being_stored() -> None:
    compiled = compile_pack(read_pack(tree()))
    assert load(dump(compiled)) == compiled


@given(trees.SESSIONS)
def test_the_legacy_order_is_a_permutation_of_the_sections(session: dict[str, Any]) -> None:
    table = trees.table(tree())
    new = compile_prompt(table, {"session": session})
    old = compile_prompt(table, {"session": session}, clio_session.LEGACY_ORDER)
    assert sorted(new.sections, key=str) == sorted(old.sections, key=str)
    assert sorted(clio_session.ORDER) == sorted(clio_session.LEGACY_ORDER)


@given(trees.SESSIONS)
def test_the_stable_prefix_begins_every_session_without_demo(session: dict[str, Any]) -> None:
    compiled = compile_prompt(trees.table(tree()), {"session": session | {"demo": False}})
    assert compiled.rendered.data.startswith(compiled.prefix.text.encode())
    assert compiled.prefix == stable_prefix("You are the one.", "Keep the contract.")


# --- gates ----------------------------------------------------------------------------------

GATES: list[tuple[str, dict[str, Any], bool]] = [
    ("delegation", {"toolNames": ALL_TOOLS}, True),
    ("delegation", {"toolNames": ["read"]}, False),
    ("delegation", {"toolNames": ALL_TOOLS, "providerSupportsTools": False}, False),
    ("delegation", {"toolNames": ALL_TOOLS, "turnConstraints": {"mode": "answer"}}, True),
    (
        "delegation",
        {"toolNames": ALL_TOOLS, "turnConstraints": {"delegation": "forbidden"}},
        False,
    ),
    ("delegation", {"toolNames": ALL_TOOLS, "turnConstraints": {"allowedTools": []}}, False),
    ("fleet", {"toolNames": ALL_TOOLS, "fleetRoster": "scout"}, True),
    ("fleet", {"toolNames": ["read"], "fleetRoster": "scout"}, False),
    (
        "fleet",
        {
            "toolNames": ALL_TOOLS,
            "fleetRoster": "scout",
            "turnConstraints": {"mode": "answer"},
        },
        False,
    ),
    ("skills", {"toolNames": ALL_TOOLS}, True),
    ("skills", {"toolNames": ["gateway"]}, False),
    ("skills", {"toolNames": ALL_TOOLS, "readySkillCount": 0}, False),
    ("skills", {"toolNames": ALL_TOOLS, "readySkillCount": 2}, True),
    ("skills", {"toolNames": ALL_TOOLS, "skillDiscoveryEnabled": False}, False),
    ("skills", {"toolNames": ALL_TOOLS, "turnConstraints": {"skills": "disabled"}}, False),
    ("memory", {"memorySection": "- a"}, True),
    ("memory", {"memorySection": " \ufeff\n"}, False),
    ("project-context", {"contextFiles": "\u3000"}, False),
    ("turn-scope", {"turnConstraints": {}}, False),
    ("turn-scope", {"turnConstraints": {"delegation": "allowed"}}, False),
    ("turn-scope", {"turnConstraints": {"allowedTools": []}}, True),
    ("runtime", {}, True),
    ("retrieval-hints", {"providerSupportsTools": False}, True),
]


@pytest.mark.parametrize(("section", "session", "there"), GATES)
def test_a_section_is_there_when_its_gate_is_open(
    section: str, session: dict[str, Any], *, there: bool
) -> None:
    assert (section in sections(render(tree(), session=session))) is there


def awareness(safety: str = "safety.default", **session: Any) -> str:
    return sections(render(tree(), safety=safety, session=session))["harness-awareness"]


def test_self_awareness_follows_the_surface() -> None:
    assert awareness() == "Docs , again {CLIO_DOCS_PATH}."
    assert "Ask the docs." in awareness(toolNames=["gateway"])
    limits = {"allowedTools": ["gateway"]}
    assert "Ask the docs." not in awareness(toolNames=["gateway"], turnConstraints=limits)
    assert "Settings: " in awareness(toolNames=["context"], turnConstraints=limits)
    assert "Settings: " not in awareness(toolNames=["context"], providerSupportsTools=False)


def test_another_identity_has_no_self_awareness() -> None:
    sources = tree({"identity.other": "You are another.\n"})
    assert "harness-awareness" not in sections(render(sources, identity="identity.other"))


@pytest.mark.parametrize(
    ("safety", "can", "word"),
    [
        ("safety.default", True, "settings-default"),
        ("safety.yolo", True, "settings-yolo"),
        ("safety.yolo", False, "settings-by-operator"),
        ("safety.default", None, "settings-by-operator"),
    ],
)
def test_a_settings_change_depends_on_level_and_surface(
    safety: str,
    can: bool | None,  # noqa: FBT001 - a table's column
    word: str,
) -> None:
    text = awareness(safety, toolNames=["context"], canConfigureClio=can)
    assert trim(trees.table(tree()).body(f"words.{word}")) in text


def test_values_keep_their_place_and_are_not_filled_again() -> None:
    sources = tree()
    paths = {"docs": "/d/{CLIO_DOCS_PATH}$&"}
    rendered = render(sources, paths=paths)
    assert b"Docs /d/{CLIO_DOCS_PATH}$&, again" in rendered.data
    path = "identity/self-awareness.md"
    at = trees.fragment("identity.self-awareness", "Docs ").__len__()
    origin = FromBinding("docs", "/paths/docs", 0, path, at)
    assert origin in [span.origin for span in rendered.spans]


def test_bytes_that_are_no_utf8_are_replaced_and_say_so() -> None:
    sources = tree({"identity.clio": b"a\xffb\xe2\x82c"})
    rendered = render(sources)
    assert rendered.data.startswith("a\ufffdb\ufffdc\n".encode())
    kinds = [span.origin for span in rendered.spans[:5]]
    path = "identity/clio.md"
    start = sources.get(path).data.index(b"a\xff")  # type: ignore[union-attr]  # it is there
    assert kinds == [
        FromSource(path, "identity.clio", start),
        Glue("bad-byte"),
        FromSource(path, "identity.clio", start + 2),
        Glue("bad-byte"),
        FromSource(path, "identity.clio", start + 5),
    ]
    found = findings_of(read_pack(sources), sources)
    assert [f.at for f in found if f.code == "bad-byte"] == [f"{path}:6:2", f"{path}:6:4"]


def test_the_demo_follows_the_untrimmed_contract() -> None:
    contract = sections(render(tree(), session={"demo": True}))["operating-contract"]
    assert contract.startswith("Keep the contract.\n\n\n")
    prefix = compile_prompt(trees.table(tree()), {"session": {"demo": True}}).prefix
    assert prefix.text == "You are the one.\n\nKeep the contract.\n\n"


def test_an_empty_safety_body_leaves_the_first_line() -> None:
    safety = sections(render(tree({"safety.default": " \n"})))["safety"]
    assert "\n" not in safety
    assert safety.startswith("Autonomy: default. ")


@pytest.mark.parametrize(("headless", "word"), [(True, "headless"), (None, "attached")])
def test_approval_means_what_the_session_can_do(headless: bool | None, word: str) -> None:  # noqa: FBT001 - a table's column
    safety = sections(render(tree(), session={"headless": headless}))["safety"]
    said = trim(trees.table(tree()).body(f"words.approval-{word}"))
    assert safety.split("\n")[1] == said


def test_hints_are_lines_whose_white_space_is_single() -> None:
    hints = [{"tool": "read ", "hint": " a  b\tc d "}, {"tool": "other", "hint": "x"}]
    rendered = render(tree(), session={"toolNames": ["read"], "toolPromptHints": hints})
    assert sections(rendered)["tool-contract"].endswith("\na b c d")
    kept = [
        (rendered.data[s.start : s.end], s.origin.offset)
        for s in rendered.spans
        if isinstance(s.origin, FromBinding) and s.origin.name == "toolPromptHints"
    ]
    assert kept == [(b"a", 1), (b"b", 4), (b"c d", 6)]


def test_an_unknown_fragment_is_named_with_its_role() -> None:
    with pytest.raises(UsageError, match=r"^/identity: identity fragment `identity.nope`"):
        render(tree(), identity="identity.nope")
    with pytest.raises(UsageError, match="no safety fragment is found"):
        render(tree({"safety.default": None, "safety.yolo": None}))


def test_project_context_is_beyond_a_program() -> None:
    with pytest.raises(UnsupportedError, match="/session/project") as raised:
        render(tree(), session={"project": {"text": "x"}})
    assert "contextFiles" in raised.value.hint


# --- layers and findings --------------------------------------------------------------------


def test_identity_and_contract_are_foundation() -> None:
    planes = {section.name: section.plane for section in read_pack(tree()).sections}
    foundation = {name for name, plane in planes.items() if plane is Plane.FOUNDATION}
    assert foundation == {"identity.clio", "identity.clio-coder-worker", "operating.contract"}


def test_a_tree_replaces_the_words_of_its_pack() -> None:
    rendered = render(tree({"words.tools-trust": "Trust nobody.\n"}))
    assert "\nTrust nobody.\n" in sections(rendered)["tool-contract"]


def test_an_id_stands_once_in_a_layer() -> None:
    twice = Source("b.md", trees.fragment("identity.clio", "again"))
    with pytest.raises(FragmentError, match=r"identity.clio. stands in .b.md. too"):
        read_pack(Sources.of([*tree(), twice]))


def test_a_complete_tree_has_no_findings_but_the_second_brace() -> None:
    sources = tree()
    (finding,) = findings_of(read_pack(sources), sources)
    assert (finding.code, finding.name) == ("placeholder-unfilled", "CLIO_DOCS_PATH")
    assert finding.at == "identity/self-awareness.md:6:30"
    assert "only the first" in finding.message


def test_what_is_missing_is_found() -> None:
    missing: dict[str, str | bytes | None] = {
        "identity.clio": None,
        "operating.skills": None,
        "identity.self-awareness": None,
    }
    files = [file for file in tree(missing) if not file.path.endswith("tools-trust.md")]
    found = {f.name: f.severity for f in findings_of(read_pack(Sources.of(files)))}
    assert found == {
        "identity.clio": Severity.CORRUPTING,
        "identity.self-awareness": Severity.SHAPING,
        "operating.skills": Severity.SHAPING,
        "words.tools-trust": Severity.CORRUPTING,
    }


def test_the_words_pack_says_everything_that_is_asked_for() -> None:
    table = trees.table(tree())
    asked = {f.name for f in findings_of(pack_of(table)) if f.name.startswith("words.")}
    assert asked == set()
    assert all(trim(table.body(name)) for name in table.ids("words."))
