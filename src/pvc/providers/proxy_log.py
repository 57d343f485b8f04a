"""A proxy's record of a call, read as the request that it is the record of.

LiteLLM's standard logging payload has the messages beside the model; tools, system and settings
stand under `model_parameters`:

    {"call_type": "acompletion", "model": …, "messages": […], "model_parameters": {"tools": […], …}}

Rule 1: pointers are those of the request, as if it had been captured.
Rule 2: a record whose messages were left out is refused: nothing can be said of what is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core import stream
from pvc.errors import DecodeError

if TYPE_CHECKING:
    from pvc.core.json_text import Value

_PARAMETERS = "model_parameters"
_REDACTED = "redacted-by-litellm"
_SHAPES = {
    "anthropic_messages": stream.ANTHROPIC,
    "responses": stream.RESPONSES,
    "aresponses": stream.RESPONSES,
    "completion": stream.CHAT,
    "acompletion": stream.CHAT,
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """The request of a record, and the address or the name of where it was sent; empty unknown."""

    body: dict[str, Value]
    endpoint: str


def is_record(value: Value) -> bool:
    """Tell a record by its parameters; no request has a field of that name."""
    return isinstance(value, dict) and isinstance(value.get(_PARAMETERS), dict)


def shape(value: dict[str, Value]) -> str | None:
    """Tell the shape of the request by the kind of call; null where the record does not say."""
    return _SHAPES.get(str(value.get("call_type")))


def request(value: dict[str, Value], at: str = "") -> Recorded:
    """Put the request together."""
    given, messages = value[_PARAMETERS], value.get("messages")
    parameters = given if isinstance(given, dict) else {}
    if messages is None or _is_redacted(messages):
        raise DecodeError(
            "the record of the call is without its messages",
            at=at,
            hint="let the proxy log them, or capture the request itself",
        )
    key = "input" if shape(value) == stream.RESPONSES else "messages"
    body = {"model": value.get("model"), **parameters, key: messages}
    endpoint = value.get("api_base") or value.get("custom_llm_provider")
    return Recorded(body, endpoint if isinstance(endpoint, str) else "")


def _is_redacted(messages: Value) -> bool:
    if isinstance(messages, str):
        return messages == _REDACTED
    listed = messages if isinstance(messages, list) else []
    texts = [message.get("content") for message in listed if isinstance(message, dict)]
    return bool(texts) and all(text == _REDACTED for text in texts)
