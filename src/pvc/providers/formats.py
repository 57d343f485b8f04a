"""Names for what a JSON value is, so that nothing unread passes for read.

One table serves every reader: what it does not read itself it can name, with the place where the
request is inside of it. Rule 1: a row asks for keys that no other format has; the first that fits
names the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CLAUDE_CODE_LINES = frozenset(
    (
        *("user", "assistant", "system", "summary", "attachment", "progress"),
        *("queue-operation", "file-history-snapshot"),
    )
)
CODEX_LINES = frozenset(("session_meta", "turn_context", "event_msg", "response_item", "compacted"))


class Format(NamedTuple):
    """A kind of record: what it is called, what pvc does with it, where its requests are inside.

    `calls` is true where `--transcript` and `--otel` find calls, `bodies` where `pvc miss FILE`
    compares the requests in their order. `inside` is empty where the format has no requests.
    """

    name: str
    calls: bool = False
    bodies: bool = False
    inside: str = ""


def format_of(value: object) -> Format | None:
    """Name the format of one JSON value, a whole document or a line; None when none fits."""
    if not isinstance(value, dict):
        return None
    return next((found for found, fits in _FORMATS if fits(value)), None)


def seen_in(value: object) -> str:
    """Say what a value is: its format, else its type and first keys."""
    if found := format_of(value):
        return f"{'an' if found.name[0] in 'AEIOUaeiou' else 'a'} {found.name}"
    if isinstance(value, dict):
        keys = ", ".join(f"`{key}`" for key in list(value)[:6])
        return f"a JSON object with the keys {keys}" if keys else "an empty JSON object"
    return "a JSON list" if isinstance(value, list) else "a JSON value that is not an object"


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = value.get(key)
    return held if isinstance(held, dict) else {}


def _is_claude_code(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    known = kind in CLAUDE_CODE_LINES if isinstance(kind, str) else False
    return known and (kind == "summary" or "sessionId" in value or "uuid" in value)


def _is_codex(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in CODEX_LINES and isinstance(value.get("payload"), dict)


def _is_pi(value: Mapping[str, Any]) -> bool:
    if value.get("type") == "session":
        return isinstance(value.get("id"), str)
    return value.get("type") == "message" and isinstance(value.get("message"), dict)


def _is_body(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(key), (list, str)) for key in ("messages", "input", "system"))


_FORMATS: tuple[tuple[Format, Callable[[Mapping[str, Any]], bool]], ...] = (
    (Format("OTLP/JSON trace", calls=True), lambda v: "resourceSpans" in v),
    (Format("OTLP/JSON log"), lambda v: "resourceLogs" in v),
    (
        Format("HAR file", bodies=True, inside="log.entries[].request.postData.text"),
        lambda v: isinstance(_object(v, "log").get("entries"), list),
    ),
    (Format("Claude Code transcript", calls=True), _is_claude_code),
    (Format("Codex rollout", calls=True), _is_codex),
    (Format("pi session", calls=True), _is_pi),
    (
        Format("Bedrock invocation log", inside="input.inputBodyJson"),
        lambda v: v.get("schemaType") == "ModelInvocationLog",
    ),
    (
        Format("LiteLLM log", bodies=True, inside="messages and model_parameters"),
        lambda v: "messages" in v and ("model_parameters" in v or "custom_llm_provider" in v),
    ),
    (
        Format("Langfuse export", inside="input"),
        lambda v: "traceId" in v and ("usageDetails" in v or v.get("type") == "GENERATION"),
    ),
    (
        Format("batch of requests", bodies=True, inside="params or body"),
        lambda v: "custom_id" in v and ("params" in v or "body" in v),
    ),
    (
        Format("log of requests", bodies=True, inside="request.body"),
        lambda v: bool(_object(v, "request")) and "body" in _object(v, "request"),
    ),
    (
        Format("log of requests", bodies=True, inside="request or body"),
        lambda v: _is_body(_object(v, "request")) or _is_body(_object(v, "body")),
    ),
    (Format("gptme conversation"), lambda v: "role" in v and isinstance(v.get("metadata"), dict)),
    (
        Format("opencode export"),
        lambda v: isinstance(v.get("info"), dict) and isinstance(v.get("messages"), list),
    ),
    (Format("Gemini request"), lambda v: isinstance(v.get("contents"), list)),
    (Format("request body", bodies=True), _is_body),
)
CALL_RECORDS = tuple(found.name for found, _ in _FORMATS if found.calls)
"""What `--transcript` and `--otel` read."""
