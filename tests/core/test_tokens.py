"""Token estimates: more text is never fewer tokens, bands hold the estimate, usage narrows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.tokens import CLASSES, Tokens, counts
from pvc.providers.tokens import family_of

MODELS = ("claude-sonnet-5", "gpt-5.5", "gpt-4-turbo", "somebody-else")

# Counted once with the published vocabularies; the texts are ours.
COUNTED: dict[str, tuple[str, str, int]] = {
    "prose": ("gpt-5.5", "Look up a sailing before you speak of it, and say which one.\n" * 8, 120),
    "code": (
        "gpt-5.5",
        "def sail(route: str, slot: int = 0) -> list[str]:\n    return []\n" * 8,
        161,
    ),
    "digits": ("gpt-4-turbo", "2026-11-30 09:41:07 4711 12345678\n" * 8, 160),
}


@pytest.mark.parametrize(("model", "text", "counted"), COUNTED.values(), ids=COUNTED)
def test_a_count_lies_near_its_estimate(model: str, text: str, counted: int) -> None:
    found = family_of(model).estimate(text)
    assert abs(found.estimate - counted) / counted < 0.25


@given(st.sampled_from(MODELS), st.text())
def test_the_band_holds_the_estimate(model: str, text: str) -> None:
    found = family_of(model).estimate(text)
    assert 0 <= found.low <= found.estimate <= found.high


@given(st.text(), st.text())
def test_lines_put_together_count_as_much_as_apart(a: str, b: str) -> None:
    whole = counts(f"{a}x\nx{b}")
    assert len(whole) == CLASSES
    assert abs(sum(whole) - sum(counts(f"{a}x\n")) - sum(counts(f"x{b}"))) <= 1


def test_reported_usage_scales_the_estimate_and_narrows_its_band() -> None:
    part, whole = Tokens(100, 80, 130, "estimated"), Tokens(1000, 800, 1300, "estimated")
    found = part.scaled(1200, whole)
    assert (found.estimate, found.low, found.high) == (120, 113, 127)


def test_a_model_belongs_to_the_longest_family_that_begins_its_name() -> None:
    assert family_of("gpt-5.5").tokenizer == "o200k_base"
    assert family_of("gpt-4-turbo").tokenizer == "cl100k_base"
    assert family_of("eu.anthropic.claude-opus-5").tokenizer is None
    assert family_of("").factor > 1
