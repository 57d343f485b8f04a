"""TOML that others wrote, read within bounds. Pure.

`pvc.toml` and `lock.toml` come from repositories that nobody may have read, and the standard
library's reader has no bounds of its own.

Rule 1: whatever is wrong with the bytes is one `DecodeError` with its place: also what the library
reports in other ways, nesting beyond its stack and numbers of thousands of digits.
Rule 2: an integer has 64 bits, as TOML says; a longer one could not even be shown.
Rule 3: a key of very many parts is refused before it is read: the library takes quadratic time.
Rule 4: nothing here takes more time than the text is long: each token is matched once, and never
given back (`++`), so no text makes the search begin again.
"""

from __future__ import annotations

import re
import tomllib

from pvc.errors import DecodeError
from pvc.model.bounds import MAX_KEY_PARTS

_TOKEN = re.compile(
    rb"""
      \#[^\n]*+
    | \"\"\" (?: [^"\\] | \\[\0-\xff] | "(?!"") )*+ "{0,5}+
    | \'\'\' (?: [^'] | '(?!'') )*+ '{0,5}+
    | (?P<part> [A-Za-z0-9_-]++ | "(?:[^"\\\n]|\\[^\n])*+"?+ | '[^'\n]*+'?+ )
      [ \t]*+ (?P<dot> \. [ \t]*+ )?+
    """,
    re.VERBOSE,
)
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_INTEGERS = range(-(1 << 63), 1 << 63)


def parse_toml(data: bytes, at: str) -> dict[str, object]:
    """Read a TOML document; `at` names it in errors. Raises `DecodeError` on anything else."""
    _check_keys(data, at)
    try:
        document = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise DecodeError("not UTF-8", at=f"{at}: byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), at) from None
    except RecursionError:
        raise DecodeError("not TOML: nested too deeply", at=at) from None
    except ValueError:  # a number with more digits than the interpreter converts
        raise _long_integer(at) from None
    _check_integers(document, at)
    return document


def _check_keys(data: bytes, at: str) -> None:
    """Refuse a key of very many parts; no byte is looked at twice."""
    parts = end = 0
    for found in _TOKEN.finditer(data):
        is_next = found.start() == end and parts > 0
        end = found.end()
        if not found["dot"]:
            parts = 0
            continue
        parts = parts + 1 if is_next else 1
        if parts >= MAX_KEY_PARTS:
            raise DecodeError(
                f"a key has more than {MAX_KEY_PARTS} parts", at=_line(data, found.start(), at)
            )


def _line(data: bytes, offset: int, at: str) -> str:
    number = data.count(b"\n", 0, offset) + 1
    return f"{at}:{number}"


def _not_toml(text: str, at: str) -> DecodeError:
    place = _PLACE.search(text)
    if place:
        at, text = f"{at}:{place[1]}:{place[2]}" if place[1] else at, text[: place.start()]
    return DecodeError(f"not TOML: {text[:1].lower()}{text[1:]}", at=at)


def _check_integers(document: object, at: str) -> None:
    waiting: list[object] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif type(value) is int and value not in _INTEGERS:
            raise _long_integer(at)


def _long_integer(at: str) -> DecodeError:
    return DecodeError("not TOML: an integer of more than 64 bits", at=at)
