"""How many bytes of the stream a value takes, counted without writing its leaves.

A comparison needs the place of every element but looks into few of them. Each function here gives
the size of what its namesake in `core.stream` writes, zero bytes included; a property test holds
the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.json_text import dump
from pvc.core.stream import CHAT, MARKERS

if TYPE_CHECKING:
    from pvc.core.json_text import Value

_CACHE_CONTROL, _BREAKPOINT = MARKERS


def text_size(text: str) -> int:
    """Count the bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def value_size(value: Value) -> int:
    """Count the bytes of one leaf and its zero byte."""
    if isinstance(value, str):
        return text_size(value) + 1
    size = 1
    for key, child in value.items() if isinstance(value, dict) else ():
        if type(child) is str and len(child) > _LONG:
            value = {**value, key: ""}  # type: ignore[dict-item] # the loop is over a dict
            size += string_size(child) - len('""')
    return size + text_size(dump(value))


def string_size(text: str) -> int:
    """Count a long string as JSON, with quotes and escapes, without writing it."""
    data = text.encode("utf-8", "surrogatepass")
    size = len(data) + 2
    if len(data.translate(None, _ESCAPED)) < len(data):
        size += len(data) - len(data.translate(None, _SHORT_ESCAPES))
        size += 5 * (len(data) - len(data.translate(None, _LONG_ESCAPES)))
    return size


_LONG = 1000  # characters, from which on counting costs less than writing
_SHORT_ESCAPES = b'\b\t\n\f\r"\\'  # a backslash and a letter
_LONG_ESCAPES = bytes(sorted(set(range(0x20)) - set(_SHORT_ESCAPES)))  # `\u` and four digits
_ESCAPED = _SHORT_ESCAPES + _LONG_ESCAPES


def keys_size(values: dict[str, Value], without: tuple[str, ...] = ()) -> int:
    """Count what `stream.named_leaves` writes of all keys but some."""
    if without or _CACHE_CONTROL in values or _BREAKPOINT in values:
        left_out = (*without, *MARKERS)
        values = {key: value for key, value in values.items() if key not in left_out}
    size = len(values)
    for value in values.values():
        if type(value) is str and value.isascii():
            size += len(value)
        else:
            size += value_size(value) - 1
    return size


def tool_size(tool: Value, shape: str) -> int:
    """Count one tool in the shape's own form."""
    if not isinstance(tool, dict):
        return value_size(tool)
    function = tool.get("function") if shape == CHAT else None
    if not isinstance(function, dict):
        return keys_size(tool)
    return keys_size(tool, ("function",)) + keys_size(function)


def block_size(block: Value) -> int:
    """Count one Anthropic block."""
    if not isinstance(block, dict):
        return value_size(block)
    content = block.get("content")
    if content.__class__ is str or block.get("type") != "tool_result":
        return keys_size(block)
    if isinstance(content, list):
        inner = sum(map(block_size, content))
    else:
        inner = 0 if content is None else value_size(content)
    return keys_size(block, ("content",)) + inner


def content_sizes(content: Value) -> tuple[int, ...]:
    """Count each block of an Anthropic text or content."""
    if isinstance(content, list):
        return tuple(map(block_size, content))
    return () if content is None else (len(b"text\0") + value_size(content),)


def chat_size(message: dict[str, Value]) -> int:
    """Count one Chat message."""
    size = keys_size(message, ("content", "tool_calls")) + content_size(message.get("content"))
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return size + (value_size(calls) if "tool_calls" in message else 0)
    return size + sum(map(_call_size, calls))


def content_size(content: Value) -> int:
    """Count an OpenAI content."""
    if not isinstance(content, list):
        return 0 if content is None else value_size(content)
    return sum([keys_size(p) if isinstance(p, dict) else value_size(p) for p in content])


def _call_size(call: Value) -> int:
    if not isinstance(call, dict):
        return value_size(call)
    function = call.get("function")
    inner = function if isinstance(function, dict) else {}
    values = [call["id"]] if "id" in call else []
    values += [inner[name] for name in ("name", "arguments") if name in inner]
    return sum(map(value_size, values))
