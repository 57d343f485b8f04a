"""Text as Raku sees it: composed, trimmed by grapheme, and any value as a text.

Rule 1: every text comes out in Unicode's form C. What that changes is given apart from what it
leaves, so that a span can still name the byte of the file that an unchanged byte came from.
Rule 2: white space is Unicode's property: U+00A0, U+0085 and U+3000 are, U+001C to U+001F, U+180E,
U+200B and U+FEFF are not. A blank with a mark upon it is white space with its mark.
Rule 3: a number that was written as a decimal is exact, so `2.50` is `2.5`; true is `True`; a list
is its items with blanks between them. Nothing has no text.
Rule 4: this module imports nothing at its top, for a launch may come here.
"""

from pvc.errors import UsageError
from pvc.model.graphemes import extends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WHITE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


# --- form C -----------------------------------------------------------------------------------


def normal(text: str) -> str:
    """Compose a text."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)


def composed(text: str) -> "Iterator[tuple[str, int, bool]]":
    """Split a text into runs `(composed, start, is_changed)`; `start` counts characters."""
    if normal(text) == text:
        if text:
            yield text, 0, False
        return
    start = kept = 0
    for end in _boundaries(text):
        part = text[start:end]
        if normal(part) != part:
            if kept < start:
                yield text[kept:start], kept, False
            yield normal(part), start, True
            kept = end
        start = end
    if kept < len(text):
        yield text[kept:], kept, False


def _boundaries(text: str) -> "Iterator[int]":
    """Find the ends of the shortest parts that compose by themselves."""
    from unicodedata import combining

    start = 0
    for at in range(1, len(text)):
        char = text[at]
        if char.isascii() or (
            not combining(char) and normal(text[start : at + 1]) == normal(text[start:at]) + char
        ):
            yield at
            start = at
    yield len(text)


# --- white space ------------------------------------------------------------------------------


def trimmed(text: str) -> tuple[int, int]:
    """Find what is left when white space goes from both ends."""
    end, start = trimmed_end(text), 0
    while start < end and text[start] in WHITE:
        start += 1
        while start < end and extends(ord(text[start])):
            start += 1
    return start, end


def trimmed_end(text: str) -> int:
    """Find where a text ends once its trailing white space is gone."""
    end = len(text)
    while end:
        at = end - 1
        while at and extends(ord(text[at])):
            at -= 1
        if text[at] not in WHITE:
            break
        end = at
    return end


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space."""
    return trimmed_end(text) == 0


# --- values -----------------------------------------------------------------------------------


def text_of(value: "Any", pointer: str) -> str:
    """Give a defined JSON value as a text. Raises `UsageError` for an object."""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, list):
        return " ".join([text_of(item, f"{pointer}/{i}") for i, item in enumerate(value)])
    if isinstance(value, dict):
        raise UsageError("an object is no value here", at=pointer, hint="flatten it into texts")
    if value is None:
        return ""
    if isinstance(value, int | float) or type(value) is not str:
        return _number(str(value))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError("half of a surrogate pair has no UTF-8", at=pointer) from None
    return normal(value)


def _number(digits: str) -> str:
    if "e" in digits or "E" in digits:
        digits = repr(float(digits))
        return digits.removesuffix(".0")
    if "." in digits:
        digits = digits.rstrip("0").removesuffix(".")
    return "0" if digits in ("-0", "-") else digits
