"""How many bytes of the stream a message takes, counted without writing its leaves.

A comparison needs the place of every element but looks into few of them. Each function here gives
the size of what its namesake in `core.stream` writes, zero bytes included; a property test holds
the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.stream import MARKERS, value_bytes

if TYPE_CHECKING:
    from pvc.core.json_text import Value


def value_size(value: Value) -> int:
    """Count the bytes of one leaf and its zero byte."""
    if isinstance(value, str):
        return (len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))) + 1
    return len(value_bytes(value)) + 1


def keys_size(values: dict[str, Value], without: tuple[str, ...] = ()) -> int:
    """Count what `stream.named_leaves` writes of all keys but some."""
    size = 0
    for key, value in values.items():
        if key in MARKERS or key in without:
            continue
        if type(value) is str and value.isascii():
            size += len(value) + 1
        else:
            size += value_size(value)
    return size


def block_size(block: Value) -> int:
    """Count one Anthropic block."""
    if not isinstance(block, dict):
        return value_size(block)
    if block.get("type") != "tool_result":
        return keys_size(block)
    content = block.get("content")
    if content is None:
        return keys_size(block, ("content",))
    inner = sum(map(block_size, content)) if isinstance(content, list) else value_size(content)
    return keys_size(block, ("content",)) + inner


def content_sizes(content: Value) -> tuple[int, ...]:
    """Count each block of an Anthropic text or content."""
    if isinstance(content, list):
        return tuple([block_size(block) for block in content])
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
