"""The provider table against LiteLLM's prices, and what every platform's file must hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pvc.errors import UsageError
from pvc.model.body import Loss, Region
from pvc.providers.base import PLATFORMS, Facts, bare_model, load_facts, platform_of
from pvc.providers.usage import counters

CUT = json.loads((Path(__file__).parent / "litellm.json").read_bytes())
"""Made by `bench/litellm_table.py`."""
_SPEECH = "a model for speech, priced otherwise: no prompt of pvc's is sent to it"
DIFFER: dict[tuple[str, str, str], str] = {
    ("anthropic", "claude-mythos-preview", "minimum"): "Anthropic's page of August 2026 says 2,048",
    ("azure", "gpt-4o", "write"): "a write below the price of input: the table halves what is free",
    ("bedrock", "claude-opus-4-7", "minimum"): "its table and its own page disagree: left unknown",
    ("google", "gemini-2.5-pro", "minimum"): "Gemini's page says 4,096, Vertex's another figure",
    ("google", "gemini-2.5-pro-preview-tts", "read"): _SPEECH,
    ("google", "gemini-3.8-flash-lite-tts", "read"): _SPEECH,
}


def differences() -> dict[tuple[str, str, str], tuple[Any, Any]]:
    """List by platform, model and column what pvc has otherwise than LiteLLM."""
    found = {}
    for platform, models in CUT["rows"].items():
        facts = load_facts(platform)
        for name, theirs in models.items():
            model = bare_model(name)
            ours = {
                "read": facts.read(model),
                "write": facts.write(model, facts.default_ttl),
                "1h": facts.write(model, "1h"),
                "12h": facts.write(model, "12h"),
                "minimum": facts.rules(model).minimum_tokens,
            }
            for column, given in theirs.items():
                if ours[column] is None or abs(ours[column] - given) > 1e-3:
                    found[platform, model, column] = ours[column], given
    return found


def test_what_differs_from_litellm_is_known_and_has_a_reason() -> None:
    found = differences()
    assert {key: found[key] for key in found if key not in DIFFER} == {}
    assert DIFFER.keys() <= found.keys()
    assert sum(len(models) for models in CUT["rows"].values()) > 30


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_says_from_where_and_how_well_it_is_known(platform: str) -> None:
    facts = load_facts(platform)
    assert facts.as_of
    assert facts.source
    assert facts.evidence in ("documented", "measured", "table")
    assert isinstance(facts.loss, Loss)
    assert set(facts.order) == set(Region)
    assert facts.default_ttl in ("", *facts.lifetime_seconds)
    for path in facts.usage:
        usage: dict[str, Any] = {}
        *outer, last = path.split(".")
        at = usage
        for key in outer:
            at = at.setdefault(key, {})
        at[last] = 7
        assert counters(usage).read == 7


@pytest.mark.parametrize(
    ("shape", "model", "platform"),
    [
        ("anthropic.messages", "glm-5", "anthropic"),
        ("openai.chat", "gpt-5", "openai"),
        ("openai.chat", "deepseek/deepseek-v4-pro", "deepseek"),
        ("openai.chat", "minimax/MiniMax-M3", "minimax"),
        ("openai.responses", "grok-4.6", "xai"),
        ("openai.chat", "something-new", "openai"),
    ],
)
def test_a_models_name_tells_whose_cache_it_meets(shape: str, model: str, platform: str) -> None:
    assert platform_of(shape, model) == platform


def test_a_platform_without_facts_is_named_with_those_that_have_some() -> None:
    with pytest.raises(UsageError, match="no facts of platform `nowhere`"):
        load_facts("nowhere")


def test_rows_differ_by_platform_and_what_is_unknown_stays_so() -> None:
    assert load_facts("anthropic").rules("claude-opus-4-7").minimum_tokens == 2048
    assert load_facts("bedrock").rules("anthropic.claude-opus-4-7").minimum_tokens is None
    assert load_facts("vllm").read("anything") is None
    assert load_facts("deepseek").rules("deepseek-chat").kind_of_loss is Loss.UNIT
    assert load_facts("minimax").rules("minimax-m3").order[0] is Region.SYSTEM


def test_prices_go_by_lifetime_and_by_the_length_of_the_context() -> None:
    facts = load_facts("openai")
    assert (facts.write("gpt-6-sol", "30m"), facts.write("gpt-6-sol", "12h")) == (1.25, 2.5)
    assert (facts.band("gpt-6-sol", 272_000), facts.band("gpt-6-sol", 272_001)) == (1.0, 2.0)


def test_a_users_own_figures_lie_over_those_of_any_platform() -> None:
    mine = b'[rules]\ngrain_tokens = 2096\n[[models]]\nmatch = "qwen3"\nminimum_tokens = 2096\n'
    facts = Facts.over("vllm", mine)
    row = facts.rules("qwen3-next-80b")
    assert (row.grain_tokens, row.minimum_tokens, row.kind_of_loss) == (2096, 2096, Loss.GRAIN)
