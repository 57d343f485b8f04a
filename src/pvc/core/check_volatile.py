"""Rules about text that is new by nature in a plane that should stay.

Rule 1: a date alone is content, and so is one that is labelled `Date`. It is volatile when its
words say that it is *now*, or when the file was made; then every day, or every edit, loses the
prefix from there on.
Rule 2: a machine's own text (a home folder, a temporary name, an environment block with its values)
was rendered once and pasted: the next machine has another.
Rule 3: names that stand for somebody (`/home/user`) are examples, and so is a sentence that asks
the reader to suppose a day. A home folder in a sandbox is the same on every machine.
Rule 4: a label with a sentence behind it explains a word; a value has a digit, a slash, one word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.check_subject import Hit, TextFile, lines, prose, without_fences
from pvc.model.pack import Hole, TextBinding
from pvc.model.pack import Section as PackSection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pvc.core.check_subject import Subject
    from pvc.model.pack import Pack

_MONTH = rb"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = (
    rb"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+(?:the\s+)?)?"
    rb"(?:(?:19|20)\d\d[-/.](?:1[0-2]|0?[1-9])(?:[-/.](?:[12]\d|3[01]|0?[1-9]))?(?!\d)"
    rb"|(?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|[12]\d|3[01])[./](?:19|20)\d\d"
    rb"|(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?\s+(?:of\s+)?" + _MONTH + rb",?\s+(?:19|20)\d\d"
    rb"|" + _MONTH + rb"\s+(?:(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d)"
)
_TIME = rb"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?m\b)?"
_NOW = (
    rb"(?:\btoday(?:['\xe2\x80\x99]+s date)?(?:\s+is|\s*[:=])"
    rb"|\b(?:the\s+)?current\s+(?:date|time|day|month|year)(?:\s+and\s+time)?(?:\s+is|\s*[:=])"
    rb"|\bit\s+is\s+(?:now|currently)|\bright\s+now\s+it\s+is|\bas\s+of\s+today,?"
    rb"|^[ \t>*_#-]*(?:now|timestamp|(?:last\s+)?(?:updated|modified|generated|rendered"
    rb"|built|exported)(?:\s+(?:on|at|by[^\n:]{1,40}?(?:on|at)))?)[*_]*\s*[:=]"
    rb"|^[ \t>*_#<!-]*(?:this\s+file\s+was\s+)?(?:auto-?)?generated\s+(?:by[^\n]{1,40}?\s)?"
    rb"(?:on|at)\b"
    rb")[\s*_`\"']{0,6}(?:the\s+)?"
)
_FLAGS = re.IGNORECASE | re.MULTILINE
_DATE_NOW = re.compile(_NOW + rb"(" + _DATE + rb")", _FLAGS)
_TIME_NOW = re.compile(
    _NOW + rb"(?:" + _DATE + rb"[T,\s]{1,3}(?:at\s+)?)?(" + _TIME + rb")", _FLAGS
)
_STAMP = re.compile(
    rb"(?<![\w\"'`])(?:19|20)\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d:[0-5]\d"
    rb"(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w\"'`])"
)
_UUID = re.compile(
    rb"(?<![\w/=.-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w./-])", re.IGNORECASE
)
_LABELLED_ID = re.compile(
    rb"\b(?:session|request|trace|run|conversation|thread|correlation|message|build|job)"
    rb"[ _-]?(?:id|key|token)[\"'`*]{0,2}\s*(?:[:=]|\bis\b)\s*[\"'`*]{0,2}"
    rb"((?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{8,64})(?![\w-])"
    rb"|\bcch=([0-9a-f]{4,})",
    re.IGNORECASE,
)
_HOME = re.compile(
    rb"(?:(?<![\w.$~}>/-])(?:/home/|/Users/)|\b[A-Z]:\\{1,2}Users\\{1,2})(?P<who>[A-Za-z][\w.-]*)"
)
_TEMPORARY = re.compile(
    rb"(?<![\w.])(?:/private)?(?:/var/folders/\w\w/\w{12,}|/(?:var/)?tmp/(?P<part>[\w.-]{6,}))"
)
_ANYBODY = frozenset(
    b"""user username name you your yourname your-name your_name me myself someone somebody
    alice bob carol jane john joe jdoe johndoe example foo bar dev developer admin root ubuntu
    runner node app vscode shared public linuxbrew agent claude codex me.name firstname
    helper sandbox workspace builder service bot assistant model worker coder container docker
    vagrant jovyan codespace gitpod circleci oai computeruse""".split()
)
_STATE_LINE = re.compile(
    rb"^[ \t>*_-]*(?P<label>(?:(?:current|primary) )?working (?:directory|folder)|cwd|pwd"
    rb"|platform|os(?: version)?|operating system|host(?:name)?|shell|(?:current |git )?branch"
    rb"|user(?:name)?|is (?:directory )?a git repo(?:sitory)?|today(?:'s date)?|date"
    rb"|home(?: directory)?|time ?zone|locale)[*_`\"]*\s*[:=]\s*[\"'`*]{0,2}"
    rb"(?P<value>[^\s{<$\[(][^\n]*)$",
    re.IGNORECASE,
)
_PROSE = re.compile(rb"[a-z]+(?:[ ,;'-]+[A-Za-z][A-Za-z'-]*){2,}[.;]?\s*")
_SUPPOSED = re.compile(
    rb"\b(?:assum|suppos|imagin|pretend)(?:e|es|ed|ing)?\b"
    rb"|\bif (?:today|the current|it is)[^.\n]{0,40}$",
    re.IGNORECASE,
)
_SANDBOX = re.compile(rb"\b(?:sandbox|container|docker|virtual machine|vm)\b", re.IGNORECASE)
_NEAR_LINES = 12
_CLOCKS = frozenset(
    """date today now time datetime timestamp current_date current_time current_datetime
    todays_date today_date date_time weekday day utc_now""".split()  # noqa: SIM905 - a table
)
_CHANGING = frozenset(
    """tools tool_list tool_docs tool_names instructions custom_instructions user_instructions
    memory memories todo todos git_status git_branch branch status open_files recent_files
    file_tree directory_listing mcp_servers""".split()  # noqa: SIM905 - a table
)


class _Found(NamedTuple):
    start: int
    end: int
    text: str


def dates(subject: Subject) -> Iterator[Hit]:
    """See a date that the text itself calls the present, or its own making."""
    for file, found in _search(subject, lambda data: _meant(data, _groups(_DATE_NOW, prose(data)))):
        yield Hit(
            file.path,
            found.start,
            found.end,
            f"`{found.text}` is the date of one day",
            "say it in the conversation, where it may change, or leave it out",
        )


def times(subject: Subject) -> Iterator[Hit]:
    """See a time of day, or a time stamp of a program."""
    for file, found in _search(subject, _times):
        yield Hit(
            file.path,
            found.start,
            found.end,
            f"`{found.text}` is the time of one moment",
            "say it in the conversation, where it may change, or leave it out",
        )


def _times(data: bytes) -> Iterator[_Found]:
    text = prose(data)
    seen = list(_meant(data, _groups(_TIME_NOW, text)))
    yield from seen
    starts = [found.start for found in seen]  # in order, and none overlaps another
    for match in _STAMP.finditer(text):
        at = bisect_left(starts, match.end()) - 1
        if at < 0 or seen[at].end <= match.start():
            yield _found(data, *match.span())


def ids(subject: Subject) -> Iterator[Hit]:
    """See identifiers that are drawn anew for each session or build."""
    for file, found in _search(subject, _ids):
        yield Hit(
            file.path,
            found.start,
            found.end,
            f"`{found.text}` is an id of one occasion",
            "keep ids out of the prompt; the harness knows them",
        )


def _ids(data: bytes) -> Iterator[_Found]:
    for match in _UUID.finditer(prose(data)):
        if _is_drawn(match[0]):
            yield _found(data, *match.span())
    yield from (
        found
        for found in _groups(_LABELLED_ID, without_fences(data))
        if not _UUID.fullmatch(found.text.encode())
    )


def _is_drawn(uuid: bytes) -> bool:
    """Tell a drawn UUID from one that somebody typed: runs and few digits are typed."""
    digits = uuid.replace(b"-", b"").lower()
    steps = sum(b - a in (0, 1) for a, b in pairwise(digits))
    return len(set(digits)) >= 8 and steps <= 12


def paths(subject: Subject) -> Iterator[Hit]:
    """See a person's home folder or a temporary name that a machine made up."""
    for file, found in _search(subject, _paths):
        yield Hit(
            file.path,
            found.start,
            found.end,
            f"`{found.text}` is there on one machine only",
            "make it a placeholder that is filled at launch, or a relative path",
        )


