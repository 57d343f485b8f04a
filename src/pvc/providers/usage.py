"""What a provider says of a call: its usage counters and its own diagnosis of the cache.

    total = read + write + uncached          in every provider's own field names

Rule 1: field names are data of this module, arithmetic is not repeated elsewhere.
Rule 2: a diagnosis says whether, and which level changed; the byte is pvc's to find. A reason that
is not listed is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pvc.model.body import Counters, Region

if TYPE_CHECKING:
    from collections.abc import Mapping

_READS = (
    ("cache_read_input_tokens",),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_tokens_details", "cached_tokens"),
    ("cached_input_tokens",),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
    ("cachedContentTokenCount",),
    ("cached_content_token_count",),
    ("cacheReadInputTokens",),
    ("cacheReadInputTokenCount",),
    ("gen_ai.usage.cache_read.input_tokens",),
    ("llm.token_count.prompt_details.cache_read",),
    ("tokens", "cached"),
    ("cached_prompt_text_tokens",),
    ("prompt_cached_tokens",),
    ("prompt_cache_read_tokens",),
    ("timings", "cache_n"),
)
_WRITES = (
    ("cache_creation_input_tokens",),
    ("input_tokens_details", "cache_write_tokens"),
    ("prompt_tokens_details", "cache_write_tokens"),
    ("prompt_tokens_details", "cache_creation_input_tokens"),
    ("cache_write_input_tokens",),
    ("cacheWriteInputTokens",),
    ("cacheWriteInputTokenCount",),
    ("gen_ai.usage.cache_write.input_tokens",),
    ("gen_ai.usage.cache_creation.input_tokens",),
    ("llm.token_count.prompt_details.cache_write",),
    ("prompt_cache_creation_tokens",),
    ("prompt_cache_write_tokens",),
)
_TOTALS = (
    ("prompt_tokens",),
    ("promptTokenCount",),
    ("prompt_token_count",),
    ("gen_ai.usage.input_tokens",),
    ("llm.token_count.prompt",),
    ("tokens", "input"),
)
"""Counters of all input tokens, what was read and written among them."""
_INPUTS = (("input_tokens",), ("inputTokens",), ("inputTokenCount",))
"""Counters that hold what was read and written, or, by the names beside them, do not."""
_APART_SIGNS = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
    "cacheReadInputTokenCount",
    "cacheWriteInputTokenCount",
)
_SPLIT = (("prompt_cache_hit_tokens",), ("prompt_cache_miss_tokens",))
"""Counters that make up the total where it is not given itself."""
_REGIONS = {
    "model_changed": {Region.SETTINGS},
    "system_changed": {Region.SYSTEM},
    "tools_changed": {Region.TOOLS},
    "messages_changed": {Region.MESSAGES},
    "input_changed": {Region.SYSTEM, Region.MESSAGES},
    "context_compacted": {Region.MESSAGES},
    "text_format_changed": {Region.SETTINGS},
    "reasoning_effort_changed": {Region.SETTINGS},
    "verbosity_changed": {Region.SETTINGS},
    "service_tier_changed": {Region.SETTINGS},
    "prompt_cache_key_changed": {Region.SETTINGS},
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Input tokens of one call: all of them, those read back, those written."""

    total: int
    read: int
    write: int = 0

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> Usage | None:
        """Read counters in any provider's form; null when there are none."""
        found = counters(usage)
        return None if found.total is None else cls(found.total, found.read or 0, found.write or 0)


def counters(usage: Mapping[str, Any]) -> Counters:
    """Read what a usage counts, by whichever provider's or log's names it uses."""
    read, write = _first(usage, _READS), _first(usage, _WRITES)
    total = _first(usage, _TOTALS)
    split = [_first(usage, (path,)) for path in _SPLIT]
    if total is None and None not in split:
        total = sum(part or 0 for part in split)
    if total is None:
        given = _first(usage, _INPUTS)
        # Anthropic counts what was read and written apart, everyone else inside.
        apart = any(key in usage for key in _APART_SIGNS)
        total = given if given is None or not apart else given + (read or 0) + (write or 0)
    return Counters(total, read, write)


def plain_numbers(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Turn digits of JSON numbers into numbers, all the way down."""
    return {
        key: plain_numbers(value)
        if isinstance(value, dict)
        else int(value)
        if isinstance(value, str) and value.isdecimal()
        else value
        for key, value in usage.items()
    }


def _first(usage: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> int | None:
    for path in paths:
        value: Any = usage
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if (count := _count(value)) is not None:
            return count
    return None


def _count(value: object) -> int | None:
    """Read a count; JSON numbers come as `int` or as their digits."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    return int(value) if str(value).isdecimal() else None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A provider's own verdict: did it miss, did the request change; null is not told."""

    missed: bool | None
    changed: bool | None
    reason: str
    missed_tokens: int | None = None

    @property
    def regions(self) -> frozenset[Region]:
        """Where the change lies by the provider; empty when it names no place."""
        return frozenset(_REGIONS.get(self.reason, ()))

    @classmethod
    def of(cls, response: Mapping[str, Any]) -> Diagnosis | None:
        """Read the diagnosis of a response, or of a context that holds one; null without any."""
        given = response.get("diagnostics", response)
        if isinstance(given, dict) and "cache_miss_reason" in given:
            return cls._anthropic(given["cache_miss_reason"])
        if "diagnostics" in response:  # null: asked for, and no divergence was found
            return cls(None, changed=False, reason="no divergence") if given is None else None
        openai = response.get("prompt_cache_diagnostics")
        return cls._openai(openai) if isinstance(openai, dict) else None

    @classmethod
    def _anthropic(cls, reason: object) -> Diagnosis | None:
        if isinstance(reason, str):
            reason = {"type": reason}
        if not isinstance(reason, dict) or not isinstance(reason.get("type"), str):
            return None  # still being computed
        name = reason["type"]
        tokens = _count(reason.get("cache_missed_input_tokens"))
        known = True if name in _REGIONS else None
        return cls(known, known, name, tokens)

    @classmethod
    def _openai(cls, given: dict[str, Any]) -> Diagnosis | None:
        kind = given.get("type")
        if kind == "cache_hit":
            return cls(missed=False, changed=None, reason="cache_hit")
        if kind != "cache_miss":
            return cls(None, None, kind) if isinstance(kind, str) else None
        reason = str(given.get("reason") or "cache_miss")
        tokens = _count(given.get("cache_missed_tokens"))
        return cls(True, True if reason in _REGIONS else None, reason, tokens)
