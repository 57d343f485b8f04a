"""`pvc.testing`: what a failure shows, and the plugin in a pytest of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pvc.ops import supersede
from pvc.testing import assert_same_head, rendered_apart
from request_bodies import SHAPES, Parts, write

if TYPE_CHECKING:
    from pathlib import Path

    from workspace import Workspace


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside of any repository, with a module `agent` that can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("shape", SHAPES)
def test_another_conversation_under_the_same_head_passes(outside: Path, shape: str) -> None:
    a, b = Parts(), Parts()
    b.turns = [("user", "Something else.")]
    assert_same_head(write(a, shape), write(b, shape).decode())
    assert_same_head(json.loads(write(a, shape)), write(b, shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_failure_shows_pointer_byte_and_both_sides(outside: Path, shape: str) -> None:
    a, b = Parts(), Parts()
    b.system[0] = b.system[0].replace("clerk's", "captain's")
    with pytest.raises(AssertionError) as caught:
        assert_same_head(write(a, shape), write(b, shape))
    said = str(caught.value)
    assert "the heads differ at byte" in said
    assert "in system" in said
    assert "'Quay, a clerk" in said or "a clerk" in said
    assert "a captain" in said


def test_a_marker_is_no_difference_and_a_model_is(outside: Path) -> None:
    a = json.loads(write(Parts(), SHAPES[0]))
    b = json.loads(write(Parts(), SHAPES[0]))
    del b["system"][-1]["cache_control"]
    assert_same_head(a, b)
    with pytest.raises(AssertionError, match="in settings: model"):
        assert_same_head(a, {**b, "model": "claude-opus-5"})


def test_a_tool_that_only_one_head_has_is_found_where_messages_begin(outside: Path) -> None:
    a: dict[str, Any] = {"model": "gpt-5.5", "instructions": "Be brief.", "input": "hi"}
    with pytest.raises(AssertionError, match="tool_set"):
        assert_same_head(a, {**a, "tools": [{"type": "function", "name": "cut"}]})


def test_the_owner_is_named_where_a_tree_has_the_text(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# Rules\n\nNever force a push to the branch that all share.\n"
    for words in (text, text.replace("Never", "Rarely")):
        manifest = 'format = 1\nname = "agent"\nform = "plain"\n'
        workspace.commit({"agent/pvc.toml": manifest, "agent/1.md": words})
        supersede.run(workspace.open(), "agent", "Adopt")
    monkeypatch.chdir(workspace.path)
    a: dict[str, Any] = {"model": "gpt-5.5", "instructions": text, "input": "hi"}
    with pytest.raises(AssertionError, match=r"written by Ada Prompt .*: 1.md of agent@2"):
        assert_same_head(a, {**a, "instructions": text.replace("Never", "Rarely")})


AGENT = """
import os, time
def stable():
    print("noise")
    return {"model": "gpt-5.5", "instructions": "Be brief.", "input": "hi"}
def seeded():
    names = {"read", "edit", "send", "list", "find", "cut", "join", "sort"}
    tools = [{"type": "function", "name": name} for name in names]
    return {"model": "gpt-5.5", "tools": tools, "input": ""}
def zoned():
    return {"model": "gpt-5.5", "instructions": "It is " + time.strftime("%Z") + ".", "input": ""}
def failing():
    raise SystemExit("no such agent")
"""


def test_processes_of_their_own_differ_in_seed_and_zone(outside: Path) -> None:
    (outside / "agent_module.py").write_text(AGENT)
    assert_same_head(*rendered_apart("agent_module:stable"))
    with pytest.raises(AssertionError, match="tool_order"):
        assert_same_head(*rendered_apart("agent_module:seeded"))
    with pytest.raises(AssertionError, match="in system"):
        assert_same_head(*rendered_apart("agent_module:zoned"))
    with pytest.raises(RuntimeError, match="no such agent"):
        rendered_apart("agent_module:failing")


def test_the_plugin_gives_its_fixture(outside: Path) -> None:
    (outside / "agent_module.py").write_text(AGENT)
    (outside / "test_agent.py").write_text(
        "def test_stable(assert_same_head_apart):\n"
        "    assert_same_head_apart('agent_module:stable')\n"
        "def test_seeded(assert_same_head_apart):\n"
        "    assert_same_head_apart('agent_module:seeded')\n"
    )
    words = ["-m", "pytest", "-q", "-p", "pvc.testing", "-p", "no:cacheprovider", "--rootdir=."]
    done = subprocess.run(
        [sys.executable, *words, "test_agent.py"], capture_output=True, text=True, check=False
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "tool_order" in done.stdout
