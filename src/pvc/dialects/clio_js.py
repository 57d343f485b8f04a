"""Clio's measures of text: token estimates and the order of paths. Pure.

What is JavaScript's own stands in `model.javascript`.

Rule 1: a token is a quarter of a trimmed text's UTF-16 length, rounded up.
Rule 2: a path sorts by the root locale's collation. ASCII is exact; of other letters the accent is
taken off where Unicode says so, and what is left sorts behind ASCII by code point, which is not
exact for every script. No locale of the machine is asked, ever.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pvc.model.javascript import length, trim

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS_PER_TOKEN = 4

# The root collation of printable ASCII and white space; letters are compared in lower case first.
_ORDER = "\t\n\v\f\r\x85\u2028\u2029 _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_ORDER += "abcdefghijklmnopqrstuvwxyz"
_RANK = {char: rank for rank, char in enumerate(_ORDER)}


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
