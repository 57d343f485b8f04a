"""The rules of `pvc check` as one table, and what becomes of their hits. Pure.

    subject ──► rules, form ──► hits ──► findings with places ──► less what is ignored

Rule 1: a rule is a row: code, severity, one function. A code never changes its meaning.
Rule 2: an ignore in a file stands in a comment, says why, and counts for its own line and the next:
`%% # pvc: ignore CODE: REASON` or `<!-- pvc: ignore CODE: REASON -->`. One without a reason, with
a code that no rule has, or with nothing to ignore, is a finding itself.
Rule 3: a finding's fingerprint is made of the code, the path, the text of the line and how many
of the same stand before it. It outlives edits elsewhere in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pvc.core import (
    check_bytes,
    check_layout,
    check_placeholders,
    check_secrets,
    check_tools,
    check_volatile,
)
from pvc.core.check_lines import Lines
from pvc.core.check_subject import Hit
from pvc.model.digest import Digest
from pvc.model.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pvc.core.check_subject import Subject
    from pvc.model.source import Source

CORRUPTING, SHAPING, VOLATILE, HYGIENE = Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `fix` takes a file's bytes and its path, and is there only where it is certain."""

    code: str
    severity: Severity
    find: Callable[[Subject], Iterator[Hit]]
    fix: Callable[[bytes, str], bytes] | None = None

    @property
    def summary(self) -> str:
        """What it sees, in a sentence."""
        return (self.find.__doc__ or "").strip()


RULES = (
    Rule("tool-unknown", CORRUPTING, check_tools.unknown_tools),
    Rule("argument-unknown", CORRUPTING, check_tools.unknown_arguments),
    Rule("tool-duplicate", CORRUPTING, check_tools.duplicate_tools),
    Rule("required-unknown", CORRUPTING, check_tools.required_unknown),
    Rule("placeholder-mistyped", CORRUPTING, check_placeholders.mistyped),
    Rule("placeholder-undeclared", SHAPING, check_placeholders.undeclared),
    Rule("volatile-date", VOLATILE, check_volatile.dates),
    Rule("volatile-time", VOLATILE, check_volatile.times),
    Rule("volatile-id", VOLATILE, check_volatile.ids),
    Rule("volatile-path", VOLATILE, check_volatile.paths),
    Rule("baked-environment", VOLATILE, check_volatile.environment_blocks),
    Rule("baked-clock", VOLATILE, check_volatile.clock_placeholders),
    Rule("secret", VOLATILE, check_secrets.secrets),
    Rule("required-order", VOLATILE, check_tools.required_order),
    Rule("baked-list", SHAPING, check_volatile.changing_placeholders),
    Rule("plane-order", SHAPING, check_layout.plane_order),
    Rule("over-budget", SHAPING, check_layout.over_budget),
    Rule("tool-order", SHAPING, check_tools.tool_order),
    Rule(
        "crlf", HYGIENE, check_bytes.carriage_returns, check_bytes.without_carriage_returns
    ),
    Rule("bom", HYGIENE, check_bytes.byte_order_mark, check_bytes.without_byte_order_mark),
    Rule(
        "trailing-blanks",
        HYGIENE,
        check_bytes.trailing_blanks,
        check_bytes.without_trailing_blanks,
    ),
    Rule(
        "final-newline", HYGIENE, check_bytes.final_newline, check_bytes.with_final_newline
    ),
    Rule("zero-byte", HYGIENE, check_bytes.zero_bytes),
    Rule("hidden-character", HYGIENE, check_bytes.hidden_characters),
    Rule("unicode-form", HYGIENE, check_bytes.unicode_forms),
)  # fmt: skip
ADOPTING = ("placeholder-mistyped", "placeholder-undeclared")
"""Rules that speak when a folder is adopted too, beside those of its form."""
UNREADABLE = "unreadable"
IGNORE_MALFORMED = "ignore-malformed"
IGNORE_UNUSED = "ignore-unused"
OWN_CODES = (*(rule.code for rule in RULES), UNREADABLE, IGNORE_MALFORMED, IGNORE_UNUSED)

