"""Front matter: what is read line by line means the same to the library."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pvc.packs
from pvc.dialects.clio_yaml import YamlError, parse_yaml, plain_lines, whole_document

WORDS = st.sampled_from(
    [
        "a",
        "id",
        "true",
        "null",
        "~",
        "1",
        "0x1f",
        "1.5",
        ".inf",
        "yes",
        "2026-01-02",
        "x y",
        "a, b.",
    ]
)
SIGNS = st.text("ab01 \"\\'#:,.-?!()[]{}&*|>%@`~é", max_size=8)
VALUES = WORDS | WORDS.map('"{}"'.format) | SIGNS
KEYS = WORDS | st.text("ab:- ", max_size=3)
LINES = st.builds("{}{}{}".format, KEYS, st.sampled_from([": ", ":"]), VALUES)
OTHERS = st.sampled_from(["", "---", "...", " a: b", "# x"])


@given(st.lists(LINES | OTHERS, max_size=4).map("\n".join))
def test_lines_that_are_read_here_mean_the_same_to_the_library(text: str) -> None:
    found = plain_lines(text)
    if found:
        assert found == whole_document(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("id: words.tools\nversion: 1\n", {"id": "words.tools", "version": 1}),
        ('description: "Tools: none, yet."', {"description": "Tools: none, yet."}),
        ("a: yes\nb: null\nc: True\nd: 1.50", {"a": "yes", "b": None, "c": True, "d": 1.5}),
        ('a: ""\nb: "1"', {"a": "", "b": "1"}),
    ],
)
def test_keys_with_words_numbers_and_quoted_texts_need_no_library(text: str, value: object) -> None:
    assert plain_lines(text) == parse_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("a: b: c", "a: 'b'", 'a: "\\n"', "a: b # c", "a: [b]", "a:", "a: b ", "é: b"),
        *("a: b\n  c", "a: b\n\nc: d", "", "- a", "a: b\r", 'a: "b" c', "a: -", "a: é"),
    ],
)
def test_anything_else_is_left_to_the_library(text: str) -> None:
    assert not plain_lines(text)


def test_a_key_that_stands_twice_is_refused_with_its_line() -> None:
    with pytest.raises(YamlError, match="twice") as caught:
        parse_yaml("a: b\na: c")
    assert caught.value.line == 2


def test_no_pack_that_ships_needs_the_library() -> None:
    paths = [*Path(pvc.packs.__file__).parent.glob("clio/*.md")]
    heads = [path.read_text(encoding="utf-8").split("---\n")[1] for path in paths]
    assert heads
    assert all(map(plain_lines, heads))
