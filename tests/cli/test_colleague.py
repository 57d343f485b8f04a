"""A colleague's clone: versions and pins came with a sync, the values stayed where they were."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone

TOOLS = json.dumps([{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}])
OTHER_TOOLS = TOOLS.replace("Reads.", "Reads a file.")


@pytest.fixture
def pair(adopted: Clone, make_clone: Callable[..., Clone]) -> tuple[Clone, Clone]:
    """Ada, who adopts and pins, and a clone of Bob's of one bare repository."""
    hub = make_clone("hub").path
    adopted.git("init", "-q", "--bare", "-b", "main", str(hub.parent / "hub.git"))
    adopted.git("remote", "add", "origin", str(hub.parent / "hub.git"))
    adopted.git("push", "-q", "origin", "main")
    adopted.write("tools.json", TOOLS)
    adopted.write("others.json", OTHER_TOOLS)
    return adopted, make_clone("bob", "Bob Lindqvist", origin=hub.parent / "hub.git")


def shared(pair: tuple[Clone, Clone], *launches: tuple[str, ...]) -> Clone:
    """Pin as Ada, sync both; gives Bob."""
    ada, bob = pair
    for words in launches:
        ada.pvc("pin", "agent", "--session", *words)
    ada.git("push", "-q", "origin", "main")
    ada.pvc("sync")
    bob.git("pull", "-q", "--ff-only")
    bob.pvc("sync")
    return bob


def edit(ada: Clone, text: str, path: str = "agent/20-rules.md") -> None:
    ada.write(path, text)
    ada.commit("Edit")
    ada.pvc("supersede", "agent", "-m", "Another text")


def absent(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row["session"], row["what"], row["why"]) for row in answer["absent"]]


def test_blame_shows_the_placeholder_with_the_digest_of_the_values(
    pair: tuple[Clone, Clone],
) -> None:
    bob = shared(pair, ("s", "--set", "cwd=/srv/harbour"))
    ada_says = pair[0].pvc("blame", "s", "--json").json
    found = bob.pvc("blame", "s", "--json").json
    assert "about" not in ada_says
    assert (found["about"], found["digest"]) == (True, ada_says["digest"])
    assert absent(found) == [("s", "values", "elsewhere")]
    (value,) = [run for run in found["runs"] if run["origin"]["kind"] == "binding"]
    assert value["value_digest"] == found["absent"][0]["digest"]
    others = [
        [(run["origin"]["path"], run["author"], run["version"]) for run in answer["runs"]]
        for answer in (ada_says, found)
    ]
    assert others[0] == others[1]
    done = bob.pvc("blame", "s")
    assert f"value cwd ({value['value_digest'][:15]})" in done.text
    assert "{cwd}" in done.text
    assert "the values of session `s` are not in this clone" in done.err
    assert "placeholders stand in" in done.err


def test_the_same_values_leave_miss_exact(pair: tuple[Clone, Clone]) -> None:
    """One digest, one environment: the text that differs is named as where the values are."""
    pair[0].pvc("pin", "agent", "--session", "a", "--set", "cwd=/srv/harbour")
    edit(pair[0], "# Rules\n\nWork in {cwd}.\nNever push at night.\n")
    bob = shared(pair, ("b", "--set", "cwd=/srv/harbour"))
    here = pair[0].pvc("miss", "a", "b", "--json", code=1).json
    there = bob.pvc("miss", "a", "b", "--json", code=1).json
    for key in ("verdict", "kind", "evidence", "unknown"):
        assert here.get(key) == there.get(key)
    assert here["owner"]["origin"] == there["owner"]["origin"]
    assert [there["first_divergence"][key] for key in ("near_a", "near_b")] == [
        here["first_divergence"][key].replace("/srv/harbour", "{cwd}")
        for key in ("near_a", "near_b")
    ]
    assert (there["about"], "about" in here) == (True, False)
    assert absent(there) == [("a", "values", "elsewhere"), ("b", "values", "elsewhere")]
    assert "lost about " in bob.pvc("miss", "a", "b", code=1).text
    assert bob.pvc("diff", "a", "b", "--json", code=1).json["same_prompt"] is False


