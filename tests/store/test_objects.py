"""Trees and commits as bytes and as values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.errors import CorruptError
from pvc.model.names import CommitId, ObjectId
from pvc.store.objects import encode_commit, encode_tree, identity_line, parse_commit, parse_tree
from pvc.store.repo import MODE_EXECUTABLE, MODE_FILE, MODE_TREE, Commit, Entry, Moment, Person

OID = ObjectId("ab" * 20)
LONG = ObjectId("cd" * 32)

names = (
    st.binary(min_size=1, max_size=12)
    .filter(lambda b: not {0, 47} & set(b) and b.lower() not in (b".", b"..", b".git"))
    .map(lambda b: b.decode(errors="surrogateescape"))
)
modes = st.sampled_from([MODE_FILE, MODE_EXECUTABLE, MODE_TREE])
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<>"), max_size=20
)


@given(st.dictionaries(names, modes), st.sampled_from([OID, LONG]))
def test_a_tree_reads_back_in_gits_order(rows: dict[str, int], oid: ObjectId) -> None:
    entries = [Entry(name, mode, oid) for name, mode in rows.items()]
    read = parse_tree(oid, encode_tree(entries))
    assert sorted(read) == sorted(entries)
    keys = [e.name.encode(errors="surrogateescape") + b"/" * e.is_tree for e in read]
    assert keys == sorted(keys)


@given(words, words, st.integers(0, 10**10), st.integers(-840, 840), st.text(max_size=60))
def test_a_commit_reads_back(
    name: str, email: str, seconds: int, offset: int, message: str
) -> None:
    person, moment = Person(name.strip(), email.strip()), Moment(seconds, offset)
    line = identity_line(person, moment)
    message = message.encode(errors="replace").decode()
    data = encode_commit(OID, [CommitId(OID)], line, line, message)
    assert parse_commit(OID, data) == Commit(
        CommitId(OID), OID, (CommitId(OID),), person, moment, message
    )


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_corrupt(data: bytes) -> None:
    for prefix in (b"", b"100644 a\0", b"tree " + OID.encode() + b"\n", b"tree "):
        for parse in (parse_tree, parse_commit):
            try:
                parse(OID, prefix + data)
            except CorruptError as error:
                assert OID in str(error)  # noqa: PT017 - both outcomes are right


ODD = {
    "no author": (b"", Person("", ""), Moment(0)),
    "no time": (b"author Bo <b@c>\n", Person("Bo", "b@c"), Moment(0)),
    "no end of time": (
        b"author Bo <b@c> " + b"9" * 5000 + b" +0000\n", Person("Bo", "b@c"), Moment(0)
    ),
    "an odd zone": (b"author Bo <b@c> 5 +1\n", Person("Bo", "b@c"), Moment(5)),
    "a negative zone": (b"author Bo <b@c> 5 -0130\n", Person("Bo", "b@c"), Moment(5, -90)),
    "a latin name": (
        b"author B\xf6 <b@c> 5 +0000\nencoding latin-1\n", Person("B\xf6", "b@c"), Moment(5)
    ),
    "an unknown encoding": (
        b"author Bo <b@c> 5 +0000\nencoding nope\n", Person("Bo", "b@c"), Moment(5)
    ),
    "a signature": (
        b"author Bo <b@c> 5 +0000\ngpgsig x\n author No <n@n> 6 +0000\n", Person("Bo", "b@c"),
        Moment(5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd_histories_are_read(case: str) -> None:
    head, person, moment = ODD[case]
    read = parse_commit(OID, b"tree " + OID.encode() + b"\n" + head + b"\nmessage\n")
    assert (read.author, read.time, read.message) == (person, moment, "message\n")
