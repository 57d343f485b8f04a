"""OpenAI Chat and Responses bodies: tools, output format, then messages or instructions and items.

The region `system` ends after the instructions and the leading system or developer messages; a
later one belongs to the messages. Each message or item is one element.

Rule 1: an output format (`response_format`, `text.format`) has its bytes in the stream between
tools and system, and is the only setting beside the model that does.
Rule 2: an item of Responses without a `type` is a message; `input` as a string is one user message.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pvc.core import measure, stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Region, Rules, Setting
from pvc.providers.base import Collector

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.providers.base import Facts

    Pair = tuple[str, bytes]

_READ = {
    stream.CHAT: ("prompt_tokens_details", "cached_tokens"),
    stream.RESPONSES: ("input_tokens_details", "cached_tokens"),
}
_ITEM_LEAVES = {
    "function_call": ("type", "call_id", "name", "arguments"),
    "function_call_output": ("type", "call_id", "output"),
}


def read(
    value: dict[str, Value],
    shape: str,
    notes: list[str],
    facts: Facts,
    made: Collector | None = None,
) -> Body:
    """Read a parsed body of either shape into `made`."""
    made = made or Collector()
    for pointer, tool in stream.elements(value.get("tools"), "/tools"):
        if not made.again(Region.TOOLS, pointer, tool):
            made.written(Region.TOOLS, pointer, tool, stream.one_tool(tool, pointer, shape))
    if output_format := _output_format(value, shape):
        made.loose(Region.SETTINGS, output_format)
    if shape == stream.CHAT:
        _turns(made, value.get("messages"), "/messages", shape)
    else:
        given = value.get("instructions")
        if given is not None and not made.again(Region.SYSTEM, "/instructions", given):
            leaves = stream.system_leaves(given, shape)
            made.written(Region.SYSTEM, "/instructions", given, leaves)
        turns = value.get("input")
        if isinstance(turns, str):
            turns = [{"role": "user", "content": turns}]
        _turns(made, turns, "/input", shape)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    text = None if model is None else dump(model)
    return Body(
        shape,
        name,
        Rules(_READ[shape], minimum_tokens=facts.model(name).minimum_tokens),
        tuple(made.parts),
        settings=(Setting("model", "/model", 0, text, text),),
        notes=tuple(notes),
    )


def _output_format(value: dict[str, Value], shape: str) -> tuple[str, bytes] | None:
    if shape == stream.CHAT:
        pointer, given = "/response_format", value.get("response_format")
    else:
        text = value.get("text")
        pointer, given = "/text/format", text.get("format") if isinstance(text, dict) else None
    return None if given is None else (pointer, stream.value_bytes(given))


def _turns(made: Collector, turns: Value, pointer: str, shape: str) -> None:
    region = Region.SYSTEM
    for at, turn in stream.elements(turns, pointer):
        if not isinstance(turn, dict):
            raise DecodeError("a message is an object", at=at, hint="with `role` and `content`")
        if not stream.is_system_message(turn):
            region = Region.MESSAGES
        if made.again(region, at, turn):
            continue
        write: Callable[..., list[Pair]] = stream.chat_message if shape == stream.CHAT else _item
        size = measure.chat_size(turn) if shape == stream.CHAT else _item_size(turn)
        made.measured(region, at, turn, (0, (size,), 0), partial(_groups, write, turn, at))


def _groups(
    write: Callable[..., list[Pair]], turn: dict[str, Value], pointer: str
) -> list[list[Pair]]:
    return [[], write(turn, pointer), []]


def _item_size(item: dict[str, Value]) -> int:
    """Count the bytes of an item in the stream."""
    if item.get("type", "message") != "message":
        return measure.keys_size(item)
    rest = measure.keys_size(item, ("type", "content"))
    return len(b"message\0") + rest + measure.content_size(item.get("content"))


def _item(item: dict[str, Value], pointer: str) -> list[Pair]:
    kind = item.get("type", "message")
    if kind != "message":
        names = _ITEM_LEAVES.get(kind if isinstance(kind, str) else "", ("type",))
        return stream.named_leaves(item, pointer, names)
    return [
        (f"{pointer}/type", b"message"),
        *stream.named_leaves(item, pointer, ("role",), only=True),
        *stream.content_leaves(item.get("content"), f"{pointer}/content"),
        *stream.named_leaves(item, pointer, (), without=("type", "role", "content")),
    ]
