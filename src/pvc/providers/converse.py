"""Bodies of Bedrock's Converse API, carried over to the Anthropic body of the same request.

    {"text": "…"}                         → {"type": "text", "text": "…"}
    {"cachePoint": {"type": "default"}}   → a marker on the element before it

Rule 1: what has no counterpart in an Anthropic body is kept under its own name, so that a
difference in it is seen all the same.
Rule 2: a cache point with nothing before it in its list marks nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.stream import MARKERS
from pvc.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.core.json_text import Value

_POINT = "cachePoint"
_CHOICES = {"auto": "auto", "any": "any", "tool": "tool"}


def as_anthropic(value: dict[str, Value], at: str = "") -> dict[str, Value]:
    """Write the Anthropic body of a Converse request."""
    body: dict[str, Value] = {"model": value.get("modelId", value.get("model"))}
    config = value.get("toolConfig")
    if isinstance(config, dict):
        body["tools"] = _marked(config.get("tools"), _tool, f"{at}/toolConfig/tools")
        if isinstance(choice := config.get("toolChoice"), dict):
            body["tool_choice"] = _choice(choice)
    if value.get("system") is not None:
        body["system"] = _marked(value["system"], _block, f"{at}/system")
    body["messages"] = [
        {
            **message,
            "content": _marked(message.get("content"), _block, f"{at}/messages/{i}/content"),
        }
        if isinstance(message, dict)
        else message
        for i, message in enumerate(_list(value.get("messages"), f"{at}/messages"))
    ]
    more = value.get("additionalModelRequestFields")
    return {**more, **body} if isinstance(more, dict) else body


def _marked(values: Value, translate: Callable[[Value], Value], at: str) -> list[Value]:
    """Translate a list; each cache point becomes a marker on what stands before it."""
    made: list[Value] = []
    for value in _list(values, at):
        if not isinstance(value, dict) or _POINT not in value:
            made.append(translate(value))
            continue
        point, last = value[_POINT], made[-1] if made else None
        if isinstance(last, dict):
            ttl = point.get("ttl") if isinstance(point, dict) else None
            control: dict[str, Value] = {"type": "ephemeral"}
            made[-1] = {**last, MARKERS[0]: {**control, "ttl": ttl} if ttl else control}
    return made


def _list(values: Value, at: str) -> list[Value]:
    if values is None:
        return []
    if not isinstance(values, list):
        raise DecodeError("not a list", at=at, hint="as the Converse API takes it")
    return values


def _tool(tool: Value) -> Value:
    spec = tool.get("toolSpec") if isinstance(tool, dict) else None
    if not isinstance(tool, dict) or not isinstance(spec, dict):
        return tool
    schema = spec.get("inputSchema")
    if isinstance(schema, dict) and "json" in schema:
        schema = schema["json"]
    made = {key: each for key, each in spec.items() if key != "inputSchema"}
    return made | ({"input_schema": schema} if "inputSchema" in spec else {})


def _block(block: Value) -> Value:
    """Translate a block of a message or of the system text."""
    if not isinstance(block, dict):
        return block
    if isinstance(block.get("text"), str) and len(block) == 1:
        return {"type": "text", "text": block["text"]}
    use, result = block.get("toolUse"), block.get("toolResult")
    if isinstance(use, dict):
        rest = {k: v for k, v in use.items() if k not in ("toolUseId", "name", "input")}
        known = {"id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
        return {"type": "tool_use", **known, **rest}
    if isinstance(result, dict):
        made = {"type": "tool_result", "tool_use_id": result.get("toolUseId")}
        made["content"] = _text_of(_marked(result.get("content"), _part, "toolResult/content"))
        return made | ({"is_error": True} if result.get("status") == "error" else {})
    thought = block.get("reasoningContent")
    if isinstance(thought, dict):
        return _thinking(thought)
    kind = next(iter(block), "")
    return {"type": kind, **block} if kind and "type" not in block else block


def _text_of(content: list[Value]) -> Value:
    """Write a result that is one text as the string that an Anthropic body has there."""
    only = content[0] if len(content) == 1 else None
    return only["text"] if isinstance(only, dict) and only.get("type") == "text" else content


def _part(part: Value) -> Value:
    """Translate a part of a tool result; JSON reaches the model as text."""
    if isinstance(part, dict) and "json" in part:
        return {"type": "json", "json": part["json"]}
    return _block(part)


def _thinking(thought: dict[str, Value]) -> Value:
    told = thought.get("reasoningText")
    if not isinstance(told, dict):
        return {"type": "redacted_thinking", "data": thought.get("redactedContent")}
    made: dict[str, Value] = {"type": "thinking", "thinking": told.get("text")}
    return made | ({"signature": told["signature"]} if "signature" in told else {})


def _choice(choice: dict[str, Value]) -> Value:
    kind = next(iter(choice), "")
    inner = choice.get(kind)
    return {"type": _CHOICES.get(kind, kind), **(inner if isinstance(inner, dict) else {})}
