"""Anthropic Messages bodies: tools, system, messages; markers on any element.

A message is its role and its blocks; a role is a leaf, but no element, for no marker stands on it.

    tools ──► system ──► │ role, block, block │ role, block │ …
      ▲          ▲       ▲    ▲      ▲                ▲         elements, numbered through
      model              tool_choice, thinking, output_config   settings take effect here

Rule 1: blocks inside a tool result are leaves of that result, not elements.
Rule 2: `cache_control` at the top of a body (automatic caching) is a marker on the last element.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pvc.core import measure, stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Marker, Region, Rules, Setting
from pvc.providers.base import Collector

if TYPE_CHECKING:
    from pvc.providers.base import Facts, ModelFacts

SHAPE = stream.ANTHROPIC
_READ = ("cache_read_input_tokens",)
_MESSAGE_SETTINGS = ("tool_choice", "thinking", "output_config")


def read(
    value: dict[str, Value], notes: list[str], facts: Facts, made: Collector | None = None
) -> Body:
    """Read a parsed body into `made`."""
    made = made or Collector()
    for pointer, tool in stream.elements(value.get("tools"), "/tools"):
        if not made.again(Region.TOOLS, pointer, tool):
            leaves = stream.one_tool(tool, pointer, SHAPE)
            made.written(Region.TOOLS, pointer, tool, leaves)
        _mark(made, tool, made.element_count - 1, pointer, facts)
    _system(made, value.get("system"), facts)
    place = made.size
    for pointer, message in stream.elements(value.get("messages"), "/messages"):
        _message(made, message, pointer, facts)
    last = made.element_count - 1
    if last >= 0 and all(mark.element < last for mark in made.markers):
        _mark(made, value, last, "", facts)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    return Body(
        SHAPE,
        name,
        Rules(_READ, facts.lookback_elements, facts.model(name).minimum_tokens),
        tuple(made.parts),
        tuple(made.markers),
        tuple(_settings(value, place, facts)),
        tuple(notes),
    )


def _system(made: Collector, system: Value, facts: Facts) -> None:
    number = made.element_count
    blocks = system if isinstance(system, list) else [system]
    for index, leaves in enumerate(stream.content_blocks(system, "/system")):
        pointer = f"/system/{index}" if isinstance(system, list) else "/system"
        if not made.again(Region.SYSTEM, pointer, blocks[index]):
            made.written(Region.SYSTEM, pointer, blocks[index], leaves)
    _mark_blocks(made, system, number, "/system", facts)


_PLAIN = {"role", "content"}


def _message(made: Collector, message: Value, pointer: str, facts: Facts) -> None:
    if not isinstance(message, dict):
        raise DecodeError("a message is an object", at=pointer, hint="with `role` and `content`")
    content = message.get("content")
    number = made.element_count
    if not made.again(Region.MESSAGES, pointer, message):
        lead = measure.value_size(message["role"]) if "role" in message else 0
        plain = len(message) == len(_PLAIN) and message.keys() == _PLAIN
        tail = 0 if plain else measure.keys_size(message, ("role", "content"))
        sizes = (lead, measure.content_sizes(content), tail)
        made.measured(Region.MESSAGES, pointer, message, sizes, partial(_groups, message, pointer))
    _mark_blocks(made, content, number, f"{pointer}/content", facts)


def _groups(message: dict[str, Value], pointer: str) -> list[list[tuple[str, bytes]]]:
    """Write a message's leaves: its role, each block, the rest."""
    return [
        stream.named_leaves(message, pointer, ("role",), only=True),
        *stream.content_blocks(message.get("content"), f"{pointer}/content"),
        stream.named_leaves(message, pointer, (), without=("role", "content")),
    ]


def _mark_blocks(made: Collector, content: Value, number: int, at: str, facts: Facts) -> None:
    if isinstance(content, list):
        for index, block in enumerate(content):
            if isinstance(block, dict) and "cache_control" in block:
                _mark(made, block, number + index, f"{at}/{index}", facts)


def _mark(made: Collector, holder: Value, element: int, at: str, facts: Facts) -> None:
    control = holder.get("cache_control") if isinstance(holder, dict) else None
    if not isinstance(control, dict):
        return
    ttl = control.get("ttl", facts.default_ttl)
    made.markers.append(Marker(element, at, facts.lifetime_seconds.get(str(ttl))))


def _settings(value: dict[str, Value], place: int, facts: Facts) -> list[Setting]:
    model = value.get("model")
    text = None if model is None else dump(model)
    settings = [Setting("model", "/model", 0, text, text)]
    known = facts.model(model if isinstance(model, str) else "")
    for name in _MESSAGE_SETTINGS:
        given = value.get(name)
        text = None if given is None else dump(given)
        normal = _normal(given, _default(name, facts, known))
        settings.append(Setting(name, f"/{name}", place, text, normal))
    return settings


def _default(name: str, facts: Facts, model: ModelFacts) -> dict[str, Value] | None:
    """Give what an absent setting means; null when that is not known for the model."""
    if name == "thinking":
        return {"type": model.thinking} if model.thinking else None
    if name == "output_config":
        return {"effort": model.effort} if model.effort else None
    default: dict[str, Value] | None = facts.defaults.get(name)
    return default


def _normal(given: Value, default: dict[str, Value] | None) -> str | None:
    """Write a setting with its defaults filled in and its keys sorted."""
    if given is None:
        given = default
    elif isinstance(given, dict):
        given = {**(default or {}), **given}
    if isinstance(given, dict):
        given = {key: given[key] for key in sorted(given)}
    return None if given is None else dump(given)
