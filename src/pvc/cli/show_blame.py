"""A blame for people (a line a run) and in git's own shapes, which programs know.

`--porcelain` and `--line-porcelain` are `git blame`'s with one entry for each run instead of each
line: `<commit> <byte there> <byte here> <bytes>`, the facts of the commit, `filename`, and the text
behind a tab, quoted as git quotes odd paths. `--incremental` has the entries without the text.

Rule 1: bytes that no commit wrote (values, glue, what is not committed yet) have a commit of zeros,
as in git, and their author is what they are.
Rule 2: `<byte there>` is where the bytes of a file stood in that commit; those of a prompt, where
they stand in the file of the version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.cli.text import plain
from pvc.launch import words
from pvc.launch.pager import Pager
from pvc.model.span import FromBinding, FromSource, FromTool, Glue, Unversioned
from pvc.ops.blame import Blamed
from pvc.ops.commits import facts_of
from pvc.ops.file_blame import FileBlamed, FileRun, subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.cli.app import App
    from pvc.ops.blame import BlameRun

_ZEROS = "0" * 40


class Entry(NamedTuple):
    """One run in git's shape; an empty commit stands for none."""

    start: int
    end: int
    commit: str
    offset: int
    path: str
    more: tuple[tuple[str, str], ...]
    nobody: tuple[str, str, int] = ("", "", 0)
    """Name, mail and time of what is no commit."""


def show_blame(app: App, result: Blamed | FileBlamed, style: str) -> None:
    """Print a blame as `text`, `json`, `porcelain`, `line-porcelain` or `incremental`."""
    if style == "json":
        app.write((words.printable(words.pretty(result.to_json())) + "\n").encode())
        return
    if isinstance(result, Blamed):
        for row in result.absent:
            app.note(f"note: {row.in_words()}")
    with Pager(str(app.repo.git_dir)) as pager:
        if style == "text":
            lines = _text(result, colour=pager.colour)
        else:
            lines = _porcelain(app, result, style)
        pager.write("".join(f"{line}\n" for line in lines))


def data_of(result: Blamed | FileBlamed) -> bytes:
    """Give the bytes that were blamed."""
    return result.data if isinstance(result, FileBlamed) else result.rendered.data


# --- for people -------------------------------------------------------------------------------


def _text(result: Blamed | FileBlamed, *, colour: bool) -> Iterator[str]:
    if isinstance(result, FileBlamed):
        yield from _file_text(result, colour=colour)
        return
    rows = [
        (
            f"{run.start}",
            ("^" if run.is_old else "") + owner(run),
            run.section,
            result.rendered.data[run.start : run.end],
        )
        for run in result.runs
    ]
    for run, line in zip(result.runs, words.run_lines(rows, colour=colour), strict=True):
        yield line
        if run.first is not None:
            yield f"{'':>7}  {_first(run.first)}"
    infos = [run.version for run in result.runs if run.version]
    yield from words.reason_lines((i.name, i.number, str(i.author), i.reason) for i in infos)


def _first(found: object) -> str:
    """Say who had it before."""
    if isinstance(found, dict):
        return plain(f"first in session {found['session']}")
    if isinstance(found, list):
        return "put back; before in version " + ", ".join(str(one["version"]) for one in found)
    return f"first in a session that is {found}"


def owner(run: BlameRun) -> str:
    """Say in a few words who owns a run."""
    match run.origin:
        case FromSource():
            if run.version is None:
                return "unversioned"
            commit = run.source.commit if run.source else run.version.id
            return words.who(run.label, commit, run.author or "", run.time)
        case FromBinding(name=name) if run.entry and run.entry.entry:
            who = run.entry.entry.author or "unlabelled"
            return f"{name.replace('-', ' ')} {run.entry.entry.mode} {who} {words.day(run.time)}"
        case FromBinding(name=name, pointer=pointer):
            return f"value {name} ({run.value.short if run.value else pointer})"
        case FromTool(name=name):
            return f"tool {name}"
        case Glue(rule):
            return f"glue {rule}"
        case Unversioned():
            return "unversioned"


