"""Records as people have them: each is read, or refused with its name, never called clean."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pvc.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDS = Path(__file__).parents[1] / "cases/records"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(directory: Path, *words: str) -> tuple[int, str, str]:
        code = main(["-C", str(directory), "miss", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def body(text: str, model: str = "claude-sonnet-4-5") -> dict[str, Any]:
    marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    turns = [{"role": "user", "content": "How wet is it?"}]
    return {"model": model, "system": [marked], "messages": turns}


CLOCKS = [body(f"Local time {time}.\nYou look after an orchard.") for time in ("09:00", "09:07")]


@pytest.mark.parametrize("name", ["capture.har", "bodies.jsonl", "batch.jsonl"])
def test_a_file_of_requests_is_compared_in_its_order(run: Any, name: str) -> None:
    code, out, _ = run(RECORDS, name)
    assert code == 1
    assert out.startswith("2 requests in 1 chains, 1 misses\n")
    assert "clock" in out
    assert "`09:00:51` became `09:01:10`" in out


WRITERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a body a line": lambda b: b,
    "Anthropic's batch": lambda b: {"custom_id": "q", "params": b},
    "OpenAI's batch": lambda b: {"custom_id": "q", "method": "POST", "body": b},
    "a recorder": lambda b: {"timestamp": 1.5, "request": {"url": "x", "body": b}},
    "a recorder of text": lambda b: {"request": {"body": json.dumps(b)}, "response": {}},
    "a proxy": lambda b: {"request": b, "response": {"usage": {"input_tokens": 2600}}},
}


@pytest.mark.parametrize("form", WRITERS)
def test_lines_of_recorders_hold_requests(run: Any, tmp_path: Path, form: str) -> None:
    lines = [json.dumps(WRITERS[form](each)) for each in CLOCKS]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    code, out, _ = run(tmp_path, "log.jsonl")
    assert (code, "clock  log.jsonl:1 -> log.jsonl:2" in out) == (1, True), out


def test_what_a_har_answers_overrules(run: Any, tmp_path: Path) -> None:
    """Two requests with the same bytes, of which the counters say that nothing was read."""
    stream = b'data: {"type": "message_start", "message": {"usage": %s}}\n\n'
    usage = (
        b'{"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 2500}'
    )
    answer = base64.b64encode(stream % usage).decode()
    long = body("You look after an orchard. " * 400)
    entry = {
        "startedDateTime": "2026-09-14T09:00:51.000Z",
        "request": {"postData": {"text": json.dumps(long)}},
        "response": {"content": {"encoding": "base64", "text": answer}},
    }
    later = entry | {"startedDateTime": "2026-09-14T09:01:51.000Z"}
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": [entry, later]}}))
    code, out, _ = run(tmp_path, "x.har")
    assert (code, "provider_side" in out) == (1, True), out


REFUSED = {
    "litellm.jsonl": "a LiteLLM log",
    "langfuse.jsonl": "a Langfuse export",
    "gptme.jsonl": "a gptme conversation",
    "opencode-export.json": "an opencode export",
    "capture.har": "a HAR file",
    "bodies.jsonl": "a request body",
    "gemini/a.json": "a Gemini request",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_transcript_that_is_not_understood_is_named(run: Any, name: str) -> None:
    code, out, err = run(RECORDS, "--transcript", name)
    assert (code, out) == (3, "")
    assert f"{name}: {REFUSED[name]}" in err


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a: b\n", "no JSON"),
        ("", "an empty file"),
        ('{"a": 1}\n', "a JSON object with the keys `a`"),
        ("[1]\n", "a JSON list"),
        ('{"resourceSpans": [{"scopeSpans": []}]}\n', "an OTLP/JSON trace"),
    ],
)
def test_what_was_seen_is_said(run: Any, tmp_path: Path, text: str, seen: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    code, _, err = run(tmp_path, "--transcript", "x.jsonl")
    assert (code, f"x.jsonl: {seen}" in err) == (3, True), err
    code, _, err = run(tmp_path, "x.jsonl")
    assert code == 3, err


def test_a_named_file_that_is_not_understood_keeps_others_from_being_clean(
    run: Any, tmp_path: Path
) -> None:
    shutil.copy(RECORDS / "claude-code-control.jsonl", tmp_path / "good.jsonl")
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    assert run(tmp_path, "--transcript", "good.jsonl")[0] == 0
    code, out, _ = run(tmp_path, "--transcript", "good.jsonl", "--transcript", "other.jsonl")
    assert (code, "not read: other.jsonl: a JSON object" in out) == (3, True)
    code, out, _ = run(tmp_path, "--transcript", ".")  # a folder holds other things too
    assert (code, "4 calls" in out) == (0, True)


def test_a_session_without_a_call_is_a_session(run: Any, tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user"}}
    (tmp_path / "x.jsonl").write_text(json.dumps(line) + "\n")
    code, out, _ = run(tmp_path, "--transcript", "x.jsonl")
    assert (code, out.split(",")[0]) == (0, "0 calls in 0 chains")


def test_one_request_is_no_comparison(run: Any, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(CLOCKS[0]))
    code, _, err = run(tmp_path, "one.json")
    assert (code, "is one request body" in err) == (2, True)
    (tmp_path / "folder").mkdir()
    shutil.move(tmp_path / "one.json", tmp_path / "folder")
    code, out, _ = run(tmp_path, "folder")
    assert (code, "nothing was compared" in out) == (3, True)


def test_a_helper_and_the_main_session_are_two_chains(run: Any, tmp_path: Path) -> None:
    helper = body("Search the shelves for what was asked, and answer in one line.")
    lines = [json.dumps(each) for each in (CLOCKS[0], helper, CLOCKS[0], helper)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    code, out, _ = run(tmp_path, "log.jsonl")
    assert (code, out) == (0, "4 requests in 2 chains, 0 misses\n")


def test_instructions_in_a_trace_say_what_changed(run: Any) -> None:
    code, out, _ = run(RECORDS, "--otel", "otel-clock.json")
    assert code == 1
    assert "the instructions differ at byte 15" in out
    assert out.count("clock after") == 2
    assert run(RECORDS, "--otel", "otel-control.json")[0] == 0


@pytest.mark.parametrize("name", ["a.json", "b.json"])
def test_a_body_of_another_provider_is_named(run: Any, name: str) -> None:
    code, _, err = run(RECORDS / "gemini", name, name)
    assert (code, "a Gemini request" in err) == (3, True)


def test_a_streamed_answer_is_read(run: Any, tmp_path: Path) -> None:
    long = body("You look after an orchard. " * 400)
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(long))
    shutil.copy(RECORDS / "response.sse.txt", tmp_path)
    words = ("a.json", "b.json", "--seconds", "9", "--relation", "new_session")
    code, out, _ = run(tmp_path, *words, "--response", "response.sse.txt")
    assert (code, "provider_side" in out) == (1, True), out
    (tmp_path / "cut.txt").write_text("event: ping\n")
    code, _, err = run(tmp_path, *words, "--response", "cut.txt")
    assert (code, "a JSON object or a stream of events" in err) == (3, True)


def test_an_answer_belongs_to_the_request_that_was_open(run: Any, tmp_path: Path) -> None:
    long, read = body("You look after an orchard. " * 400), {"cache_read_input_tokens": 0}
    usage = {"input_tokens": 2600, "cache_creation_input_tokens": 0} | read
    for at, name in enumerate(
        ("a.request.json", "1.response.json", "b.request.json", "2.response.json")
    ):
        value = {"usage": usage} if "response" in name else long
        (tmp_path / name).write_text(json.dumps(value))
        os.utime(tmp_path / name, (1000 + at, 1000 + at))
    code, out, _ = run(tmp_path, ".")
    assert (code, "provider_side" in out) == (1, True), out
    os.utime(tmp_path / "1.response.json", (1002.5, 1002.5))  # two were open: nothing is known
    code, out, _ = run(tmp_path, ".")
    assert (code, "provider_side" in out) == (0, False), out


@pytest.mark.parametrize(
    "line",
    [
        {"request": {"body": "not JSON"}},
        {"request": {"body": "[1]"}},
        {"request": {"body": 3}},
        {"custom_id": "q", "params": {"model": "m"}},
        {"timestamp": 1e308, "request": {"body": CLOCKS[0]}, "response": {"body": "half of"}},
    ],
)
def test_a_line_that_holds_no_request_hides_no_other(run: Any, tmp_path: Path, line: Any) -> None:
    lines = [{"request": {"body": CLOCKS[0]}}, line, {"request": {"body": CLOCKS[1]}}]
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(each) for each in lines))
    code, out, _ = run(tmp_path, "log.jsonl")
    assert (code, "clock" in out) == (1, True), out
