"""`pvc render --emit`: the request that a session sends, as its pin records it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pvc
from cli.conftest import LOOM_ENVIRONMENT
from pvc.errors import UsageError
from pvc.model.body import Region
from pvc.model.digest import Digest
from pvc.ops.emit import SHAPES
from pvc.providers.base import read

if TYPE_CHECKING:
    from cli.conftest import Clone

TOOLS = """{"tools": [
  {"name": "write", "description": "W", "inputSchema": {"type": "object", "b": 1, "a": 2.50}},
  {"name": "read", "inputSchema": {"type": "object"}}
]}"""
SECTIONS = {"sections": [{"id": "identity", "text": "You answer for the ferry office."}]}


@pytest.fixture
def desk(ada: Clone) -> Clone:
    """A harness tree with markers, a loom tree and a plain one, each adopted, and their values."""
    ada.write(
        "desk/pvc.toml",
        'format = 1\nname = "desk"\nform = "harness"\npacks = {builtin-harness = 1}\n'
        '[markers]\nafter = ["surface:1h", "foundation"]\n',
    )
    ada.write("desk/systemprompt.md", "Look up a sailing before you speak of it.\n")
    ada.write("pier/pvc.toml", 'format = 1\nname = "pier"\nform = "plain"\n')
    ada.write("pier/AGENTS.md", "Mind the tide.\n")
    ada.write("desk.json", json.dumps(SECTIONS))
    ada.write("loom.json", json.dumps(LOOM_ENVIRONMENT))
    ada.write("pier.json", "{}")
    ada.write("tools.json", TOOLS)
    (ada.path / "loom").mkdir()
    ada.pvc("init", "loom")
    ada.commit("Three trees")
    for tree in ("desk", "loom", "pier"):
        ada.pvc("supersede", tree, "-m", "First")
    return ada


def head_digest(body: bytes, shape: str) -> str:
    """The digest of the bytes that a cache compares, read from a request."""
    regions = (Region.TOOLS, Region.SYSTEM)
    leaves = [leaf.data for leaf in read(body, shape).leaves if leaf.region in regions]
    return str(Digest.of(b"".join(leaf + b"\0" for leaf in leaves)))


@pytest.mark.parametrize(
    ("tree", "order"), [("desk", []), ("loom", []), ("pier", ["--keep-tool-order"])]
)
def test_what_is_emitted_reads_back_as_the_head_of_the_pin(
    desk: Clone, tree: str, order: list[str]
) -> None:
    given = ("--env", f"{tree}.json", "--tools", "tools.json", *order)
    for word, shape in SHAPES.items():
        body = desk.pvc("render", tree, *given, "--emit", word, "--model", "m-1").out
        pin = ("pin", tree, "--session", word, *given, "--provider", shape, "--json")
        assert head_digest(body, shape) == desk.pvc(*pin).json["head_digest"]
        assert json.loads(body)["model"] == "m-1"


def test_markers_stand_where_the_tree_puts_them(desk: Clone) -> None:
    given = ("desk", "--env", "desk.json", "--emit", "anthropic", "--out", "body.json")
    assert desk.pvc("render", *given).out == b""
    system: list[dict[str, Any]] = json.loads((desk.path / "body.json").read_bytes())["system"]
    assert [block.get("cache_control") for block in system] == [
        None,
        None,
        {"type": "ephemeral", "ttl": "1h"},
        {"type": "ephemeral"},
    ]
    texts = "".join(block["text"] for block in system)
    assert texts.encode() == desk.pvc("render", *given[:3]).out


def test_a_folder_is_emitted_before_it_is_adopted(desk: Clone) -> None:
    desk.write("pier/AGENTS.md", "Mind the wind.\n")
    body = desk.pvc("render", "pier", "--worktree", "--emit", "openai-responses").json
    assert body == {"instructions": "Mind the wind.\n", "input": []}


def test_an_empty_prompt_has_no_block_and_the_head_of_none(desk: Clone) -> None:
    desk.write("pier/AGENTS.md", "")
    desk.commit("Nothing to say")
    desk.pvc("supersede", "pier", "-m", "Nothing to say", "--allow-empty")
    body = desk.pvc("render", "pier", "--emit", "anthropic").out
    assert json.loads(body) == {"system": [], "messages": []}
    pin = (
        "pin",
        "pier",
        "--session",
        "e",
        "--provider",
        SHAPES["anthropic"],
        "--allow-empty",
        "--json",
    )
    assert head_digest(body, SHAPES["anthropic"]) == desk.pvc(*pin).json["head_digest"]


def test_what_speaks_of_a_request_needs_one(desk: Clone) -> None:
    for words in (["--tools", "tools.json"], ["--model", "m"], ["--keep-tool-order"]):
        assert "so of `--emit`" in desk.pvc("render", "pier", *words, code=2).err


def test_half_a_surrogate_in_a_tool_is_refused_with_its_place(desk: Clone) -> None:
    desk.write("tools.json", '[{"name": "a", "description": "\\ud800", "input_schema": {}}]')
    given = ("render", "pier", "--emit", "anthropic", "--tools", "tools.json")
    assert "/tools/0/description: half of a surrogate" in desk.refused(*given, code=3)


def test_a_resumed_session_has_the_head_that_it_was_pinned_with(desk: Clone) -> None:
    """Prompt, tools, markers and model: none is asked for again, and none is of a newer version."""
    given = ("--env", "desk.json", "--tools", "tools.json", "--model", "m-1")
    body = desk.pvc("render", "desk", *given, "--emit", "anthropic").out
    pinned = desk.pvc(
        *("pin", "desk", "--session", "s", *given, "--provider", "anthropic.messages", "--json")
    ).json
    manifest = (desk.path / "desk/pvc.toml").read_text()
    desk.write("desk/pvc.toml", manifest.replace("surface:1h", "surface"))
    desk.write("desk/systemprompt.md", "Another text.\n")
    desk.commit("Another desk")
    desk.pvc("supersede", "desk", "-m", "Another desk")
    resume = ("pin", "desk", "--session", "s", "--resume", "--emit", "anthropic")
    done = desk.pvc(*resume)
    assert done.out == body
    assert "session s stays at desk@1" in done.err
    assert "same b3:" in done.err
    assert head_digest(body, "anthropic.messages") == pinned["head_digest"]
    told = desk.pvc(*resume, "--out", "head.json", "--json").json
    assert (told["status"], told["receipt"]) == ("same", pinned["receipt"])
    assert (desk.path / "head.json").read_bytes() == body
    repository = pvc.open(desk.path)
    assert repository.emit(session="s") == repository.emit("desk", session="s") == json.loads(body)


def test_what_a_session_added_is_in_its_head_too(desk: Clone) -> None:
    desk.pvc("pin", "pier", "--session", "s", "--tools", "tools.json")
    desk.pvc("session", "append", "s", "--text", "Be brief.")
    body = json.loads(desk.pvc("pin", "--session", "s", "--resume", "--emit", "anthropic").out)
    assert [block["text"] for block in body["system"]] == ["Mind the tide.\n", "\n\nBe brief."]
    assert [tool["name"] for tool in body["tools"]] == ["read", "write"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--session", "s", "--resume", "--emit", "openai-chat"), 1, "pinned for `anthropic"),
        (("loom", "--session", "s", "--resume", "--emit", "anthropic"), 1, "to tree `pier`"),
        (("--session", "s", "--resume", "--emit", "gemini"), 2, "no request shape `gemini`"),
        (("pier", "--session", "n", "--emit", "anthropic"), 2, "it goes with `--resume`"),
        (("--session", "n", "--resume", "--emit", "anthropic"), 4, "not pinned here"),
        (("--session", "o", "--resume", "--emit", "anthropic"), 1, "bytes that were sent"),
    ],
)
def test_a_head_that_was_not_pinned_is_not_given(
    desk: Clone, words: tuple[str, ...], code: int, said: str
) -> None:
    desk.pvc("pin", "pier", "--session", "s", "--tools", "tools.json")
    desk.pvc("pin", "--session", "o", "--rendered", "pier.json")
    assert said in desk.refused("pin", *words, code=code)


def test_emit_of_a_session_takes_no_values(desk: Clone) -> None:
    desk.pvc("pin", "pier", "--session", "s")
    with pytest.raises(UsageError, match="a session has its values, tools and model already"):
        pvc.open(desk.path).emit("pier", {}, session="s")
    assert pvc.open(desk.path).emit(session="s")["system"][0]["text"] == "Mind the tide.\n"