def _paths(data: bytes) -> Iterator[_Found]:
    text = without_fences(data)
    for match in _HOME.finditer(text):
        anybody = match["who"].lower().rstrip(b".") in _ANYBODY
        if not anybody and not _SANDBOX.search(_line(data, match.start())):
            yield _found(data, *match.span())
    for match in _TEMPORARY.finditer(text):
        if match["part"] is None or _is_made_up(match["part"]):
            yield _found(data, *match.span())


def _is_made_up(part: bytes) -> bool:
    tail = re.sub(rb"^tmp[._-]?|\.[a-z]{1,5}$", b"", part)
    if set(tail) == set(b"X"):
        return False  # the template that mktemp fills
    switches = sum(chr(a).isdigit() != chr(b).isdigit() for a, b in pairwise(tail))
    return len(tail) >= 6 and switches >= 2


def environment_blocks(subject: Subject) -> Iterator[Hit]:
    """See two or more lines of one machine's state, values and all, close together."""
    for file in subject.files:
        if file.is_stable:
            yield from _environment_block(file)


def _environment_block(file: TextFile) -> Iterator[Hit]:
    seen: list[tuple[int, int, int, str]] = []  # line, start, end, label
    for number, (at, line) in enumerate(lines(without_fences(file.data))):
        match = _STATE_LINE.match(line)
        if match and not _PROSE.fullmatch(match["value"]):
            label = match["label"].decode().lower()
            seen.append((number, at + match.start("label"), at + len(line.rstrip()), label))
    for one, other in pairwise(seen):
        if other[0] - one[0] <= _NEAR_LINES and one[3] != other[3]:
            message = f"`{one[3]}` and `{other[3]}` stand here with one machine's values"
            yield Hit(
                file.path,
                one[1],
                one[2],
                message,
                "make each value a placeholder, filled once at launch",
            )
            return


