"""OpenAI Chat and Responses bodies: tools, output format, then messages or instructions and items.

The region `system` ends after the instructions and the leading system or developer messages; a
later one belongs to the messages. Each message or item is one element.

Rule 1: an output format (`response_format`, `text.format`) has its bytes in the stream between
tools and system. The model, the cache key, effort, verbosity and service tier have none, and take
effect at its start.
Rule 2: an item of Responses without a `type` is a message; `input` as a string is one user message.
Rule 3: before the models that the facts name, `prompt_cache_key` is not part of the key: it chooses
the machine.
Rule 4: a Chat body for Claude is a gateway's. It becomes blocks there, so each part, string and
tool call is an element, and where it has markers, Claude's rules hold.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pvc.core import measure, stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Form, Loss, Marker, Region, Setting, Sizes
from pvc.providers import one_text
from pvc.providers.base import Collector, load_facts, one_element

if TYPE_CHECKING:
    from pvc.providers.base import Facts

    Pair = tuple[str, bytes]

_SETTINGS = {
    stream.CHAT: ("prompt_cache_key", "reasoning_effort", "verbosity", "service_tier"),
    stream.RESPONSES: ("prompt_cache_key", "reasoning/effort", "text/verbosity", "service_tier"),
}
_CLAUDE_SETTINGS = ("tool_choice", "thinking", "reasoning", "reasoning_effort")
"""What gateways pass on to Claude, where it takes effect at the messages."""
_CONTROL = stream.MARKERS[0]
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
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    claude = load_facts("anthropic") if shape == stream.CHAT and _is_claude(name) else None
    made.in_blocks = claude is not None
    if made.like and made.like.in_blocks != made.in_blocks:
        made.like = None
    for pointer, tool in made.unshared("/tools", value.get("tools")):
        if stream.is_deferred(tool):
            continue
        marks = _marks(tool, made.element_count, pointer, claude)
        made.add(Region.TOOLS, pointer, tool, 1, _TOOLS[shape], marks)
    output_format = _output_format(value, shape)
    if output_format is not None:
        pointer = "/response_format" if shape == stream.CHAT else "/text/format"
        made.add(Region.SETTINGS, pointer, output_format, 0, _OUTPUT_FORMAT)
    if shape == stream.CHAT:
        _turns(made, value.get("messages"), "/messages", shape, claude)
    else:
        given = value.get("instructions")
        if given is not None:
            made.add(Region.SYSTEM, "/instructions", given, 1, _INSTRUCTIONS)
        turns = value.get("input")
        if isinstance(turns, str):
            turns = [{"role": "user", "content": turns}]
        _turns(made, turns, "/input", shape)
    rules = facts.rules(name, marked=bool(made.markers))
    if claude:
        last = made.element_count - 1
        if last >= 0 and all(mark.element < last for mark in made.markers):
            made.markers += _marks(value, last, "", claude)
        rules = claude.rules(name)
        if not made.markers:
            window = rules.lookback_elements
            rules = replace(rules, lookback_elements=None, marked_lookback=window, loss=Loss.GRAIN)
    return Body(
        shape,
        name,
        rules,
        tuple(made.parts),
        tuple(made.markers),
        tuple(_settings(value, shape, facts, made if claude else None)),
        tuple(notes),
    )


def _is_claude(model: str) -> bool:
    """Tell whether a model's name, of whatever gateway, is one of Claude's."""
    return "claude" in model.lower()


def _settings(
    value: dict[str, Value], shape: str, facts: Facts, claude: Collector | None
) -> list[Setting]:
    """Read the settings; those of a body for Claude, whose parts are given, are Claude's."""
    model = value.get("model")
    text = None if model is None else dump(model)
    settings = [Setting("model", "/model", 0, text, text)]
    place = 0
    own = load_facts("openai")
    defaults = own.defaults if claude or not facts.defaults else facts.defaults
    keyed = facts.is_keyed(str(model)) or own.is_keyed(str(model))
    if claude:
        in_head = (part.size for part in claude.parts if part.region is not Region.MESSAGES)
        place = sum(in_head)
    for name in _CLAUDE_SETTINGS if claude else _SETTINGS[shape]:
        given: Value = value
        for key in name.split("/"):
            given = given.get(key) if isinstance(given, dict) else None
        text = None if given is None else dump(given)
        default = defaults.get(name.rsplit("/", 1)[-1])
        normal = text if text is not None or default is None else dump(default)
        routes = name == "prompt_cache_key" and not keyed
        settings.append(Setting(name, f"/{name}", place, text, normal, routes))
    return settings


