from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.json_text import Number
from pvc.dialects.clio_cache import (
    CompileKey,
    Epoch,
    SourceState,
    attached_schemas,
    cache_identity,
    is_cold,
    reloads_fragments,
)
from pvc.dialects.clio_json import (
    UNDEFINED,
    BigInt,
    CanonicalError,
    canonical_json,
    digest,
    plain_json,
)
from pvc.dialects.clio_rules import Rule, Snapshot, Workspace, customize, read_rules
from pvc.model.javascript import length, number_text, squeezed, trim
from pvc.model.source import Source, Sources

JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(), st.integers(-(2**53), 2**53)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=8,
)

# Printed by a JavaScript runtime.
NUMBERS: list[tuple[Any, str]] = [
    (0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (-1.5, "-1.5"),
    (1e20, "100000000000000000000"),
    (1e21, "1e+21"),
    (123456789012345680000, "123456789012345680000"),
    (1.5e300, "1.5e+300"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.25e-9, "1.25e-9"),
    (5e-324, "5e-324"),
    (0.1, "0.1"),
    (2**53 + 1, "9007199254740992"),
    (Number("1.0"), "1"),
    (Number("12e2"), "1200"),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_numbers_are_printed_as_javascript_does(number: Any, text: str) -> None:
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back(number: float) -> None:
    assert float(number_text(number)) == number


@given(JSON)
def test_canonical_json_is_json_and_forgets_the_order_of_keys(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(plain_json(value))) == text


def test_keys_go_by_utf16_and_indices_first_where_the_runtime_holds_them_so() -> None:
    value = {"\ufb01": 1, "😀": 2, "b": 3, "10": 4, "9": 5, "01": 6}
    assert canonical_json(value) == '{"01":6,"10":4,"9":5,"b":3,"😀":2,"ﬁ":1}'
    assert plain_json(value) == '{"9":5,"10":4,"ﬁ":1,"😀":2,"b":3,"01":6}'


def test_plain_json_writes_null_where_the_canonical_form_refuses() -> None:
    assert plain_json([float("nan"), {"a": float("-inf"), "b": UNDEFINED}]) == '[null,{"a":null}]'


def test_half_a_surrogate_is_a_replacement_character_in_the_digest() -> None:
    assert digest("a\ud800b") == digest("a\ufffdb")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (UNDEFINED, "undefined-root"),
        ([float("nan")], "non-finite-number"),
        ({"a": BigInt(12)}, "bigint"),
    ],
)
def test_what_has_no_json_is_refused(value: Any, code: str) -> None:
    with pytest.raises(CanonicalError) as raised:
        canonical_json(value)
    assert raised.value.error_code == code


def test_undefined_is_dropped_in_objects_and_null_in_lists() -> None:
    assert canonical_json({"b": UNDEFINED, "a": [UNDEFINED, 1]}) == '{"a":[null,1]}'


def test_text_is_measured_and_trimmed_as_javascript_does() -> None:
    assert length("é😀") == 3
    assert trim("\ufeff\u00a0\u3000a\x85\x1c") == "a\x85\x1c"
    assert squeezed("\n a\u2003\t b ") == "a b"


KEY = CompileKey("t", "r", "m", "default", "s", "/w", ("b", "a"), None, "1:0:0", {"model": "m"})


def test_every_input_changes_the_identity() -> None:
    from dataclasses import fields, replace

    base = cache_identity(KEY).key
    other: dict[str, Any] = {
        "working_paths": ("a",),
        "session": {"model": "n"},
        "schemas": ({"name": "x"},),
    }
    for field in fields(CompileKey):
        changed = replace(KEY, **{field.name: other.get(field.name, "other")})
        assert cache_identity(changed).key != base, field.name
    assert cache_identity(replace(KEY, working_paths=("a", "b"))).key == base


def test_schemas_are_reduced_to_what_is_sent() -> None:
    tools = [{"name": Number("5"), "parameters": {"b": 1}}, "no object"]
    assert attached_schemas(tools) == [{"name": "", "description": "", "parameters": {"b": 1}}]


def test_a_snapshot_stays_until_its_folder_is_invalidated() -> None:
    state: SourceState[str] = SourceState().loaded().agents(4)
    state = state.captured("s", "/w/a", "first").captured("s", "/w/a", "second")
    state = state.captured("s", "/w/ab", "other").captured("t", "/w/a/deep", "third")
    assert state.get("s", "/w/a") == "first"
    after = state.invalidated("/w/a")
    assert [after.get(*key) for key in (("s", "/w/a"), ("t", "/w/a/deep"), ("s", "/w/ab"))] == [
        None,
        None,
        "other",
    ]
    assert (str(state.epoch), str(after.epoch)) == ("1:4:0", "1:4:1")
    assert str(after.invalidated("/nowhere").epoch) == "1:4:2"
    assert not after.invalidated().snapshots
    assert not state.invalidated("/").snapshots


def test_only_changed_bytes_are_cold() -> None:
    assert [is_cold(None, "a"), is_cold("a", "a"), is_cold("a", "b")] == [False, False, True]
    assert reloads_fragments(["ui.color", "prompts.root"])
    assert not reloads_fragments(["ui.color"])
    assert Epoch() == (0, 0, 0)


# --- rules ----------------------------------------------------------------------------------


def rules(files: dict[str, bytes]) -> Any:
    return read_rules(Sources.of(Source(path, data) for path, data in files.items()))


def test_a_rule_with_paths_waits_for_one_of_them() -> None:
    loaded = rules(
        {"b.md": b"Always.\n", "a.md": b'---\npaths: ["src/**/*.py"]\n---\nOn Python.\n'}
    )
    snapshot = Snapshot(rules=loaded.rules, profile="Be brief.")
    idle = customize(snapshot, ["README.md"])
    assert (idle.active_rule_ids, idle.operator_profile_applied) == (("b.md",), True)
    busy = customize(snapshot, ["src/deep/x.py"])
    assert busy.active_rule_ids == ("a.md", "b.md")
    assert busy.fragments[0].body == "# Project rules\n\nOn Python.\n\nAlways."
    assert busy.fragments[0].to_json()["relPath"] == "inline/project-rules"


def test_a_rule_that_cannot_be_read_injects_nothing_and_is_reported() -> None:
    loaded = rules({"a.md": b"Fine.", "b.md": b"---\npaths: src\n---\nx", "c.md": b"\xff"})
    assert loaded.rules == ()
    assert [finding.at for finding in loaded.findings] == ["b.md"]
    assert customize(Snapshot(), []).fragments == ()


def test_additional_fragments_have_their_order() -> None:
    snapshot = Snapshot(
        project_context="context",
        rules=(Rule("r.md", "Rule."),),
        profile="Profile.",
        workspace=Workspace("/w", "ada", "host"),
        awareness="Own source.",
        self_skills="Skills.",
    )
    ids = [fragment.id.partition(".")[2] for fragment in customize(snapshot, []).fragments]
    assert ids == [
        "workspace-root",
        "clio-repo-awareness",
        "self-development-skills",
        "project-rules",
        "operator-profile",
    ]
    assert snapshot.without_context_files().project_context == ""
    assert snapshot.without_context_files().rules == snapshot.rules
