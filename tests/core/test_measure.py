"""What is measured is as long as what is written; `tests/providers` holds whole parts to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodies import VALUES
from pvc.core.divergence import same
from pvc.core.json_text import Value, dump, parse
from pvc.core.measure import value_size
from pvc.core.stream import value_bytes

LONG = st.builds(
    lambda text, times: text * times,
    st.text(alphabet='ab "\\\n\t\r\b\f\0\x1f\x7f/üß漢🦊\ud83d', min_size=1, max_size=9),
    st.integers(1, 300),
)


OBJECTS = st.dictionaries(st.text(max_size=4), LONG | VALUES, max_size=4)


def read(value: object) -> Value:
    return parse(json.dumps(value))


@given((VALUES | LONG | OBJECTS).map(read))
def test_a_value_is_as_long_as_it_is_written(value: Value) -> None:
    assert value_size(value) == len(value_bytes(value)) + 1


@given(VALUES.map(read), VALUES.map(read))
def test_values_are_the_same_where_their_text_is(one: Value, other: Value) -> None:
    assert same(one, other) == (dump(one) == dump(other))


@pytest.mark.parametrize(
    ("one", "other"), [({"a": 1, "b": 2}, {"b": 2, "a": 1}), (["1"], [1]), ([1], [True])]
)
def test_the_order_of_keys_and_the_type_of_a_value_count(one: object, other: object) -> None:
    assert not same(read(one), read(other))