def test_a_difference_in_front_of_every_placeholder_is_exact(pair: tuple[Clone, Clone]) -> None:
    pair[0].pvc("pin", "agent", "--session", "a", "--set", "cwd=/one")
    edit(pair[0], "# Role\n\nYou mend boats.\n", "agent/10-role.md")
    bob = shared(pair, ("b", "--set", "cwd=/two"))
    here, there = (clone.pvc("miss", "a", "b", "--json", code=1).json for clone in (pair[0], bob))
    for key in ("verdict", "kind", "owner"):
        assert here[key] == there[key]
    places = [answer["first_divergence"] for answer in (here, there)]
    for key in places[0].keys() - {"near_a", "near_b"}:  # they reach into the value
        assert places[0][key] == places[1][key]


def test_values_that_differ_are_the_cause_though_they_are_not_here(
    pair: tuple[Clone, Clone],
) -> None:
    bob = shared(pair, ("a", "--set", "cwd=/one"), ("b", "--set", "cwd=/two"))
    here = pair[0].pvc("miss", "a", "b", "--json", code=1).json
    there = bob.pvc("miss", "a", "b", "--json", code=1).json
    assert (there["verdict"], there["kind"]) == ("miss", "values_not_here")
    assert "the values differ, and they are not in this clone; it is `cwd`" in there["evidence"]
    at, now_at = (answer["first_divergence"]["leaf_byte_offset"] for answer in (here, there))
    start = at - len("/")  # what the two values share
    assert start <= now_at < start + len("{cwd b3:0123456789ab}")
    assert there["owner"]["origin"]["name"] == "cwd"
    text = bob.pvc("miss", "a", "b", code=1).text
    assert "values differ, and they are not in this clone" in text
    found = bob.pvc("diff", "a", "b", code=1)
    assert "the values differ; which of them cannot be told, none is in this clone" in found.err
    assert "[-" in found.text


def test_one_prompt_is_one_prompt_whatever_it_says(pair: tuple[Clone, Clone]) -> None:
    bob = shared(pair, ("a", "--set", "cwd=/one"), ("b", "--set", "cwd=/one"))
    there = bob.pvc("miss", "a", "b", "--json").json
    assert (there["verdict"], there["kind"], there["first_divergence"]) == ("hit", "none", None)
    assert "are the same" in bob.pvc("diff", "a", "b").text


def test_tools_are_compared_by_their_digests(pair: tuple[Clone, Clone]) -> None:
    cwd = ("--set", "cwd=/one", "--tools")
    names = {"a": "tools", "b": "tools", "c": "others"}
    bob = shared(pair, *((session, *cwd, f"{names[session]}.json") for session in names))
    assert bob.pvc("miss", "a", "b", "--json").json["verdict"] == "hit"
    found = bob.pvc("miss", "a", "c", "--json", code=1).json
    assert (found["verdict"], found["kind"]) == ("miss", "tool_set")
    assert found["first_divergence"]["region"] == "tools"
    assert "they are not in this clone" in found["evidence"]
    assert {row[1] for row in absent(found)} == {"tools", "values"}
    assert bob.pvc("blame", "a", "--json").json["over"] == "prompt"
    head = bob.pvc("blame", "a", "--head", "--json").json
    assert [run["value_digest"] for run in head["runs"] if run["origin"]["kind"] == "tool"]


