"""JSON is read without loss and refused with its place."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core import json_text
from pvc.core.json_text import Number, Value, canonical, dump, parse
from pvc.errors import DecodeError

JSON = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
).filter(lambda value: "Infinity" not in json.dumps(value))


@given(value=JSON, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_what_the_standard_library_writes_comes_back_compact(
    *, value: Value, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert dump(parse(text)) == compact


@given(JSON)
def test_the_python_scanner_reads_the_same(value: Value) -> None:
    text = json.dumps(value)
    settings = json_text._Settings(json_text._unique)
    assert json_text._python_scanner(settings)(text, 0)[0] == parse(text)


@pytest.mark.parametrize("digits", ["1.0", "1e3", "-0", "1E+2", "98765432109876543210", "0.10"])
def test_a_number_keeps_its_digits(digits: str) -> None:
    value = parse(f"[{digits}]")
    assert value == [digits]
    assert isinstance(value, list)
    assert type(value[0]) is Number
    assert dump(value) == f"[{digits}]"


def test_only_quote_backslash_and_control_characters_are_escaped() -> None:
    text = '"\\" \\\\ \\/ \\b\\t\\n\\f\\r \\u0001\\u001f \\u007f \\u00e9 \\u2028"'
    assert dump(parse(text)) == '"\\" \\\\ / \\b\\t\\n\\f\\r \\u0001\\u001f \x7f é \u2028"'


BAD = {
    "cut off": ('{"a": 1', "e.json:1:8: the text ends before the JSON value does"),
    "nothing": (" \n ", "e.json:2:2: the text ends before the JSON value does"),
    "no closing quote": ('{"a": "b', "e.json:1:7: a string does not end"),
    "single quotes": ("{'a': 1}", "e.json:1:2: no JSON: unexpected `'`"),
    "repeated key": ('{"a": 1,\n "é": {"b": 2, "b": 3}}', "e.json:2:17: key `b` stands twice"),
    "repeated by escape": ('{"a":"x:", "\\u0061": 1}', "e.json:1:12: key `a` stands twice"),
    "not a number": ('["NaN", NaN]', "e.json:1:9: `NaN` is no JSON number"),
    "infinity": ("[-Infinity]", "e.json:1:3: `Infinity` is no JSON number"),
    "trailing": ("{} {}", "e.json:1:4: more text after the JSON value: `{}`"),
    "byte-order mark": ("\ufeff{}", "e.json:1:1: a byte-order mark stands before"),
    "raw newline": ('"a\nb"', "e.json:1:3: a raw control character U+000A stands in a string"),
    "bad escape": ('"\\q"', "e.json:1:2: no such escape in a string"),
    "deep": ("[" * 201 + "]" * 201, "e.json: nested deeper than 200 levels"),
    "very deep": ("[" * 500_000, "e.json: nested deeper than 200 levels"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_bad_text_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        parse(text, at="e.json")
    assert str(caught.value).startswith(said)
    assert caught.value.hint


def test_two_hundred_levels_are_read() -> None:
    text = "[" * 200 + "]" * 200
    assert dump(parse(text)) == text


def test_braces_in_strings_are_no_depth() -> None:
    assert parse('["' + "{" * 999 + '"]') == ["{" * 999]


def test_repeated_keys_are_collected_when_asked_for() -> None:
    names: list[str] = []
    assert parse('{"a":1,"b":{"c":2,"c":3,"c":4},"a":5}', duplicates=names) == {
        "a": "5",
        "b": {"c": "4"},
    }
    assert names == ["c", "a"]


def test_a_constant_is_found_past_repeated_keys_that_are_allowed() -> None:
    with pytest.raises(DecodeError, match="1:18: `NaN`"):
        parse('{"a":1,"a":2,"b":NaN}', duplicates=[])


@given(JSON)
def test_canonical_text_forgets_key_order_alone(value: Value) -> None:
    ordered = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert canonical(parse(json.dumps(value))) == ordered.encode()


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a/b":["x","\\ud83d"]}', "/a~1b/1"),
        ('{"k":{"\\udc00":1}}', "/k/\\udc00"),
        ('"\\ud800"', "/"),
    ],
)
def test_a_half_surrogate_is_read_but_has_no_canonical_bytes(text: str, pointer: str) -> None:
    value = parse(text)
    with pytest.raises(DecodeError, match="half of a surrogate pair") as caught:
        canonical(value)
    assert caught.value.at == pointer


def test_the_launch_path_loads_no_library_for_it() -> None:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; before = set(sys.modules)\n"
        "from pvc.core import json_text, stream\n"
        "tools = stream.as_tools(json_text.parse('[]'), stream.CHAT)\n"
        "stream.head(tools, [b'x'], stream.CHAT)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = [sys.executable, "-I", "-c", code]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    ours = ["pvc", "pvc.core", "pvc.core.json_text", "pvc.core.stream", "pvc.errors"]
    assert loaded == ["_json", *ours]


def test_a_whole_number_from_python_is_written_in_decimal() -> None:
    value: Value = json.loads('{"order": -25, "flag": true}')
    assert canonical(value) == b'{"flag":true,"order":-25}'
