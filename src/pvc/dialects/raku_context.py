"""The run context of the form `raku`: what is true today, kept out of the sticky prompt.

    head   the head sections, before the conversation
    tail   ## Current context, facts as bullets, the tail sections, two closing lines

Rule 1: facts and sections are ordered pairs; order counts in the digest, so an unordered mapping is
refused.
Rule 2: null is no value; trailing white space goes from every value on entry, and nothing else.
Rule 3: a blank section is left out of the messages and stays in the digest.
Rule 4: digests are SHA-256 of compact JSON with sorted keys, in the escapes of the library that the
form comes from: a character beyond U+FFFF is written as its surrogate pair, in upper case.
Rule 5: the two closing lines are words, given from a pack; the composition is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pvc.errors import DecodeError
from pvc.model.raku_text import is_blank, normal, trimmed_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADING = "## Current context"
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


class RakuError(DecodeError):
    """What the original refuses; `error_code` is our word for the fault."""

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.error_code = code


@dataclass(frozen=True, slots=True)
class Pair:
    """A named text: a fact, or a section."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the pair's JSON."""
        return digest([self.name, self.text])


@dataclass(frozen=True, slots=True)
class RunContext:
    """Facts, head sections and tail sections of one run."""

    facts: tuple[Pair, ...] = ()
    head: tuple[Pair, ...] = ()
    tail: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, facts: Any = (), head: Any = (), tail: Any = ()) -> RunContext:
        """Build a context from lists of pairs. Raises `RakuError`."""
        return cls(_pairs(facts), _pairs(head), _pairs(tail))

    @property
    def sections(self) -> tuple[Pair, ...]:
        """The sections, head before tail."""
        return (*self.head, *self.tail)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be sent: neither message is there."""
        return not (self.facts or _texts(self.sections))

    def head_message(self) -> str | None:
        """Write what goes before the conversation; null when there is nothing."""
        return "\n\n".join(_texts(self.head)) or None

    def tail_message(self, closing: Sequence[str]) -> str | None:
        """Write what goes behind the last message; null when there is nothing."""
        sections = _texts(self.tail)
        if not self.facts and not sections:
            return None
        bullets = "\n".join(f"- {fact.name}: {fact.text}" for fact in self.facts)
        facts = [bullets] if bullets else []
        return "\n\n".join([HEADING, *facts, *sections, "\n".join(closing)])

    def canonical(self) -> str:
        """Write the JSON that the digest covers."""
        return canonical(
            {
                "facts": [[pair.name, pair.text] for pair in self.facts],
                "head-sections": [[pair.name, pair.text] for pair in self.head],
                "tail-sections": [[pair.name, pair.text] for pair in self.tail],
            }
        )

    @property
    def digest(self) -> str:
        """SHA-256 of `canonical`."""
        return sha256(self.canonical().encode()).hexdigest()

    def to_record(self, run: str, earlier: Mapping[str, str]) -> dict[str, object]:
        """Write the transcript's record of a run.

        `earlier` gives the run that wrote a section's text first, by the section's digest; such a
        text is not written again.
        """
        sections: list[dict[str, str]] = []
        for pair in self.sections:
            row = {"name": pair.name, "digest": pair.digest}
            known = earlier.get(pair.digest)
            sections.append(row | ({"run": known} if known else {"text": pair.text}))
        facts = [[pair.name, pair.text] for pair in self.facts]
        return {"run": run, "digest": self.digest, "facts": facts, "sections": sections}


def _texts(pairs: tuple[Pair, ...]) -> list[str]:
    return [pair.text for pair in pairs if not is_blank(pair.text)]


def _pairs(given: Any) -> tuple[Pair, ...]:
    if not isinstance(given, list | tuple):
        raise RakuError(
            "unordered-facts",
            "facts and sections are lists of pairs",
            hint='[["name", "text"], …]: order counts',
        )
    return tuple(pair for item in given if (pair := _pair(item)))


def _pair(item: Any) -> Pair | None:
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise RakuError("unordered-facts", "a fact or section is a pair of name and text")
    name, value = item
    if not isinstance(name, str) or is_blank(name):
        raise RakuError("blank-name", "a fact or section has no name")
    if value is None:
        return None
    if type(value) is not str:
        raise RakuError("value-not-text", f"the value of `{name}` is no text")
    text = normal(value)
    return Pair(normal(name), text[: trimmed_end(text)])


# --- digests ----------------------------------------------------------------------------------


def digest(value: Any) -> str:
    """SHA-256 of a JSON value in its one form."""
    return sha256(canonical(value).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Write JSON: keys sorted by code point, no white space."""
    if isinstance(value, dict):
        named = {normal(key): item for key, item in value.items()}
        items = ",".join(f"{_quote(key)}:{canonical(named[key])}" for key in sorted(named))
        return f"{{{items}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(canonical(item) for item in value)}]"
    if isinstance(value, str):
        return _quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value or abs(value))  # an exact decimal has no negative zero


def _quote(text: str) -> str:
    return f'"{"".join(_escaped(char) for char in normal(text))}"'


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code < 0x20:
        return f"\\u{code:04x}"
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04X}\\u{0xDC00 + low:04X}"
    return char
