"""A harness's session-start hook: its JSON on standard input names the session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pvc.store.codec import decode

if TYPE_CHECKING:
    from launches import Launches

START: dict[str, Any] = {
    "session_id": "5b0c-1",
    "transcript_path": "/home/ann/5b0c-1.jsonl",
    "cwd": "/srv",
    "hook_event_name": "SessionStart",
    "source": "startup",
    "model": "m-1",
}
WORDS = ("agent", "--hook", "claude-code", "--set", "who=Ann")


def said(**changes: Any) -> bytes:
    return json.dumps(START | changes).encode()


def test_the_hook_names_session_and_model_and_nothing_reaches_stdout(launches: Launches) -> None:
    done = launches.pin(*WORDS, data=said())
    pin = decode(launches.spooled[0].read_bytes())
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith("pinned b3:")
    assert (pin.session, pin.model) == ("5b0c-1", "m-1")


def test_the_prompt_itself_can_be_what_the_hook_prints(launches: Launches) -> None:
    assert launches.pin(*WORDS, "--out", "-", data=said()).out == b"You are an agent.\nAnn"


def test_a_session_that_is_resumed_is_the_same_or_warned_about(launches: Launches) -> None:
    launches.pin(*WORDS, data=said())
    resumed = launches.pin(*WORDS, data=said(source="resume"))
    assert resumed.code == 0
    assert resumed.err.startswith("same b3:")
    moved = launches.pin(*WORDS[:-1], "who=Bob", data=said(source="compact"))
    assert (moved.code, moved.out) == (1, b"")
    assert "first at byte 18 of the prompt, from the value `/who`" in moved.err


@pytest.mark.parametrize(
    ("name", "data", "code", "message"),
    [
        ("other", said(), 2, "no hook `other`"),
        ("claude-code", b"[]", 3, "a hook's input is a JSON object"),
        ("claude-code", b"{", 3, "the text ends before the JSON value does"),
        ("claude-code", b"\xff", 3, "byte 0 is no UTF-8"),
        ("claude-code", said(hook_event_name="Stop"), 2, "no `SessionStart` hook: `Stop`"),
        ("claude-code", said(session_id=7), 3, "names no `session_id`"),
        ("claude-code", said(session_id="a\nb"), 2, "a session id has 1 to 256 characters"),
    ],
)
def test_another_input_is_refused(
    launches: Launches, name: str, data: bytes, code: int, message: str
) -> None:
    done = launches.pin("agent", "--hook", name, "--set", "who=Ann", data=data)
    assert (done.code, done.out) == (code, b"")
    assert message in done.err


def test_the_hook_and_other_words_do_not_share(launches: Launches) -> None:
    assert launches.pin(*WORDS, "--session", "s", data=said()).code == 2
    assert "standard input is the hook's" in launches.pin(*WORDS, "--env", "-", data=said()).err
