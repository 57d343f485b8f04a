"""Project context of a clio tree: no program selects it, so `pvc render` does; a launch says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pvc.model.digest import Digest

if TYPE_CHECKING:
    from cli.conftest import Clone

FRAGMENTS = {
    "contract.md": ("operating.contract", "Work in small steps.\n"),
    "identity.md": ("identity.clio", "You keep the harbour's programs.\n"),
    "safety.md": ("safety.default", "Be careful.\n"),
}
BOOK = "# Harbour\n\nTides are in metres.\n\n" + "".join(
    f"Berth {i} is free.\n\n" for i in range(90)
)
SESSION: dict[str, Any] = {"toolNames": ["read"], "providerSupportsTools": True}
PROJECT = {
    "text": BOOK,
    "handbookSources": [{"path": "/w/CLIO.md", "source": BOOK}],
    "supportFragments": ["Pilots speak on channel 9."],
    "maxChars": 900,
}


@pytest.fixture
def clio(plain: Clone) -> Clone:
    """A clone with an adopted clio tree, and the values of a launch in files."""
    manifest = 'format = 1\nkind = "tree"\nname = "keeper"\nform = "clio"\n'
    plain.write("keeper/pvc.toml", manifest + "packs = {builtin-clio = 1}\n")
    for name, (fragment, body) in FRAGMENTS.items():
        head = f"id: {fragment}\nversion: 1\ndescription: A piece.\n"
        plain.write(f"keeper/{name}", f"---\n{head}---\n{body}")
    plain.pvc("init", "keeper")
    plain.commit("A clio tree")
    plain.pvc("supersede", "keeper", "-m", "First", "--accept-findings")
    plain.write("env.json", json.dumps({"session": {**SESSION, "project": PROJECT}}))
    return plain


def test_a_render_selects_what_fits_and_says_where_each_byte_is_from(clio: Clone) -> None:
    prompt = clio.pvc("render", "keeper", "--env", "env.json").out
    clio.pvc("render", "keeper", "--env", "env.json", "--map", "map.json")
    spans = json.loads((clio.path / "map.json").read_text())["spans"]
    book = [
        s for s in spans if s["origin"]["pointer"] == "/session/project/handbookSources/0/source"
    ]
    assert book
    for span in book:
        text = prompt[span["start"] : span["end"]]
        assert BOOK.encode()[span["origin"]["offset"] :].startswith(text)
    assert b"Tides are in metres." in prompt
    assert b"Berth 89" not in prompt
    notice = [s for s in spans if (s["origin"]["name"] or "").startswith("words.preload-")]
    assert {s["origin"]["name"] for s in notice} == {"words.preload-notice", "words.preload-read"}
    assert spans[-1]["end"] == len(prompt)


def test_the_folder_and_a_request_are_rendered_with_it_too(clio: Clone) -> None:
    prompt = clio.pvc("render", "keeper", "--env", "env.json").out
    assert clio.pvc("render", "keeper", "--worktree", "--env", "env.json").out == prompt
    request = clio.pvc("render", "keeper", "--env", "env.json", "--emit", "openai-responses").json
    assert request["instructions"].encode() == prompt


def test_a_launch_says_that_it_cannot_and_what_to_do(clio: Clone) -> None:
    refused = clio.pvc("pin", "keeper", "--session", "s", "--env", "env.json", code=5)
    assert "/session/project: no program can render `project`" in refused.err
    assert "contextFiles" in refused.err
    assert "--rendered" in refused.err


def test_what_was_rendered_can_be_pinned_as_observed(clio: Clone) -> None:
    prompt = clio.pvc("render", "keeper", "--env", "env.json", "--out", "prompt.txt").out
    assert prompt == b""
    clio.pvc("pin", "--session", "s", "--rendered", "prompt.txt")
    data = (clio.path / "prompt.txt").read_bytes()
    assert clio.pvc("show", "session:s", "--bytes").out == data
    assert clio.pvc("show", "session:s", "--json").json["pin"]["prompt_digest"] == str(
        Digest.of(data)
    )


def test_both_a_project_and_its_selection_are_refused(clio: Clone) -> None:
    both = {"session": {**SESSION, "project": PROJECT, "contextFiles": "Selected."}}
    clio.write("env.json", json.dumps(both))
    said = clio.pvc("render", "keeper", "--env", "env.json", code=2).err
    assert "`project` and `contextFiles` are both given" in said


def test_a_project_that_fits_is_what_the_same_text_as_context_is(clio: Clone) -> None:
    given = {"text": "Tides are in metres.", "handbookSources": [], "supportFragments": []}
    outs = []
    for session in ({"project": given}, {"contextFiles": given["text"]}):
        clio.write("env.json", json.dumps({"session": {**SESSION, **session}}))
        outs.append(clio.pvc("render", "keeper", "--env", "env.json").out)
    assert outs[0] == outs[1]
    clio.pvc("pin", "keeper", "--session", "t", "--env", "env.json")
    assert clio.pvc("show", "session:t", "--bytes").out == outs[0]
