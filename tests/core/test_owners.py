"""The table of owners: what is put in is what spans are answered with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.owners import NOBODY, Table, dump
from pvc.errors import CorruptError

VERSIONS = [("trees", "agent", n, str(n) * 40, "Ada <a@x>", 10 + n, f"Reason {n}") for n in (1, 2)]
SOURCES = [
    ("a" * 40, "p/a", "Ada <a@x>", 5, "One", ""),
    ("b" * 40, "p/a", "Bob <b@x>", 6, "Two", "house@3"),
]
# a: bytes 0 to 10 of revision 0, then 4 new ones of revision 1
FILES = [("a", "c" * 40, [(10, 0, 0), (14, 1, 10)]), ("empty", "d" * 40, [])]
REVISIONS = [(0, "a", "e" * 40, [(4, 0), (12, 1)]), (1, "a", "c" * 40, [])]
BODY = dump("f" * 40, "plain/1", FILES, REVISIONS, VERSIONS, SOURCES)


def test_a_range_is_cut_by_versions_and_then_by_commits() -> None:
    table = Table(BODY)
    assert list(table.parts("a", 0, 14)) == [(0, 4, 0, 0), (4, 10, 0, 1), (10, 14, 1, NOBODY)]
    assert list(table.parts("a", 3, 5)) == [(3, 4, 0, 0), (4, 5, 0, 1)]
    assert [table.version(n) for n in (0, 1)] == VERSIONS
    assert [table.source(n) for n in (0, 1)] == SOURCES
    assert (table.commit, table.rule, table.blob("a")) == ("f" * 40, "plain/1", "c" * 40)


def test_what_a_revision_knows_can_be_read_back() -> None:
    rows = list(Table(BODY).revisions())
    assert rows == [
        (VERSIONS[0][3], "a", "e" * 40, [(4, 0), (12, 1)]),
        (VERSIONS[1][3], "a", "c" * 40, []),
    ]


def test_spans_become_runs_with_their_owners() -> None:
    spans = [
        (0, 8, ("source", "a", "A"), 2, "s"),
        (8, 9, ("glue", "joint"), 0, ""),
        (9, 12, ("binding", "who", "/who", "a", "11"), 0, "s"),
        (12, 14, ("binding", "bare", "/bare", "", "0"), 0, "bare"),
        (14, 16, ("unversioned",), 0, ""),
    ]
    runs = Table(BODY).runs(spans, 1, 15)
    assert runs == [
        (1, 2, ("source", "a", "A"), 3, "s", "c" * 40, 0, 0),
        (2, 8, ("source", "a", "A"), 4, "s", "c" * 40, 0, 1),
        (8, 9, ("glue", "plain/1/joint"), 0, "", "", NOBODY, NOBODY),
        (9, 12, ("binding", "who", "/who", "a", "11"), 0, "s", "", 1, NOBODY),
        (12, 14, ("binding", "bare", "/bare", "", "0"), 0, "bare", "", NOBODY, NOBODY),
        (14, 15, ("unversioned",), 0, "", "", NOBODY, NOBODY),
    ]


def test_a_zero_byte_in_a_message_does_not_move_the_texts_behind_it() -> None:
    odd = [(*VERSIONS[0][:6], "a\0b"), VERSIONS[1]]
    table = Table(dump("f" * 40, "plain/1", FILES, REVISIONS, odd, SOURCES))
    assert table.version(0)[6] == "a\ufffdb"
    assert table.source(1) == SOURCES[1]


@given(st.integers(0, len(BODY) - 1))
def test_a_table_that_is_cut_short_is_refused_or_lacks_only_text(size: int) -> None:
    try:
        table = Table(BODY[:size])
    except CorruptError:
        return
    assert size >= len(BODY) - len("house@3")
    assert table.version(1) == VERSIONS[1]


@pytest.mark.parametrize("at", [0, 4], ids=["byte order", "algorithm"])
def test_a_table_of_another_kind_is_refused(at: int) -> None:
    other = BODY[:at] + b"\x09" + BODY[at + 1 :]
    with pytest.raises(CorruptError):
        Table(other)
