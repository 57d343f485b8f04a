"""OpenAI Chat and Responses bodies: tools, output format, then messages or instructions and items.

The region `system` ends after the instructions and the leading system or developer messages; a
later one belongs to the messages. Each message or item is one element.

Rule 1: an output format (`response_format`, `text.format`) has its bytes in the stream between
tools and system, and is the only setting beside the model that does.
Rule 2: an item of Responses without a `type` is a message; `input` as a string is one user message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core import stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Region, Rules, Setting
from pvc.providers.base import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.providers.base import Facts

_READ = {
    stream.CHAT: ("prompt_tokens_details", "cached_tokens"),
    stream.RESPONSES: ("input_tokens_details", "cached_tokens"),
}
_ITEM_LEAVES = {
    "function_call": ("type", "call_id", "name", "arguments"),
    "function_call_output": ("type", "call_id", "output"),
}


def read(value: dict[str, Value], shape: str, notes: list[str], facts: Facts) -> Body:
    """Read a parsed body of either shape."""
    made = Collector()
    for pointer, tool in stream.elements(value.get("tools"), "/tools"):
        made.element(Region.TOOLS, pointer, stream.one_tool(tool, pointer, shape))
    made.loose(Region.SETTINGS, _output_format(value, shape))
    if shape == stream.CHAT:
        _turns(made, value.get("messages"), "/messages", shape)
    else:
        if value.get("instructions") is not None:
            made.element(
                Region.SYSTEM,
                "/instructions",
                stream.system_leaves(value["instructions"], shape),
            )
        turns = value.get("input")
        if isinstance(turns, str):
            turns = [{"role": "user", "content": turns}]
        _turns(made, turns, "/input", shape)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    text = None if model is None else dump(model)
    return Body.of(
        shape,
        name,
        Rules(_READ[shape], minimum_tokens=facts.model(name).minimum_tokens),
        made.leaves,
        made.elements,
        settings=[Setting("model", "/model", 0, text, text)],
        notes=notes,
    )


def _output_format(value: dict[str, Value], shape: str) -> Iterator[tuple[str, bytes]]:
    if shape == stream.CHAT:
        pointer, given = "/response_format", value.get("response_format")
    else:
        text = value.get("text")
        pointer, given = "/text/format", text.get("format") if isinstance(text, dict) else None
    if given is not None:
        yield pointer, stream.value_bytes(given)


def _turns(made: Collector, turns: Value, pointer: str, shape: str) -> None:
    region = Region.SYSTEM
    for at, turn in stream.elements(turns, pointer):
        if not isinstance(turn, dict):
            raise DecodeError("a message is an object", at=at, hint="with `role` and `content`")
        if not stream.is_system_message(turn):
            region = Region.MESSAGES
        leaves = stream.chat_message(turn, at) if shape == stream.CHAT else _item(turn, at)
        made.element(region, at, leaves)


def _item(item: dict[str, Value], pointer: str) -> Iterator[tuple[str, bytes]]:
    kind = item.get("type", "message")
    if kind != "message":
        names = _ITEM_LEAVES.get(kind if isinstance(kind, str) else "", ("type",))
        yield from stream.named_leaves(item, pointer, names)
        return
    yield f"{pointer}/type", b"message"
    yield from stream.named_leaves(item, pointer, ("role",), only=True)
    yield from stream.content_leaves(item.get("content"), f"{pointer}/content")
    yield from stream.named_leaves(item, pointer, (), without=("type", "role", "content"))
