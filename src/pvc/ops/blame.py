"""Which commit wrote each byte of a rendered prompt.

The road back: rendered byte → span (`core.program`) → byte of a file in the version → the version
that introduced it → the commit of the user's own history that wrote it (`ops.owners`).

Rule 1: runs tile the prompt; each has one origin.
Rule 2: a value is owned by whoever gave it. Version and commit of its run are the placeholder's.
Rule 3: glue is owned by the rendering rule, named `form/number/what`; no version and no commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.entries import POINTER
from pvc.core.owners import NOBODY
from pvc.model.names import CommitId, ObjectId
from pvc.model.span import (
    FromBinding,
    FromSource,
    FromTool,
    Glue,
    Origin,
    Rendered,
    Unversioned,
    lower,
    origin_of,
)
from pvc.ops.absent import absent_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.core.blame import Options, Watch
    from pvc.core.owners import Run, Table
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.ops.absent import Absence
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class SourceCommit:
    """The commit that wrote a run: of the user's own history, or of the pack's chain."""

    commit: CommitId
    path: str
    author: str
    time: int
    subject: str
    label: str = ""
    """`house@3` where it is a version of a pack."""


@dataclass(frozen=True, slots=True)
class BlameRun:
    """Bytes `[start, end)` of the prompt that one commit introduced.

    `version` is the version that adopted them and null for glue; `source` who wrote them, where
    the user's history is here. `blob` is the object that holds the bytes at `origin.offset`.
    """

    start: int
    end: int
    section: str
    origin: Origin
    version: VersionInfo | None = None
    blob: ObjectId | None = None
    source: SourceCommit | None = None
    region: str = "system"
    entry: Pin | None = None
    """The pin of the session that added these bytes."""
    first: object = None
    """Who had the text or the value before; null where nobody asked."""
    is_old: bool = False
    """Whether it is older than was asked about."""
    value: Digest | None = None
    """Where the bytes are a placeholder: the digest of what it stands for."""

    @property
    def label(self) -> str:
        """The version that the bytes came with: a pack's for its text, else the one adopted."""
        if self.source and self.source.label:
            return self.source.label
        return self.version.label if self.version else ""

    @property
    def author(self) -> str | None:
        """Who wrote the bytes, else who adopted them."""
        if self.entry and self.entry.entry:
            return self.entry.entry.author or None
        if self.source:
            return self.source.author
        return str(self.version.author) if self.version else None

    @property
    def time(self) -> int | None:
        """When they were written, else adopted; seconds since 1970."""
        if self.entry:
            return self.entry.time // 1_000_000
        if self.source:
            return self.source.time
        return self.version.time.seconds if self.version else None

    @property
    def reason(self) -> str | None:
        """Why they were added or adopted."""
        if self.entry:
            return self.entry.reason
        return self.version.reason if self.version else None

    def to_json(self) -> dict[str, object]:
        """One entry of `runs` in `pvc.blame/1`."""
        version, source = self.version, self.source
        return {
            "start": self.start,
            "end": self.end,
            "region": self.region,
            "section": self.section or None,
            "origin": {**origin_json(self.origin), "blob": self.blob},
            "version": version.number if version else None,
            "commit": version.id if version else None,
            "source": {
                "commit": source.commit,
                "path": source.path,
                "subject": source.subject,
            }
            if source
            else None,
            "author": self.author,
            "time": self.time,
            "reason": self.reason,
            **({} if self.first is None else {"first": self.first}),
            **({"old": True} if self.is_old else {}),
            **({"value_digest": self.value} if self.value else {}),
        }


def origin_json(origin: Origin) -> dict[str, object]:
    """Every key of an origin, null where the kind has none."""
    keys: dict[str, object] = dict.fromkeys(
        ("kind", "path", "blob", "offset", "name", "rule", "pointer")
    )
    match origin:
        case FromSource(path, name, offset):
            found = {"kind": "source", "path": path, "offset": offset, "name": name}
        case FromBinding(name, pointer, offset, path, _):
            found = {
                "kind": "binding",
                "path": path or None,
                "offset": offset,
                "name": name,
                "pointer": pointer,
            }
        case FromTool(name, pointer, offset):
            found = {"kind": "tool", "name": name, "pointer": pointer, "offset": offset}
        case Glue(rule):
            found = {"kind": "glue", "rule": rule}
        case Unversioned(offset):
            found = {"kind": "unversioned", "offset": offset}
    return {**keys, **found}


@dataclass(frozen=True, slots=True)
class Blamed:
    """The runs of one prompt or head, tiling it or the part that was asked for."""

    subject: dict[str, object]
    rendered: Rendered
    runs: tuple[BlameRun, ...]
    over: str = "prompt"
    digest: Digest | None = None
    """The digest that was pinned, where placeholders stand in; null is that of the bytes."""
    absent: tuple[Absence, ...] = ()
    """What placeholders stand for, because it is not in this clone: offsets are about right."""

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.blame/1` (DESIGN §6)."""
        return {
            "schema": "pvc.blame/1",
            "over": self.over,
            "subject": self.subject,
            "digest": self.digest or self.rendered.digest,
            "bytes": len(self.rendered.data),
            "runs": [run.to_json() for run in self.runs],
            **absent_json(self.absent),
        }


def blame(
    repo: Repository,
    rendered: Rendered,
    version: VersionInfo,
    span: tuple[int, int] | None = None,
    entries: Iterable[Pin] = (),
    *,
    options: Options | None = None,
    watch: Watch | None = None,
) -> tuple[BlameRun, ...]:
    """Blame the bytes of `rendered`, a prompt of `version`; `span` limits it to a byte range.

    `entries` are the pins of what a session added to it.
    """
    from pvc.ops.owners import table_of

    table = table_of(repo, version, options, watch)
    lift = Lift(repo, table, version, entries)
    start, end = span or (0, len(rendered.data))
    return tuple(map(lift.run, table.runs(map(lower, rendered.spans), start, end)))


class Lift:
    """Turns the tuples of a table into values; each version and commit once."""

    def __init__(
        self,
        repo: Repository,
        table: Table,
        version: VersionInfo,
        entries: Iterable[Pin] = (),
    ) -> None:
        self._repo = repo
        self._table = table
        self._entries = {f"{POINTER}{pin.n}": pin for pin in entries}
        self._versions: dict[int, VersionInfo] = {}
        self._version_asked = version
        self._sources: dict[int, SourceCommit] = {}

    def run(self, found: Run) -> BlameRun:
        """Turn one run into a value."""
        start, end, origin, offset, section, blob, version, source = found
        return BlameRun(
            start,
            end,
            section,
            origin_of(origin, offset),
            None if version == NOBODY else self._version(version),
            ObjectId(blob) if blob else None,
            None if source == NOBODY else self._source(source),
            entry=self._entries.get(origin[2]) if origin[0] == "binding" else None,
        )

    def _version(self, number: int) -> VersionInfo:
        from pvc.store.versions import at_commit

        if number not in self._versions:
            commit, asked = CommitId(self._table.version(number)[3]), self._version_asked
            self._versions[number] = asked if commit == asked.id else at_commit(self._repo, commit)
        return self._versions[number]

    def _source(self, number: int) -> SourceCommit:
        if number not in self._sources:
            row = self._table.source(number)
            self._sources[number] = SourceCommit(CommitId(row[0]), *row[1:])
        return self._sources[number]


def source_commit(repo: Repository, oid: CommitId, path: str) -> SourceCommit:
    """Read who wrote a commit of the user's history, and its subject."""
    from pvc.ops.owners import source_row

    return SourceCommit(oid, *source_row(repo, oid, path)[1:])