def test_several_values_are_not_accused_of_a_text_that_differs(
    ada: Clone, make_clone: Callable[..., Clone]
) -> None:
    manifest = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd", "who"]\n'
    ada.write("agent/pvc.toml", manifest)
    ada.write("agent/1.md", "In {cwd} for {who}.\nBe brief.\n")
    ada.commit("Start")
    ada.pvc("supersede", "agent", "-m", "First")
    ada.git("init", "-q", "--bare", "-b", "main", "../hub.git")
    ada.git("remote", "add", "origin", str(ada.path.parent / "hub.git"))
    ada.git("push", "-q", "origin", "main")
    bob = make_clone("bob", "Bob Lindqvist", origin=ada.path.parent / "hub.git")
    ada.pvc("pin", "agent", "--session", "a", "--set", "cwd=/one", "--set", "who=Ann")
    edit(ada, "In {cwd} for {who}.\nBe kind.\n", "agent/1.md")
    bob_sees = shared((ada, bob), ("b", "--set", "cwd=/one", "--set", "who=Ben"))
    found = bob_sees.pvc("miss", "a", "b", "--json", code=1).json
    assert found["kind"] == "prompt_text_edit"
    assert any("the values differ too" in note for note in found["notes"])


def test_impact_counts_the_sessions_of_others(pair: tuple[Clone, Clone]) -> None:
    bob = shared(pair, ("a", "--set", "cwd=/one"), ("b", "--set", "cwd=/two"))
    bob.write("agent/10-role.md", "# Role\n\nYou mend boats.\n")
    bob.commit("Boats")
    found = bob.pvc("impact", "agent", "--json").json["sessions"]
    assert (found["hit"], found["unknown"], found["about"]) == (2, 0, 2)
    assert "about " in bob.pvc("impact", "agent").text


@pytest.mark.parametrize("privacy", ["digest", "keyed"])
def test_values_that_were_never_kept(pair: tuple[Clone, Clone], privacy: str) -> None:
    kept = ("--privacy", privacy)
    bob = shared(pair, ("a", "--set", "cwd=/one", *kept), ("b", "--set", "cwd=/two", *kept))
    for clone in (pair[0], bob):
        found = clone.pvc("blame", "a", "--json").json
        assert absent(found) == [("a", "values", "not_kept")]
        missed = clone.pvc("miss", "a", "b", "--json", code=1).json
        assert missed["kind"] == "values_not_here"


def test_digests_under_a_key_prove_nothing_of_plain_ones(pair: tuple[Clone, Clone]) -> None:
    keyed = ("--privacy", "keyed")
    bob = shared(pair, ("a", "--set", "cwd=/one"), ("b", "--set", "cwd=/one", *keyed))
    found = bob.pvc("miss", "a", "b", "--json").json
    assert (found["verdict"], found["unknown"]) == ("unknown", ["values"])
    done = bob.pvc("diff", "a", "b", code=4)
    assert "No difference between a and b in what is in this clone" in done.text


def test_values_that_were_forgotten_say_when_and_why(pair: tuple[Clone, Clone]) -> None:
    ada = pair[0]
    ada.pvc("pin", "agent", "--session", "s", "--set", "cwd=/one")
    ada.pvc("sync")
    ada.pvc("forget", "s", "-m", "asked by the customer")
    found = ada.pvc("blame", "s", "--json").json
    assert absent(found) == [("s", "values", "forgotten")]
    assert "asked by the customer" in found["absent"][0]["message"]


def test_damaged_values_are_an_error_and_never_a_placeholder(pair: tuple[Clone, Clone]) -> None:
    ada = pair[0]
    ada.pvc("pin", "agent", "--session", "s", "--set", "cwd=/one")
    (body,) = (ada.path / ".git/pvc/spool/b").iterdir()
    body.write_bytes(body.read_bytes().replace(b"/one", b"/two"))
    for words in (("blame", "s"), ("miss", "s", "s"), ("diff", "s", "agent"), ("impact", "agent")):
        assert "damaged" in ada.refused(*words, code=3)


def test_bytes_are_never_made_up(pair: tuple[Clone, Clone]) -> None:
    bob = shared(pair, ("s", "--set", "cwd=/one"))
    assert "are not in this clone" in bob.refused("show", "s", "--bytes", code=4)
    assert "are not in this clone" in bob.refused("pin", "--session", "s", "--resume", code=4)
