"""Reading bytes without moving them: trimming, placeholders and UTF-8, with their places.

What is read is a run of `Text`s, each a contiguous range of one file; what comes out are ranges of
the same files. So a span can name the very byte that it came from.

Rule 1: white space is Loom's set, not Python's: U+00A0 and U+3000 are no white space, U+0085 and
U+200E are.
Rule 2: a placeholder is `{`, one or more of `a-z 0-9 _`, `}`; anything else is text, and after a
brace that opens nothing the search goes on right behind it.
Rule 3: characters are grapheme clusters: a brace or a space that carries a combining mark is
another character.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pvc.errors import DecodeError
from pvc.model.graphemes import extends, prepends
from pvc.model.pack import Hole, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.pack import Piece
    from pvc.model.source import Source

WHITE = "\t\n\v\f\r \x85\u200e\u200f\u2028\u2029"
_HOLE = re.compile(rb"\{([a-z0-9_]+)\}")


def decoded(source: Source) -> str:
    """Decode a file. Raises `DecodeError` with the byte that is no UTF-8."""
    try:
        return source.data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"not UTF-8 at byte {error.start}", at=source.position(error.start)
        ) from None


def trim(text: str) -> str:
    """Cut white space from both ends; see rules 1 and 3."""
    start, end = _kept(text)
    return text[start:end]


def trimmed(texts: Iterable[Text]) -> list[Text]:
    """Trim a run of texts as if it were one."""
    texts = list(texts)
    whole = b"".join([text.data for text in texts]).decode()
    start, end = (len(whole[:at].encode()) for at in _kept(whole))
    return cut(texts, start, end)


def _kept(text: str) -> tuple[int, int]:
    """Give the range that is left of `text`; a space with a mark upon it is no white space."""
    start = len(text) - len(text.lstrip(WHITE))
    end = start + len(text[start:].rstrip(WHITE))
    if 0 < start < end and text[start - 1] == " " and extends(ord(text[start])):
        start -= 1
    return start, end


def cut(texts: Iterable[Text], start: int, end: int) -> list[Text]:
    """Keep the bytes `start` to `end` of a run of texts."""
    kept, at = [], 0
    for text in texts:
        a, b = max(start - at, 0), min(end - at, len(text.data))
        if a < b:
            kept.append(Text(text.data[a:b], text.path, text.offset + a))
        at += len(text.data)
    return kept


def pieces(texts: Iterable[Text], *, only: frozenset[str] | None = None) -> tuple[Piece, ...]:
    """Find the placeholders of each text; with `only`, those of other names stay text."""
    found: list[Piece] = []
    for text in texts:
        at = 0
        for hole in _HOLE.finditer(text.data):
            name = hole[1].decode()
            if (only is not None and name not in only) or not _alone(text.data, *hole.span()):
                continue
            if at < hole.start():
                found.append(Text(text.data[at : hole.start()], text.path, text.offset + at))
            found.append(Hole(name, text.path, text.offset + hole.start()))
            at = hole.end()
        if at < len(text.data):
            found.append(Text(text.data[at:], text.path, text.offset + at))
    return tuple(found)


def _alone(data: bytes, start: int, end: int) -> bool:
    """Whether the braces at both ends of a placeholder are characters by themselves."""
    before, after = data[max(start - 4, 0) : start], data[end : end + 4]
    if after[:1] >= b"\x80" and extends(ord(after.decode(errors="replace")[0])):
        return False
    return before[-1:] < b"\x80" or not prepends(ord(before.decode(errors="replace")[-1]))
