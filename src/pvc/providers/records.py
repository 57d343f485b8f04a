"""Calls read from what clients keep: transcripts, rollouts, traces. JSON values in, calls out.

| record | told by | chain |
|---|---|---|
| Claude Code transcript | `type: assistant` with `message.usage` | session, agent, main or side |
| Codex rollout | `type: event_msg`, `payload.type: token_count` | the file |
| pi, oh-my-pi | `type: message` with camel-case `message.usage` | the file |
| OTLP/JSON span | `gen_ai.usage.input_tokens` | conversation, agent |

Rule 1: a value that is no such record gives nothing; the caller counts it.
Rule 2: what comes before a call in its file (session, model, instructions) is kept in `State`.
Rule 3: transcripts log the end of a call. The time between two is then end to end, and longer or
shorter than what the cache saw by the difference of their durations.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pvc.core.drops import seconds
from pvc.model.call import Call
from pvc.model.digest import Digest
from pvc.providers.base import load_facts
from pvc.providers.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYNTHETIC = "<synthetic>"
_OTEL_READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
)


@dataclass(slots=True)
class State:
    """One file while it is read: what came before the next call."""

    source: str
    session: str = ""
    model: str = ""
    head: str | None = None
    last_total: tuple[int, ...] = ()
    line: int = 0
    number: int = 0


def calls(value: object, state: State) -> Iterator[Call]:
    """Give the calls of one JSON value."""
    if not isinstance(value, dict):
        return
    if "resourceSpans" in value:
        yield from _spans(value, state)
        return
    message, payload = value.get("message"), value.get("payload")
    if value.get("type") == "session" and isinstance(value.get("id"), str):
        state.session = value["id"]
    elif isinstance(payload, dict):
        yield from _codex(value, payload, state)
    elif isinstance(message, dict) and isinstance(message.get("usage"), dict):
        if value.get("type") == "assistant":
            yield from _claude(value, message, state)
        elif value.get("type") == "message":
            yield from _pi(value, message, state)


def _claude(value: dict[str, Any], message: dict[str, Any], state: State) -> Iterator[Call]:
    model, given = str(message.get("model", "")), message["usage"]
    usage = Usage.of(given)
    if usage is None or model == _SYNTHETIC:
        return
    session = str(value.get("sessionId", "")) or state.source
    side = str(value.get("agentId") or ("side" if value.get("isSidechain") else "main"))
    split = given.get("cache_creation")
    hour = isinstance(split, dict) and bool(split.get("ephemeral_1h_input_tokens"))
    lifetimes = load_facts("anthropic").lifetime_seconds
    yield Call(
        str(message.get("id") or value.get("requestId") or f"{state.source}:{state.line}"),
        f"{session}/{side}",
        session,
        model,
        _time(value.get("timestamp")),
        usage.total,
        usage.read,
        usage.read + usage.write,
        state.source,
        state.line,
        lifetimes["1h" if hour else "5m"],
        _reason(message.get("diagnostics")),
    )


def _reason(diagnostics: object) -> str | None:
    reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, dict) else None
    name = reason.get("type") if isinstance(reason, dict) else reason
    return name if isinstance(name, str) else None


def _codex(value: dict[str, Any], payload: dict[str, Any], state: State) -> Iterator[Call]:
    if value.get("type") == "session_meta":
        state.session = str(payload.get("id", "")) or state.source
        base = payload.get("base_instructions")
        if isinstance(base, dict) and isinstance(base.get("text"), str):
            state.head = _digest(base["text"])
    elif value.get("type") == "turn_context":
        state.model = str(payload.get("model") or state.model)
    elif payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
        info = payload["info"]
        totals, last = info.get("total_token_usage"), info.get("last_token_usage")
        usage = Usage.of(last) if isinstance(last, dict) else None
        mark = tuple(sorted(totals.values())) if isinstance(totals, dict) else ()
        if usage is None or (mark and mark == state.last_total):  # sent again unchanged
            return
        state.last_total, state.number = mark, state.number + 1
        yield _openai(state, usage, _time(value.get("timestamp")))


def _openai(state: State, usage: Usage, time: float | None) -> Call:
    session = state.session or state.source
    floor = 1024
    expected = usage.total // 128 * 128 if usage.total >= floor else 0
    return Call(
        f"{session}:{state.number}",
        session,
        session,
        state.model,
        time,
        usage.total,
        usage.read,
        expected,
        state.source,
        state.line,
        head=state.head,
    )


def _pi(value: dict[str, Any], message: dict[str, Any], state: State) -> Iterator[Call]:
    given = message["usage"]
    counts = [given.get(key) for key in ("input", "cacheRead", "cacheWrite")]
    if not all(type(count) is int for count in counts):
        return
    fresh, read, write = counts
    session = state.session or state.source
    yield Call(
        f"{session}:{value.get('id', state.line)}",
        session,
        session,
        str(message.get("model", "")),
        _time(value.get("timestamp")),
        fresh + read + write,
        read,
        read + write,
        state.source,
        state.line,
    )


# --- traces ---------------------------------------------------------------------------------


def _spans(value: dict[str, Any], state: State) -> Iterator[Call]:
    for resource in _dicts(value.get("resourceSpans")):
        for scope in _dicts(resource.get("scopeSpans")):
            for span in _dicts(scope.get("spans")):
                yield from _span(span, state)


def _span(span: dict[str, Any], state: State) -> Iterator[Call]:
    held = {
        row["key"]: _plain(row.get("value"))
        for row in _dicts(span.get("attributes"))
        if isinstance(row.get("key"), str)
    }
    total = _int(held.get("gen_ai.usage.input_tokens"))
    if total is None:
        return
    read = next((n for key in _OTEL_READ if (n := _int(held.get(key))) is not None), 0)
    conversation = held.get("gen_ai.conversation.id") or span.get("traceId") or state.source
    agent = held.get("gen_ai.agent.id") or held.get("gen_ai.agent.name") or "main"
    start = _int(span.get("startTimeUnixNano"))
    text = _instructions(held.get("gen_ai.system_instructions"))
    yield Call(
        str(held.get("gen_ai.response.id") or span.get("spanId") or f"{state.source}:{state.line}"),
        f"{conversation}/{agent}",
        str(conversation),
        str(held.get("gen_ai.request.model") or held.get("gen_ai.response.model") or ""),
        start / 1e9 if start is not None else None,
        total,
        read,
        total,
        state.source,
        state.line,
        head=_digest(text) if text else None,
        instructions=text or None,
    )


def _instructions(given: object) -> str:
    """Join the texts of instructions: plain text, a list of parts, or that list as JSON."""
    if isinstance(given, str) and given.lstrip()[:1] == "[":
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):  # text that begins with a bracket
            return str(given)
    if isinstance(given, str):
        return given
    texts = [part.get("content", part.get("text")) for part in _dicts(given)]
    return "\n".join([text for text in texts if isinstance(text, str)])


def _digest(text: str) -> str:
    return str(Digest.of(text.encode("utf-8", "surrogatepass")))


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _plain(value: object) -> object:
    """Take a value of OTLP/JSON out of its types."""
    if not isinstance(value, dict):
        return None
    if "arrayValue" in value:
        return [_plain(each) for each in _dicts(_part(value, "arrayValue").get("values"))]
    if "kvlistValue" in value:
        rows = _dicts(_part(value, "kvlistValue").get("values"))
        return {str(row.get("key")): _plain(row.get("value")) for row in rows}
    return next(
        (value[key] for key in ("stringValue", "intValue", "doubleValue") if key in value), None
    )


def _part(value: dict[str, Any], key: str) -> dict[str, Any]:
    held = value.get(key)
    return held if isinstance(held, dict) else {}


def _int(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if type(value) is int else None


def _time(value: object) -> float | None:
    if isinstance(value, str):
        return seconds(value)
    return float(value) if isinstance(value, (int, float)) else None
