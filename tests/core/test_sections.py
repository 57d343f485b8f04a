from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.sections import SectionsError, arrange, split

if TYPE_CHECKING:
    import random

Row = tuple[str, int | None, bool, bool, Any]
ROWS = st.lists(
    st.tuples(
        st.text(min_size=1, max_size=2),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.just(False),
        st.booleans(),
        st.text(max_size=1),
    ),
    max_size=8,
    unique_by=lambda row: row[0],
)


def row(name: str, order: int | None = 0, *, complete: bool = False, dynamic: bool = False) -> Row:
    return name, order, complete, dynamic, ""


def ids(rows: list[Row]) -> list[str]:
    return [row[0] for row in rows]


@given(ROWS, ROWS, st.randoms())
def test_the_order_does_not_hang_on_the_order_of_arrival(
    rows: list[Row], scoped: list[Row], chance: random.Random
) -> None:
    expected = arrange(rows, scoped)
    chance.shuffle(rows)
    chance.shuffle(scoped)
    assert arrange(rows, scoped) == expected
    assert {*ids(expected)} == {*ids(rows), *ids(scoped)}
    assert all(row in expected for row in scoped)


@given(ROWS, st.sets(st.text(min_size=1, max_size=2)))
def test_a_split_loses_nothing_and_keeps_the_order(rows: list[Row], dynamic: set[str]) -> None:
    arranged = arrange(rows)
    stable, moving = split(arranged, dynamic)
    assert [row for row in arranged if row in stable] == stable
    assert [row for row in arranged if row in moving] == moving
    assert len(stable) + len(moving) == len(rows)
    assert not [row for row in stable if row[3] or row[0] in dynamic]


def test_ties_go_by_code_point_and_null_is_last() -> None:
    rows = [row("z"), row("last", None), row("é"), row("B"), row("a"), row("far", 10**9)]
    assert ids(arrange(rows)) == ["B", "a", "z", "é", "far", "last"]


def test_a_complete_row_stands_alone_even_if_it_is_scoped() -> None:
    assert ids(arrange([row("a"), row("b")], [row("b", complete=True)])) == ["b"]
    assert ids(arrange([row("a", complete=True), row("b")], [row("a", 7)])) == ["b", "a"]


@pytest.mark.parametrize(
    ("rows", "scoped", "code"),
    [
        ([row("a"), row("a", 1)], [], "duplicate-id"),
        ([row("a")], [row("a"), row("a")], "duplicate-id"),
        ([row("a", complete=True)], [row("b", complete=True)], "complete-twice"),
    ],
)
def test_what_cannot_stand_together_is_refused(
    rows: list[Row], scoped: list[Row], code: str
) -> None:
    with pytest.raises(SectionsError) as caught:
        arrange(rows, scoped)
    assert caught.value.code == code