def _file_text(result: FileBlamed, *, colour: bool) -> Iterator[str]:
    rows = []
    line, column, at = 1, 1, 0
    for run in result.runs:
        line, column = _moved(line, column, result.data[at : run.start])
        mark = "^" if run.is_old else "?" if run.passed else ""
        path = "" if run.path == result.path else run.path
        data = result.data[run.start : run.end]
        rows.append((f"{line}:{column}", mark + _author(run), path, data))
        at = run.start
    for run, text in zip(result.runs, words.run_lines(rows, colour=colour), strict=True):
        yield text
        for earlier in run.earlier:
            yield plain(f"{'':>7}  put back; before by {_author(earlier)}")
    seen = {run.commit.id: subject(run.commit) for run in result.runs}
    yield ""
    yield from (plain(f"{oid[:12]}  {text}") for oid, text in seen.items())


def _moved(line: int, column: int, data: bytes) -> tuple[int, int]:
    """Count lines and columns (in bytes) over some text."""
    feeds = data.count(b"\n")
    return (line + feeds, len(data) - data.rfind(b"\n")) if feeds else (line, column + len(data))


def _author(run: FileRun) -> str:
    seconds = run.commit.time.seconds if run.is_committed else None
    return f"{run.commit.id[:12]} {run.commit.author.name} {words.day(seconds)}"


# --- for programs -----------------------------------------------------------------------------


def _porcelain(app: App, result: Blamed | FileBlamed, style: str) -> Iterator[str]:
    entries = list(map(_file_entry if isinstance(result, FileBlamed) else _entry, result.runs))  # type: ignore[arg-type]  # the runs are those of that result
    facts = facts_of(app.repo, {entry.commit for entry in entries if entry.commit})
    seen: set[str] = set()
    for entry in entries:
        size = entry.end - entry.start
        yield f"{entry.commit or _ZEROS} {entry.offset} {entry.start} {size}"
        if style == "line-porcelain" or entry.commit not in seen or not entry.commit:
            known = facts[entry.commit] if entry.commit else _nobody(*entry.nobody)
            yield from (f"{key} {_one_line(value)}" for key, value in known)
            seen.add(entry.commit)
        yield from (f"{key} {_one_line(value)}".rstrip() for key, value in entry.more)
        yield f"filename {_quoted_path(entry.path)}"
        if style != "incremental":
            yield "\t" + quoted(data_of(result)[entry.start : entry.end])


def _file_entry(run: FileRun) -> Entry:
    more = (("boundary", ""),) if run.is_old else ()
    commit = run.commit.id if run.is_committed else ""
    author, seconds = run.commit.author, run.commit.time.seconds
    nobody = (author.name, author.email, seconds)
    return Entry(run.start, run.end, commit, run.offset, run.path, more, nobody)


def _entry(run: BlameRun) -> Entry:
    more = [("boundary", "")] if run.is_old else []
    if run.section:
        more.append(("section", run.section))
    if run.version:
        more += [("version", run.version.label), ("reason", run.version.subject)]
    if isinstance(run.origin, FromSource) and run.version:
        commit = run.source.commit if run.source else run.version.id
        path = run.source.path if run.source else run.origin.path
        return Entry(run.start, run.end, commit, run.origin.offset, path, tuple(more))
    offset = 0 if isinstance(run.origin, Glue) else run.origin.offset
    return Entry(run.start, run.end, "", offset, "-", tuple(more), (owner(run), "", 0))


def _nobody(name: str, mail: str, seconds: int) -> Iterator[tuple[str, str]]:
    for who in ("author", "committer"):
        yield from ((who, name), (f"{who}-mail", f"<{mail}>"))
        yield from ((f"{who}-time", str(seconds)), (f"{who}-tz", "+0000"))
    yield "summary", name


def _one_line(value: str) -> str:
    return value.replace("\n", " ").replace("\0", " ")


_ESCAPES = {
    0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r",
    0x22: '\\"', 0x5C: "\\\\",
}  # fmt: skip


def quoted(data: bytes) -> str:
    """Quote bytes as git quotes a path: C's escapes, what is no UTF-8 in octal."""
    out = ['"']
    for char in data.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\{code - 0xDC00:03o}")
        elif code < 0x80:
            plain = char if 0x20 <= code < 0x7F else f"\\{code:03o}"
            out.append(_ESCAPES.get(code, plain))
        else:
            out.append(char)
    return "".join([*out, '"'])


def _quoted_path(path: str) -> str:
    text = quoted(path.encode("utf-8", "surrogateescape"))
    return text if text != f'"{path}"' else path
