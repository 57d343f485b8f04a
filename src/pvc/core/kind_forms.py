r"""Kinds of form: the same text or value, written another way.

Rule 1: a form is a fold, a function under which the two texts agree. It explains the divergence
when the folded texts agree at the place and well past it; what changes later is another change.
Rule 2: line ends come before other space, and a JSON value before the space inside it. Space around
a JSON value is space.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from pvc.core.change import Change, Match, quoted
from pvc.model.body import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

_WINDOW = 600
_PAST = 10
"""How many folded characters past the place must agree."""
_BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_DRAWN = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f", None)
    | {"…": "...", "•": "*", "→": "->", "←": "<-", "⇒": "=>"}
    | {"×": "x", "≤": "<=", "≥": ">=", "≠": "!="}
)


def line_endings(change: Change) -> Match | None:
    """See CRLF or a lone CR against LF, or a byte-order mark."""
    old, new = change.old[change.at :], change.new[change.at :]
    if old.startswith(_BOM) != new.startswith(_BOM):
        return Match(Kind.LINE_ENDINGS, "a byte-order mark stands on one side only")
    for one, other in ((old, new), (new, old)):
        escaped = change.old[: change.at].endswith("\\")
        if one.startswith("\r") and other.startswith("\n"):
            return Match(
                Kind.LINE_ENDINGS, "lines end with CR LF on one side, with LF on the other"
            )
        if escaped and one.startswith("r\\n") and other.startswith("n"):
            return Match(
                Kind.LINE_ENDINGS, r"escaped lines end with \r\n on one side, \n on the other"
            )
        if one.startswith("\n") and change.old[: change.at].endswith("\r") and other[:1] != "\n":
            return Match(
                Kind.LINE_ENDINGS, "lines end with CR LF on one side, with CR on the other"
            )
    return None


def serializer_form(change: Change) -> Match | None:
    """See one JSON value printed in two ways: spacing, key order, escapes, number form."""
    if change.old.strip() == change.new.strip():
        return None
    for start in _json_starts(change.old, change.at):
        old, new = _decode(change.old, start), _decode(change.new, start)
        if old is None or new is None:
            continue
        texts = (change.old[start : old[1]], change.new[start : new[1]])
        reaches = max(old[1], new[1]) > change.at
        if reaches and texts[0] != texts[1] and _same(old[0], new[0]):
            said = f"the same JSON value, printed as {quoted(texts[0])} and as {quoted(texts[1])}"
            return Match(Kind.SERIALIZER_FORM, said)
    return None


def whitespace(change: Change) -> Match | None:
    """See other space at line ends, at the end of the text or between its parts."""
    if not _agree(change, lambda text: _SPACE.sub("", text)):
        return None
    old, new = (_space_at(text, change.at) for text in (change.old, change.new))
    return Match(Kind.WHITESPACE, f"space {old!r} became {new!r}")


def unicode_form(change: Change) -> Match | None:
    """See other code points for the same visible text."""
    old, new = (text[change.at : change.at + 4] for text in (change.old, change.new))
    if (old + new).isascii() or not _agree(change, _visible):
        return None
    return Match(Kind.UNICODE_FORM, f"the same to the eye: {old[:2]!a} and {new[:2]!a}")


def template_escape(change: Change) -> Match | None:
    """See braces, entities or backslashes that a template step left in or took out."""
    if not _agree(change, _unescape):
        return None
    start = max(0, change.at - 2)
    old, new = (text[start : change.at + 10] for text in (change.old, change.new))
    return Match(Kind.TEMPLATE_ESCAPE, f"escaped on one side: {quoted(old)} and {quoted(new)}")


FORMS = (line_endings, serializer_form, whitespace, unicode_form, template_escape)


# --- folds ------------------------------------------------------------------------------------


def _agree(change: Change, fold: Callable[[str], str]) -> bool:
    """Tell whether the folded texts agree at the place and well past it."""
    start = max(0, change.at - 24)
    old, new = (text[start : change.at + _WINDOW] for text in (change.old, change.new))
    folded_old, folded_new = fold(old), fold(new)
    agreed = 0
    for one, other in zip(folded_old, folded_new, strict=False):
        if one != other:
            break
        agreed += 1
    if folded_old == folded_new:
        return old != new
    reached = min(len(fold(text[: change.at - start + 1])) for text in (old, new))
    cut_off = max(len(change.old), len(change.new)) > change.at + _WINDOW
    ended = agreed == min(len(folded_old), len(folded_new)) and cut_off
    return agreed >= reached + _PAST or (ended and agreed > reached)


def _visible(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.translate(_DRAWN)).translate(_DRAWN)
    return folded.replace("--", "-")


def _unescape(text: str) -> str:
    for _ in range(3):
        text = html.unescape(text)
    text = re.sub(r"\{+", "{", re.sub(r"\}+", "}", text))
    text = re.sub(r"\{(%|#|-)?\s*raw\s*-?%\}|\{%-?\s*endraw\s*-?%\}", "", text)
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\+n", "\n", re.sub(r"\\+t", "\t", text))
    return re.sub(r"\\+", "", text).replace("%%", "%").replace("$$", "$")


def _space_at(text: str, at: int) -> str:
    """Cut the run of space around the place."""
    start = end = at
    while start and text[start - 1] in " \t\r\n\f\v":
        start -= 1
    while end < len(text) and text[end] in " \t\r\n\f\v":
        end += 1
    return text[start:end][:40]


# --- JSON inside text -------------------------------------------------------------------------


def _json_starts(text: str, at: int) -> list[int]:
    """Give the places before `at` where an enclosing JSON value may begin, outermost first."""
    window = text[max(0, at - _READ_CHARS) : at + 1]
    offset = at + 1 - len(window)
    starts = [offset + match.start() for match in re.finditer(r"[{\[]", window)]
    head = len(text) - len(text.lstrip())
    return (
        [head, *starts[:40], *starts[-40:]] if text[head : head + 1] in '{["-0123456789' else starts
    )


class _Number(str):
    """A number's digits, so that `1` and `true` stay apart."""

    __slots__ = ()


