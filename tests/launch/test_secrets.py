"""Secrets in what a launch would keep: named before they are stored, or refused, or let be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from launches import Launches

TOKEN = "ghp_" + "a8Kd93jLmQ2xVb7Nc5Zt1Rw6Ye4Uo0Pi9SgH"


def given(launches: Launches, where: str) -> list[str]:
    """Write a launch that has the token somewhere; gives its words."""
    tools = [{"name": "t", "description": TOKEN, "input_schema": {"type": "object"}}]
    request = {"system": TOKEN, "messages": []}
    for name, value in (("tools", tools), ("request", request), ("env", {"who": {"x": TOKEN}})):
        (launches.path / f"{name}.json").write_text(json.dumps(value))
    words = {
        "set": ["agent", "--set", f"who={TOKEN}"],
        "tools": ["agent", "--set", "who=x", "--tools", "tools.json"],
        "request": ["--request", "request.json"],
    }
    return [*words[where], "--session", "s"]


PLACES = [
    ("set", "the value `/who` holds a GitHub token: `ghp_a8Kd…`"),
    ("tools", "the tools `/0/description` holds a GitHub token: `ghp_a8Kd…`"),
    ("request", "the bytes `/system` holds a GitHub token: `ghp_a8Kd…`"),
]


def kept(launches: Launches) -> bytes:
    folder = launches.home
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(("where", "words"), PLACES, ids=[where for where, _ in PLACES])
def test_a_secret_is_named_where_it_stands(launches: Launches, where: str, words: str) -> None:
    done = launches.pin(*given(launches, where))
    assert done.code == 0
    assert f"note: {words}; it is kept in this clone" in done.err
    assert TOKEN not in done.err
    assert TOKEN.encode() in kept(launches)


@pytest.mark.parametrize(("where", "words"), PLACES, ids=[where for where, _ in PLACES])
def test_where_secrets_are_refused_nothing_is_stored(
    launches: Launches, where: str, words: str
) -> None:
    launches.workspace.git("config", "pvc.secrets", "refuse")
    done = launches.pin(*given(launches, where), "--out", "prompt")
    assert done.code == 1
    assert words in done.err
    assert TOKEN not in done.err
    assert TOKEN.encode() not in kept(launches)
    assert not (launches.path / "prompt").exists()
    assert launches.pin("agent", "--session", "s", "--set", "who=x").code == 0


@pytest.mark.parametrize("words", [["pvc.secrets", "allow"], ["pvc.privacy", "digest"]])
def test_nothing_is_said_where_that_is_allowed_or_nothing_is_kept(
    launches: Launches, words: list[str]
) -> None:
    launches.workspace.git("config", *words)
    done = launches.pin(*given(launches, "set"))
    assert (done.code, done.err) == (0, "")


def test_a_line_of_a_batch_is_refused_alone(launches: Launches) -> None:
    launches.workspace.git("config", "pvc.secrets", "refuse")
    lines: list[dict[str, Any]] = [
        {"session": "a", "tree": "agent", "set": {"who": TOKEN}},
        {"session": "b", "tree": "agent", "set": {"who": "x"}},
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = launches.pin("--batch", data=data)
    assert [answer["status"] for answer in done.answers] == ["error", "pinned"]
    assert len(launches.spooled) == 1


def test_a_sign_that_is_no_secret_is_looked_at_and_let_be(launches: Launches) -> None:
    done = launches.pin("agent", "--session", "s", "--set", "who=ghp_" + "EXAMPLE" * 6)
    assert (done.code, done.err) == (0, "")


LEDGER = {
    "reason": ["agent", "--session", "s", "--set", "who=y", "--repin", f"because {TOKEN}"],
    "session's name": ["agent", "--session", TOKEN, "--set", "who=x"],
    "chain's name": ["agent", "--session", "t", "--chain", TOKEN, "--set", "who=x"],
    "model's name": ["agent", "--session", "t", "--set", "who=x", "--model", TOKEN],
}


@pytest.mark.parametrize("privacy", ["inputs", "digest"])
@pytest.mark.parametrize("what", LEDGER)
def test_what_the_ledger_keeps_is_looked_at_too(
    launches: Launches, what: str, privacy: str
) -> None:
    launches.workspace.git("config", "pvc.privacy", privacy)
    launches.pin("agent", "--session", "s", "--set", "who=x")
    done = launches.pin(*LEDGER[what])
    assert done.code == 0
    said = f"the {what} holds a GitHub token: `ghp_a8Kd…`; the ledger keeps it"
    assert said in done.err
    assert TOKEN not in done.err.replace(f"session `{TOKEN}`", "")


@pytest.mark.parametrize("what", LEDGER)
def test_where_secrets_are_refused_the_ledger_has_none(launches: Launches, what: str) -> None:
    launches.workspace.git("config", "pvc.secrets", "refuse")
    launches.pin("agent", "--session", "s", "--set", "who=x")
    assert launches.pin(*LEDGER[what]).code == 1
    assert TOKEN.encode() not in kept(launches)


def test_an_escape_hides_nothing(launches: Launches) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in TOKEN)
    (launches.path / "request.json").write_text(f'{{"system": "{escaped}", "messages": []}}')
    done = launches.pin("--request", "request.json", "--session", "s")
    assert "the bytes `/system` holds a GitHub token: `ghp_a8Kd…`" in done.err
