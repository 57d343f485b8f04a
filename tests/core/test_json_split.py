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
    assert second.items["messages"][0].value is first.items["messages"][1].value


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