_READ_CHARS = 4000
_AS_JSON = {"None": "null", "True": "true", "False": "false", "'": '"'}
_PYTHON = re.compile(r"\b(?:None|True|False)\b|'")  # each as long as what it becomes
_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number)


def _decode(text: str, start: int) -> tuple[Any, int] | None:
    """Read the value that begins at `start`, and where it ends; Python's way to print it too."""
    if not text:
        return None
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        written = _PYTHON.sub(lambda word: _AS_JSON[word[0]], text[start : start + _READ_CHARS])
    try:
        value, size = _DECODER.raw_decode(written)
    except (ValueError, RecursionError):
        return None
    return value, start + size


def _same(old: Any, new: Any) -> bool:
    """Tell whether two JSON values are equal, numbers by their value, keys in any order."""
    if isinstance(old, _Number) and isinstance(new, _Number):
        return old == new or (_exact(old) and _exact(new) and float(old) == float(new))
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return bool(old == new) or _same_inside(old, new)


def _same_inside(old: Any, new: Any) -> bool:
    """Tell whether two strings are JSON values themselves, and equal ones."""
    if not (isinstance(old, str) and old[:1] in ("{", "[") and isinstance(new, str)):
        return False
    inner = _decode(old, 0), _decode(new, 0)
    whole = inner[0] and inner[1] and inner[0][1] == len(old) and inner[1][1] == len(new)
    return bool(whole) and _same(inner[0][0], inner[1][0])  # type: ignore[index]  # whole says both


def _exact(number: str) -> bool:
    """Tell whether a float holds the number's digits."""
    return len(re.sub(r"\D", "", number)) <= 15
