"""One text in two spellings: a string, and a list whose only part is a text.

    "content": "Mind the tide."      "content": [{"type": "text", "text": "Mind the tide."}]

A marker needs a part to stand on, so a harness that moves its marker makes a string a list and a
turn later a string again. To the cache both are the same text. Each function here writes a value
the way another body's value at its place is written, and says where its leaves really stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.stream import MARKERS
from pvc.model.body import Restated

if TYPE_CHECKING:
    from pvc.core.json_text import Value

_TEXT_TYPES = ("text", "input_text", "output_text")


def in_message(value: Value, other: Value) -> Restated | None:
    """Restate the content of an OpenAI message, or the output of a Responses tool call."""
    if not isinstance(value, dict) or not isinstance(other, dict):
        return None
    made: dict[str, Value] = {}
    pointers: dict[str, str] = {}
    for key in ("content", "output"):
        restated = _content(value.get(key), other.get(key))
        if restated is None:
            continue
        made[key] = restated
        if isinstance(restated, str):
            pointers[f"/{key}"] = f"/{key}/0/text"
        else:
            pointers |= {f"/{key}/0/type": f"/{key}", f"/{key}/0/text": f"/{key}"}
    return Restated({**value, **made}, pointers) if made else None


def in_results(value: Value, other: Value) -> Restated | None:
    """Restate the tool results of an Anthropic message; its own text is written alike already."""
    mine, theirs = (v.get("content") if isinstance(v, dict) else None for v in (value, other))
    if not isinstance(value, dict) or not isinstance(mine, list) or not isinstance(theirs, list):
        return None
    blocks, pointers = list(mine), dict[str, str]()
    for at, (block, like) in enumerate(zip(mine, theirs, strict=False)):
        if isinstance(block, dict) and block.get("type") == "tool_result":
            restated = in_message(block, like)
            if restated:
                blocks[at] = restated.value
                under = f"/content/{at}"
                pointers |= {under + k: under + v for k, v in restated.pointers.items()}
    return Restated({**value, "content": blocks}, pointers) if pointers else None


def _content(value: Value, other: Value) -> Value:
    """Write a content like another; null where both are spelt the same way, or neither is one."""
    if isinstance(value, list) and isinstance(other, str):
        return _only_text(value)
    if isinstance(value, str) and isinstance(other, list) and _only_text(other) is not None:
        part = other[0]
        return [{"type": part["type"], "text": value}] if isinstance(part, dict) else None
    return None


def _only_text(content: list[Value]) -> str | None:
    """Give the text of a list that holds one text part and nothing else."""
    part = content[0] if len(content) == 1 else None
    if not isinstance(part, dict) or part.get("type") not in _TEXT_TYPES:
        return None
    text = part.get("text")
    plain = not (part.keys() - {"type", "text", *MARKERS})
    return text if plain and isinstance(text, str) else None
