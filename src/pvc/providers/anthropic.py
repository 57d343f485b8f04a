"""Anthropic Messages bodies: tools, system, messages; markers on any element.

A message is its role and its blocks; a role is a leaf, but no element, for no marker stands on it.

    tools ──► system ──► │ role, block, block │ role, block │ …
      ▲          ▲       ▲    ▲      ▲                ▲         elements, numbered through
      model              tool_choice, thinking, output_config   settings take effect here

Rule 1: blocks inside a tool result are leaves of that result, not elements.
Rule 2: `cache_control` at the top of a body (automatic caching) is a marker on the last element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core import stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Marker, Region, Rules, Setting
from pvc.providers.base import Collector

if TYPE_CHECKING:
    from pvc.providers.base import Facts, ModelFacts

SHAPE = stream.ANTHROPIC
_READ = ("cache_read_input_tokens",)
_MESSAGE_SETTINGS = ("tool_choice", "thinking", "output_config")


def read(value: dict[str, Value], notes: list[str], facts: Facts) -> Body:
    """Read a parsed body."""
    made = Collector()
    for pointer, tool in stream.elements(value.get("tools"), "/tools"):
        number = made.element(Region.TOOLS, pointer, stream.one_tool(tool, pointer, SHAPE))
        _mark(made, tool, number, facts)
    _blocks(made, Region.SYSTEM, value.get("system"), "/system", facts)
    place = made.length()
    for pointer, message in stream.elements(value.get("messages"), "/messages"):
        _message(made, message, pointer, facts)
    if made.elements and all(mark.element < len(made.elements) - 1 for mark in made.markers):
        _mark(made, value, len(made.elements) - 1, facts)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    return Body.of(
        SHAPE,
        name,
        Rules(_READ, facts.lookback_elements, facts.model(name).minimum_tokens),
        made.leaves,
        made.elements,
        markers=made.markers,
        settings=_settings(value, place, facts),
        notes=notes,
    )


def _message(made: Collector, message: Value, pointer: str, facts: Facts) -> None:
    if not isinstance(message, dict):
        raise DecodeError("a message is an object", at=pointer, hint="with `role` and `content`")
    made.loose(Region.MESSAGES, stream.named_leaves(message, pointer, ("role",), only=True))
    _blocks(made, Region.MESSAGES, message.get("content"), f"{pointer}/content", facts)
    made.loose(
        Region.MESSAGES,
        stream.named_leaves(message, pointer, (), without=("role", "content")),
    )


def _blocks(made: Collector, region: Region, content: Value, pointer: str, facts: Facts) -> None:
    blocks = content if isinstance(content, list) else [content]
    for index, leaves in enumerate(stream.content_blocks(content, pointer)):
        at = f"{pointer}/{index}" if isinstance(content, list) else pointer
        _mark(made, blocks[index], made.element(region, at, leaves), facts)


def _mark(made: Collector, holder: Value, element: int, facts: Facts) -> None:
    control = holder.get("cache_control") if isinstance(holder, dict) else None
    if not isinstance(control, dict):
        return
    ttl = control.get("ttl", facts.default_ttl)
    made.markers.append(Marker(element, facts.lifetime_seconds.get(str(ttl))))


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
