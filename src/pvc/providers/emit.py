"""Prompt → request body in a provider's shape, tools and system only.

The leaves of what is emitted are exactly those of `core.stream.head`, so a pin's head digest and a
comparison of emitted bodies speak of the same bytes. One marker stands on the last system block:
it covers tools and system together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.stream import ANTHROPIC, CHAT, RESPONSES, SHAPES
from pvc.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pvc.core.json_text import Value


def emit(
    shape: str, blocks: Sequence[bytes], *, tools: list[Value] | None = None, model: str = ""
) -> dict[str, Value]:
    """Write the front of a request; `tools` are in the shape's own form.

    Raises `UsageError` on a shape that pvc does not know.
    """
    body: dict[str, Value] = {"model": model} if model else {}
    if tools:
        body["tools"] = tools
    texts = [block.decode() for block in blocks]
    if shape == ANTHROPIC:
        system: list[Value] = [{"type": "text", "text": text} for text in texts]
        if isinstance(last := system[-1] if system else None, dict):
            last["cache_control"] = {"type": "ephemeral"}
        return body | {"system": system, "messages": []}
    if shape == CHAT:
        parts: list[Value] = [{"type": "text", "text": text} for text in texts]
        content: Value = texts[0] if len(texts) == 1 else parts
        return body | {"messages": [{"role": "system", "content": content}] if texts else []}
    if shape == RESPONSES:
        return body | {"instructions": "".join(texts), "input": []}
    raise UsageError(f"no request shape `{shape}`", hint="one of " + ", ".join(SHAPES))
