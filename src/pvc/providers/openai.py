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
from pvc.model.body import Body, Form, Region, Setting
from pvc.providers.base import Collector, one_element

if TYPE_CHECKING:
    from pvc.providers.base import Facts

    Pair = tuple[str, bytes]

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
    for pointer, tool in made.unshared("/tools", value.get("tools")):
        made.add(Region.TOOLS, pointer, tool, 1, _TOOLS[shape])
    output_format = _output_format(value, shape)
    if output_format is not None:
        pointer = "/response_format" if shape == stream.CHAT else "/text/format"
        made.add(Region.SETTINGS, pointer, output_format, 0, _OUTPUT_FORMAT)
    if shape == stream.CHAT:
        _turns(made, value.get("messages"), "/messages", shape)
    else:
        given = value.get("instructions")
        if given is not None:
            made.add(Region.SYSTEM, "/instructions", given, 1, _INSTRUCTIONS)
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
        facts.rules(name),
        tuple(made.parts),
        settings=(Setting("model", "/model", 0, text, text),),
        notes=tuple(notes),
    )


def _output_format(value: dict[str, Value], shape: str) -> Value:
    if shape == stream.CHAT:
        return value.get("response_format")
    text = value.get("text")
    return text.get("format") if isinstance(text, dict) else None


def _turns(made: Collector, turns: Value, pointer: str, shape: str) -> None:
    form = _MESSAGE if shape == stream.CHAT else _ITEM
    region = Region.SYSTEM
    for at, turn in made.unshared(pointer, turns):
        if made.parts and made.parts[-1].region is Region.MESSAGES:
            region = Region.MESSAGES
        if not isinstance(turn, dict):
            raise DecodeError("a message is an object", at=at, hint="with `role` and `content`")
        if not stream.is_system_message(turn):
            region = Region.MESSAGES
        made.add(region, at, turn, 1, form)


# --- forms ------------------------------------------------------------------------------------


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


_TOOLS = {
    shape: one_element(
        partial(measure.tool_size, shape=shape), partial(stream.one_tool, shape=shape)
    )
    for shape in (stream.CHAT, stream.RESPONSES)
}
_OUTPUT_FORMAT = Form(
    lambda value: (measure.value_size(value), (), 0),
    lambda value, at: [[(at, stream.value_bytes(value))], []],
)
_INSTRUCTIONS = one_element(measure.value_size, lambda value, at: [(at, stream.value_bytes(value))])
_MESSAGE = one_element(measure.chat_size, stream.chat_message)
_ITEM = one_element(_item_size, _item)
