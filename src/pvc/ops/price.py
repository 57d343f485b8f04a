"""What a miss costs: bytes, tokens with a band, multiples of base input.

Rule 1: tokens are estimated from bytes, never counted, unless the provider's counters say more;
the band is wide enough for prose and for code. English prose takes 4 to 5 bytes a token, code and
JSON about 3 (facts: provider-caching, and the counters in the cases).
Rule 2: the price is what the lost bytes cost now (written again) less what they would have cost
(read back), in tokens of base input; figures come from the dated facts, never from code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.stream import ANTHROPIC
from pvc.model.body import Verdict
from pvc.providers.base import load_facts

if TYPE_CHECKING:
    from pvc.core.miss import Miss
    from pvc.model.body import Body

BYTES_PER_TOKEN = 4.0
BYTES_PER_TOKEN_BAND = (3.0, 5.0)


@dataclass(frozen=True, slots=True)
class Lost:
    """What was not read back. `cost` is in tokens of base input; null when no price is known."""

    size_bytes: int
    tokens: int
    tokens_low: int
    tokens_high: int
    cost: float | None

    def to_json(self) -> dict[str, object]:
        """Write the `lost` of `pvc.miss/1`."""
        return {
            "bytes": self.size_bytes,
            "tokens": {"estimate": self.tokens, "low": self.tokens_low, "high": self.tokens_high},
            "cost": self.cost,
        }


def lost_of(miss: Miss, a: Body) -> Lost:
    """Price the part of the scope that cannot be read back."""
    size = 0
    if miss.verdict is Verdict.MISS and miss.scope_bytes is not None:
        size = miss.scope_bytes - (miss.reusable_bytes or 0)
    return lost_bytes(size, a.shape, a.model)


def lost_bytes(size: int, shape: str, model: str) -> Lost:
    """Price bytes that have to be written again."""
    tokens = round(size / BYTES_PER_TOKEN)
    low, high = (round(size / BYTES_PER_TOKEN_BAND[i]) for i in (1, 0))
    return Lost(size, tokens, low, high, _cost(tokens, shape, model))


def _cost(tokens: int, shape: str, model_name: str) -> float | None:
    facts = load_facts("anthropic" if shape == ANTHROPIC else "openai")
    if not facts.write_price:
        return None
    write = facts.write_price.get(facts.default_ttl)
    model = facts.model(model_name)
    read = facts.read_price if model.read_price is None else model.read_price
    return None if write is None else round(tokens * (write - read), 1)
