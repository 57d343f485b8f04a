"""Results of a blame in words and as JSON, for people and programs; imports nothing.

The warm path prints with this, and so do the click commands: one wording.

Rule 1: text that came from outside is shown with its control characters escaped, for a terminal
obeys them.
Rule 2: a date is in UTC, the same on every machine.
"""

import time

from pvc.core.json_text import dump
from pvc.launch.answer import CONTROL, plain
from pvc.model.times import LAST_SECOND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = tuple[str, str, str, bytes]

EXCERPT_CHARS = 60
_NOT_LAYOUT = {code: shown for code, shown in CONTROL.items() if chr(code) not in "\n\t"}
_FIRST_SECOND = -62_135_596_800
YELLOW, CYAN, DIM, PLAIN = "\x1b[33m", "\x1b[36m", "\x1b[2m", "\x1b[0m"


def printable(text: str) -> str:
    """Escape as `plain` does, but for the line breaks and tabs of a document of our own."""
    return text.translate(_NOT_LAYOUT).encode("utf-8", "backslashreplace").decode()


def excerpt(data: bytes, limit: int = EXCERPT_CHARS) -> str:
    """Show the beginning of `data` on one line."""
    text = data[: 4 * limit + 4].decode("utf-8", "replace")
    shown = text[:limit].replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{shown}…" if len(text) > limit else shown


def day(seconds: int | None) -> str:
    """Write a date in UTC; beyond the years that have four digits, the seconds themselves."""
    if seconds is None:
        return "-"
    if not _FIRST_SECOND <= seconds <= LAST_SECOND:
        return f"@{seconds}"
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def who(label: str, commit: str, author: str, seconds: int | None) -> str:
    """Name an owner: what was adopted, the commit, who wrote it and when."""
    return f"{label} {commit[:12]} {author.partition(' <')[0]} {day(seconds)}"


def run_lines(rows: "Sequence[Row]", *, colour: bool) -> "Iterator[str]":
    """Show runs, one on a line: `(place, owner, section, data)`."""
    dim, yellow, cyan, plain = (DIM, YELLOW, CYAN, PLAIN) if colour else ("", "", "", "")
    owners = _column({row[1] for row in rows})
    sections = _column({row[2] for row in rows})
    cells: dict[tuple[str, str], str] = {}
    excerpts: dict[bytes, str] = {}  # of a prompt in many runs, most are a blank or a line break
    for start, owner, section, data in rows:
        cell = cells.get(key := (owner, section))
        if cell is None:
            name = f"{cyan}{sections[section]}{plain}"
            cell = cells[key] = f"{plain}  {yellow}{owners[owner]}{plain}  {name}  "
        shown = excerpts.get(data)
        if shown is None:
            shown = excerpts[data] = _shown(data)
        yield f"{dim}{start:>7}{cell}{shown}"


def _column(texts: "set[str]") -> "dict[str, str]":
    """Fill the cells of a column up to the widest; each text once, for many rows have the same."""
    wide = max(map(len, texts), default=0)
    return {text: plain(f"{text:<{wide}}") for text in texts}


def _shown(data: bytes) -> str:
    """Show an excerpt with its control characters escaped; most have none."""
    text = data[: 4 * EXCERPT_CHARS + 4].decode("utf-8", "replace")
    if len(text) <= EXCERPT_CHARS and text.isprintable() and "\\" not in text:
        return text
    return printable(excerpt(data))


def reason_lines(reasons: "Iterable[tuple[str, int, str, str]]") -> "Iterator[str]":
    """Say why each version was adopted: `(name, number, author, reason)`, in their order."""
    yield ""
    for name, number, author, reason in sorted(set(reasons)):
        subject = reason.split("\n", 1)[0]
        yield plain(f"{name}@{number}  {author.partition(' <')[0]}: {subject}")


class Written(str):
    """A JSON text that is part of a larger one as it is."""

    __slots__ = ()


def pretty(value: object, indent: str = "\n") -> str:
    """Write JSON with two blanks a level, as the commands print it."""
    inner = indent + "  "
    if isinstance(value, dict):
        rows = [f"{dump(str(key))}: {pretty(item, inner)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(rows) + indent + "}" if rows else "{}"
    if isinstance(value, (list, tuple)):
        rows = [pretty(item, inner) for item in value]
        return "[" + inner + f",{inner}".join(rows) + indent + "]" if rows else "[]"
    if isinstance(value, Written):
        return value
    if isinstance(value, str):
        return dump(str(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return "null" if value is None else "true" if value else "false"
