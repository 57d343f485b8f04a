"""The grammar of one `.loom` file: bytes → its version and sections. Pure and total.

    %% loom-prompt-pack 1        header: required, the first directive, its number parses as 1
    %% # a note                  comment: anywhere, leaves no line and ends no section
    %% version default-1         required, once, after the header: 1 to 64 of a-z 0-9 . _ -
    %% section identity          1 to 64 of a-z 0-9 _, each name once
    The lines of the section,    joined by LF and trimmed as one text
    with {placeholders}.
    %% section _network_open     a name that begins with `_` is a fragment
    Egress is open.

Rule 1: a line is a directive when it begins with `%%`, with nothing before it; what follows is
trimmed and splits at its first space, and a tab does not separate.
Rule 2: lines end at LF alone, and each loses one CR at its end; any other CR is content. The
fingerprint is taken before that.
Rule 3: outside of sections only blank lines may stand. A vanished instruction is the worst fault
that a pack can have, so stray text is one.
Rule 4: reading is total. It stops at the first fault, and the report says at which line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pvc.dialects import scan
from pvc.errors import DecodeError
from pvc.model.graphemes import extends
from pvc.model.pack import Section, Text
from pvc.model.span import Plane

if TYPE_CHECKING:
    from pvc.model.source import Source

BOUNDARY = "loom.decode"
MARKER = "%%"
FORMAT = 1
SECTION_NAME = re.compile(r"[a-z0-9_]{1,64}")
VERSION_NAME = re.compile(r"[a-z0-9._-]{1,64}")
_FORMAT_ONE = re.compile(r"\+?0*1")
_EXCERPT_CHARS = 80

EXPECTED = {
    "unknown-directive": "`loom-prompt-pack`, `version` or `section`",
    "stray-text": "a directive or a blank line ahead of the first section",
    "header-missing": "a header `%% loom-prompt-pack 1`",
    "header-first": "the header ahead of everything else",
    "header-duplicate": "a single header",
    "format-version": "format version 1",
    "version-missing": "a directive `%% version ID`",
    "version-before-section": "a version ahead of the first section",
    "version-name": "a version id of 1 to 64 of a-z 0-9 . _ -",
    "version-duplicate": "a single version",
    "section-name": "a section name of 1 to 64 of a-z 0-9 _",
    "section-duplicate": "a name that no other section has",
}


class LoomError(DecodeError):
    """A fault in a pack's source, with the report that Loom's own decoder would give.

    `error_code` is a key of `EXPECTED`; `line` is null for a fault of the pack as a whole;
    `context` is what stood there, whole, while the message quotes a printable excerpt.
    """

    def __init__(self, code: str, path: str, line: int | None = None, context: str = "") -> None:
        self.boundary = BOUNDARY
        self.subject = "the pack as a whole" if line is None else f"line {line}"
        self.line = line
        self.expected = EXPECTED[code]
        self.context = context
        self.error_code = code
        super().__init__(
            f"corruption: {self.boundary} ({self.subject}): expected {self.expected}, "
            f"got {_excerpt(context)}",
            at=path if line is None else f"{path}:{line}",
            hint="the file begins with a byte order mark" if context[:1] == "\ufeff" else "",
        )


def _excerpt(context: str) -> str:
    short = context[:_EXCERPT_CHARS] + ("…" if len(context) > _EXCERPT_CHARS else "")
    printable = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
    return f"`{''.join(printable)}`" if context else "nothing"


class LoomSource:
    """One file, read line by line.

    `version` is its own id, and `sections` are in the order of the file. Raises `LoomError` at the
    first fault, `DecodeError` when the file is no UTF-8.
    """

    def __init__(self, source: Source, plane: Plane = Plane.SURFACE) -> None:
        self.version = ""
        self.sections: list[Section] = []
        self._source = source
        self._plane = plane
        self._header = False
        self._names: set[str] = set()
        self._open: str | None = None
        self._body: list[tuple[int, int]] = []
        self._line_end = 0
        scan.decoded(source)
        at = 0
        for number, line in enumerate(source.data.split(b"\n"), 1):
            self._line(number, at, line)
            at += len(line) + 1
        self._close()
        if not self._header:
            raise LoomError("header-missing", source.path)
        if not self.version:
            raise LoomError("version-missing", source.path)

    def _line(self, number: int, at: int, line: bytes) -> None:
        content = line.removesuffix(b"\r")
        if content.startswith(MARKER.encode()):
            self._directive(number, content.decode())
        elif self._open is not None:
            if self._body:
                self._keep(self._line_end, self._line_end + 1)
            self._keep(at, at + len(content))
            self._line_end = at + len(line)
        elif scan.trim(content.decode()):
            raise LoomError("stray-text", self._source.path, number, content.decode())

    def _keep(self, start: int, end: int) -> None:
        """Add a range of the file to the open section; ranges that touch become one."""
        if self._body and self._body[-1][1] == start:
            self._body[-1] = (self._body[-1][0], end)
        else:
            self._body.append((start, end))

    # --- directives ---

    def _directive(self, number: int, line: str) -> None:
        content = scan.trim(_after_marker(line))
        if content.startswith("#"):
            return
        keyword, argument = _split(content)
        check = {
            "loom-prompt-pack": self._read_header,
            "version": self._read_version,
            "section": self._read_section,
        }.get(keyword)
        if check is None:
            raise LoomError("unknown-directive", self._source.path, number, content)
        if fault := check(argument):
            raise LoomError(fault, self._source.path, number, argument)

    def _read_header(self, argument: str) -> str:
        if self._header:
            return "header-duplicate"
        if not _FORMAT_ONE.fullmatch(argument):
            return "format-version"
        self._header = True
        return ""

    def _read_version(self, argument: str) -> str:
        if not self._header:
            return "header-first"
        if self.version:  # so no section can be open: the first one needs a version
            return "version-duplicate"
        if not VERSION_NAME.fullmatch(argument):
            return "version-name"
        self.version = argument
        return ""

    def _read_section(self, argument: str) -> str:
        self._close()
        if not self._header:
            return "header-first"
        if not self.version:
            return "version-before-section"
        if not SECTION_NAME.fullmatch(argument):
            return "section-name"
        if argument in self._names:
            return "section-duplicate"
        self._names.add(argument)
        self._open = argument
        return ""

    def _close(self) -> None:
        if self._open is not None:
            data, path = self._source.data, self._source.path
            texts = [Text(data[start:end], path, start) for start, end in self._body]
            self.sections.append(section(self._open, texts, self._plane))
        self._open, self._body = None, []


def section(name: str, texts: list[Text], plane: Plane) -> Section:
    """Trim a section's text and find its placeholders."""
    pieces = scan.pieces(scan.trimmed(texts))
    return Section(name, pieces, plane, fragment=name.startswith("_"))


def _after_marker(line: str) -> str:
    """Drop the marker's two characters, and with them any mark upon the second."""
    at = len(MARKER)
    while at < len(line) and extends(ord(line[at])):
        at += 1
    return line[at:]


def _split(content: str) -> tuple[str, str]:
    """Split at the first space that is a character by itself."""
    at = content.find(" ")
    while at >= 0 and at + 1 < len(content) and extends(ord(content[at + 1])):
        at = content.find(" ", at + 1)
    return (content, "") if at < 0 else (content[:at], scan.trim(content[at + 1 :]))
