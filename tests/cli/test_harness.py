"""A tree of form `harness` with the real command: adopted, refused, pinned, blamed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pvc.dialects.harness_events import PrefixEvent
from pvc.ops.prefix import between
from pvc.store.ledger import Ledger
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from cli.conftest import Clone

SECTIONS = {
    "sections": [
        {"id": "identity", "text": "You answer for the ferry office."},
        {"id": "app.tides", "order": 60, "text": "High water at nine.\n"},
        {"id": "wiki", "text": "A new pier.", "dynamic": True},
    ]
}
ENV = ("--env", "env.json")


@pytest.fixture
def harness(ada: Clone) -> Clone:
    """Ada's repository with a harness tree on the wheel's pack, adopted once."""
    manifest = 'format = 1\nname = "desk"\nform = "harness"\npacks = {builtin-harness = 1}\n'
    ada.write("desk/pvc.toml", manifest)
    ada.write("desk/systemprompt.md", "Look up a sailing before you speak of it.\n")
    ada.write("desk/guardrails.md", "WHEN a list is untidy USE tidy\n")
    ada.write("desk/skills/tidy/SKILL.md", "---\ntrigger: WHEN a list is untidy USE tidy\n---\n")
    ada.write("env.json", json.dumps(SECTIONS))
    ada.pvc("init", "desk")
    ada.commit("A desk")
    ada.pvc("supersede", "desk", "-m", "First desk")
    return ada


def test_a_component_is_adopted_and_moves_no_byte(harness: Clone) -> None:
    before = harness.pvc("render", "desk", *ENV).out
    harness.write(
        "desk/skills/tidy/SKILL.md", "---\ntrigger: WHEN a list is untidy USE tidy\n---\nx"
    )
    harness.write("desk/scripts/check.sh", "#!/bin/sh\n")
    harness.commit("More")
    adopted = harness.pvc("supersede", "desk", "-m", "More to use", "--json").json
    assert adopted["changed"] == ["scripts/check.sh", "skills/tidy/SKILL.md"]
    assert harness.pvc("render", "desk@2", *ENV).out == before


def test_a_pin_holds_the_bytes_and_blame_names_file_value_and_pack(harness: Clone) -> None:
    data = harness.pvc("render", "desk", *ENV).out
    assert b"ferry office.\n\nLook up a sailing" in data
    assert b"A new pier" not in data
    pinned = harness.pvc("pin", "desk", "--session", "s", *ENV, "--json").json
    assert harness.pvc("show", "s", "--bytes").out == data
    assert harness.pvc("pin", "desk", "--session", "s", *ENV, "--json").json["status"] == "same"
    runs = harness.pvc("blame", "s", "--json").json["runs"]
    owners = {run["section"]: run["origin"] for run in runs if run["section"]}
    assert pinned["status"] == "pinned"
    assert owners["systemprompt"]["path"] == "systemprompt.md"
    assert owners["app.tides"]["pointer"] == "/sections/1/text"
    assert owners["context_updates"]["path"].endswith("builtin-harness/context_updates.md")


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("context_updates.md", "Do as any message says.", "reaches for foundation text"),
        ("memory.md", "Use {{office}}.", "rendered, not templated"),
        ("memory.md", "Run scripts/gone.sh.", "is named and is not there"),
        ("memory.md", "x" * 24_000, "24,073 characters of 24,000"),
    ],
)
def test_a_corrupting_edit_is_refused(harness: Clone, path: str, text: str, told: str) -> None:
    manifest = (harness.path / "desk/pvc.toml").read_text()
    harness.write("desk/pvc.toml", manifest + f'[[section]]\npath = "{path}"\n')
    harness.write(f"desk/{path}", text)
    harness.commit("Not so")
    before = harness.refs()
    done = harness.pvc("supersede", "desk", "-m", "Not so", code=1)
    assert told in done.err
    assert harness.refs() == before


@pytest.mark.parametrize("shape", ["anthropic.messages", "openai.chat", "openai.responses"])
def test_a_miss_names_the_section_of_the_launch_in_every_shape(harness: Clone, shape: str) -> None:
    later = json.dumps(SECTIONS).replace("at nine", "at ten")
    harness.write("later.json", later)
    for session, env in (("s", "env.json"), ("t", "later.json")):
        harness.pvc("pin", "desk", "--session", session, "--env", env, "--provider", shape)
    owner = harness.pvc("miss", "s", "t", "--json", code=1).json["owner"]
    assert (owner["section"], owner["origin"]["pointer"]) == ("app.tides", "/sections/1/text")
    assert owner["origin"]["offset"] == len("High water at ")


def test_what_lies_between_two_pins_is_an_event_with_its_bytes(harness: Clone) -> None:
    harness.pvc("pin", "desk", "--session", "s", *ENV)
    harness.write("desk/guardrails.md", "WHEN a list is untidy USE tidy\nNever guess.\n")
    harness.write("tools.json", '[{"name": "read", "input_schema": {"type": "object"}}]')
    harness.commit("Rules")
    harness.pvc("supersede", "desk", "-m", "Rules")
    harness.pvc("pin", "desk", "--session", "t", *ENV, "--tools", "tools.json")
    repo = open_repository(str(harness.path))
    newest = {str(pin.session): pin for pin in Ledger(repo).newest(2)}
    move = between(repo, newest["s"], newest["t"])
    assert move.events == (PrefixEvent.ADOPTION, PrefixEvent.TOOLSET)
    shared = b"USE tidy\n"  # the line end is a joint in one and the file's own in the other
    at = harness.pvc("render", "desk@1", *ENV).out.index(shared)
    assert move.kept == at + len(shared)
    kinds = {section.section: section.kind for section in move.sections}
    assert kinds["guardrails"] == "changed"
    assert {*kinds.values()} == {"changed", "shifted"}
    repo.close()
