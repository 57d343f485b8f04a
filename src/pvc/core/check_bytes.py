"""Rules about bytes that checkouts and editors change without being asked, and how they are mended.

Rule 1: one hit a file and rule, at the first place, with the count: forty lines that end with CR LF
are one habit of one editor.
Rule 2: a fix is given only where nobody could have meant the bytes. Two blanks at the end of a
Markdown line are a line break, so they are neither reported nor taken away.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pvc.core.check_subject import Hit, TextFile, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.check_subject import Subject

BOM = b"\xef\xbb\xbf"
_MARKDOWN = (".md", ".markdown")
_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNSEEN = "\u00ad\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff"
_HIDDEN = re.compile(f"[{_BIDI}{_UNSEEN}\U000e0000-\U000e007f]+")
_FLAG = "\U0001f3f4"  # a black flag, which tag characters turn into the flag of a region


def carriage_returns(subject: Subject) -> Iterator[Hit]:
    """See lines that end with CR LF."""
    for file in subject.files:
        count, total = file.data.count(b"\r\n"), file.data.count(b"\n")
        if count:
            at = file.data.index(b"\r\n")
            which = "every line ends" if count == total else f"{count} of {total} lines end"
            yield Hit(
                file.path, at, at + 2, f"{which} with CR LF", "a checkout may turn it into LF"
            )


def byte_order_mark(subject: Subject) -> Iterator[Hit]:
    """See a byte-order mark."""
    for file in subject.files:
        if file.data.startswith(BOM):
            yield Hit(
                file.path, 0, 3, "the file begins with a byte-order mark", "save it without one"
            )


def trailing_blanks(subject: Subject) -> Iterator[Hit]:
    """See blanks at line ends, where they reach the prompt."""
    for file in subject.files:
        ranges = () if file.is_tidied else tuple(_blank_ends(file.data, file.path))
        if ranges:
            start, end = ranges[0]
            count = f"{len(ranges)} lines end" if len(ranges) > 1 else "a line ends"
            yield Hit(file.path, start, end, f"{count} with blanks", "editors strip them on save")


def _blank_ends(data: bytes, path: str) -> Iterator[tuple[int, int]]:
    for at, line in lines(data):
        whole = line.removesuffix(b"\r")
        text = whole.rstrip(b" \t")
        is_break = whole[len(text) :] == b"  " and text != b"" and path.endswith(_MARKDOWN)
        if len(text) < len(whole) and not is_break:
            yield at + len(text), at + len(whole)


def final_newline(subject: Subject) -> Iterator[Hit]:
    """See a last line without its line end, where that is the prompt's last byte."""
    for file in subject.files:
        if file.data and file.ends_prompt and not file.data.endswith(b"\n"):
            size = len(file.data)
            yield Hit(
                file.path,
                size - 1,
                size,
                "the last line has no line end",
                "editors add one on save",
            )


def zero_bytes(subject: Subject) -> Iterator[Hit]:
    """See a zero byte."""
    for file in subject.files:
        at = file.data.find(b"\0")
        if at >= 0:
            yield Hit(
                file.path,
                at,
                at + 1,
                "a zero byte, which makes the file binary to git",
                "remove it, or see whether the file is UTF-16",
            )


def hidden_characters(subject: Subject) -> Iterator[Hit]:
    """See characters that a reader does not see and a model does."""
    for file, text in _decoded(subject):
        start = text[:1] == "\ufeff"  # a byte-order mark has a rule of its own
        for found in _HIDDEN.finditer(text, int(start)):
            at, shown = found.start(), found[0]
            if at and text[at - 1] == _FLAG and shown[-1] == "\U000e007f":
                continue
            first = len(text[:at].encode())
            code_points = " ".join(f"U+{ord(char):04X}" for char in shown[:4])
            yield Hit(
                file.path,
                first,
                first + len(shown.encode()),
                f"a character that no reader sees: {code_points}",
                "remove it, or write what it does in words",
            )
            break


def unicode_forms(subject: Subject) -> Iterator[Hit]:
    """See accents that are written in two ways within one file."""
    for file, text in _decoded(subject):
        if text.isascii() or unicodedata.is_normalized("NFC", text):
            continue
        composed = any(unicodedata.decomposition(char)[:1].isalnum() for char in set(text))
        at = _first_decomposed(text)
        if composed and at is not None:
            start = len(text[:at].encode())
            pair = text[at : at + 2]
            yield Hit(
                file.path,
                start,
                start + len(pair.encode()),
                f"`{pair}` is written with a combining mark here and as one character elsewhere",
                "bring the file into one form (NFC)",
            )


def _first_decomposed(text: str) -> int | None:
    for at in range(1, len(text)):
        if unicodedata.combining(text[at]):
            pair = text[at - 1 : at + 1]
            if len(unicodedata.normalize("NFC", pair)) == 1:
                return at - 1
    return None


def _decoded(subject: Subject) -> Iterator[tuple[TextFile, str]]:
    for file in subject.files:
        try:
            yield file, file.data.decode()
        except UnicodeDecodeError:
            continue  # reported by whoever reads the files


# --- fixes ------------------------------------------------------------------------------------


def without_carriage_returns(data: bytes, _path: str) -> bytes:
    """Turn CR LF into LF."""
    return data.replace(b"\r\n", b"\n")


def without_byte_order_mark(data: bytes, _path: str) -> bytes:
    """Take byte-order marks away; some editors put one in front of another."""
    while data.startswith(BOM):
        data = data.removeprefix(BOM)
    return data


def without_trailing_blanks(data: bytes, path: str) -> bytes:
    """Take the blanks at line ends away, except for Markdown's line breaks."""
    kept, at = [], 0
    for start, end in _blank_ends(data, path):
        kept.append(data[at:start])
        at = end
    return b"".join((*kept, data[at:]))


def with_final_newline(data: bytes, _path: str) -> bytes:
    """End the last line."""
    return data if data.endswith(b"\n") else data + b"\n"
