"""What moves between two prompts, over plain values."""

from __future__ import annotations

import pytest

from pvc.core.compile import compile_pack
from pvc.core.divergence import common_prefix
from pvc.core.impact import (
    placements,
    reordered,
    replay,
    sample_environment,
    section_moves,
    seldom_first,
)
from pvc.core.program import run
from pvc.model.pack import Field, Hole, Layout, Pack, Piece, Section, Text, TextBinding
from pvc.model.span import Plane, Rendered, lift


def pack(*rows: str) -> Pack:
    """Make sections from `name=text`; a `~` in front makes foundation text, `{w}` is a binding."""
    sections = []
    for row in rows:
        name, _, text = row.lstrip("~").partition("=")
        pieces: list[Piece] = []
        for number, part in enumerate(text.split("{w}")):
            pieces += [Hole("w", f"{name}.md", 0)] if number else []
            pieces += [Text(part.encode(), f"{name}.md", 0)] if part else []
        plane = Plane.FOUNDATION if row.startswith("~") else Plane.SURFACE
        sections.append(Section(name, tuple(pieces), plane))
    return Pack(
        "plain", 1, tuple(sections), (TextBinding("w", ("w",)),), (Field("w", "text"),),
        Layout(b"\n\n"),
    )  # fmt: skip


def rendered(made: Pack) -> Rendered:
    return lift(*run(compile_pack(made), sample_environment(made.fields)))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (("a=one", "b=two"), ("a=one", "b=two"), {"a": ("same", 0), "b": ("same", 0)}),
        (("a=one", "b=two"), ("a=one", "b=twX"), {"a": ("same", 0), "b": ("changed", 1)}),
        (("a=one", "b=two"), ("a=onX", "b=two"), {"a": ("changed", 1), "b": ("same", 3)}),
        (("a=one", "b=two"), ("b=two",), {"a": ("removed", 3), "b": ("same", 3)}),
        (("a=one",), ("a=one", "b=two"), {"a": ("same", 0), "b": ("added", 0)}),
        (("a=one", "b=two"), ("b=two", "a=one"), {"a": ("same", 3), "b": ("moved", 3)}),
    ],
)
def test_what_became_of_each_section(
    old: tuple[str, ...], new: tuple[str, ...], expected: dict[str, tuple[str, int]]
) -> None:
    packs = pack(*old), pack(*new)
    before, after = rendered(packs[0]), rendered(packs[1])
    moves = section_moves(before, after, packs, common_prefix(before.data, after.data))
    found = {move.name: (move.change, move.lost_bytes) for move in moves}
    if old[::-1] == new and old != new:  # which of two swapped sections moved is a matter of taste
        assert sorted(change for change, _ in found.values()) == ["moved", "same"]
        assert {name: lost for name, (_, lost) in found.items()} == {"a": 3, "b": 3}
    else:
        assert found == expected


def test_a_later_plane_is_a_cheaper_place_by_prefix() -> None:
    packs = pack("~a=one", "b=two", "c={w} three"), pack("~a=onX", "b=two", "c={w} three")
    old, new = rendered(packs[0]), rendered(packs[1])
    assert old.data == b"one\n\ntwo\n\n{w} three"
    moves, size = section_moves(old, new, packs, 2), len(old.data)
    places = placements(old, packs[0], moves, lambda at: size - at, size - 2)
    found = [(p.plane, p.lost_bytes) for p in places]
    assert found == [(Plane.SURFACE, 6), (Plane.LAUNCH, 9), (Plane.DYNAMIC, 0)]


def test_under_one_mark_no_place_within_the_prompt_is_cheaper() -> None:
    packs = pack("~a=one", "b=two", "c={w} three"), pack("~a=onX", "b=two", "c={w} three")
    old, new = rendered(packs[0]), rendered(packs[1])
    moves, size = section_moves(old, new, packs, 0), len(old.data)
    places = placements(old, packs[0], moves, lambda _: size, size)
    assert [(p.plane, p.lost_bytes) for p in places] == [(Plane.DYNAMIC, 0)]


def test_an_edit_that_loses_nothing_needs_no_other_place() -> None:
    packs = pack("a=one"), pack("a=one", "b=two")
    old, new = rendered(packs[0]), rendered(packs[1])
    moves = section_moves(old, new, packs, len(old.data))
    assert placements(old, packs[0], moves, lambda _: 0, 0) == []


def test_a_replay_names_what_each_step_lost() -> None:
    steps = replay(["v1", "v2", "v3"], [2, 0])
    assert [(step.label, step.lost_bytes) for step in steps] == [("v2", 2), ("v3", 0)]


def test_seldom_changed_sections_come_first_and_planes_keep_their_order() -> None:
    chain = [
        pack("~f=1", "a=1", "b=1", "c=1"),
        pack("~f=2", "a=2", "b=1", "c=1"),
        pack("~f=3", "a=3", "b=1", "c=2"),
    ]
    assert seldom_first(chain) == ("f", "b", "c", "a")
    order = [section.name for section in reordered(chain[-1], ("b", "c")).sections]
    assert order == ["b", "c", "f", "a"]


def test_a_sample_stands_for_every_kind_of_value() -> None:
    fields = (
        Field("t", "text"),
        Field("n", "nullable"),
        Field("l", "list"),
        Field("c", "choice", choices=("x", "y")),
        Field("v", "variant", choices=("p", "q"), tag="kind", variants=((Field("i", "list"),), ())),
        Field("r", "records"),
    )
    assert sample_environment(fields) == {
        "t": "{t}", "n": "{n}", "l": ["{l}"], "c": "x", "v": {"kind": "p", "i": ["{i}"]},
    }  # fmt: skip
