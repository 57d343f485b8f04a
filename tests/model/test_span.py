from __future__ import annotations

import pytest

from pvc.model.span import (
    FromBinding,
    FromSource,
    FromTool,
    Glue,
    Rendered,
    Span,
    lift,
)

A = FromSource("a.md", "a", 0)
JOINT = Glue("joint")


def three() -> Rendered:
    spans = (Span(0, 3, A, "a"), Span(3, 5, JOINT), Span(5, 6, FromSource("b.md", "b", 4), "b"))
    return Rendered(b"one\n\n2", spans, (6,))


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ((), "end at 0 of 4"),
        ((Span(0, 3, A),), "end at 3 of 4"),
        ((Span(0, 3, A), Span(2, 4, A)), "do not tile"),
        ((Span(0, 1, A), Span(2, 4, A)), "do not tile"),
        ((Span(0, 0, A), Span(0, 4, A)), "do not tile"),
        ((Span(0, 5, A),), "end at 5 of 4"),
    ],
)
def test_spans_that_do_not_tile_are_refused(spans: tuple[Span, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rendered(b"four", spans)


@pytest.mark.parametrize("ends", [(5,), (3, 2), (-1,)])
def test_block_ends_rise_within_the_bytes(ends: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="block ends"):
        Rendered(b"four", (Span(0, 4, A),), ends)


def test_every_byte_has_the_span_that_holds_it() -> None:
    rendered = three()
    assert [rendered.spans.index(rendered.span_at(at)) for at in range(6)] == [0, 0, 0, 1, 1, 2]
    for outside in (-1, 6):
        with pytest.raises(IndexError):
            rendered.span_at(outside)


def test_a_section_has_the_range_of_its_spans() -> None:
    assert three().section_range("b") == (5, 6)
    assert three().section_range("c") is None


def test_nothing_rendered_has_no_spans() -> None:
    assert Rendered(b"", ()).spans == ()


def test_lifting_gives_each_kind_of_origin() -> None:
    rendered = lift(
        b"abcd",
        [
            (0, 1, ("source", "p", "s"), 7, "s"),
            (1, 2, ("binding", "n", "/n/0", "p", "9"), 2, "s"),
            (2, 3, ("tool", "t", "/0/name"), 0, ""),
            (3, 4, ("glue", "joint"), 0, ""),
        ],
        (4,),
    )
    assert [span.origin for span in rendered.spans] == [
        FromSource("p", "s", 7),
        FromBinding("n", "/n/0", 2, "p", 9),
        FromTool("t", "/0/name", 0),
        Glue("joint"),
    ]
    with pytest.raises(ValueError, match="no such origin"):
        lift(b"x", [(0, 1, ("moon",), 0, "")], ())
