"""Stored bytes that were never written by pvc: whatever they hold, reading them is `CorruptError`,
never an error of the caller's kind and never a traceback; what is derived is made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from pvc.core.program import dump
from pvc.errors import CorruptError, PvcError
from pvc.launch import cache, index, record
from pvc.launch.version import Version
from pvc.model.digest import Digest
from pvc.model.pin import PromptFacts
from pvc.model.span import Plane
from pvc.model.tombstone import Tombstone
from pvc.store import codec, tombstones

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALUES: dict[str, str | int] = {
    "format": 1,
    "session": 's"\u202e\U0001f600',
    "chain": "main",
    "n": 0,
    "time": "2026-11-30T12:00:00.000000Z",
    "writer": "e" * 32,
    "tree": "agent",
    "version": 1,
    "commit": "a" * 40,
    "prompt.digest": "b3:" + "0" * 64,
}
RECORD = record.write(VALUES)
PIN = codec.decode(RECORD)
FACTS = PromptFacts(
    Digest.of(b""), 9, "c" * 64, "plain", 1, "", "", (3, 9), 3, ((Plane("surface"), 0),)
)
TABLE = codec.encode_prompt(PIN, FACTS)
TOMBSTONES = tombstones.encode(
    (Tombstone(1, "e" * 32, "Ada", "why", None, (), 5, ""),
     Tombstone(1, "e" * 32, "A", "", PIN.prompt, (PIN.receipt,)))
)  # fmt: skip
TIPS = index.Tips([("ab.run", 9, "c" * 64)], {"refs/x": "a" * 40}, (("refs/y", "why"),))
READERS: dict[str, tuple[Callable[[bytes], object], bytes]] = {
    "a record": (codec.decode, RECORD),
    "a prompt's table": (codec.decode_prompt, TABLE),
    "tombstones": (tombstones.decode, TOMBSTONES),
    "a segment": (codec.split_segment, RECORD + TABLE),
    "tips": (lambda body: index.parse_tips(sealed(body)), TIPS.dump()[:-68]),
}  # fmt: skip
ODD = st.sampled_from(
    [b"\\uD800", b"\\u", b'"', b"\n", b"\n\n", b"-1", b"9" * 30, b"9" * 5000,
     b"[" * 3000 + b"]" * 3000, b" = ", b"\xff", b"\0", b"[[pin]]\n", b"0001", b"9999",
     b"run a b c\n", b"damage\n", b"x\n", b""]
)  # fmt: skip


def sealed(body: bytes) -> bytes:
    return body + b"b3 " + blake3(body).hexdigest().encode() + b"\n"


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Put something odd into whole bytes once or twice, or make other bytes of it."""
    data = whole
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        data = data[:start] + draw(ODD | st.binary(max_size=6)) + data[end:]
    return data


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_readers_raise_nothing_but_corrupt_errors(name: str, data: st.DataObject) -> None:
    read, whole = READERS[name]
    read(whole)
    try:
        read(data.draw(damaged(whole)))
    except CorruptError:
        return


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session", r"\uD800"),
        ("reason", r"\uDFFF"),
        ("time", "10000-01-01T00:00:00.000000Z"),
        ("time", "0999-1-01T00:00:00.000000Z"),
        ("time", "2026-11-30T12:00:00.000000+23:59"),
    ],
)
def test_what_no_record_can_say_is_damage(name: str, value: str) -> None:
    values = {**VALUES, "reason": "why", name: "@"}
    with pytest.raises(CorruptError):
        codec.decode(record.write(values).replace(b'"@"', f'"{value}"'.encode()))


def test_a_clock_before_1970_that_was_recorded_is_still_read_and_folded() -> None:
    data = record.write({**VALUES, "time": "1969-12-31T23:59:59.000000Z"})
    pin = codec.decode(data)
    assert pin.time == -1_000_000
    assert len(codec.encode_idx([pin], [data], data)) == codec.IDX_ROW_SIZE


# --- the index ------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    header=st.sampled_from([b"pvc.index/3 1 1", b"pvc.index/3 1 9", b"pvc.index/3 -1 1", b"x", b"",
                            b"pvc.index/3 99999999999 1", b"pvc.index/2 1 1", b"pvc.index/3 1  1"]),
    body=st.binary(max_size=200),
    fences=st.binary(max_size=120),
    size=st.integers(0, 10**12),
)  # fmt: skip
def test_a_sealed_run_that_makes_no_sense_is_a_damaged_index(
    tmp_path_factory: pytest.TempPathFactory, header: bytes, body: bytes, fences: bytes, size: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    tail = header + b"\n" + fences
    for named in (len(body), size):
        (folder / "ab.run").write_bytes(body + tail)
        with pytest.raises(index.DamagedIndexError):
            _read_all(index.Run(str(folder), "ab.run", named, blake3(tail).hexdigest()))


@settings(max_examples=200, deadline=None)
@given(segment=st.binary(min_size=72, max_size=72), row=st.binary(min_size=48, max_size=48))
def test_rows_that_lead_nowhere_are_a_damaged_index(
    tmp_path_factory: pytest.TempPathFactory, segment: bytes, row: bytes
) -> None:
    from pvc.store.index import write_run

    home = tmp_path_factory.mktemp("home")
    (home / "index").mkdir()
    named = write_run(str(home), [segment], [row])
    run = index.Run(str(home / "index"), *named)
    try:
        _read_all(run)
    except index.DamagedIndexError:
        return
    finally:
        run.close()
    assert int.from_bytes(row[32:36], "big") == 0


def _read_all(run: index.Run) -> None:
    for part in (index.BY_SESSION, index.BY_PROMPT, index.BY_RECEIPT):
        list(run.find(part, bytes(8), b"\xff" * 8))


# --- compiled programs ----------------------------------------------------------------------------

ATOMS = st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(
    ["lit", "text", "wire", "added", "", "agent", b"", b"x", "a" * 40]
)  # fmt: skip
NONSENSE = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=5).map(tuple), max_leaves=20)
MANY = st.lists(NONSENSE, max_size=3).map(tuple)


@settings(max_examples=300, deadline=None)
@given(
    fields=st.lists(NONSENSE, max_size=3).map(tuple),
    blocks=st.lists(NONSENSE, max_size=3).map(tuple),
    whole=NONSENSE,
)
def test_a_sealed_program_that_makes_no_sense_is_compiled_again(
    tmp_path_factory: pytest.TempPathFactory, fields: Any, blocks: Any, whole: Any
) -> None:
    from pvc.launch.prompt import render

    folder: Path = tmp_path_factory.mktemp("cache")
    oid = "a" * 40
    good = ("plain", 1, (), ((("lit", b"x", "a.md", "a", 0),),))
    for value in (whole, ("agent", 1, oid, whole), ("agent", 1, oid, ("plain", 1, fields, blocks))):
        (folder / cache.FOLDER).mkdir(parents=True, exist_ok=True)
        body = dump(value)
        header = cache.HEADER + blake3(body).hexdigest().encode() + b"\n"
        (folder / cache.FOLDER / oid).write_bytes(header + body)
        found = cache.read(str(folder), oid)
        if found is None:
            continue
        version = Version(*found, lambda: good)
        try:
            render(version, {}, None, "")
        except PvcError as error:
            assert not isinstance(error, CorruptError)  # noqa: PT017 - of the environment
