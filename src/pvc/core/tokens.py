"""How many tokens a text takes, told from its characters.

A tokenizer cuts a text into words, figures and marks; how many tokens each class takes on average
is data of the model's family (`providers/facts/tokens.toml`).

Rule 1: this is an estimate and carries a band. It is never shown as a count.
Rule 2: usage that the provider reported for the whole request narrows it: the estimate is scaled to
what was counted, and only how the mix differs between the part and the whole remains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z]+")
_COUNTED = (
    re.compile(r"[0-9]{1,3}"),
    re.compile(r"[^\sA-Za-z0-9\u0080-\U0010ffff]+"),
    re.compile(r"[^\sA-Za-z0-9\u0080-\U0010ffff]"),
    re.compile(r"\s*\n\s*"),
    re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"),
    re.compile(r"[\u0080-\u024f]"),
    re.compile(r"[\u0250-\u1fff]"),
    re.compile(r"[\u2000-\u2e7f\U00010000-\U0010ffff]"),
)
CLASSES = 2 + len(_COUNTED)
_FREE_LETTERS = 5
CALIBRATED_BAND = 0.06


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens, and the range that it lies in; `how` says where it is from."""

    estimate: int
    low: int
    high: int
    how: str

    def scaled(self, reported: int, whole: Tokens) -> Tokens:
        """Scale to what was reported for a whole that was estimated in the same way."""
        count = self.estimate * reported / max(whole.estimate, 1)
        return Tokens(
            round(count),
            round(count * (1 - CALIBRATED_BAND)),
            round(count * (1 + CALIBRATED_BAND)),
            "scaled to the reported usage",
        )


@dataclass(frozen=True, slots=True)
class Family:
    """What is known of a family's tokenizer; `tokenizer` names its vocabulary, if published."""

    weights: tuple[float, ...]
    factor: float
    low: float
    high: float
    tokenizer: str | None = None

    def estimate(self, text: str) -> Tokens:
        """Estimate the tokens of a text."""
        count = self.factor * sum(
            weight * number for weight, number in zip(self.weights, counts(text), strict=True)
        )
        return Tokens(round(count), round(count * self.low), round(count * self.high), "estimated")


def counts(text: str) -> tuple[int, ...]:
    """Count a text's words, their letters beyond the fifth, and each other class."""
    words = _WORD.findall(text)
    long = sum([len(word) - _FREE_LETTERS for word in words if len(word) > _FREE_LETTERS])
    return (len(words), long, *[len(pattern.findall(text)) for pattern in _COUNTED])
