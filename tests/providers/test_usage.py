"""What providers say: usage in every form, and their own diagnoses."""

from __future__ import annotations

from typing import Any

import pytest

from pvc.errors import DecodeError
from pvc.providers.base import Facts, load_facts
from pvc.providers.usage import Diagnosis, Usage

USAGES: dict[str, tuple[dict[str, Any], Usage | None]] = {
    "anthropic counts apart": (
        {"input_tokens": 3, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7},
        Usage(60, 50, 7),
    ),
    "responses counts inside": (
        {"input_tokens": 60, "input_tokens_details": {"cached_tokens": 50}},
        Usage(60, 50),
    ),
    "chat counts inside": (
        {"prompt_tokens": 60, "prompt_tokens_details": {"cached_tokens": 50}},
        Usage(60, 50),
    ),
    "codex": (
        {"input_tokens": 60, "cached_input_tokens": 50, "cache_write_input_tokens": 7},
        Usage(60, 50, 7),
    ),
    "a proxy gives both": (
        {"prompt_tokens": 60, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7},
        Usage(60, 50, 7),
    ),
    "deepseek": ({"prompt_tokens": 60, "prompt_cache_hit_tokens": 50}, Usage(60, 50)),
    "none": ({"output_tokens": 9}, None),
    "no numbers": ({"input_tokens": True}, None),
}


@pytest.mark.parametrize(("given", "expected"), USAGES.values(), ids=USAGES)
def test_usage_has_one_form(given: dict[str, Any], expected: Usage | None) -> None:
    assert Usage.of(given) == expected


def anthropic(reason: object) -> dict[str, Any]:
    return {"diagnostics": {"cache_miss_reason": reason}}


DIAGNOSES: dict[str, tuple[dict[str, Any], Diagnosis | None]] = {
    "not asked for": ({}, None),
    "no divergence": (
        {"diagnostics": None},
        Diagnosis(None, changed=False, reason="no divergence"),
    ),
    "still computing": (anthropic(None), None),
    "tools": (
        anthropic({"type": "tools_changed", "cache_missed_input_tokens": 30400}),
        Diagnosis(missed=True, changed=True, reason="tools_changed", missed_tokens=30400),
    ),
    "unavailable": (
        anthropic({"type": "unavailable"}),
        Diagnosis(None, None, "unavailable"),
    ),
    "bare in a context": (
        {"cache_miss_reason": "system_changed"},
        Diagnosis(missed=True, changed=True, reason="system_changed"),
    ),
    "openai hit": (
        {"prompt_cache_diagnostics": {"type": "cache_hit"}},
        Diagnosis(missed=False, changed=None, reason="cache_hit"),
    ),
    "openai miss": (
        {"prompt_cache_diagnostics": {"type": "cache_miss", "reason": "input_changed"}},
        Diagnosis(missed=True, changed=True, reason="input_changed"),
    ),
    "openai miss without reason": (
        {"prompt_cache_diagnostics": {"type": "cache_miss", "cache_missed_tokens": 9}},
        Diagnosis(missed=True, changed=None, reason="cache_miss", missed_tokens=9),
    ),
    "openai cannot tell": (
        {"prompt_cache_diagnostics": {"type": "unavailable"}},
        Diagnosis(None, None, "unavailable"),
    ),
}


@pytest.mark.parametrize(("given", "expected"), DIAGNOSES.values(), ids=DIAGNOSES)
def test_a_diagnosis_says_whether_and_which_level(
    given: dict[str, Any], expected: Diagnosis | None
) -> None:
    assert Diagnosis.of(given) == expected


def test_a_users_facts_lie_over_those_that_ship() -> None:
    mine = b"""as_of = "2027-01-01"
[lifetime_seconds]
"5m" = 600
[[models]]
match = "claude-opus-5"
minimum_tokens = 99
"""
    facts, shipped = Facts.over("anthropic", mine), load_facts("anthropic")
    assert (facts.as_of, facts.source) == ("2027-01-01", shipped.source)
    assert facts.lifetime_seconds == {**shipped.lifetime_seconds, "5m": 600}
    assert facts.model("claude-opus-5").minimum_tokens == 99
    assert facts.model("claude-sonnet-5") == shipped.model("claude-sonnet-5")


@pytest.mark.parametrize(
    "text", ["[", "models = 3", 'rules = "x"', "[[models]]\nminimum_tokens = 1"]
)
def test_facts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        Facts.over("anthropic", text.encode())