def clock_placeholders(subject: Subject) -> Iterator[Hit]:
    """See a placeholder for the time in text that lives as long as the session."""
    for hole in _holes(subject.pack, _CLOCKS):
        message = f"`{{{hole.name}}}` is filled once, so it is wrong by tomorrow"
        yield _at_hole(
            hole,
            message + " and no two days share what follows",
            "send the date with a turn of the conversation, where it may change",
        )


def changing_placeholders(subject: Subject) -> Iterator[Hit]:
    """See a placeholder for tools, instructions or state, which change while a session runs."""
    for hole in _holes(subject.pack, _CHANGING):
        yield _at_hole(
            hole,
            f"`{{{hole.name}}}` changes while a session runs, its block does not",
            "send changes as entries of the conversation; keep the block as it is",
        )


def _holes(pack: Pack | None, names: frozenset[str]) -> Iterator[Hole]:
    """Give the first placeholder of each name that the tree declares.

    A form that has bindings of its own, one that selects fragments among them, knows what it does.
    """
    bindings = pack.bindings if pack else ()
    if pack is None or not all(isinstance(binding, TextBinding) for binding in bindings):
        return
    names &= {binding.name for binding in bindings}
    seen: set[str] = set()
    for section in filter(_is_own, pack.sections):
        for piece in section.pieces:
            if isinstance(piece, Hole) and piece.name in names and piece.name not in seen:
                seen.add(piece.name)
                yield piece


def _is_own(section: PackSection) -> bool:
    return not any(piece.path.startswith(".pvc/") for piece in section.pieces)


def _at_hole(hole: Hole, message: str, hint: str) -> Hit:
    return Hit(hole.path, hole.offset, hole.offset + len(hole.data), message, hint, hole.name)


# --- searching --------------------------------------------------------------------------------


def _search(
    subject: Subject, find: Callable[[bytes], Iterator[_Found]]
) -> Iterator[tuple[TextFile, _Found]]:
    for file in subject.files:
        if file.is_stable:
            for found in find(file.data):
                yield file, found


def _meant(data: bytes, found: Iterator[_Found]) -> Iterator[_Found]:
    """Leave out what a sentence only supposes."""
    for one in found:
        start = data.rfind(b"\n", 0, one.start) + 1
        if not _SUPPOSED.search(data[max(start, one.start - 200) : one.start]):
            yield one


def _line(data: bytes, at: int) -> bytes:
    """Give the line that holds a byte, bounded on both sides."""
    start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    return data[max(start, at - 500) : min(end if end >= 0 else len(data), at + 500)]


def _groups(pattern: re.Pattern[bytes], data: bytes) -> Iterator[_Found]:
    """Give the group that took part in each match."""
    for match in pattern.finditer(data):
        group = match.lastindex or 0
        yield _found(data, *match.span(group))


def _found(data: bytes, start: int, end: int) -> _Found:
    return _Found(start, end, data[start:end].decode(errors="replace"))
