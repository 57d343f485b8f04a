"""A record as bytes: one way to say a thing, and nothing else is read."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from pvc.errors import CorruptError
from pvc.launch import record

if TYPE_CHECKING:
    from pvc.launch.record import Record

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NUMBERS = st.integers(0, 10**6)


@st.composite
def records(draw: st.DrawFn) -> Record:
    made: Record = {}
    keys = record.KEYS + (record.SESSION_KEYS if draw(st.booleans()) else ())
    for name in keys:
        if name in record.REQUIRED or draw(st.booleans()):
            made[name] = draw(NUMBERS) if name in record.NUMBERS else draw(TEXTS)
    privacy = draw(st.sampled_from(("", *record.PRIVACIES)))
    made |= {"privacy": privacy} if privacy else {}
    made |= {"key": draw(TEXTS)} if privacy == "keyed" else {}
    return {**made, "format": record.format_of(made)}


def nested(values: Record) -> dict[str, Any]:
    """Give the values as TOML nests dotted keys."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        head, _, rest = name.partition(".")
        if rest:
            made.setdefault(head, {})[rest] = value
        else:
            made[name] = value
    return made


@given(records())
def test_what_is_written_is_read(values: Record) -> None:
    assert record.read(record.write(values)) == values


@given(records())
def test_toml_reads_the_same_from_our_form_and_from_tomli_w(values: Record) -> None:
    ours = tomllib.loads(record.write(values).decode())
    theirs = tomllib.loads(tomli_w.dumps({"pin": [nested(values)]}))
    assert ours == theirs == {"pin": [nested(values)]}


@given(records())
def test_a_record_has_the_oldest_format_that_can_say_it(values: Record) -> None:
    added = any(key in values for key in record.SESSION_KEYS)
    assert record.format_of(values) == (3 if "privacy" in values else 2 if added else 1)
    other: Record = {**values, "format": 1 if added else 2}
    with pytest.raises(CorruptError, match="has format"):
        record.read(record.write(other))


@pytest.mark.parametrize(
    "more",
    [
        {"privacy": "inputs"},
        {"privacy": "none"},
        {"privacy": "keyed"},
        {"privacy": "digest", "key": "0011223344556677"},
        {"key": "0011223344556677"},
    ],
    ids=str,
)
def test_a_privacy_that_no_launch_writes_is_refused(more: Record) -> None:
    values: Record = {
        "session": "s", "chain": "main", "n": 0, "time": "t", "writer": "w", "prompt.digest": "d",
        **more,
    }  # fmt: skip
    with pytest.raises(CorruptError):
        record.read(record.write({**values, "format": record.format_of(values)}))


@given(st.lists(records(), max_size=4))
def test_records_put_together_are_one_document(many: list[Record]) -> None:
    data = b"".join(map(record.write, many))
    assert tomllib.loads(data.decode()).get("pin", []) == list(map(nested, many))


@given(records(), st.data())
def test_a_record_with_a_changed_byte_is_another_record_or_none(
    values: Record, data: st.DataObject
) -> None:
    written = bytearray(record.write(values))
    at = data.draw(st.integers(0, len(written) - 1))
    written[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        read = record.read(bytes(written))
    except CorruptError:
        return
    assert record.write(read) == written


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"[[pin]]\n\n",
        b"[[pin]]\nformat = 2\nsession = ",
        record.write({"format": 1, "session": "s", "chain": "main", "n": 0}),
    ],
)
def test_what_is_no_record_is_refused(damaged: bytes) -> None:
    with pytest.raises(CorruptError, match="damaged"):
        record.read(damaged)


def test_a_later_format_is_named() -> None:
    values: Record = dict.fromkeys(record.REQUIRED, "x")
    with pytest.raises(CorruptError, match="format 2"):
        record.read(record.write({**values, "n": 0, "format": 2}))


def test_the_key_tells_session_chain_and_number_apart() -> None:
    keys = {
        record.key(*parts)
        for parts in (("a", "b", 1), ("a", "b", 11), ("ab", "b", 1), ("a", "bb", 1))
    }
    assert len(keys) == 4
    assert all(len(key) == 32 for key in keys)
