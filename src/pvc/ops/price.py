"""What a miss costs: bytes, tokens with a band, multiples of base input, money.

Rule 1: tokens are estimated from the lost text by the model's family, counted where the optional
tokenizer is installed and the vocabulary is published, and scaled to the reported usage where there
is some (`core.tokens`).
Rule 2: the price is what the lost bytes cost now (written again) less what they would have cost
(read back), in tokens of base input; figures come from the dated facts, never from code.
Rule 3: money needs the user's own price: git config `pvc.price.<model>`, per million tokens of base
input, dots of the model's name as dashes. The longest name that begins the model's counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pvc.core.tokens import Tokens
from pvc.errors import UsageError
from pvc.model.body import Verdict
from pvc.providers.base import load_facts, platform_of
from pvc.providers.tokens import family_of
from pvc.providers.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pvc.core.miss import Miss
    from pvc.model.body import Body
    from pvc.providers.base import Facts

PRICE = "pvc.price."


SAMPLE_BYTES = 1 << 16
SAMPLE_PIECES = 32
SAMPLE_BAND = 0.03
BYTES_PER_TOKEN = 4.0
BYTES_PER_TOKEN_BAND = (3.0, 5.0)
"""For bytes of which only the number is known."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What was not read back. `cost` is in tokens of base input, `money` in the user's currency."""

    size_bytes: int
    tokens: int
    tokens_low: int
    tokens_high: int
    cost: float | None
    how: str = "estimated"
    money: str | None = None

    def to_json(self) -> dict[str, object]:
        """Write the `lost` of `pvc.miss/1`."""
        return {
            "bytes": self.size_bytes,
            "tokens": {
                "estimate": self.tokens,
                "low": self.tokens_low,
                "high": self.tokens_high,
                "how": self.how,
            },
            "cost": self.cost,
            "money": self.money,
        }


def lost_of(
    miss: Miss,
    a: Body,
    b: Body,
    *,
    usage_b: Mapping[str, Any] | None = None,
    facts: Facts | None = None,
    config: Callable[[str], str | None] | None = None,
) -> Lost:
    """Price the part of the scope that cannot be read back."""
    size = miss.scope_bytes - miss.reusable_bytes if miss.verdict is Verdict.MISS else 0
    if not size:
        return Lost(0, 0, 0, 0, 0.0, "nothing lost")
    lost = Sample.of(a, miss.reusable_bytes, miss.scope_bytes)
    usage = Usage.of(usage_b) if usage_b else None
    whole = (Sample.of(b, 0, len(b)), usage.total) if usage and usage.total else None
    tokens = count(lost, b.model, whole)
    facts = facts or load_facts(platform_of(b.shape, b.model))
    cost = _cost(tokens.estimate, b.model, facts, _lifetime(b, facts, miss.reusable_bytes))
    if cost is not None and usage:
        cost = round(cost * facts.band(b.model, usage.total), 1)
    money = _money(cost, b.model, config) if config and cost is not None else None
    return Lost(size, tokens.estimate, tokens.low, tokens.high, cost, tokens.how, money)


def lost_bytes(size: int, facts: Facts, model: str) -> Lost:
    """Price bytes that have to be written again, of which only the number is known."""
    tokens = round(size / BYTES_PER_TOKEN)
    low, high = (round(size / BYTES_PER_TOKEN_BAND[i]) for i in (1, 0))
    return Lost(size, tokens, low, high, _cost(tokens, model, facts, facts.default_ttl))


@dataclass(frozen=True, slots=True)
class Sample:
    """A stretch of a stream: whole, or when it is long, pieces of it spread evenly.

    A tokenizer's classes are counted in a fraction of a millisecond a kilobyte, so a megabyte would
    take longer than all the rest; the mix of a prompt is told well enough by 64 KB of it.
    """

    text: str
    scale: float

    @classmethod
    def of(cls, body: Body, start: int, end: int) -> Sample:
        """Take bytes `start` to `end` of a body's stream."""
        size = end - start
        count = 1 if size <= SAMPLE_BYTES else SAMPLE_PIECES
        each = min(size, SAMPLE_BYTES) // count
        data = b"".join([_stretch(body, start + i * size // count, each) for i in range(count)])
        return cls(data.decode("utf-8", "replace"), size / max(len(data), 1))

    def scaled(self, tokens: Tokens) -> Tokens:
        """Speak of the whole stretch."""
        low, high = (tokens.low, tokens.high)
        if low == high and self.scale > 1:  # counted, but only in the sample
            low, high = (round(low * (1 + by)) for by in (-SAMPLE_BAND, SAMPLE_BAND))
        low, high = (round(number * self.scale) for number in (low, high))
        return Tokens(round(tokens.estimate * self.scale), low, high, tokens.how)


def _stretch(body: Body, start: int, size: int) -> bytes:
    """Join `size` bytes of a stream, from the parts that hold them."""
    part = body.part_at(start)
    skip = start - body.part_start(part)
    data = b""
    while len(data) < skip + size and part < len(body.parts):
        data += body.parts[part].data
        part += 1
    return data[skip : skip + size]


def count(lost: Sample, model: str, whole: tuple[Sample, int] | None = None) -> Tokens:
    """Tell the tokens of a text; `whole` is a text around it and its reported tokens."""
    family = family_of(model)
    if family.tokenizer and (counted := _counted(lost.text, family.tokenizer)) is not None:
        how = f"counted with {family.tokenizer}"
        return lost.scaled(Tokens(counted, counted, counted, how))
    tokens = lost.scaled(family.estimate(lost.text))
    if whole is None:
        return tokens
    return tokens.scaled(whole[1], whole[0].scaled(family.estimate(whole[0].text)))


def _counted(text: str, name: str) -> int | None:
    """Count with the optional tokenizer; null where it is not installed."""
    try:
        splintr: Any = import_module("splintr")
    except ImportError:
        return None
    return len(splintr.Tokenizer.from_pretrained(name).encode(text))


def _cost(tokens: int, model: str, facts: Facts, lifetime: str) -> float | None:
    """Price the tokens: written again, where the provider takes a fee for that, less read back.

    Without a lifetime they are not written, and cost what any input does. Null where no price of
    a read is known.
    """
    write = facts.write(model, lifetime) if lifetime else 1.0
    read = facts.read(model, marked=bool(lifetime))
    return None if read is None else round(tokens * (write - read), 1)


def _lifetime(b: Body, facts: Facts, start: int) -> str:
    """Name the lifetime with which the bytes from `start` on are written; empty if none is asked.

    A marker writes all that lies in front of it, so the next one counts. Behind the last one the
    bytes are plain input.
    """
    if b.rules.lookback_elements is None:
        return facts.default_ttl
    ends = [(b.element_ends[marker.element], marker.ttl_seconds) for marker in b.markers]
    after = [end for end in ends if end[0] > start]
    if not after:
        return ""
    _, asked = min(after, key=itemgetter(0))
    named = (name for name, seconds in facts.lifetime_seconds.items() if seconds == asked)
    return next(named, facts.default_ttl)


def _money(cost: float, model: str, config: Callable[[str], str | None]) -> str | None:
    name = model.replace(".", "-").lower()
    while name:
        if given := config(PRICE + name):
            amount, _, currency = given.partition(" ")
            try:
                return f"{cost * float(amount) / 1e6:.4f} {currency.strip() or 'USD'}"
            except ValueError:
                raise UsageError(
                    f"`{PRICE}{name}` is `{given}`, no price",
                    hint=f"git config {PRICE}{name} '3.00 USD'; per million input tokens",
                ) from None
        name = name.rpartition("-")[0]
    return None
