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
from pvc.model.body import Body, Form, Marker, Region, Setting, Sizes
from pvc.providers.base import Collector, one_element

if TYPE_CHECKING:
    from pvc.providers.base import Facts, ModelFacts

SHAPE = stream.ANTHROPIC
_MARKER = stream.MARKERS[0]
_MESSAGE_SETTINGS = ("tool_choice", "thinking", "output_config")


def read(
    value: dict[str, Value], notes: list[str], facts: Facts, made: Collector | None = None
) -> Body:
    """Read a parsed body into `made`."""
    made = made or Collector()
    for pointer, tool in made.unshared("/tools", value.get("tools")):
        mark = _mark(tool, made.element_count, pointer, facts)
        made.add(Region.TOOLS, pointer, tool, 1, _TOOL, mark)
    _system(made, value.get("system"), facts)
    place = made.size
    for pointer, message in made.unshared("/messages", value.get("messages")):
        _message(made, message, pointer, facts)
    last = made.element_count - 1
    if last >= 0 and all(mark.element < last for mark in made.markers):
        made.markers += _mark(value, last, "", facts)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    return Body(
        SHAPE,
        name,
        facts.rules(name),
        tuple(made.parts),
        tuple(made.markers),
        tuple(_settings(value, place, facts)),
        tuple(notes),
    )


def _system(made: Collector, system: Value, facts: Facts) -> None:
    if system is None:
        return
    if not isinstance(system, list):
        made.add(Region.SYSTEM, "/system", system, 1, _TEXT)
        return
    for pointer, block in made.unshared("/system", system):
        mark = _mark(block, made.element_count, pointer, facts)
        made.add(Region.SYSTEM, pointer, block, 1, _BLOCK, mark)


def _message(made: Collector, message: Value, pointer: str, facts: Facts) -> None:
    if not isinstance(message, dict):
        raise DecodeError("a message is an object", at=pointer, hint="with `role` and `content`")
    content = message.get("content")
    if not isinstance(content, list):
        made.add(Region.MESSAGES, pointer, message, int(content is not None), _MESSAGE)
        return
    marks: list[Marker] = []
    for index, block in enumerate(content):
        if isinstance(block, dict) and _MARKER in block:
            marks += _mark(block, made.element_count + index, f"{pointer}/content/{index}", facts)
    made.add(Region.MESSAGES, pointer, message, len(content), _MESSAGE, marks)


def _mark(holder: Value, element: int, at: str, facts: Facts) -> list[Marker]:
    """Read the marker of a value that stands on an element, if it has one."""
    control = holder.get(_MARKER) if isinstance(holder, dict) else None
    if not isinstance(control, dict):
        return []
    ttl = control.get("ttl", facts.default_ttl)
    return [Marker(element, at, facts.lifetime_seconds.get(str(ttl)))]


# --- forms ------------------------------------------------------------------------------------


def _message_sizes(message: dict[str, Value]) -> Sizes:
    role, content = message.get("role"), message.get("content")
    if len(message) == len(_PLAIN) and role.__class__ is str and content.__class__ is list:
        return measure.value_size(role), measure.content_sizes(content), 0  # nearly all of them
    lead = measure.value_size(role) if "role" in message else 0
    return lead, measure.content_sizes(content), measure.keys_size(message, _PLAIN)


def _message_leaves(message: dict[str, Value], pointer: str) -> list[list[tuple[str, bytes]]]:
    """Write a message's leaves: its role, each block, the rest."""
    return [
        stream.named_leaves(message, pointer, ("role",), only=True),
        *stream.content_blocks(message.get("content"), f"{pointer}/content"),
        stream.named_leaves(message, pointer, (), without=("role", "content")),
    ]


_PLAIN = ("role", "content")
_TOOL = one_element(partial(measure.tool_size, shape=SHAPE), partial(stream.one_tool, shape=SHAPE))
_BLOCK = one_element(measure.block_size, stream.block_leaves)
_TEXT = one_element(
    lambda text: measure.content_sizes(text)[0], lambda text, at: stream.content_blocks(text, at)[0]
)
_MESSAGE = Form(_message_sizes, _message_leaves)


# --- settings ---------------------------------------------------------------------------------


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