_IGNORE = re.compile(
    rb"(?:^%%[ \t]*+\#|<!--)[ \t]*+pvc:[ \t]*+ignore\b[ \t]*+"
    rb"(?P<code>[a-z0-9]*+(?:-(?!->)[a-z0-9]*+)*+)[ \t]*+(?P<end>:|-->|\r?$)",
    re.MULTILINE,
)
"""An ignore up to its reason; possessive throughout, so that blanks are not gone over again."""
_PLACE = re.compile(
    r"(?P<path>.*?)(?::(?P<line>\d+)(?::(?P<column>\d+))?)?(?: [`\[].*)?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with its place: bytes `start` to `end` (half-open) of the file at `path`.

    `line` and `column` count from 1; the column in bytes, `character` in code points. A finding
    about a prompt as a whole stands at the beginning of its manifest.
    """

    finding: Finding
    path: str
    start: int
    end: int
    line: int
    column: int
    character: int
    fingerprint: Digest

    def to_json(self) -> dict[str, object]:
        """Keys of a finding in `pvc.check/1`."""
        return {
            "code": self.finding.code,
            "severity": self.finding.severity.value,
            "message": self.finding.message,
            "hint": self.finding.hint or None,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "byte": self.start,
            "bytes": self.end - self.start,
            "section": self.finding.section or None,
            "name": self.finding.name or None,
            "fingerprint": self.fingerprint,
        }


class Waiver(NamedTuple):
    """An accepted finding of a manifest: `paths` are the files that it means; null means all."""

    code: str
    paths: tuple[str, ...] | None
    place: Hit


class Result(NamedTuple):
    """What is left of the findings, and how many an ignore took away."""

    found: tuple[Located, ...]
    ignored: int


def check(
    subject: Subject,
    form: Iterable[Finding] = (),
    waivers: Iterable[Waiver] = (),
    others: Mapping[str, Source] | None = None,
    rules: Iterable[Rule] = RULES,
) -> Result:
    """Run the rules over `subject` and add what its form has to say.

    `others` are files that findings may stand in besides the subject's own: manifest, tools.
    """
    sources = {file.path: file.source for file in subject.files} | dict(others or {})
    found = [(rule.code, rule.severity, hit) for rule in rules for hit in rule.find(subject)]
    placed = _Placer(sources, subject.prefix)
    located = [placed.hit(*row) for row in found]
    located += [placed.finding(finding, subject.manifest) for finding in form]
    return _Ignores(subject, placed, tuple(waivers)).apply(located)


def unreadable(
    finding: Finding, sources: Mapping[str, Source], *, manifest: str = "", prefix: str = ""
) -> Located:
    """Place the finding of files that are not in their form."""
    return _Placer(sources, prefix).finding(finding, manifest)


def fix(data: bytes, path: str, codes: Iterable[str]) -> bytes:
    """Mend what the rules of these codes found in a file, where a rule has a certain fix."""
    wanted = set(codes)
    for rule in RULES:
        if rule.fix is not None and rule.code in wanted:
            data = rule.fix(data, path)
    return data


# --- places -----------------------------------------------------------------------------------


class _Placer:
    """Turns hits and a form's findings into places, and counts equal ones."""

    def __init__(self, sources: Mapping[str, Source], prefix: str) -> None:
        self._sources = sources
        self._prefix = prefix
        self._seen: dict[tuple[str, str, bytes], int] = {}
        self._lines: dict[str, Lines] = {}

    def lines(self, path: str) -> Lines:
        """Give the lines of a file; they are counted once for all findings."""
        if path not in self._lines:
            source = self._sources.get(path)
            self._lines[path] = Lines(source.data if source else b"")
        return self._lines[path]

    def hit(self, code: str, severity: Severity, hit: Hit) -> Located:
        return self._at(
            Finding(code, severity, hit.message, name=hit.name, hint=hit.hint),
            hit.path,
            hit.start,
            hit.end,
        )

    def finding(self, finding: Finding, manifest: str) -> Located:
        """Read the place that a form wrote as text."""
        match = _PLACE.fullmatch(finding.at)
        path = match["path"] if match and match["path"] else manifest
        source = self._sources.get(path)
        if source is None or match is None or match["line"] is None:
            return self._at(finding, path, 0, 0)
        at = self.lines(path)
        start = at.start(int(match["line"])) + int(match["column"] or 1) - 1
        start = min(start, len(source.data))
        return self._at(finding, path, start, at.end(start))

    def _at(self, finding: Finding, path: str, start: int, end: int) -> Located:
        lines = self.lines(path)
        line = lines.number(start)
        column, character = lines.column(line, start)
        path = self._prefix + path
        at = f"{path}:{line}:{column}" if lines.data else path
        placed = Finding(
            finding.code, finding.severity, finding.message, finding.section, finding.name, at,
            finding.hint,
        )  # fmt: skip
        return Located(
            placed,
            path,
            start,
            end,
            line,
            column,
            character,
            self._fingerprint(finding, path, lines.text(line)),
        )

    def _fingerprint(self, finding: Finding, path: str, text: bytes) -> Digest:
        key = (finding.code + "\0" + finding.name, path, text)
        self._seen[key] = self._seen.get(key, 0) + 1
        parts = (key[0].encode(), path.encode(errors="surrogateescape"), text)
        return Digest.of(b"\0".join((*parts, str(self._seen[key]).encode())))


# --- ignores ----------------------------------------------------------------------------------


@dataclass
class _Mark:
    """An ignore in a file; it counts for its own line and the next."""

    hit: Hit
    line: int
    is_used: bool = False


class _Ignores:
    """The ignores of one subject, from its files and from its manifest."""

    def __init__(self, subject: Subject, placed: _Placer, waivers: tuple[Waiver, ...]) -> None:
        self._placed = placed
        self._prefix = subject.prefix
        self._marks: list[_Mark] = []
        self._faults: list[Located] = []
        self._waivers = waivers
        self._used: set[Waiver] = set()
        for file in subject.files:
            self._read(file.path, file.data)
        self._by_place = {
            (self._prefix + mark.hit.path, mark.hit.name, mark.line): mark
            for mark in reversed(self._marks)
        }

    def _read(self, path: str, data: bytes) -> None:
        lines, before = self._placed.lines(path), -1
        for match in _IGNORE.finditer(data):
            if match.start() < before:
                continue  # one line holds one
            before = end = lines.end(match.start())
            reason = data[match.end() : end] if match["end"] == b":" else b""
            code = match["code"].decode()
            hit = Hit(path, match.start(), end, "", name=code)
            if reason.removesuffix(b"\r").partition(b"-->")[0].strip(b" \t"):
                self._marks.append(_Mark(hit, lines.number(match.start())))
            else:
                hit = hit._replace(message="an ignore without a reason", hint="ignore CODE: REASON")
                self._faults.append(self._placed.hit(IGNORE_MALFORMED, CORRUPTING, hit))

    def apply(self, located: list[Located]) -> Result:
        kept = [one for one in located if not (self._marked(one) or self._waived(one))]
        found = sorted([*kept, *self._faults, *self._unused()], key=_place)
        return Result(tuple(found), len(located) - len(kept))

    def _marked(self, one: Located) -> bool:
        for line in (one.line - 1, one.line):
            mark = self._by_place.get((one.path, one.finding.code, line))
            if mark is not None:
                mark.is_used = True
                return True
        return False

    def _waived(self, one: Located) -> bool:
        for waiver in self._waivers:
            named = waiver.paths is None or one.path.removeprefix(self._prefix) in waiver.paths
            if named and waiver.code == one.finding.code:
                self._used.add(waiver)
                return True
        return False

    def _unused(self) -> Iterator[Located]:
        """Report what ignores nothing: the code is none, or what it meant is gone."""
        unused = [mark.hit for mark in self._marks if not mark.is_used]
        unused += [waiver.place for waiver in self._waivers if waiver not in self._used]
        for hit in unused:
            message = f"nothing here is `{hit.name}`, so nothing is ignored"
            hint = "remove the ignore, or see how its code is written"
            yield self._placed.hit(IGNORE_UNUSED, SHAPING, hit._replace(message=message, hint=hint))


def _place(one: Located) -> tuple[str, int, str]:
    return (one.path, one.start, one.finding.code)
