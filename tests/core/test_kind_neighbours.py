"""Many ways to say each thing that a prompt is told of its moment, its place and its person."""

from __future__ import annotations

from itertools import cycle

import pytest

from core.kind_neighbours import rows
from pvc.core.miss import Context, Miss, compare
from pvc.model.body import Verdict
from pvc.providers.base import read
from request_bodies import GUIDE, INTRO, SHAPES, Parts, write

ROWS = [
    (kind, *pair) for kind, old, new in rows() for pair in ((old, new), (new, old)) if old != new
]


def answer(old: str, new: str, shape: str, seconds: float | None = 20) -> Miss:
    a, b = (
        read(write(Parts(system=[INTRO, f"{GUIDE}\n\n{text}\n"]), shape)) for text in (old, new)
    )
    return compare(a, b, Context(shape, "next_turn", seconds, True))


@pytest.mark.parametrize(
    ("shape", "kind", "old", "new"),
    [(shape, *row) for row, shape in zip(ROWS, cycle(SHAPES), strict=False)],
    ids=[f"{kind}-{old[:24]!a}" for kind, old, _ in ROWS],
)
def test_a_neighbour_gets_its_kind(kind: str, old: str, new: str, shape: str) -> None:
    found = answer(old, new, shape)
    assert (found.kind, found.verdict) == (kind, Verdict.MISS), found.evidence


LONG = [
    "Reader " * 4000,
    "Reader: " * 4000,
    "A" * 30_000,
    "a-" * 15_000,
    "読者" * 9000,
    " " * 30_000,
]


@pytest.mark.parametrize("long", LONG, ids=lambda text: ascii(text[:8]))
def test_names_are_looked_for_near_the_place_alone(long: str) -> None:
    assert answer(f"{long} reader: Ada {long}", f"{long} reader: Ben {long}", SHAPES[0]).kind
