"""Tombstones as bytes and as values, and whom they cover."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.errors import CorruptError
from pvc.model.digest import Digest
from pvc.model.tombstone import Tombstone
from pvc.store.tombstones import MOST_TABLES, decode, encode, segments_of

pytestmark = pytest.mark.usefixtures("git_format")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DIGESTS = st.binary(max_size=3).map(Digest.of)
TIMES = st.integers(0, 4 * 10**15)
WRITER = "0" * 32
BY_DIGEST = st.builds(
    Tombstone,
    time=TIMES,
    writer=st.just(WRITER),
    who=TEXTS,
    reason=TEXTS,
    digest=DIGESTS,
    pins=st.lists(DIGESTS, max_size=3).map(tuple),
)
BY_TIME = st.builds(
    Tombstone,
    time=TIMES,
    writer=st.just(WRITER),
    who=TEXTS,
    reason=TEXTS,
    before=TIMES,
    of=st.sampled_from(("", WRITER)),
)


@given(st.lists(BY_DIGEST | BY_TIME, min_size=1, max_size=4))
def test_tombstones_that_were_written_are_read(many: list[Tombstone]) -> None:
    data = encode(many)
    assert decode(data) == tuple(many)
    assert len(tomllib.loads(data.decode())["forgotten"]) == len(many)


ONE = Tombstone(0, WRITER, "Ada <ada@example.org>", "asked", Digest.of(b"x"), (Digest.of(b"p"),))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[[forgotten]]\n\n",
        encode([ONE]) + b"\n",
        encode([ONE]).replace(b"b3:", b"b4:", 1),
        encode([ONE]).replace(b"format = 1", b"format = 2"),
        encode([ONE]).replace(b"reason", b"cause"),
        encode([ONE]).replace(b'time = "1970-01-01T', b'time = "1970-01-01 '),
        b"\xff",
    ],
    ids=str,
)
def test_what_is_no_tombstone_is_damage(data: bytes) -> None:
    with pytest.raises(CorruptError):
        decode(data)


def test_a_segment_holds_a_bounded_number() -> None:
    many = [ONE] * (MOST_TABLES + 1)
    assert [len(decode(data)) for data in segments_of(many)] == [MOST_TABLES, 1]


OTHER = "1" * 32


@pytest.mark.parametrize(
    ("tombstone", "digest", "receipt", "time", "writer", "covered"),
    [
        (ONE, b"x", b"p", 5, WRITER, True),
        (ONE, b"x", b"q", 5, WRITER, False),
        (ONE, b"y", b"p", 5, WRITER, False),
        (Tombstone(9, WRITER, "", "", before=6), b"y", b"q", 5, OTHER, True),
        (Tombstone(9, WRITER, "", "", before=5), b"y", b"q", 5, OTHER, False),
        (Tombstone(9, WRITER, "", "", before=6, of=WRITER), b"y", b"q", 5, OTHER, False),
        (Tombstone(9, WRITER, "", "", before=6, of=WRITER), b"y", b"q", 5, WRITER, True),
    ],
)
def test_whom_a_tombstone_covers(
    tombstone: Tombstone, digest: bytes, receipt: bytes, time: int, writer: str, *, covered: bool
) -> None:
    found = tombstone.covers(
        Digest.of(digest), receipt=Digest.of(receipt), time=time, writer=writer
    )
    assert found == covered
