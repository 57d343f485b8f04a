from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.model.pack import (
    Field,
    GuardBinding,
    Hole,
    Layout,
    ListBinding,
    Pack,
    PickBinding,
    Section,
    Text,
    TextBinding,
)
from pvc.model.span import FromSource, Rendered, lift

if TYPE_CHECKING:
    from pvc.model.pack import Binding, Piece

BINDINGS: tuple[Binding, ...] = (
    TextBinding("who", ("who",)),
    ListBinding("names", ("names",), b"+", ordered=False),
    PickBinding("mood", ("mood",), (("glad", "_glad"), ("sad", "_sad"))),
    GuardBinding("crowd", ("names",), "_crowd"),
)
FIELDS = (
    Field("who", "text"),
    Field("names", "list"),
    Field("mood", "choice", choices=("glad", "sad"), required=True),
)


def pieces(text: str, path: str = "p") -> tuple[Piece, ...]:
    """`who={who}` as pieces, split at blanks; every placeholder is one word."""
    found: list[Piece] = []
    at = 0
    for word in text.split(" "):
        name = word.strip("{}")
        hole = word.startswith("{")
        found.append(Hole(name, path, at) if hole else Text(word.encode(), path, at))
        at += len(word) + 1
    return tuple(found)


def pack(*sections: tuple[str, str], layout: Layout | None = None) -> Pack:
    built = tuple(Section(n, pieces(t), fragment=n.startswith("_")) for n, t in sections)
    return Pack("test", 1, built, BINDINGS, FIELDS, layout or Layout(joint=b"|"))


def render(built: Pack, **values: object) -> Rendered:
    return lift(*program.run(compile_pack(built), {"mood": "glad"} | values))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("hi {who} !", b"hiAda!"),
        ("{names}", b"b+a"),
        ("{mood}", b"yay"),
        ("{crowd}", b"b+aallAda"),
        ("{nobody} x", b"x"),
    ],
)
def test_each_binding_fills_its_placeholder(template: str, expected: bytes) -> None:
    built = pack(("s", template), ("_glad", "yay"), ("_crowd", "{names} all {who}"))
    assert render(built, who="Ada", names=["b", "a"]).data == expected


def test_a_fragment_reaches_no_fragment() -> None:
    built = pack(("s", "{mood}"), ("_glad", "< {mood} {crowd} >"), ("_crowd", "x"))
    assert render(built, names=["a"]).data == b"<>"


def test_a_fragment_that_is_missing_is_empty() -> None:
    assert render(pack(("s", "< {mood} >"))).data == b"<>"


def test_bytes_of_a_fragment_belong_to_the_section_that_shows_them() -> None:
    (span,) = render(pack(("s", "{mood}"), ("_glad", "yay"))).spans
    assert span.section == "s"
    assert span.origin == FromSource("p", "_glad", 0)


@pytest.mark.parametrize(
    ("layout", "parts", "expected"),
    [
        (Layout(joint=b"|"), ["a", "", "b"], b"a|b"),
        (Layout(joint=b"|"), ["a\n", "\nb"], b"a\n|\nb"),
        (Layout(joint=b"|", trim=True), ["\ta\n", "\u2028", "b"], b"a|b"),
        (Layout(joint=b"\n\n", edges=True), ["\na\r\n\n", "\n", "\nb\n"], b"\na\n\nb\n"),
        (Layout(joint=b"\n\n", edges=True), ["\n\r\n"], b"\n\r\n"),
        (Layout(joint=b"\n\n", edges=True), ["\n", "\n\n"], b"\n"),
        (Layout(joint=b"\n\n", tidy=True), ["a\t\n\n\n\nb", "c\n"], b"a\n\nb\n\nc"),
    ],
)
def test_a_layout_says_how_sections_come_together(
    layout: Layout, parts: list[str], expected: bytes
) -> None:
    sections = [(f"s{number}", part) for number, part in enumerate(parts)]
    assert render(pack(*sections, layout=layout)).data == expected


def test_a_text_that_lost_bytes_inside_is_two_spans() -> None:
    section = Section("s", (Text(b"ab", "p", 0), Text(b"cd", "p", 5), Text(b"ef", "p", 7)))
    rendered = render(Pack("test", 1, (section,), (), FIELDS, Layout(joint=b"|")))
    assert [(s.start, s.end, s.origin) for s in rendered.spans] == [
        (0, 2, FromSource("p", "s", 0)),
        (2, 6, FromSource("p", "s", 5)),
    ]


def test_the_program_says_form_rule_and_fields() -> None:
    form, rule, fields, blocks = compile_pack(pack(("s", "x")))
    assert (form, rule, len(blocks)) == ("test", 1, 1)
    assert fields[2] == ("mood", "choice", True, ("glad", "sad"), "", ())


def test_names_that_repeat_make_no_pack() -> None:
    with pytest.raises(ValueError, match="repeat"):
        pack(("s", "x"), ("s", "y"))
