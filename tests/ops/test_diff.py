"""`pvc diff` over versions and bodies, through the command itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pvc.cli.main import main
from pvc.errors import UsageError
from pvc.ops import supersede
from request_bodies import SHAPES, Parts, write

if TYPE_CHECKING:
    from pathlib import Path

    from workspace import Workspace

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'


@pytest.fixture
def agent(workspace: Workspace) -> Path:
    """Two versions: a sentence was edited, a file came."""
    files = {"agent/pvc.toml": MANIFEST, "agent/1.md": "# Role\n\nYou mend boats.\nYou ask.\n"}
    workspace.commit({**files, "agent/2.md": "Work in {cwd}.\n"})
    supersede.run(workspace.open(), "agent", "First")
    workspace.commit(
        {"agent/1.md": "# Role\n\nYou mend ships.\nYou ask.\n", "agent/3.md": "New.\n"}
    )
    supersede.run(workspace.open(), "agent", "Second")
    return workspace.path


def diff(path: Path, *words: str) -> int:
    return main(["-C", str(path), "diff", *words])


def test_two_versions_by_section_and_word(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(agent, "agent@1", "agent@2") == 1
    assert capsys.readouterr().out == (
        "system 1.md (surface): 5 bytes removed, 5 added\n"
        "  …\n"
        "  \n"
        "  You mend [-boats-]{+ships+}.\n"
        "  You ask.\n"
        "system 2.md (surface): 1 bytes removed, 0 added\n"
        "  Work in {cwd}.[-⏎-]\n"
        "system 3.md (surface): added, 5 bytes\n"
        "  {+New.+}{+⏎+}\n"
        "the first 17 of 49 bytes are the same\n"
        "Anthropic, one marker at the end of the system text: all 55 bytes are written again,"
        " 14 tokens (11 to 18)\n"
        "OpenAI, by prefix: 33 of 57 bytes are written again, 8 tokens (7 to 11)\n"
    )


def test_stat_shows_sizes_alone(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    diff(agent, "agent@1", "agent@2", "--stat")
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "system 1.md (surface): 5 bytes removed, 5 added"
    assert not any("[-" in line for line in lines)


def test_equal_sides_say_so(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(agent, "agent@1", "agent@1", "--set", "cwd=/srv") == 0
    assert capsys.readouterr().out == "agent@1 and agent@1 are the same 48 bytes.\n"


def test_json_holds_planes_and_edits(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    diff(agent, "agent@1", "agent@2", "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["same_bytes"]) == ("pvc.diff/1", 17)
    first = found["units"][0]
    assert (first["name"], first["plane"], first["status"]) == ("1.md", "surface", "changed")
    assert first["edits"] == [{"old_start": 17, "new_start": 17, "old": "boats", "new": "ships"}]


@pytest.mark.parametrize("shape", SHAPES)
def test_two_bodies_by_tool_block_and_message(
    tmp_path: Path, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = Parts(), Parts()
    b.tools = [b.tools[1], b.tools[0], *b.tools[2:]]
    b.turns[-1] = ("user", "Mark the first one as full too.")
    for name, parts in (("a.json", a), ("b.json", b)):
        (tmp_path / name).write_bytes(write(parts, shape))
    assert diff(tmp_path, "a.json", "b.json", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    changed = {u["name"]: u["status"] for u in found["units"] if u["status"] != "same"}
    assert changed.pop("edit_sailing") == "moved"
    assert list(changed.values()) == ["changed"]
    assert found["same_bytes"] < 30


def test_a_body_and_a_version_are_not_compared(
    agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (agent / "a.json").write_bytes(write(Parts(), SHAPES[0]))
    assert diff(agent, "a.json", "agent@1") == 2
    assert "is a version" in capsys.readouterr().err


def test_versions_that_take_sections_from_a_launch_are_compared_without_them(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = 'format = 1\nname = "desk"\nform = "harness"\n'
    workspace.commit({"desk/pvc.toml": manifest, "desk/systemprompt.md": "You mend boats.\n"})
    supersede.run(workspace.open(), "desk", "First")
    workspace.commit({"desk/systemprompt.md": "You mend ships.\n"})
    supersede.run(workspace.open(), "desk", "Second")
    assert diff(workspace.path, "desk@1", "desk@2") == 1
    assert "You mend [-boats-]{+ships+}." in capsys.readouterr().out


def test_a_platform_without_facts_is_not_adopted(workspace: Workspace) -> None:
    manifest = MANIFEST.replace('["cwd"]', "[]") + '[provider]\nplatform = "nowhere"\n'
    workspace.commit({"agent/pvc.toml": manifest, "agent/1.md": "You mend boats.\n"})
    with pytest.raises(UsageError, match="no facts of platform `nowhere`") as raised:
        supersede.run(workspace.open(), "agent", "First")
    assert raised.value.at == "pvc.toml [provider]"
