from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import CHARS, TEXTS, WHITE
from pvc.core import program
from pvc.dialects import scan
from pvc.errors import DecodeError
from pvc.model.graphemes import extends, prepends
from pvc.model.pack import Hole, Text
from pvc.model.source import Source

NAME = "abcdefghijklmnopqrstuvwxyz0123456789_"


def clusters(text: str) -> list[str]:
    """Grapheme clusters, as far as this alphabet has any."""
    found: list[str] = []
    for char in text:
        free = found and found[-1][-1] not in WHITE.replace(" ", "")
        if free and (extends(ord(char)) or (prepends(ord(found[-1][-1])) and char not in WHITE)):
            found[-1] += char
        else:
            found.append(char)
    return found


def names_by_cluster(text: str) -> list[str]:
    """Find placeholders one character after the other, with no pattern."""
    chars, names, at = clusters(text), [], 0
    while at < len(chars):
        end = at + 1
        while chars[at] == "{" and end < len(chars) and chars[end] in NAME:
            end += 1
        if chars[at] == "{" and end > at + 1 and chars[end : end + 1] == ["}"]:
            names.append("".join(chars[at + 1 : end]))
            at = end
        at += 1
    return names


@given(TEXTS)
def test_placeholders_agree_with_a_walk_over_clusters(text: str) -> None:
    pieces = scan.pieces([Text(text.encode(), "p", 0)])
    assert [piece.name for piece in pieces if isinstance(piece, Hole)] == names_by_cluster(text)


@given(TEXTS, st.integers(0, 9))
def test_pieces_tile_the_text(text: str, offset: int) -> None:
    at = offset
    for piece in scan.pieces([Text(text.encode(), "p", offset)]):
        assert piece.offset == at
        at += len(piece.data)
    assert at == offset + len(text.encode())


@given(st.lists(CHARS, max_size=20).map("".join))
def test_both_trimmers_are_one(text: str) -> None:
    data = text.encode()
    start, end = program.trimmed(data)
    assert scan.trim(text).encode() == data[start:end]


@given(st.lists(CHARS, max_size=20).map("".join), st.integers(0, 20))
def test_texts_are_trimmed_as_if_they_were_one(text: str, at: int) -> None:
    front, back = text[:at].encode(), text[at:].encode()
    kept = scan.trimmed([Text(front, "p", 0), Text(back, "p", 1000)])
    start, end = program.trimmed(front + back)
    assert b"".join(t.data for t in kept) == (front + back)[start:end]
    whole = {0: front, 1000: back}
    for part in kept:
        base = part.offset // 1000 * 1000
        offset = part.offset - base
        assert whole[base][offset : offset + len(part.data)] == part.data


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  \u0301x ", " \u0301x"),
        (" \u0301", " \u0301"),
        ("x \u0301 ", "x \u0301"),
        ("\t\u0301x", "\u0301x"),
        ("\u200e \u0085a\u00a0\u2028", "a\u00a0"),
        ("\u3000\ufeff\x1c", "\u3000\ufeff\x1c"),
        (" \t\u2029", ""),
    ],
)
def test_a_space_with_a_mark_upon_it_is_no_white_space(text: str, kept: str) -> None:
    start, end = program.trimmed(text.encode())
    assert scan.trim(text) == kept == text.encode()[start:end].decode()


def test_both_trimmers_know_the_same_white_space() -> None:
    wide = [mark.decode() for mark in program.WIDE_WHITE]
    assert sorted(scan.WHITE) == sorted([*program.WHITE.decode(), *wide])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{0}{_}", ["0", "_"]),
        ("{{a}} {b{c}", ["a", "c"]),
        ("{A} {a-b} { a } {} {a", []),
        ("{a}\u0301 {\u0301b} {c\u0301} {d}\u200d", []),
        ("\u0600{a} {b}", ["b"]),
        ("\u0600\u0301{a}", ["a"]),
        ("{٣}", []),
    ],
)
def test_a_placeholder_is_made_of_characters_by_themselves(text: str, names: list[str]) -> None:
    pieces = scan.pieces([Text(text.encode(), "p", 0)])
    assert [piece.name for piece in pieces if isinstance(piece, Hole)] == names


def test_names_that_are_not_wanted_stay_text() -> None:
    pieces = scan.pieces([Text(b"{a}{b}{c}", "p", 0)], only=frozenset({"b"}))
    assert pieces == (Text(b"{a}", "p", 0), Hole("b", "p", 3), Text(b"{c}", "p", 6))


def test_a_file_that_is_no_text_is_refused_with_the_byte() -> None:
    with pytest.raises(DecodeError, match="byte 4") as caught:
        scan.decoded(Source("a.md", b"ok\nx\xff"))
    assert caught.value.at == "a.md:2:2"
