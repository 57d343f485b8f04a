from __future__ import annotations

from typing import Any

import pytest

from pvc.dialects.raku_context import RakuError, RunContext, canonical


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"\\\n\x01', '"\\"\\\\\\n\\u0001"'),
        ("\U0001f6a2", '"\\uD83D\\uDEA2"'),
        ("é\u2028\x7f", '"é\u2028\x7f"'),
        ({"b": None, "a": [True, False, 1]}, '{"a":[true,false,1],"b":null}'),
        ({"e\u0301": "e\u0301", "f": 1}, '{"f":1,"é":"é"}'),
        ([-0.0, 0, 0.5, 1e21], "[0.0,0,0.5,1e+21]"),
    ],
)
def test_canonical_json_of_the_form(value: Any, text: str) -> None:
    assert canonical(value) == text


def test_a_blank_section_is_in_the_digest_and_in_no_message() -> None:
    context = RunContext.of(head=[["a", " \n"]], tail=[["b", "\n"]])
    assert (context.head_message(), context.tail_message(["x"])) == (None, None)
    assert context.digest != RunContext().digest
    assert context.is_empty  # nothing of it would be sent
    assert not RunContext.of([["date", ""]]).is_empty


def test_a_later_run_names_the_run_that_wrote_a_text_first() -> None:
    first = RunContext.of([["date", "2031-02-03"]], [["who", "A."]], [["note", "N."]])
    record = first.to_record("r1", {})
    assert [row.get("text") for row in record["sections"]] == ["A.", "N."]  # type: ignore[attr-defined]  # a list of objects
    earlier = {pair.digest: "r1" for pair in first.sections}
    later = RunContext.of([["date", "2031-02-04"]], [["who", "A."]], [["note", "M."]])
    assert later.to_record("r2", earlier)["sections"] == [
        {"name": "who", "digest": first.head[0].digest, "run": "r1"},
        {"name": "note", "digest": later.tail[0].digest, "text": "M."},
    ]


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"a": "1"}, "unordered-facts"),
        ([["a"]], "unordered-facts"),
        ([[" ", "1"]], "blank-name"),
        ([["a", 1]], "value-not-text"),
    ],
)
def test_what_is_no_ordered_pair_of_texts_is_refused(facts: Any, code: str) -> None:
    with pytest.raises(RakuError) as caught:
        RunContext.of(facts)
    assert caught.value.error_code == code
