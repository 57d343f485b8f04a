"""The programs of `docs/snippets`, run as they stand; a server records what they send."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import pvc
from cli.test_emit import head_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.conftest import Clone, Done

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"
QUESTION = "What sails at 9.50?"
ANSWER = "The ferry."
TOOLS = [
    {
        "name": "tides",
        "description": "High water, “exact”.",
        "input_schema": {
            "type": "object",
            "properties": {"day": {"type": "string"}, "10": {"type": "number", "minimum": 2.5}},
            "additionalProperties": False,
        },
    },
    {"name": "boats", "description": "Boats.", "input_schema": {"type": "object"}},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3, "cache_creation_input_tokens": 2000},
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [
            {
                "id": "o_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
            }
        ],
    },
}

Sent = list[tuple[str, bytes]]


@contextmanager
def server() -> Iterator[tuple[str, Sent]]:
    """Answer what is in `ANSWERS`, and keep path and body of each request."""
    sent: Sent = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            answer = json.dumps(ANSWERS[self.path]).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Keep stderr for what goes wrong."""

    here = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=here.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{here.server_port}", sent
    finally:
        here.shutdown()
        thread.join()
        here.server_close()


@pytest.fixture
def desk(ada: Clone) -> Clone:
    """Ada's clone with a tree `desk` whose surface has a marker, and what its launches give."""
    ada.write(
        "desk/pvc.toml",
        'format = 1\nname = "desk"\nform = "harness"\npacks = {builtin-harness = 1}\n'
        '[markers]\nafter = ["surface:1h"]\n',
    )
    ada.write("desk/systemprompt.md", "Look up a sailing before you speak of it – always.\n")
    ada.write("values.json", '{"sections": [{"id": "identity", "text": "Ferries ⛴"}]}')
    ada.write("tools.json", json.dumps(TOOLS))
    ada.pvc("init", "desk")
    ada.commit("A desk")
    ada.pvc("supersede", "desk", "-m", "First desk")
    command = f'#!/bin/sh\nexec "{sys.executable}" -m pvc "$@"\n'
    ada.write("bin/pvc", command).chmod(0o755)
    return ada


def launch(clone: Clone, url: str, *command: str) -> Done:
    return clone.run(
        [*command, "monday", QUESTION],
        PATH=f"{clone.path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH=str(Path(pvc.__file__).parents[1]),
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY="no key",
        OPENAI_BASE_URL=f"{url}/v1",
        OPENAI_API_KEY="no key",
    )


def check(clone: Clone, path: str, shape: str, *command: str) -> Any:
    """Launch one session twice: the same head is sent, the one that is pinned. Gives the body."""
    with server() as (url, sent):
        for _ in range(2):
            done = launch(clone, url, *command)
            assert (done.code, done.text) == (0, f"{ANSWER}\n"), done.err
    assert [where for where, _ in sent] == [path, path]
    (pin,) = clone.pvc("log", "--pins", "--json").json["pins"]
    assert {head_digest(body, shape) for _, body in sent} == {pin["head_digest"]}
    assert pin["provider"] == shape
    body = json.loads(sent[0][1])
    assert body["model"] == pin["model"]
    assert QUESTION in json.dumps(body)
    return body


def test_the_anthropic_sdk_sends_what_was_pinned(desk: Clone) -> None:
    snippet = str(SNIPPETS / "anthropic_launch.py")
    body = check(desk, "/v1/messages", "anthropic.messages", sys.executable, snippet)
    marked = [block["text"] for block in body["system"] if "cache_control" in block]
    assert marked == ["\n\nLook up a sailing before you speak of it – always."]


def test_the_openai_sdk_sends_what_was_pinned(desk: Clone) -> None:
    snippet = str(SNIPPETS / "openai_launch.py")
    body = check(desk, "/v1/responses", "openai.responses", sys.executable, snippet)
    assert [tool["name"] for tool in body["tools"]] == ["boats", "tides"]


@pytest.mark.skipif(
    shutil.which("node") is None, reason="there is no node on the PATH to run launch.mjs"
)
def test_node_sends_what_was_pinned(desk: Clone) -> None:
    snippet = str(SNIPPETS / "launch.mjs")
    body = check(desk, "/v1/messages", "anthropic.messages", "node", snippet)
    assert (body["max_tokens"], len(body["messages"])) == (1024, 1)


def test_every_snippet_is_run() -> None:
    there = {path.name for path in SNIPPETS.iterdir() if path.suffix != ".md"}
    assert there - {"__pycache__"} == {"anthropic_launch.py", "openai_launch.py", "launch.mjs"}
