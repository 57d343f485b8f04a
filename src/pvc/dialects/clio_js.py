"""How JavaScript sees a text: what it trims, counts, sorts and prints. Pure.

Form `clio` comes from a program in TypeScript, so its lengths, orders and numbers are JavaScript's;
Python's own `len`, `strip`, `sorted` and `repr` are each wrong for some text.

Rule 1: white space is `WHITE`: U+00A0, U+3000 and U+FEFF are, U+0085 and U+001C to U+001F are not.
Rule 2: lengths, offsets and the order of keys and names go by UTF-16 code units.
Rule 3: a path sorts by the root locale's collation. ASCII is exact; of other letters the accent is
taken off where Unicode says so, and what is left sorts behind ASCII by code point, which is not
exact for every script. No locale of the machine is asked, ever.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pvc.core.inputs import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "WHITE",
    "collation_key",
    "length",
    "number_text",
    "squeezed",
    "token_estimate",
    "trim",
    "units",
    "units_key",
]

WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_RUN = re.compile(f"[{WHITE}]+")
_UNITS_PER_TOKEN = 4

# The root collation of printable ASCII and white space; letters are compared in lower case first.
_ORDER = "\t\n\v\f\r\x85\u2028\u2029 _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_ORDER += "abcdefghijklmnopqrstuvwxyz"
_RANK = {char: rank for rank, char in enumerate(_ORDER)}


def trim(text: str) -> str:
    """Cut JavaScript's white space from both ends."""
    return text.strip(WHITE)


def squeezed(text: str) -> str:
    """Make one space of every run of white space, and none at either end."""
    return _RUN.sub(" ", text).strip(" ")


def length(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) + sum(char > "\uffff" for char in text)


def units(text: str) -> bytes:
    """Encode as UTF-16, two bytes a unit, so that a slice at an offset is a slice at twice that."""
    return text.encode("utf-16-be", "surrogatepass")


units_key = units  # big-endian bytes sort as the code units do


def token_estimate(text: str) -> int:
    """Estimate tokens as Clio does: a quarter of the trimmed length, rounded up."""
    return -(-length(trim(text)) // _UNITS_PER_TOKEN)


def collation_key(text: str) -> tuple[list[int], list[int], list[bool]]:
    """Give the key by which a path sorts: letters, then accents, then lower case before upper."""
    primary: list[int] = []
    accents: list[int] = []
    upper: list[bool] = []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char):
            accents.append(ord(char))
        elif char in _RANK or not _ignorable(char):
            lower = char.lower()
            primary.append(_RANK.get(lower, len(_ORDER) + ord(lower[0])))
            accents.append(0)
            upper.append(lower != char)
    return primary, accents, upper


def _ignorable(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf")


def collated(texts: Iterable[str]) -> list[str]:
    """Sort by the root collation; texts that it takes for equal stay in given order."""
    return sorted(texts, key=collation_key)