def _output_format(value: dict[str, Value], shape: str) -> Value:
    if shape == stream.CHAT:
        return value.get("response_format")
    text = value.get("text")
    return text.get("format") if isinstance(text, dict) else None


def _turns(
    made: Collector, turns: Value, pointer: str, shape: str, claude: Facts | None = None
) -> None:
    form = (_BLOCKS if claude else _MESSAGE) if shape == stream.CHAT else _ITEM
    region = Region.SYSTEM
    for at, turn in made.unshared(pointer, turns):
        if made.parts and made.parts[-1].region is Region.MESSAGES:
            region = Region.MESSAGES
        if not isinstance(turn, dict):
            raise DecodeError("a message is an object", at=at, hint="with `role` and `content`")
        if not stream.is_system_message(turn):
            region = Region.MESSAGES
        count = len(form.write(turn, "")) - 2 if claude else 1
        marks = _message_marks(turn, made.element_count, count, at, claude) if claude else []
        made.add(region, at, turn, count, form, marks)


def _message_marks(
    message: dict[str, Value], first: int, count: int, at: str, claude: Facts
) -> list[Marker]:
    """Read the markers of a message: on its parts and tool calls, and on the whole."""
    content, calls = message.get("content"), message.get("tool_calls")
    parts = content if isinstance(content, list) else [] if content is None else [content]
    holders = [(f"{at}/content/{i}", part) for i, part in enumerate(parts)]
    if isinstance(calls, list):
        holders += [(f"{at}/tool_calls/{i}", call) for i, call in enumerate(calls)]
    marks = [
        mark
        for i, (pointer, holder) in enumerate(holders)
        for mark in _marks(holder, first + min(i, count - 1), pointer, claude)
    ]
    own = _marks(message, first + count - 1, at, claude) if count else []
    return marks + [mark for mark in own if all(mark.element != each.element for each in marks)]


def _marks(holder: Value, element: int, at: str, claude: Facts | None) -> list[Marker]:
    """Read Claude's marker of a value that stands on an element, if it has one."""
    if claude is None or not isinstance(holder, dict):
        return []
    function = holder.get("function")
    control = holder.get(_CONTROL) or (
        function.get(_CONTROL) if isinstance(function, dict) else None
    )
    if not isinstance(control, dict):
        return []
    ttl = control.get("ttl", claude.default_ttl)
    return [Marker(element, at, claude.lifetime_seconds.get(str(ttl)))]


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


_BLOCK_OF = re.compile(r"/(?:content|tool_calls)(?:/\d+)?")


def _message_blocks(message: dict[str, Value], pointer: str) -> list[list[Pair]]:
    """Write a Chat message as the blocks that it becomes for Claude.

    What stands behind the last one, such as the id of the call that is answered, belongs to it.
    """
    groups: list[list[Pair]] = [[]]
    names = [""]
    for at, data in stream.chat_message(message, pointer):
        found = _BLOCK_OF.match(at, len(pointer))
        if found and found[0] != names[-1]:
            groups.append([])
            names.append(found[0])
        groups[-1].append((at, data))
    return [*groups, []]


def _block_sizes(message: dict[str, Value]) -> Sizes:
    lead, *blocks = [sum([len(data) + 1 for _, data in g]) for g in _message_blocks(message, "")]
    return lead, tuple(blocks[:-1]), 0


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
_MESSAGE = one_element(measure.chat_size, stream.chat_message)._replace(restate=one_text.in_message)
_BLOCKS = Form(_block_sizes, _message_blocks, one_text.in_message)
_ITEM = one_element(_item_size, _item)._replace(restate=one_text.in_message)
