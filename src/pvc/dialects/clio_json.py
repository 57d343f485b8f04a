"""JSON as Clio writes it: one canonical form for digests, and the plain form of the runtime. Pure.

Rule 1: canonical JSON sorts the keys of every object by UTF-16 code unit and holds no white space.
An undefined value is dropped in an object and null in a list.
Rule 2: strings escape the quote, the backslash, C0 controls and lone surrogates, nothing else.
Rule 3: numbers are JavaScript's, printed as JavaScript prints them.
Rule 4: what has no JSON is refused: an undefined root, a number that is not finite, a big integer.
Rule 5: plain JSON keeps the order of keys, but for those that are array indices: the runtime's
objects hold these first, ascending. A number that is not finite is null in it.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pvc.errors import UsageError
from pvc.model.javascript import number_text, units

if TYPE_CHECKING:
    from collections.abc import Callable

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t"}
_SHORT |= {"\n": "\\n", "\f": "\\f", "\r": "\\r"}
_INDEX_LIMIT = 2**32 - 1


class Undefined:
    """JavaScript's `undefined`; there is one, `UNDEFINED`."""


UNDEFINED: Final = Undefined()


class BigInt(int):
    """A big integer of JavaScript, which JSON has no form for."""


class CanonicalError(UsageError):
    """A value that has no canonical JSON; `error_code` says why."""

    def __init__(self, code: str, message: str) -> None:
        self.error_code = code
        super().__init__(message)


def canonical_json(value: object) -> str:
    """Write `value` canonically. Raises `CanonicalError` when it cannot be written."""
    if value is UNDEFINED:
        raise CanonicalError("undefined-root", "an undefined value has no JSON")
    return _write(value, _by_units)


def plain_json(value: object) -> str:
    """Write `value` as the runtime would, keys as they stand."""
    return _write(value, _as_object, not_finite="null")


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8, in hex; Clio's one digest. Half a surrogate is U+FFFD in it."""
    whole = "".join(["\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text])
    return sha256((text if text.isascii() else whole).encode()).hexdigest()


def _write(
    value: object, ordered: Callable[[dict[str, object]], list[str]], not_finite: str = ""
) -> str:
    if value is None or value is UNDEFINED:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        held = {key: item for key, item in value.items() if item is not UNDEFINED}
        pairs = [f"{quoted(key)}:{_write(held[key], ordered, not_finite)}" for key in ordered(held)]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_write(item, ordered, not_finite) for item in value) + "]"
    if type(value) is str:  # the text of a number is a `str` of its own type
        return quoted(value)
    return _number(value, not_finite)


def _number(value: object, not_finite: str) -> str:
    if isinstance(value, BigInt):
        raise CanonicalError("bigint", f"the big integer {int(value)} has no JSON")
    if isinstance(value, (int, str)):
        return number_text(value)
    if isinstance(value, float):
        if not math.isfinite(value) and not_finite:
            return not_finite
        if not math.isfinite(value):
            raise CanonicalError("non-finite-number", f"the number {value} has no JSON")
        return number_text(value)
    raise TypeError(f"no JSON holds a {type(value).__name__}")


def quoted(text: str) -> str:
    """Write a text as a JSON string."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char < " " or "\ud800" <= char <= "\udfff":
        return f"\\u{ord(char):04x}"
    return char


def _by_units(value: dict[str, object]) -> list[str]:
    return sorted(value, key=units)


def _as_object(value: dict[str, object]) -> list[str]:
    indices = sorted((key for key in value if _is_index(key)), key=int)
    return indices + [key for key in value if not _is_index(key)]


def _is_index(key: str) -> bool:
    digits = key.isascii() and key.isdigit() and (key == "0" or key[0] != "0")
    return digits and len(key) <= 10 and int(key) < _INDEX_LIMIT
