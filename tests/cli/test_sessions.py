"""Sessions that change, with the real command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone

BASE = b"# Role\n\nYou mend harbour software.\n\n# Rules\n\nWork in /dock.\nNever force a push.\n"


@pytest.fixture
def session(adopted: Clone) -> Clone:
    """Ada's repository with a pinned session `s`; `wiki` and `date` are dynamic."""
    manifest = (adopted.path / "agent/pvc.toml").read_text()
    adopted.write("agent/pvc.toml", manifest + 'dynamic = ["wiki", "date"]\n')
    adopted.commit("A dynamic plane")
    adopted.pvc("supersede", "agent", "-m", "A wiki may change")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/dock")
    return adopted


def test_a_session_grows_is_replaced_and_shown_as_it_was(session: Clone) -> None:
    session.write("more.md", "Be brief.\n")
    added = session.pvc("session", "append", "s", "more.md", "--author", "ext:x", "--json").json
    assert (added["n"], added["author"], added["lost"]["bytes"]) == (1, "ext:x", 0)
    done = session.pvc("session", "replace", "s", "--text", "All new.", "-m", "a fresh start")
    assert done.text.startswith("replaced by entry 2 b3:")
    assert "bytes are written again" in done.text
    assert session.pvc("session", "show", "s").out == b"All new."
    assert session.pvc("session", "show", "s", "--at", "1").out == BASE + b"\n\nBe brief.\n"
    assert session.pvc("session", "show", "s", "--at", "0").out == BASE
    assert session.pvc("show", "session:s", "--bytes").out == b"All new."
    marks = [line[0] for line in session.pvc("session", "log", "s").text.splitlines()]
    assert marks == [" ", " ", "*"]
    assert session.pvc("session", "log", "s", "--json").json["positions"][2]["reason"] == (
        "a fresh start"
    )
    lines = session.pvc("session", "log", "s", "--lines").text.splitlines()
    assert [json.loads(line)["message"]["mode"] for line in lines] == [
        "append",
        "append",
        "replace",
    ]


def test_blame_of_a_past_position(session: Clone) -> None:
    session.pvc("session", "append", "s", "--text", "Be brief.", "--author", "ext:x", "-m", "why")
    session.pvc("session", "replace", "s", "--text", "All new.")
    runs = session.pvc("blame", "s", "--at", "1", "--json").json["runs"]
    assert runs[-1]["origin"]["pointer"] == "/entries/1"
    assert (runs[-1]["author"], runs[-1]["reason"]) == ("ext:x", "why")
    assert "entry 2 replace session" in session.pvc("blame", "s").text
    assert "no positions" in session.refused("blame", "agent", "--at", "1", code=2)


def test_what_is_true_only_now_is_refused_with_the_place_to_put_it(session: Clone) -> None:
    text = f"Work in {session.path}."
    err = session.refused("session", "append", "s", "--text", text, code=1)
    assert "(cwd) is true only now" in err
    assert "hint: pvc context s --section NAME=FILE" in err
    session.pvc("session", "append", "s", "--text", text, "--accept-volatile")


def test_resume_says_what_differs_and_records_it_with_a_reason(session: Clone) -> None:
    assert session.pvc("session", "resume", "s").text.startswith("nothing moved: s at agent@2")
    moved = session.pvc("session", "resume", "s", "--set", "cwd=/quay", code=1)
    assert "first at byte 54: value cwd (/cwd) gives way to the value `/cwd`" in moved.text
    assert "nothing was recorded; --record REASON records it" in moved.text
    words = ("session", "resume", "s", "--set", "cwd=/quay", "--record", "moved house", "--json")
    found = session.pvc(*words).json
    assert (found["status"], found["n"]) == ("recorded", 1)
    assert found["difference"]["pinned"]["origin"]["pointer"] == "/cwd"
    assert b"Work in /quay." in session.pvc("session", "show", "s").out


def test_the_dynamic_plane_lists_what_changed_and_leaves_the_prompt(session: Clone) -> None:
    session.write("wiki.md", "Harbours.\n")
    words = ("context", "s", "--section", "wiki=wiki.md")
    first = session.pvc(*words, "--fact", "date=2031-02-03")
    assert first.text == "## Context update\n\n- date: 2031-02-03\n\n### wiki\n\nHarbours.\n"
    again = session.pvc(*words, "--fact", "date=2031-02-03")
    assert (again.out, again.err) == (b"", "note: nothing changed since the last delivery\n")
    answer = session.pvc("context", "s", "--fact", "date=2031-02-04", "--json").json
    assert (answer["changed"], answer["withdrawn"], answer["n"]) == (["date"], ["wiki"], 1)
    assert (
        answer["prompt_digest"] == session.pvc("show", "s", "--json").json["pin"]["prompt_digest"]
    )
    assert session.pvc("session", "show", "s").out == BASE
    err = session.refused("context", "s", "--section", "rules=wiki.md", code=1)
    assert 'add `dynamic = ["rules"]`' in err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("session", "append", "s"), 2),
        (("session", "append", "s", "gone.md"), 4),
        (("session", "append", "other", "--text", "x"), 4),
        (("session", "append", "s", "--text", "x", "--chain", "main:context"), 2),
        (("session", "show", "s", "--at", "9"), 4),
        (("session", "resume", "s", "--layer", "project"), 2),
        (("session", "resume", "s", "--log", "gone"), 4),
        (("context", "s", "--section", "wiki"), 2),
        (("context", "s", "--fact", "date=a", "--fact", "date=b"), 2),
        (("context", "other", "--fact", "date=a"), 4),
    ],
)
def test_bad_words_get_one_line(session: Clone, words: tuple[str, ...], code: int) -> None:
    before = session.pvc("log", "--pins").text
    session.refused(*words, code=code)
    assert session.pvc("log", "--pins").text == before


def test_the_hook_of_a_harness_pins_its_session(session: Clone) -> None:
    import subprocess
    import sys

    said = {"hook_event_name": "SessionStart", "session_id": "5b0c", "source": "startup"}
    done = subprocess.run(
        [sys.executable, "-m", "pvc", "pin", "agent", "--hook", "claude-code", "--set", "cwd=/x"],
        cwd=session.path,
        env=session.environment,
        input=json.dumps(said).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    assert session.pvc("show", "session:5b0c", "--json").json["pin"]["session"] == "5b0c"
