"""A body read element by element is the body read in one go; what two share is the same object."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodies import LISTS, VALUES, pairs
from pvc.core import json_text
from pvc.core.json_split import split

SHAPE = "anthropic.messages"


@given(pairs(SHAPE))
def test_a_text_read_by_elements_is_the_text_read_at_once(texts: tuple[bytes, bytes]) -> None:
    first = split(texts[0].decode(), LISTS)
    assert first is not None
    for text, like in ((texts[0], None), (texts[1], first)):
        found = split(text.decode(), LISTS, like)
        duplicates: list[str] = []
        long: list[str] = []
        value = json_text.parse(text.decode(), duplicates=duplicates, long_integers=long)
        assert found is not None
        assert json_text.dump(found.value) == json_text.dump(value)
        assert (found.duplicates, sorted(found.long_integers)) == (duplicates, sorted(long))


@given(st.text(alphabet='{}[]",:\\ \n1ea"tolsmg', max_size=30))
def test_what_is_read_by_elements_is_json(text: str) -> None:
    found = split(text, LISTS)
    if found is not None:
        assert json_text.dump(found.value) == json_text.dump(json_text.parse(text, duplicates=[]))


def test_elements_that_stand_in_both_are_not_read_again() -> None:
    a, b = (json.dumps({"messages": m}) for m in ([{"x": 1}, {"y": 2}, {"z": 3}], [{"y": 2}, {}]))
    first = split(a, LISTS)
    second = split(b, LISTS, first)
    assert first is not None
    assert second is not None
    assert second.lists["messages"].values[0] is first.lists["messages"].values[1]


def test_a_run_goes_on_to_where_the_texts_differ_and_past_what_was_put_in() -> None:
    items = [{"n": i, "text": "x" * i} for i in range(300)]
    later = [*items[:100], {"new": 1}, *items[101:], {"last": 1}]
    first = split(json.dumps({"messages": items}), LISTS)
    second = split(json.dumps({"messages": later}), LISTS, first)
    assert first is not None
    assert second is not None
    theirs = first.lists["messages"].values
    shared = [x is y for x, y in zip(theirs, second.lists["messages"].values, strict=False)]
    assert [i for i, is_shared in enumerate(shared) if not is_shared] == [100]


def test_a_number_that_goes_on_ends_no_run() -> None:
    first = split('{"input": [{"a": 1}, 12]}', LISTS)
    second = split('{"input": [{"a": 1}, 123]}', LISTS, first)
    assert second is not None
    assert second.value == {"input": [{"a": "1"}, "123"]}


def test_what_must_be_noted_is_noted_on_both_sides() -> None:
    text = (
        '{"messages": [{"a": 1}, {"n": 12345678901234567890}, {"k": 1, "k": 2}, {"h": "\\ud83d"}]}'
    )
    first = split(text, LISTS)
    second = split(text, LISTS, first)
    assert first is not None
    assert second is not None
    assert first.lists["messages"].noted == [1, 2, 3]
    assert (second.duplicates, second.long_integers, second.halves) == (
        ["k"],
        ["12345678901234567890"],
        True,
    )
    assert second.lists["messages"].values[0] is first.lists["messages"].values[0]


NOT_READ: dict[str, str] = {
    "no object": "[]",
    "cut off": '{"messages": [{"a": 1}',
    "a comma too many": '{"messages": [1,]}',
    "a comma too few": '{"messages": [1 2]}',
    "text after it": "{} {}",
    "a key twice at the top": '{"a": 1, "a": 2}',
    "a byte-order mark": "\ufeff{}",
    "a constant": '{"a": NaN}',
    "too deep": '{"messages": [' + "[" * 199 + "]" * 199 + "]}",
    "long and too deep": '{"messages": [' + "[" * 199 + '"' + "x" * 5000 + '"' + "]" * 199 + "]}",
}


@pytest.mark.parametrize("text", NOT_READ.values(), ids=NOT_READ)
def test_what_needs_words_is_left_to_the_whole_reader(text: str) -> None:
    assert split(text, LISTS) is None


@given(VALUES)
def test_dump_and_parse_agree(value: object) -> None:
    text = json.dumps(value)
    assert json.loads(json_text.dump(json_text.parse(text))) == json.loads(text)
