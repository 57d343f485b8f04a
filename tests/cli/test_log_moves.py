"""`pvc log TREE`: the events that moved the prompt, and which bytes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone

ENV = ("--env", "env.json")
TOOLS = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}]


@pytest.fixture
def desk(ada: Clone) -> Clone:
    """A harness tree on a pack, two versions of each, and sessions with other tools."""
    ada.write("env.json", json.dumps({"sections": [{"id": "identity", "text": "Ferries."}]}))
    ada.write("more.json", json.dumps([*TOOLS, {"name": "sail", "input_schema": {}}]))
    ada.write("tools.json", json.dumps(TOOLS))
    ada.write("house/framing.md", "Be civil.\n")
    ada.write("house/pvc.toml", _pack())
    ada.write("desk/pvc.toml", _tree(1))
    ada.write("desk/systemprompt.md", "Look up a sailing.\n")
    ada.commit("A desk")
    ada.pvc("supersede", "house", "-m", "First house")
    ada.pvc("supersede", "desk", "-m", "First desk")
    return ada


def _pack() -> str:
    row = '[[section]]\npath = "framing.md"\nplane = "foundation"\n'
    return f'format = 1\nkind = "pack"\nname = "house"\nform = "harness"\n{row}'


def _tree(number: int) -> str:
    return f'format = 1\nname = "desk"\nform = "harness"\npacks = {{house = {number}}}\n'


def adopt(clone: Clone, name: str, path: str, text: str) -> None:
    clone.write(path, text)
    clone.commit("More")
    clone.pvc("supersede", name, "-m", "More")


def moves(clone: Clone, *words: str) -> list[list[dict[str, Any]]]:
    return [row["moves"] for row in clone.pvc("log", "desk", "--json", *words).json["versions"]]


def test_an_adoption_shows_the_bytes_that_it_moved(desk: Clone) -> None:
    adopt(desk, "desk", "desk/guardrails.md", "Never guess.\n")
    desk.pvc("pin", "desk", "--session", "s", *ENV)
    before, after = (desk.pvc("render", f"desk@{n}", *ENV).out for n in (1, 2))
    ((move,), first) = moves(desk)
    assert first == []
    assert (move["events"], move["over"]) == (["tree adoption"], "s")
    assert {cost["provider"] for cost in move["costs"]} == {"anthropic", "openai"}
    for cost in move["costs"]:
        assert cost["reusable_bytes"] + cost["lost"]["bytes"] == cost["scope_bytes"]
    assert move["lost_bytes"] == move["costs"][0]["lost"]["bytes"]
    assert after.startswith(before[: len(before) - 1])
    at = after.index(b"Never guess.")
    assert {
        "section": "guardrails",
        "kind": "added",
        "before": None,
        "after": [at, len(after)],
    } in (move["sections"])


def test_a_release_of_a_pack_is_another_event(desk: Clone) -> None:
    adopt(desk, "house", "house/framing.md", "Be civil and brief.\n")
    adopt(desk, "desk", "desk/pvc.toml", _tree(2))
    desk.pvc("pin", "desk", "--session", "s", *ENV)
    move = moves(desk)[0][0]
    assert move["events"] == ["package version", "tree adoption"]
    marked, by_prefix = move["costs"]
    assert (marked["provider"], marked["reusable_bytes"]) == ("anthropic", 0)
    assert by_prefix["reusable_bytes"] == len(b"system\0text\0Be civil")
    kinds = {each["section"]: each["kind"] for each in move["sections"]}
    assert kinds == {"framing": "changed", "identity": "shifted", "systemprompt": "shifted"}


def test_a_change_of_the_toolset_loses_the_prompt_behind_it(desk: Clone) -> None:
    for session, tools in (("a", "tools"), ("b", "more"), ("c", "tools"), ("d", "more")):
        desk.pvc("pin", "desk", "--session", session, *ENV, "--tools", f"{tools}.json")
    ((newest, other),) = moves(desk)
    assert (newest["before"], newest["after"]) == ("c", "d")  # seen twice, listed once
    assert (other["before"], other["after"]) == ("b", "c")
    assert newest["events"] == other["events"] == ["toolset change"]
    front = len(b'read\0Reads.\0{"type":"object"}\0')
    prompt = len(desk.pvc("render", "desk", *ENV).out) + 3 * len(b"text\0\0")
    assert (newest["kept_bytes"], newest["lost_bytes"]) == (0, front + prompt)
    assert [cost["provider"] for cost in newest["costs"]] == ["anthropic"]  # as the pins say
    assert newest["sections"] == []


def test_launches_of_two_models_do_not_follow_each_other(desk: Clone) -> None:
    desk.pvc("pin", "desk", "--session", "a", *ENV, "--tools", "tools.json", "--model", "m-1")
    desk.pvc("pin", "desk", "--session", "b", *ENV, "--tools", "more.json", "--model", "m-2")
    assert moves(desk) == [[]]


def test_without_any_values_placeholders_stand_in(adopted: Clone) -> None:
    adopt(adopted, "agent", "agent/20-rules.md", "# Rules\n\nWork in {cwd}. Ask first.\n")
    move = adopted.pvc("log", "agent", "--json").json["versions"][0]["moves"][0]
    assert (move["over"], move["about"], move["kept_bytes"]) == (None, True, 0)
    assert "OpenAI, by prefix: kept about 66 of 88 bytes" in adopted.pvc("log", "agent").text
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv")
    assert "about" not in adopted.pvc("log", "agent", "--json").json["versions"][0]["moves"][0]
    text = adopted.pvc("log", "agent").text.split("\n")[1]
    assert text.startswith(
        "    tree adoption (agent@1 → agent@2): Anthropic, one marker at the end of the system"
        " text: kept 0 of "
    )
    assert "OpenAI, by prefix: kept 65 of 87 bytes" in text
    assert "; 20-rules.md changed at 36.." in text


def test_the_oldest_line_of_a_short_log_is_compared_too(desk: Clone) -> None:
    adopt(desk, "desk", "desk/guardrails.md", "Never guess.\n")
    assert [move["before"] for move in moves(desk, "-n", "1")[0]] == ["desk@1"]


def test_packs_and_lists_of_all_trees_have_no_moves(desk: Clone) -> None:
    for words in (("house",), ()):
        rows = desk.pvc("log", *words, "--json").json["versions"]
        assert rows
        assert {row["moves"] for row in rows} == {None}
