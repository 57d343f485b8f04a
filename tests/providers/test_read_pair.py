"""Two bodies read together are the two bodies read apart, and give the same answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodies import BODIES, pairs
from pvc.core.miss import Context, compare
from pvc.errors import DecodeError
from pvc.providers.base import read, read_pair
from request_bodies import SHAPES, Parts, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.model.body import Body


def read_apart(a_json: bytes, b_json: bytes, shapes: tuple[str, str]) -> tuple[Body, Body]:
    return read(a_json, shapes[0]), read(b_json, shapes[1])


def contents(
    reader: Callable[..., tuple[Body, Body]], a_json: bytes, b_json: bytes, shape: str
) -> object:
    """Give all that a reader makes of two bodies, or what it says against them."""
    try:
        bodies = reader(a_json, b_json, (shape, shape))
    except DecodeError as error:
        return str(error)
    return [
        (list(b.leaves), b.element_ends, b.markers, b.settings, b.notes, len(b)) for b in bodies
    ]


@pytest.mark.parametrize("shape", SHAPES)
@given(st.data())
def test_a_pair_is_read_as_each_alone(shape: str, data: st.DataObject) -> None:
    a_json, b_json = data.draw(pairs(shape))
    assert contents(read_pair, a_json, b_json, shape) == contents(read_apart, a_json, b_json, shape)


@pytest.mark.parametrize("shape", SHAPES)
@given(st.data())
def test_a_pair_gets_the_answer_that_bodies_read_apart_get(shape: str, data: st.DataObject) -> None:
    a_json, b_json = data.draw(pairs(shape))
    try:
        apart = read(a_json, shape), read(b_json, shape)
    except DecodeError:
        return
    context = Context(
        relation=data.draw(st.sampled_from(["next_turn", "new_session"])),
        seconds_between=data.draw(st.sampled_from([None, 10.0, 9999.0])),
        same_account=data.draw(st.sampled_from([None, True])),
    )
    together = read_pair(a_json, b_json, (shape, shape))
    assert compare(*together, context) == compare(*apart, context)


@pytest.mark.parametrize("shape", SHAPES)
@given(st.data())
def test_a_part_is_as_long_as_it_was_measured(shape: str, data: st.DataObject) -> None:
    try:
        body = read(json.dumps(data.draw(BODIES[shape])).encode(), shape)
    except DecodeError:
        return
    for part in body.parts:
        lead, *groups, tail = (sum(len(leaf.data) + 1 for leaf in g) for g in part.groups)
        assert (lead, tuple(groups), tail) == part.sizes
        assert len(groups) == part.count
    assert len(body.stream()) == len(body)


@pytest.mark.parametrize("shape", SHAPES)
def test_parts_with_the_same_text_are_shared(shape: str) -> None:
    a, b = Parts(), Parts()
    b.turns[-1] = ("user", "Mark the first one instead.")
    first, second = read_pair(write(a, shape), write(b, shape), (shape, shape))
    shared = [x is y for x, y in zip(first.parts, second.parts, strict=True)]
    assert shared == [True] * (len(shared) - 1) + [False]
