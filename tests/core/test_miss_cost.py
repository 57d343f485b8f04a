"""What a diagnosis costs: two texts with a long word are compared in the time of their length."""

from __future__ import annotations

import json
import time

import pytest

from pvc.core.miss import Context, compare
from pvc.providers.base import read


def seconds(text: str) -> float:
    """CPU of comparing a text with its first half."""
    bodies = [
        read(json.dumps({"model": "claude-x", "system": part, "messages": []}).encode())
        for part in (text, text[: len(text) // 2])
    ]
    start = time.process_time()
    compare(bodies[0], bodies[1], Context())
    return time.process_time() - start


@pytest.mark.parametrize("unit", ["a", "A_", "0", "0.", "é", "a-", " ", "x@", "a.b@c"])
def test_a_long_word_costs_what_it_is_long(unit: str) -> None:
    small = max(seconds(unit * (20_000 // len(unit))), 0.05)
    assert seconds(unit * (80_000 // len(unit))) < 10 * small
