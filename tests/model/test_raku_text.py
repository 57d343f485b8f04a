from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.json_text import Number
from pvc.errors import UsageError
from pvc.model.raku_text import composed, is_blank, text_of, trimmed, trimmed_end

JAMO = "\u1112\u1161\u11ab"
TEXTS = st.text(st.sampled_from(["a", " ", "e", "\u0301", "\u00e9", "\u212b", "\u0f71", *JAMO]))


@given(TEXTS)
def test_composed_runs_are_the_composed_text_and_unchanged_ones_are_its_own(text: str) -> None:
    runs = [*composed(text)]
    assert "".join(part for part, _, _ in runs) == normalize("NFC", text)
    assert all(text.startswith(part, start) for part, start, changed in runs if not changed)


def test_what_composing_leaves_keeps_its_place() -> None:
    assert [*composed("cafe\u0301 x")] == [("caf", 0, False), ("é", 3, True), (" x", 5, False)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" a \n", "a"),
        ("\u3000a\xa0\x85", "a"),
        ("a\x1c", "a\x1c"),
        ("\ufeffa\u200b", "\ufeffa\u200b"),
        ("a \u0301", "a"),
        (" \u0301a", "a"),
        ("a\u0301 ", "a\u0301"),
        ("\u0301", "\u0301"),
        (" \n", ""),
    ],
)
def test_white_space_is_unicodes_and_takes_its_marks_along(text: str, kept: str) -> None:
    start, end = trimmed(text)
    assert text[start:end] == kept
    assert is_blank(text) == (kept == "")
    assert trimmed_end(text) == end


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Number("2.50"), "2.5"),
        (Number("2.00"), "2"),
        (Number("-0"), "0"),
        (Number("12345678901234567890"), "12345678901234567890"),
        (Number("1e3"), "1000"),
        (0, "0"),
        (False, "False"),
        ([True, "b c", Number("1")], "True b c 1"),
        ("e\u0301", "é"),
    ],
)
def test_a_value_as_text(value: Any, text: str) -> None:
    assert text_of(value, "/x") == text


@pytest.mark.parametrize("value", [{}, [{"a": 1}], "\ud83d"])
def test_what_has_no_text_is_refused_with_its_pointer(value: Any) -> None:
    with pytest.raises(UsageError, match="/x"):
        text_of(value, "/x")
