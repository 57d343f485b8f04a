"""A warm `pvc blame SESSION` or `TREE[@V]`: from files alone, without a git library and click.

Everything it needs was made before and is kept: the program of the version, its table of owners,
the pin and its values. Where anything is missing, odd or asked for that stands in no table, it
answers nothing, and the ordinary command does (and keeps what it made).

Rule 1: this gives the bytes that the ordinary command gives; a test compares them.
Rule 2: it decides nothing that could be decided otherwise: two matches for a word, a word that is
also a file, a pin that does not render to its digest are left to the ordinary command.
"""

import os

from pvc.core.owners import NOBODY
from pvc.core.program import run as render
from pvc.errors import PvcError
from pvc.launch import known, refs, tables, words
from pvc.launch.environment import read_environment
from pvc.launch.pager import Pager
from pvc.launch.pin import Pinner
from pvc.launch.place import find
from pvc.launch.prompt import digest
from pvc.launch.version import Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from pvc.core.owners import Run, SpanTuple, Table
    from pvc.launch.place import Place
    from pvc.launch.version import Version

    Given = dict[str, list[str]]

SESSION = "session:"
_PACKS = "refs/pvc/packs/"
_VALUED = ("--env", "--set", "--byte", "--section")
_ODD = ("observed", "entry.mode", "context.digest")
_RUN_INDENT = "\n    "
_ORIGIN_KEYS = ("kind", "path", "blob", "offset", "name", "rule", "pointer")


class _ColdError(Exception):
    """Not everything is at hand."""


class _Subject:
    """What is blamed: rendered bytes and spans of a version, and how they were named."""

    __slots__ = ("data", "keys", "spans", "version")

    def __init__(
        self,
        version: "Version",
        rendered: "tuple[bytes, list[SpanTuple]]",
        keys: "dict[str, object]",
    ) -> None:
        self.version = version
        self.data, self.spans = rendered
        named = {"tree": version.tree, "version": version.number, "commit": version.commit}
        self.keys = {**keys, **named}


def main(arguments: list[str], directory: str = ".") -> int | None:
    """Answer `pvc blame ARGUMENTS`; gives null when that takes more than is at hand."""
    try:
        given, word = _split(arguments)
        place = find(directory)
        if os.path.lexists(f"{directory}/{word}"):
            return None
        subject = _subject(place, word, given, directory)
        table = tables.read(place.common_dir, subject.version.commit)
        if table is None:
            return None
        runs = table.runs(subject.spans, *_range(subject, given))
        text = words.pretty(_as_json(subject, table, runs)) + "\n" if "--json" in given else ""
    except (_ColdError, PvcError, OSError):
        return None  # the ordinary command finds the same, and words it
    with Pager(place.git_dir) as pager:
        pager.write(text or _as_text(subject, table, runs, colour=pager.colour))
    return pager.exit_code


def _split(arguments: list[str]) -> "tuple[Given, str]":
    given: Given = {}
    named: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word[:1] != "-":
            named.append(word)
        elif name in _VALUED:
            given.setdefault(name, []).append(value if equals else next(rest, ""))
        elif word == "--json":
            given.setdefault(word, [])
        else:
            raise _ColdError
    if len(named) != 1:
        raise _ColdError
    return given, named[0]


# --- what the word names ----------------------------------------------------------------------


def _subject(place: "Place", word: str, given: "Given", directory: str) -> _Subject:
    if ":" in word.removeprefix(SESSION):
        raise _ColdError
    pinner = Pinner(place, Versions(place, _cold, _cold))
    tree = _tree(place, word)
    session = None
    if tree is None:
        session = known.newest(place, pinner.spool, word.removeprefix(SESSION), "main")
        if session is None or session.is_disputed:
            raise _ColdError
    elif "@" not in word and known.is_session(place, pinner.spool, word):
        raise _ColdError
    if _PACKS + word in refs.below(place, _PACKS):
        raise _ColdError
    if session is not None:
        if any(session.text(key) for key in _ODD) or not session.text("commit"):
            raise _ColdError
        prompt = pinner.pinned(session, session.text("provider"))
        if prompt.data and not prompt.spans:
            raise _ColdError  # given back as it was kept
        version = pinner.versions.at(session.text("commit"))
        keys: dict[str, object] = {"session": session.text("session"), "receipt": session.receipt}
        return _Subject(version, (prompt.data, prompt.spans), keys)
    version = pinner.versions.named(word)
    environment, notes = read_environment(
        given.get("--env", [None])[-1], given.get("--set", []), (), None, directory
    )
    data, spans, _ = render(version.program, environment)
    return _Subject(version, (data, spans), {}) if not notes else _cold()


def _tree(place: "Place", word: str) -> str | None:
    """Read the tip of the tree that a word begins with; packs are left to the ordinary command."""
    name = word.partition("@")[0]
    if word.startswith(SESSION) or not name or "/" in name or name.startswith("."):
        return None
    return refs.below(place, refs.TREES).get(refs.TREES + name)


def _cold(*_: object) -> "NoReturn":
    raise _ColdError


