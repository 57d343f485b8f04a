"""Anthropic Messages bodies: tools, system, messages; markers on any element.

A message is its role and its blocks; a role is a leaf, but no element, for no marker stands on it.

    tools ──► system ──► │ role, block, block │ role, block │ …
      ▲          ▲       ▲    ▲      ▲                ▲         elements, numbered through
      model              tool_choice, thinking, output_config   settings take effect here

Rule 1: blocks inside a tool result are leaves of that result, not elements.
Rule 2: `cache_control` at the top of a body (automatic caching) is a marker on the last element.
Rule 3: a tool that is deferred is not in the prefix: it has no leaves and is not an element.
Rule 4: Claude Code puts an attribution line in front, with a value (`cch`) that is new in every
request. Anthropic's own endpoint leaves it out of the key; to every other one it is text.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from pvc.core import measure, stream
from pvc.core.json_text import Value, dump
from pvc.errors import DecodeError
from pvc.model.body import Body, Form, Marker, Region, Restated, Setting, Sizes
from pvc.providers import one_text
from pvc.providers.base import Collector, one_element

if TYPE_CHECKING:
    from pvc.providers.base import Facts, ModelFacts

SHAPE = stream.ANTHROPIC
_MARKER = stream.MARKERS[0]
_SYSTEM_SETTINGS = ("speed",)
_MESSAGE_SETTINGS = ("tool_choice", "thinking", "output_config")
_ATTRIBUTION = re.compile(r"x-anthropic-billing-header:[^\n]*?\bcch=([^;\s]*)")
_OWN_MODEL = re.compile(r"claude-[\w.-]+")


def read(
    value: dict[str, Value],
    notes: list[str],
    facts: Facts,
    made: Collector | None = None,
    shape: str = SHAPE,
) -> Body:
    """Read a parsed body into `made`."""
    made = made or Collector()
    for pointer, tool in made.unshared("/tools", value.get("tools")):
        if stream.is_deferred(tool):
            continue
        mark = _mark(tool, made.element_count, pointer, facts)
        made.add(Region.TOOLS, pointer, tool, 1, _TOOL, mark)
    places = [made.size]
    _system(made, value.get("system"), facts)
    places.append(made.size)
    for pointer, message in made.unshared("/messages", value.get("messages")):
        _message(made, message, pointer, facts)
    last = made.element_count - 1
    if last >= 0 and all(mark.element < last for mark in made.markers):
        made.markers += _mark(value, last, "", facts)
    model = value.get("model")
    name = model if isinstance(model, str) else ""
    return Body(
        shape,
        name,
        facts.rules(name),
        tuple(made.parts),
        tuple(made.markers),
        tuple(_settings(value, places, facts)),
        tuple(notes),
        own_endpoint=is_own_endpoint(value),
    )


def is_own_endpoint(value: dict[str, Value]) -> bool:
    """Tell by a body whether it was sent to Anthropic itself.

    Bedrock and Vertex AI put their version into the body, and their model names, like those of
    gateways and of other vendors' models, are not Anthropic's: `us.anthropic.claude-…`,
    `claude-…@2026…`, `anthropic/claude-…`, `glm-…`.
    """
    model = value.get("model")
    own = isinstance(model, str) and _OWN_MODEL.fullmatch(model) is not None
    return own and "anthropic_version" not in value


def _system(made: Collector, system: Value, facts: Facts) -> None:
    if system is None:
        return
    if not isinstance(system, list):
        made.add(Region.SYSTEM, "/system", system, 1, _FIRST_TEXT)
        return
    for pointer, block in made.unshared("/system", system):
        mark = _mark(block, made.element_count, pointer, facts)
        form = _FIRST_BLOCK if pointer == "/system/0" else _BLOCK
        made.add(Region.SYSTEM, pointer, block, 1, form, mark)


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


def _without_token(value: Value, other: Value) -> Restated | None:
    """Write the attribution line of a first system text with the token of the other's."""
    texts = [v.get("text") if isinstance(v, dict) else v for v in (value, other)]
    tokens = [_ATTRIBUTION.match(text) if isinstance(text, str) else None for text in texts]
    mine, theirs = tokens
    if mine is None or theirs is None or mine[1] == theirs[1]:
        return None
    text = mine.string[: mine.start(1)] + theirs[1] + mine.string[mine.end(1) :]
    made = {**value, "text": text} if isinstance(value, dict) else text
    below = "/text" if isinstance(value, dict) else ""
    return Restated(made, {}, {below: stream.value_bytes(mine.string)})


_PLAIN = ("role", "content")
_TOOL = one_element(partial(measure.tool_size, shape=SHAPE), partial(stream.one_tool, shape=SHAPE))
_BLOCK = one_element(measure.block_size, stream.block_leaves)
_FIRST_BLOCK = _BLOCK._replace(restate=_without_token, own_endpoint=True)
_FIRST_TEXT = one_element(
    lambda text: measure.content_sizes(text)[0], lambda text, at: stream.content_blocks(text, at)[0]
)._replace(restate=_without_token, own_endpoint=True)
_MESSAGE = Form(_message_sizes, _message_leaves, one_text.in_results)


# --- settings ---------------------------------------------------------------------------------


def _settings(value: dict[str, Value], places: list[int], facts: Facts) -> list[Setting]:
    model = value.get("model")
    text = None if model is None else dump(model)
    settings = [Setting("model", "/model", 0, text, text)]
    known = facts.model(model if isinstance(model, str) else "")
    for place, names in zip(places, (_SYSTEM_SETTINGS, _MESSAGE_SETTINGS), strict=True):
        for name in names:
            given = value.get(name)
            text = None if given is None else dump(given)
            normal = _normal(given, _default(name, facts, known))
            settings.append(Setting(name, f"/{name}", place, text, normal))
    return settings


def _default(name: str, facts: Facts, model: ModelFacts) -> Value:
    """Give what an absent setting means; null when that is not known for the model."""
    if name == "thinking":
        return {"type": model.thinking} if model.thinking else None
    if name == "output_config":
        return {"effort": model.effort} if model.effort else None
    default: Value = facts.defaults.get(name)
    return default


def _normal(given: Value, default: Value) -> str | None:
    """Write a setting with its defaults filled in and its keys sorted."""
    if given is None:
        given = default
    elif isinstance(given, dict):
        given = {**default, **given} if isinstance(default, dict) else given
    if isinstance(given, dict):
        given = {key: given[key] for key in sorted(given)}
    return None if given is None else dump(given)
