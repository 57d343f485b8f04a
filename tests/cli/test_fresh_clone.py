"""A fresh clone: the folders came with git, the versions, pins and packs did not."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from cli.conftest import LOOM_ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone

FETCHES = "agent has no versions in this clone; pvc sync fetches them"


@pytest.fixture
def hub(adopted: Clone) -> Clone:
    """Ada's repository with a version, a channel and a pin, shared by a bare one beside it."""
    adopted.git("init", "-q", "--bare", "-b", "main", "../hub.git")
    adopted.git("remote", "add", "origin", "../hub.git")
    adopted.pvc("promote", "agent", "production", "-m", "Good")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.git("push", "-q", "origin", "main")
    adopted.pvc("sync")
    return adopted


@pytest.fixture
def bob(hub: Clone, make_clone: Callable[..., Clone]) -> Clone:
    return make_clone("bob", "Bob Lindqvist", origin=hub.path.parent / "hub.git")


def refs(clone: Clone) -> str:
    return clone.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/pvc/")


@pytest.mark.parametrize(
    "words",
    [
        ("log", "agent"), ("log", "agent@1"), ("log", "agent@production"),
        ("log", "--pins", "agent"),
        ("log", "-S", "force", "agent"), ("pin", "agent", "--session", "t"),
        ("pin", "agent@production", "--session", "t"), ("render", "agent"), ("show", "agent"),
        ("blame", "agent"), ("diff", "agent@1", "agent"), ("impact", "agent"),
        ("promote", "agent", "production", "-m", "x"), ("verify", "agent"),
        ("supersede", "agent", "-m", "x", "--set", "a.md=agent/10-role.md"),
    ],
)  # fmt: skip
def test_what_names_a_tree_says_that_a_sync_fetches_it(bob: Clone, words: tuple[str, ...]) -> None:
    err = bob.refused(*words, code=4)
    assert "`agent` has no versions in this clone" in err
    assert "hint: pvc sync fetches them" in err
    assert refs(bob) == ""


@pytest.mark.parametrize(
    "words", [("show", "s"), ("miss", "s", "s"), ("pin", "agnt", "--session", "t")]
)
def test_what_is_not_found_names_the_tree(bob: Clone, words: tuple[str, ...]) -> None:
    err = bob.refused(*words, code=4)
    assert FETCHES in err or "did you mean `agent`?" in err


def test_an_empty_answer_says_what_was_not_looked_through(bob: Clone) -> None:
    assert bob.pvc("log").text == f"{FETCHES}\n"
    assert bob.pvc("log", "--json").json["unfetched"] == ["agent"]
    for words in (("log", "--pins"), ("log", "-S", "force")):
        assert FETCHES in bob.pvc(*words).err
    assert FETCHES in bob.pvc("verify").text


def test_a_sync_is_all_it_takes(bob: Clone) -> None:
    bob.pvc("sync")
    assert "unfetched" not in bob.pvc("log").text
    assert bob.pvc("log", "--json").json["unfetched"] == []
    assert "agent@1" in bob.pvc("log").text
    bob.pvc("pin", "agent@production", "--session", "t", "--set", "cwd=/")


def test_a_second_first_version_is_refused(bob: Clone) -> None:
    for more in ((), ("-n",), ("--worktree",)):
        err = bob.refused("supersede", "agent", "-m", "Mine", *more, code=1)
        assert "`origin` has versions of `agent`, and this clone has none of them" in err
        assert err.endswith("hint: pvc sync fetches them\n")
        assert refs(bob) == ""
    bob.pvc("supersede", "agent", "-m", "Mine", "--first")


def test_versions_under_a_prefix_that_this_clone_does_not_know_are_found(
    hub: Clone, bob: Clone
) -> None:
    hub.git("push", "-q", "origin", ":refs/pvc/trees/agent")
    hub.git("push", "-q", "origin", "refs/pvc/trees/agent:refs/heads/pvc/trees/agent")
    err = bob.refused("supersede", "agent", "-m", "Mine", code=1)
    assert "hint: `git config pvc.refPrefix refs/heads/pvc`, then pvc sync fetches them" in err


def test_a_tree_that_no_remote_has_is_begun(bob: Clone) -> None:
    bob.write("other/pvc.toml", 'format = 1\nname = "other"\nform = "plain"\n')
    bob.write("other/a.md", "Other.\n")
    bob.commit("Another")
    done = bob.pvc("supersede", "other", "-m", "First")
    assert "note" not in done.err


def test_without_a_network_a_note_says_so(bob: Clone) -> None:
    bob.git("remote", "set-url", "origin", "../nowhere.git")
    done = bob.pvc("supersede", "agent", "-m", "Mine", "-n")
    assert "note: `origin` could not be asked for versions of `agent`: " in done.err
    assert "second history" in done.err


def test_a_remote_that_never_answers_is_waited_for_ten_seconds(bob: Clone) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        bob.git("remote", "set-url", "origin", f"git://127.0.0.1:{port}/hub.git")
        done = bob.pvc("supersede", "agent", "-m", "Mine", "-n")
    assert "`agent`: no answer within 10 seconds; if it has some, this begins" in done.err


def test_without_a_remote_nothing_is_asked_or_said(plain: Clone) -> None:
    assert "pvc supersede agent -m REASON makes the first" in plain.refused(
        "render", "agent", code=4
    )
    assert plain.pvc("supersede", "agent", "-m", "First").err == ""


@pytest.mark.parametrize("command", ["supersede", "check", "impact", "render"])
def test_a_built_in_pack_comes_from_the_program(
    ada: Clone, make_clone: Callable[..., Clone], command: str
) -> None:
    """It is the commit that `pvc init` wrote, so a later sync has nothing to join."""
    (ada.path / "agent").mkdir()
    ada.pvc("init", "agent", "--form", "loom")
    ada.commit("Start")
    ada.write("env.json", json.dumps(LOOM_ENVIRONMENT))
    bob = make_clone("bob", "Bob Lindqvist", origin=ada.path)
    bob.write("env.json", (ada.path / "env.json").read_text())
    words = {
        "supersede": ("supersede", "agent", "-m", "First"),
        "check": ("check", "agent"),
        "impact": ("supersede", "agent", "-m", "First", "-n"),
        "render": ("render", "agent", "--worktree", "--env", "env.json"),
    }
    bob.pvc(*words[command])
    if command != "check":
        name = "refs/pvc/packs/builtin-loom"
        assert bob.git("rev-parse", name) == ada.git("rev-parse", name)


def test_another_pack_is_fetched(bob: Clone) -> None:
    bob.write("agent/pvc.toml", 'format = 1\nname = "agent"\nform = "loom"\npacks = {house = 1}\n')
    bob.commit("Stand on a pack")
    err = bob.refused("render", "agent", "--worktree", code=4)
    assert "no pack `house` here" in err
    assert "pvc sync fetches it" in err
