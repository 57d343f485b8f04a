"""What came back for a request: a JSON object, or the events of a stream joined into one.

Rule 1: of a stream only what pvc asks for is joined: usage, diagnosis and id. Later counters
replace earlier ones of the same name, as the providers document it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.json_text import parse
from pvc.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.json_text import Value

_JOINED = ("id", "diagnostics", "prompt_cache_diagnostics")


def answer_of(data: bytes, at: str) -> dict[str, Value]:
    """Read an answer; raises `DecodeError` with the place when it is neither JSON nor a stream."""
    text = data.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] != "{":
        return _joined(_events(text, at), at)
    value = parse(text, at=at, duplicates=[])
    if not isinstance(value, dict):
        raise DecodeError("a response is a JSON object", at=at)
    return value


def _events(text: str, at: str) -> Iterator[dict[str, Value]]:
    """Give the JSON objects of the `data:` lines of a stream of server-sent events."""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.startswith("data:") or line[5:].strip() in ("", "[DONE]"):
            continue
        value = parse(line[5:], at=f"{at}:{number}", duplicates=[])
        if isinstance(value, dict):
            yield value


def _joined(events: Iterator[dict[str, Value]], at: str) -> dict[str, Value]:
    out: dict[str, Value] = {}
    usage: dict[str, Value] = {}
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 - the number of the last one
        held = next(
            (v for key in ("message", "response") if isinstance(v := event.get(key), dict)), event
        )
        for part in (held, event):
            out |= {key: part[key] for key in _JOINED if key in part}
            if isinstance(given := part.get("usage"), dict):
                usage |= given
    if not count:
        raise DecodeError(
            "a response is a JSON object or a stream of events",
            at=at,
            hint="save the body of the answer, without its headers",
        )
    return out | ({"usage": usage} if usage else {})
