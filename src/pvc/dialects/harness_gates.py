"""Form `harness`: checks of prompt text, each one function over plain texts. Pure.

Conventions of prompt writing drift unless something holds them. What is found here is told by the
caller, who knows the files; these functions know names and offsets only.

Rule 1: always-on text has one cap for c1 to c4 together, in UTF-16 units: every token of it is paid
in every request, and competes with what the agent may say itself.
Rule 2: always-on text is rendered and not templated, so a double opening brace is a mistake that
would be sent as it stands. A single brace, and a double closing one, are ordinary text.
Rule 3: a script is named by `scripts/` and a run of letters, digits, `.`, `_`, `-`, `/` that does
not end in a dot: that one ends the sentence. `skills/x/scripts/y` names something else.
Rule 4: a skill is mentioned where its name stands as a whole word; a hyphen belongs to the word.
Mentioned in always-on text, it needs its trigger line there, as a whole line.
Rule 5: memory holds facts. Numbered steps of which one carries a date, a commit or a number of a
ticket are a procedure with its audit trail, and belong into a skill.
Rule 6: a value that is new each day or on each machine makes the prefix new, wherever it stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pvc.dialects.harness_files import ALWAYS_ON, utf16_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ALWAYS_ON_MAX = 24_000
"""Most UTF-16 units of always-on text."""
CAP_REASON = "every token of it is paid in every request and leaves less room for the answer"

DOUBLE_BRACE = "{{"
_SCRIPT = re.compile(r"(?<![\w./-])(?:\./)?(scripts/[A-Za-z0-9._/-]*[A-Za-z0-9_/-])")
_STEP = re.compile(r"[ \t]*[0-9]{1,3}[.)][ \t]")
_AUDIT = re.compile(
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b|#[0-9]+\b"
)
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TRIGGER = re.compile(r"^trigger:[ \t]+(.*?)[ \t\r]*$", re.MULTILINE)
_ANSWERS = re.compile(r"\b(?:rubrics?|scores?|scored|verdicts?)\b", re.IGNORECASE)


class Cap(NamedTuple):
    """How much always-on text there is, and whether it may be so much."""

    total: int
    ok: bool


class Named(NamedTuple):
    """A name in a text, and the character that it starts at."""

    name: str
    at: int


def always_on_cap(files: Mapping[str, str]) -> Cap:
    """Measure the always-on files among `files`; others cost nothing here."""
    total = sum(utf16_units(text) for path, text in files.items() if path in ALWAYS_ON)
    return Cap(total, total <= ALWAYS_ON_MAX)


def double_braces(text: str) -> tuple[int, ...]:
    """Find where a double opening brace stands."""
    return tuple(match.start() for match in re.finditer(r"\{\{", text))


def named_scripts(text: str) -> Iterator[Named]:
    """Find the scripts that a text names, each time it does."""
    for match in _SCRIPT.finditer(text):
        yield Named(match[1], match.start(1))


def missing_scripts(text: str, scripts: Iterable[str]) -> tuple[Named, ...]:
    """Find the named scripts that are not there, each once; a folder is there with its files."""
    named: dict[str, Named] = {}
    for one in named_scripts(text):
        named.setdefault(one.name, one)
    there = set(scripts) if named else set()
    return tuple(
        one
        for name, one in named.items()
        if name not in there and not any(p.startswith(name.rstrip("/") + "/") for p in there)
    )


def mention(text: str, name: str) -> int | None:
    """Find where a skill is mentioned first; null when it is not."""
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    return match.start() if match else None


def untriggered(text: str, skills: Iterable[tuple[str, str | None]]) -> tuple[Named, ...]:
    """Find the skills that always-on `text` mentions without their trigger line."""
    lines = {line.removesuffix("\r") for line in text.split("\n")}
    return tuple(
        Named(name, at)
        for name, trigger in skills
        if (at := mention(text, name)) is not None and (not trigger or trigger not in lines)
    )


def trigger_line(text: str) -> str | None:
    """Read the `trigger:` of a skill's front matter, quotes around it taken off."""
    front = _FRONT_MATTER.match(text)
    found = _TRIGGER.search(front[1] or "") if front else None
    if found is None:
        return None
    line = found[1]
    quoted = len(line) > 1 and line[0] == line[-1] and line[0] in "\"'"
    return (line[1:-1] if quoted else line) or None


def procedures(text: str) -> tuple[int, ...]:
    """Find where numbered steps with an audit trail start."""
    found: list[int] = []
    at, start, steps, audited = 0, 0, 0, False
    for line in [*text.split("\n"), ""]:
        if _STEP.match(line):
            start = start if steps else at
            steps += 1
            audited |= _AUDIT.search(line) is not None
        elif not line.startswith((" ", "\t")):  # an indented line goes on with its step
            if steps > 1 and audited:
                found.append(start)
            steps, audited = 0, False
        at += len(line) + 1
    return tuple(found)


def volatile_names(prefix: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """List the names of values that stand in the stable prefix; an empty value stands nowhere."""
    return tuple(name for name, value in values.items() if value and value in prefix)


def answer_bearing(dynamic: Mapping[str, str]) -> tuple[str, ...]:
    """List the dynamic sections that speak of rubrics, scores or verdicts.

    An improver or selector that reads them would be shown what it is judged by.
    """
    return tuple(name for name, text in dynamic.items() if _ANSWERS.search(text))
