from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from dialects.generated import SOURCES
from pvc.dialects import loom
from pvc.dialects.loom_write import encode, encode_unchecked
from pvc.errors import RefusedError
from pvc.model.pack import Hole, Pack, Section, Text
from pvc.model.source import Source

HEAD = "%% loom-prompt-pack 1\n%% version v1\n"


def read(data: bytes) -> Pack:
    return loom.read(Source("pack.loom", data))


def said(pack: Pack) -> list[tuple[str, bytes]]:
    return [(section.name, section.template) for section in pack.sections]


@given(SOURCES)
def test_what_is_written_reads_back_or_is_refused(source: Source) -> None:
    pack = loom.read(source)
    try:
        data = encode(pack)
    except RefusedError:
        again = encode_unchecked(pack).split(b"\n")
        assert any(line.startswith(b"%%") or line.endswith(b"\r") for line in again[2:])
        return
    assert (read(data).label, said(read(data))) == (pack.label, said(pack))
    assert encode(read(data)) == data


@given(SOURCES)
def test_a_pack_in_its_written_form_is_itself_again(source: Source) -> None:
    pack = loom.read(source)
    try:
        written = read(encode(pack))
    except RefusedError:
        return
    assert read(encode(written)) == written


def pack_of(name: str, *pieces: Text | Hole, label: str = "v1", fragment: bool = False) -> Pack:
    section = Section(name, pieces, fragment=fragment)
    return replace(read(HEAD.encode()), sections=(section,), label=label)


def text(data: bytes) -> Text:
    return Text(data, "p", 0)


@pytest.mark.parametrize(
    ("pack", "message", "at"),
    [
        (pack_of("a", text(b"one\n%% two")), "read as a directive", "section `a`, line 2"),
        (pack_of("a", text(b"one\r\ntwo")), "carriage return", "section `a`, line 1"),
        (pack_of("a", text(b" one")), "white space around", ""),
        (pack_of("a", text(b"one\n")), "white space around", ""),
        (pack_of("a", text(b"{one}")), "read as a placeholder", ""),
        (pack_of("a", Hole("one two", "p", 0)), "read as a placeholder", ""),
        (pack_of("a-b", text(b"x")), "no name for a section", ""),
        (pack_of("a", text(b"x"), fragment=True), "no name for a fragment", ""),
        (pack_of("_a", text(b"x")), "no name for a section", ""),
        (pack_of("a", text(b"x"), label="v1 + v2"), "no version id", ""),
    ],
)
def test_a_pack_without_such_a_source_is_refused(pack: Pack, message: str, at: str) -> None:
    with pytest.raises(RefusedError, match=message) as caught:
        encode(pack)
    assert caught.value.at == at


def test_a_marker_that_trimming_brought_to_the_front_is_refused() -> None:
    pack = read((HEAD + "%% section a\n %% section b\n").encode())
    assert said(pack) == [("a", b"%% section b")]
    with pytest.raises(RefusedError, match="directive"):
        encode(pack)
    assert said(read(encode_unchecked(pack))) == [("a", b""), ("b", b"")]


def test_an_empty_section_keeps_its_line() -> None:
    data = (HEAD + "%% section a\n\n").encode()
    assert encode(read(data)) == data
