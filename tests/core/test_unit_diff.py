"""Units of two prompts, paired: added, removed, changed, moved, the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.unit_diff import Unit, diff_units


def units(words: str) -> list[Unit]:
    """Read `name=text` pairs; a bare name is its own text."""
    pairs = [word.partition("=") for word in words.split()]
    return [Unit("system", name, (text or name).encode()) for name, _, text in pairs]


CASES: dict[str, tuple[str, str, str]] = {
    "the same": ("a b", "a b", "a:same b:same"),
    "changed": ("a b=one", "a b=two", "a:same b:changed"),
    "added in the middle": ("a c", "a b c", "a:same b:added c:same"),
    "removed where it stood": ("a b c", "a c", "a:same b:removed c:same"),
    "one of three moved": ("a b c", "c a b", "c:moved a:same b:same"),
    "moved and changed is changed": ("a b=one", "b=two a", "b:changed a:same"),
    "two of one name go by order": ("a=1 a=2", "a=1 a=3", "a:same a:changed"),
    "all gone": ("a b", "", "a:removed b:removed"),
    "all new": ("", "a", "a:added"),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=CASES)
def test_units_are_paired(old: str, new: str, expected: str) -> None:
    found = [f"{d.unit.name}:{d.status}" for d in diff_units(units(old), units(new))]
    assert found == expected.split()


LISTS = st.lists(
    st.builds(Unit, st.just("system"), st.sampled_from("abc"), st.binary(max_size=9)), max_size=6
)


@given(LISTS, LISTS)
def test_every_unit_of_both_sides_stands_once(old: list[Unit], new: list[Unit]) -> None:
    found = diff_units(old, new)
    assert [d.new for d in found if d.new] == new
    assert sorted(map(id, old)) == sorted(id(d.old) for d in found if d.old)


@given(LISTS, LISTS)
def test_what_came_and_went_is_the_difference_in_size(old: list[Unit], new: list[Unit]) -> None:
    found = diff_units(old, new)
    gained = sum(d.added_bytes - d.removed_bytes for d in found)
    assert gained == sum(len(u.data) for u in new) - sum(len(u.data) for u in old)