def _range(subject: _Subject, given: "Given") -> tuple[int, int]:
    size = len(subject.data)
    if "--section" in given:
        name = given["--section"][-1]
        inside = [span for span in subject.spans if span[4] == name and name]
        return (inside[0][0], inside[-1][1]) if inside else _cold()
    if "--byte" not in given:
        return 0, size
    first, dots, last = given["--byte"][-1].partition("..")
    if not first.isdecimal() or (dots and not last.isdecimal()):
        raise _ColdError
    start, end = int(first), int(last) if dots else int(first) + 1
    return (start, end) if start < end <= size else _cold()


# --- the answer -------------------------------------------------------------------------------


def _as_text(subject: _Subject, table: "Table", runs: "list[Run]", *, colour: bool) -> str:
    data = subject.data
    owners: dict[tuple[int, int], str] = {}  # of what files hold: one text for many runs
    rows = []
    for run in runs:
        start, end, origin, _, section, _, version, source = run
        if origin[0] != "source" or version == NOBODY:
            owner = _owner(table, run)
        elif (owner := owners.get((version, source), "")) == "":
            owner = owners[version, source] = _owner(table, run)
        rows.append((str(start), owner, section, data[start:end]))
    reasons = []
    for version in {run[6] for run in runs} - {NOBODY}:
        _, name, number, _, author, _, reason = table.version(version)
        reasons.append((name, number, author, reason))
    lines = (*words.run_lines(rows, colour=colour), *words.reason_lines(reasons), "")
    return "\n".join(lines)


def _owner(table: "Table", run: "Run") -> str:
    """Say who owns a run; of a file's, its version and source say it all."""
    origin = run[2]
    if origin[0] == "binding":
        return f"value {origin[1]} ({origin[2]})"
    if origin[0] != "source" or run[6] == NOBODY:
        return " ".join(origin[:2])
    _, name, number, commit, author, seconds, _ = table.version(run[6])
    label = f"{name}@{number}"
    if run[7] != NOBODY:
        commit, _, author, seconds, _, of_pack = table.source(run[7])
        label = of_pack or label
    return words.who(label, commit, author, seconds)


def _as_json(subject: _Subject, table: "Table", runs: "list[Run]") -> dict[str, object]:
    return {
        "schema": "pvc.blame/1",
        "over": "prompt",
        "subject": words.Written(words.printable(words.pretty(subject.keys, "\n  "))),
        "digest": digest(subject.data),
        "bytes": len(subject.data),
        "runs": _runs_json(table, runs),
    }


def _runs_json(table: "Table", runs: "list[Run]") -> "list[words.Written]":
    """Write runs as JSON: what many have in common, once, and the numbers of each."""
    places: dict[tuple[object, ...], tuple[str, ...]] = {}
    owners: dict[tuple[int, int], str] = {}
    out = []
    for start, end, origin, offset, section, blob, version, source in runs:
        place = places.get(key := (origin, section, blob))
        if place is None:
            place = places[key] = _place_json(origin, section, blob)
        owner = owners.get((version, source))
        if owner is None:
            owner = owners[version, source] = _item(_owner_json(table, version, source))[1:]
        a, b, c, *d = place
        last = f"{offset}{d[0]}" if d else ""
        out.append(words.Written(f"{a}{start}{b}{end}{c}{last},{owner}"))
    return out


def _item(value: dict[str, object]) -> str:
    """Write a part of a run as it stands in the list of runs."""
    return words.printable(words.pretty(value, _RUN_INDENT))


def _place_json(origin: tuple[str, ...], section: str, blob: str) -> tuple[str, ...]:
    """Write where a run stands, open at its end, cut where its numbers come."""
    value = {
        "start": 0,
        "end": 0,
        "region": "system",
        "section": section or None,
        "origin": {**_origin_json(origin), "blob": blob or None},
    }
    text = _item(value).removesuffix(f"{_RUN_INDENT}}}")
    a, _, text = text.partition("0")
    b, _, text = text.partition("0")
    c, offset, d = text.partition('"offset": 0')  # a quote in a name is escaped
    return (a, b, c + offset[:-1], d) if offset else (a, b, c)


def _owner_json(table: "Table", version: int, source: int) -> dict[str, object]:
    adopted = table.version(version) if version != NOBODY else None
    written = table.source(source) if source != NOBODY else None
    return {
        "version": adopted[2] if adopted else None,
        "commit": adopted[3] if adopted else None,
        "source": dict(zip(("commit", "path", "subject"), (*written[:2], written[4]), strict=True))
        if written
        else None,
        "author": written[2] if written else adopted[4] if adopted else None,
        "time": written[3] if written else adopted[5] if adopted else None,
        "reason": adopted[6] if adopted else None,
    }


def _origin_json(origin: tuple[str, ...]) -> dict[str, object]:
    out: dict[str, object] = dict.fromkeys(_ORIGIN_KEYS)
    out["kind"] = origin[0]
    if origin[0] == "glue":
        out["rule"] = origin[1]
        return out
    out["offset"] = 0
    if origin[0] == "source":
        out["path"], out["name"] = origin[1:]
    elif origin[0] == "binding":
        out["name"], out["pointer"], out["path"] = origin[1], origin[2], origin[3] or None
    return out
