"""Tools are pinned by name, unless their order is kept on purpose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launches import Launches

READ: dict[str, Any] = {"name": "read", "input_schema": {"type": "object", "b": 1, "a": 2}}
EDIT: dict[str, Any] = {"name": "edit", "input_schema": {"type": "object"}}


def pin(launches: Launches, session: str, tools: list[Any], *words: str) -> Any:
    (launches.path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    return launches.pin("agent", "--session", session, "--tools", "tools.json", "--json", *words)


def test_another_order_of_the_same_tools_is_the_same_pin(launches: Launches) -> None:
    first = pin(launches, "s", [READ, EDIT]).answer
    again = pin(launches, "s", [EDIT, READ]).answer
    assert (first["status"], again["status"]) == ("pinned", "same")
    assert first["head_digest"] == again["head_digest"]


def test_a_kept_order_is_what_is_pinned(launches: Launches) -> None:
    kept = pin(launches, "s", [READ, EDIT], "--keep-tool-order").answer
    by_name = pin(launches, "t", [READ, EDIT]).answer
    assert kept["head_digest"] != by_name["head_digest"]
    bodies = [json.loads(path.read_bytes()) for path in (launches.home / "spool/b").iterdir()]
    assert [READ, EDIT] in bodies
    assert [EDIT, READ] in bodies
    assert pin(launches, "s", [READ, EDIT], "--keep-tool-order").answer["status"] == "same"
    refused = pin(launches, "s", [READ, EDIT])
    assert (refused.code, refused.answer["first_divergence"]["region"]) == (1, "tools")


def test_a_line_of_a_batch_keeps_the_order_too(launches: Launches) -> None:
    line = {"tree": "agent", "set": {"who": "Ann", "cwd": "/"}, "tools": [READ, EDIT]}
    lines = [
        {**line, "session": "a", "id": 1},
        {**line, "session": "b", "id": 2, "keep_tool_order": True},
        {**line, "session": "c", "id": 3, "keep_tool_order": "yes"},
    ]
    text = "".join(json.dumps(one) + "\n" for one in lines)
    answers = launches.pin("--batch", data=text.encode()).answers
    assert [one["status"] for one in answers] == ["pinned", "pinned", "error"]
    assert answers[0]["head_digest"] != answers[1]["head_digest"]


def test_an_order_to_keep_needs_tools(launches: Launches) -> None:
    done = launches.pin("agent", "--session", "s", "--keep-tool-order")
    assert done.code == 2
    assert "none are given" in done.err
