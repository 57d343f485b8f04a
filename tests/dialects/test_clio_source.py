from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.dialects.clio_js import collated
from pvc.dialects.clio_source import FragmentError, load, read_fragment
from pvc.dialects.clio_yaml import YamlError, parse_yaml
from pvc.model.source import Source

FRONT = b"---\nid: a.b\nversion: 1\ndescription: d\n---\n"


def read(data: bytes) -> str:
    return read_fragment(Source("one.md", data)).body


@given(st.binary(max_size=60))
def test_a_body_is_the_rest_of_the_file_byte_for_byte(body: bytes) -> None:
    fragment = read_fragment(Source("one.md", FRONT + body))
    assert fragment.body == body.decode(errors="replace")
    assert fragment.offset == len(FRONT)


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_reading_is_total(front: bytes, body: bytes) -> None:
    with suppress(FragmentError):
        read(b"---\n" + front + b"\n---\n" + body)


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (FRONT.replace(b"\n", b"\r\n") + b"x\r\n", "x\r\n"),
        (FRONT[:-1], ""),
        (FRONT[:-1] + b"glued\n", "glued\n"),
        (FRONT + b"\n---\ny", "\n---\ny"),
        (FRONT[:-1] + b"\r\nx", "x"),
    ],
)
def test_fences(data: bytes, body: str) -> None:
    assert read(data) == body


@pytest.mark.parametrize(
    ("front", "code", "at"),
    [
        ("id: a\nversion: 1\ndescription: d", "id", "one.md"),
        ("id: a.b\nversion: true\ndescription: d", "version", "one.md"),
        ("id: a.b\nversion: 1\ndescription: '\u00a0'", "description", "one.md"),
        ("id: a.b\nversion: 1\ndescription: d\ndynamic: yes", "dynamic", "one.md"),
        ("id: a.b\nversion: 1\nversion: 1", "frontmatter-yaml", "one.md:4"),
        ("id: &x a.b\nversion: 1", "frontmatter-yaml", "one.md:2"),
        ("id: !!str a.b", "frontmatter-yaml", "one.md:2"),
        ("a: 1\n...\nb: 2", "frontmatter-yaml", "one.md:4"),
        ("- a", "frontmatter-not-object", "one.md"),
    ],
)
def test_a_fault_names_its_file(front: str, code: str, at: str) -> None:
    with pytest.raises(FragmentError) as raised:
        read(f"---\n{front}\n---\nbody".encode())
    assert (raised.value.error_code, raised.value.at) == (code, at)


def test_one_is_a_number_however_it_is_written() -> None:
    for one in ("1", "1.0", "01", "+1", "0x1", "0o1", "1e0"):
        assert read(b"---\nid: a.b\nversion: %s\ndescription: d\n---\nx" % one.encode()) == "x"


def test_of_two_fragments_with_one_id_the_first_in_collation_is_named() -> None:
    files = [("a-b.md", FRONT), ("a.md", FRONT), ("a_b.md", FRONT)]
    with pytest.raises(
        FragmentError, match=r"a-b.md: fragment id .a.b. stands in .a_b.md. too"
    ) as e:
        load((path, Source(path, data)) for path, data in reversed(files[::2]))
    assert e.value.report == 'fragment-loader: duplicate fragment id "a.b" in a_b.md and a-b.md'
    assert [
        f.path for f in load([("x.MD", Source("x.MD", b"")), ("a.md", Source("a", FRONT))])
    ] == ["a.md"]


# The order of the JavaScript runtime itself, asked once for these.
COLLATED = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBzZ"


def test_paths_sort_by_the_root_collation() -> None:
    assert "".join(collated(reversed(COLLATED))) == COLLATED
    words = ["a", "á", "a b", "a_b", "a-b", "b", "d", "é", "e.", "e/", "e1", "o", "z", "Z"]
    assert collated(reversed(words)) == words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("yes", "yes"),
        ("2026-11-30", "2026-11-30"),
        ("1:30", "1:30"),
        ("0x1f", 31),
        ("1_000", "1_000"),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-.inf", -math.inf),
        ("NULL", None),
        ("'null'", "null"),
        ("[1, {a: TRUE}]", [1, {"a": True}]),
        ("a: >-\n  x\n  y\nb: |\n  z\n", {"a": "x y", "b": "z\n"}),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    assert parse_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\na: 2", "stands twice"),
        ("a: &x 1\nb: *x", "anchors"),
        ("a: !t 1", "tags"),
        ("? [a]\n: 1", "scalar"),
        ("a: [", "expected"),
        ("\x07", "does not allow"),
        ("[" * 500, "nested too deep"),
        ("[" * 30 + "]" * 30, "nested too deep"),
    ],
)
def test_what_two_readers_would_read_differently_is_refused(text: str, reason: str) -> None:
    with pytest.raises(YamlError, match=reason):
        parse_yaml(text)
