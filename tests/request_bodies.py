"""Request bodies for tests, in each shape, from the same few parts.

A conversation about an invented ferry office. `Parts` is what a harness holds before it writes a
request; `write` lays it out for a provider.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

SHAPES = ("anthropic.messages", "openai.chat", "openai.responses")
INTRO = "You are Quay, a clerk's assistant that keeps the timetable of a ferry office.\n"
GUIDE = (
    "Look up a sailing before you speak of it.\n\nChange one entry at a time, and say which one. "
    "A sailing that was cancelled stays in the list, marked as such."
)
READ = {"type": "object", "properties": {"route": {"type": "string"}}, "required": ["route"]}
EDIT = {
    "type": "object",
    "properties": {
        "route": {"type": "string", "description": "Name of the route."},
        "slot": {"type": "integer", "description": "Place in the day's list."},
        "state": {"type": "string", "enum": ["open", "full", "cancelled"]},
    },
    "required": ["route", "slot"],
}


@dataclass
class Parts:
    """What a request is made of."""

    system: list[str] = field(default_factory=lambda: [INTRO, GUIDE])
    tools: list[tuple[str, str, Any]] = field(
        default_factory=lambda: [
            ("read_route", "Read the sailings of one route.", READ),
            ("edit_sailing", "Change one sailing.", EDIT),
            ("send_notice", "Send a notice to the piers.", {"type": "object"}),
        ]
    )
    turns: list[tuple[str, Any]] = field(
        default_factory=lambda: [
            ("user", "Which boats leave the north pier before noon?"),
            ("call", ("call_0001", "read_route", {"route": "north", "day": 3})),
            ("result", ("call_0001", "07:10 open\n09:40 full\n11:15 open\n")),
            ("assistant", "Three boats leave, and the second one is full."),
            ("user", "Mark the third one as full too."),
        ]
    )
    extra: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> Parts:
        """Give parts that share nothing with these."""
        return deepcopy(self)


def write(parts: Parts, shape: str) -> bytes:
    """Lay out a request body; Anthropic's is marked at the last tool, system and message block."""
    body = {
        "anthropic.messages": _anthropic,
        "openai.chat": _chat,
        "openai.responses": _responses,
    }[shape](parts)
    return json.dumps({**body, **parts.extra}, ensure_ascii=False).encode()


def _anthropic(parts: Parts) -> dict[str, Any]:
    tools: list[dict[str, Any]] = [
        {"name": n, "description": d, "input_schema": s} for n, d, s in parts.tools
    ]
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in parts.system]
    messages: list[dict[str, Any]] = []
    for who, what in parts.turns:
        if who == "call":
            block = {"type": "tool_use", "id": what[0], "name": what[1], "input": what[2]}
        elif who == "result":
            block = {"type": "tool_result", "tool_use_id": what[0], "content": what[1]}
        else:
            block = {"type": "text", "text": what}
        role = "assistant" if who in ("call", "assistant") else "user"
        messages.append({"role": role, "content": [block]})
    for holder in (tools[-1:], system[-1:], messages[-1]["content"] if messages else []):
        if holder:
            holder[-1]["cache_control"] = {"type": "ephemeral"}
    return {"model": "claude-sonnet-4-5", "system": system, "tools": tools, "messages": messages}


def _chat(parts: Parts) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "developer", "content": t} for t in parts.system]
    for who, what in parts.turns:
        if who == "call":
            function = {"name": what[1], "arguments": json.dumps(what[2])}
            call = {"id": what[0], "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif who == "result":
            messages.append({"role": "tool", "tool_call_id": what[0], "content": what[1]})
        else:
            messages.append({"role": who, "content": what})
    tools = [
        {"type": "function", "function": {"name": n, "description": d, "parameters": s}}
        for n, d, s in parts.tools
    ]
    return {"model": "gpt-5.5", "messages": messages, "tools": tools}


def _responses(parts: Parts) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "developer", "content": t} for t in parts.system[1:]]
    for who, what in parts.turns:
        if who == "call":
            arguments = json.dumps(what[2])
            call = {"call_id": what[0], "name": what[1], "arguments": arguments}
            items.append({"type": "function_call", **call})
        elif who == "result":
            items.append({"type": "function_call_output", "call_id": what[0], "output": what[1]})
        else:
            kind = "output_text" if who == "assistant" else "input_text"
            items.append({"role": who, "content": [{"type": kind, "text": what}]})
    tools = [
        {"type": "function", "name": n, "description": d, "parameters": s}
        for n, d, s in parts.tools
    ]
    first = parts.system[0] if parts.system else None
    return {"model": "gpt-5.5", "instructions": first, "input": items, "tools": tools}
