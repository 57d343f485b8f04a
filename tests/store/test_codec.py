"""Stored bytes and pins: what launches write is what the model reads, byte for byte."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launches import Launches, facts
from pvc.errors import CorruptError
from pvc.model.digest import Digest
from pvc.model.names import CommitId, SessionId, TreeName
from pvc.model.pin import EntryRef, Pin, Privacy, PromptFacts
from pvc.model.session import Mode
from pvc.store.codec import (
    Unrendered,
    decode,
    decode_prompt,
    encode,
    encode_idx,
    encode_prompt,
    encode_segment,
    from_micros,
    split_segment,
    to_micros,
)

if TYPE_CHECKING:
    from workspace import Workspace

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
DIGESTS = st.binary(max_size=3).map(Digest.of)
TIMES = st.integers(0, 4 * 10**15)

ENTRIES = st.builds(EntryRef, st.sampled_from(Mode), DIGESTS, st.just("") | TEXTS)


@st.composite
def pins(draw: st.DrawFn) -> Pin:
    privacy = draw(st.sampled_from(Privacy))
    made = Pin(
        session=SessionId(draw(TEXTS)),
        chain=SessionId(draw(TEXTS)),
        n=draw(st.integers(0, 99)),
        time=draw(TIMES),
        writer="0" * 32,
        tree=TreeName("agent"),
        version=draw(st.integers(1, 99)),
        commit=CommitId("1" * 40),
        prompt=draw(DIGESTS),
        environment=draw(st.none() | DIGESTS),
        tools=draw(st.none() | DIGESTS),
        model=draw(st.none() | TEXTS),
        reason=draw(st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
        entry=draw(st.none() | ENTRIES),
        context=draw(st.none() | DIGESTS),
        privacy=privacy,
        key=draw(TEXTS) if privacy is Privacy.KEYED else None,
        receipt=Digest.of(b""),
    )
    return replace(made, receipt=Digest.of(encode(made)))


@given(pins())
def test_a_pin_that_was_written_is_read(pin: Pin) -> None:
    assert decode(encode(pin)) == pin


@given(TIMES)
def test_a_time_that_was_written_is_read(micros: int) -> None:
    assert to_micros(from_micros(micros)) == micros


def test_what_a_launch_wrote_is_what_the_model_writes(workspace: Workspace) -> None:
    launches = Launches(workspace)
    launches.adopt(b"You are an agent.\n")
    words = ("--session", 'a "b" \\ \u00e9\u2028', "--set", "who=Ann", "--model", "m", "--provider")
    launches.pin("agent", *words, "openai.chat")
    launches.pin("agent", *words, "openai.chat", "--repin", "a\nreason\x7f", "--set", "cwd=/")
    records = [path.read_bytes() for path in launches.spooled]
    assert len(records) == 2
    for data in records:
        assert encode(decode(data)) == data
        assert decode(data).receipt == Digest.of(data)
        assert tomllib.loads(data.decode())["pin"][0]["prompt"]["digest"] == decode(data).prompt


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("time", "2026-11-29"), ("tree", "No Name"), ("commit", "12"), ("prompt.digest", "b3:1")],
)
def test_a_value_that_cannot_be_is_damage(name: str, wrong: str) -> None:
    from pvc.launch import record

    pin = Pin(
        session=SessionId("s"),
        chain=SessionId("main"),
        n=0,
        time=0,
        writer="0" * 32,
        prompt=Digest.of(b""),
        receipt=Digest.of(b""),
    )
    values = record.read(encode(pin))
    with pytest.raises(CorruptError, match="damaged"):
        decode(record.write({**values, name: wrong}))


@given(st.lists(pins(), min_size=1, max_size=5), st.sets(st.integers(0, 4), min_size=1))
def test_a_segment_is_taken_apart_as_it_was_put_together(many: list[Pin], at: set[int]) -> None:
    records = tuple(map(encode, many))
    tables = {i: encode_prompt(many[i], Unrendered()) for i in sorted(at | {0}) if i < len(many)}
    segment = encode_segment(records, tables)
    assert split_segment(segment) == (records, tuple(tables.values()))
    document = tomllib.loads(segment.decode())
    assert (len(document["pin"]), len(document["prompt"])) == (len(many), len(tables))
    rows = encode_idx(many, records, segment)
    places = [
        (int.from_bytes(rows[i + 24 : i + 28]), rows[i + 28 : i + 32])
        for i in range(0, len(rows), 32)
    ]
    assert sorted(segment[a : a + int.from_bytes(b)] for a, b in places) == sorted(records)


def test_facts_of_a_prompt_are_read_back() -> None:
    data = b'text "quoted"\n'
    made = facts(data, [(0, len(data), ("source", "a", "s"), 0, "s")], (len(data),))
    made = replace(made, label="v\u00e9", fingerprint="f")
    pin = Pin(
        session=SessionId("s"),
        chain=SessionId("main"),
        n=0,
        time=0,
        writer="0" * 32,
        tree=TreeName("agent"),
        commit=CommitId("1" * 40),
        prompt=made.digest,
        receipt=Digest.of(b""),
    )
    read = decode_prompt(encode_prompt(pin, made))
    assert isinstance(read, PromptFacts)
    assert read == made
    found = Unrendered(Digest.of(b"other"))
    assert decode_prompt(encode_prompt(pin, found)) == found
    assert decode_prompt(encode_prompt(pin, Unrendered())) == Unrendered()
