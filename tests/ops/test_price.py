"""What lost bytes cost: by the marker that writes them again, or as plain input behind the last."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pvc.core.miss import Context, compare
from pvc.ops.price import lost_of
from pvc.providers.base import read

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
ODD = {"type": "ephemeral", "ttl": "2d"}
Mark = dict[str, str] | None


def body(model: str, first: str, marks: tuple[Mark, Mark]) -> bytes:
    """A request of two long system blocks and a question."""
    texts = (f"{first} {'is a harbour rule. ' * 400}", "The tide counts. " * 400)
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": text, **({"cache_control": mark} if mark else {})}
        for text, mark in zip(texts, marks, strict=True)
    ]
    question = {"role": "user", "content": "When?"}
    return json.dumps({"model": model, "system": blocks, "messages": [question]}).encode()


@pytest.mark.parametrize(
    ("marks", "first", "price"),
    [
        ((SHORT, SHORT), "This", 1.25 - 0.1),
        ((LONG, SHORT), "This", 2 - 0.1),
        ((LONG, SHORT), "That", 1.25 - 0.1),
        ((None, LONG), "This", 2 - 0.1),
        ((None, None), "This", 1 - 0.1),
        ((SHORT, None), "That", 1 - 0.1),
        ((ODD, ODD), "This", 1.25 - 0.1),
    ],
)
def test_the_next_marker_tells_at_what_price_lost_bytes_are_written(
    marks: tuple[Mark, Mark], first: str, price: float
) -> None:
    a = read(body("claude-sonnet-4-5", "That", (SHORT, SHORT)))
    b = read(body("claude-sonnet-4-5", first, marks).replace(b"The tide", b"A tide"))
    context = Context(relation="new_session", seconds_between=9, same_account=True)
    lost = lost_of(compare(a, b, context), a, b)
    assert lost.cost == pytest.approx(lost.tokens * price, abs=0.1)
