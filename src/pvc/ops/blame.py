"""Which commit wrote each byte of a rendered prompt.

The road back: rendered byte → span (`core.program`) → byte of a file in the version → the version
that introduced it (`core.blame` along the version chain) → the commit of the user's own history
that wrote it (`core.blame` along the history up to that version's source).

Rule 1: runs tile the prompt; each has one origin.
Rule 2: the user's history answers only where it holds the very blob that was adopted; else the
version alone answers, and `source` is null (DESIGN §3). A pack's text is answered by the pack's
own chain in the same way.
Rule 3: a value is owned by whoever gave it. Version and commit of its run are the placeholder's.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.blame import Annotation, annotate
from pvc.core.entries import POINTER
from pvc.model.span import (
    FromBinding,
    FromSource,
    FromTool,
    Glue,
    Origin,
    Rendered,
    Span,
    Unversioned,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.blame import Run
    from pvc.model.names import CommitId, ObjectId
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

PACKS = ".pvc/packs/"


@dataclass(frozen=True, slots=True)
class SourceCommit:
    """The commit that wrote a run: of the user's own history, or of the pack's chain."""

    commit: CommitId
    path: str
    author: str
    time: int
    subject: str


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
    """The runs of one prompt, tiling `[0, bytes)`."""

    subject: dict[str, object]
    rendered: Rendered
    runs: tuple[BlameRun, ...]

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.blame/1` (DESIGN §6)."""
        return {
            "schema": "pvc.blame/1",
            "over": "prompt",
            "subject": self.subject,
            "digest": self.rendered.digest,
            "bytes": len(self.rendered.data),
            "runs": [run.to_json() for run in self.runs],
        }


def blame(
    repo: Repository,
    rendered: Rendered,
    version: VersionInfo,
    span: tuple[int, int] | None = None,
    entries: Iterable[Pin] = (),
) -> tuple[BlameRun, ...]:
    """Blame the bytes of `rendered`, a prompt of `version`; `span` limits it to a byte range.

    `entries` are the pins of what a session added to it.
    """
    owners = _Owners(repo, version, entries)
    start, end = span or (0, len(rendered.data))
    runs: list[BlameRun] = []
    for piece in rendered.spans:
        if piece.end > start and piece.start < end:
            for run in owners.of(_within(piece, start, end)):
                if runs and _continues(runs[-1], run):
                    runs[-1] = replace(runs[-1], end=run.end)
                else:
                    runs.append(run)
    return tuple(runs)


def _within(span: Span, start: int, end: int) -> Span:
    """Cut a span to a byte range; its origin moves along."""
    skip = max(start - span.start, 0)
    origin = span.origin
    if skip and not isinstance(origin, Glue):
        origin = replace(origin, offset=origin.offset + skip)
    return replace(span, start=span.start + skip, end=min(span.end, end), origin=origin)


def _continues(a: BlameRun, b: BlameRun) -> bool:
    """Whether `b` is the same text from the same commits, going on where `a` ends."""
    if (a.section, a.version, a.source, a.blob) != (b.section, b.version, b.source, b.blob):
        return False
    if isinstance(a.origin, Glue) or isinstance(b.origin, Glue):
        return a.origin == b.origin
    moved = replace(a.origin, offset=a.origin.offset + a.end - a.start)
    return moved == b.origin


class _UserHistory(NamedTuple):
    """An annotated history that holds an adopted file: at `path` below `folder`."""

    annotation: Annotation
    folder: str
    path: str


class _Owners:
    """Answers who owns a span of one version's prompt; annotates each history once."""

    def __init__(self, repo: Repository, version: VersionInfo, entries: Iterable[Pin] = ()) -> None:
        self.repo = repo
        self.version = version
        self._entries = {f"{POINTER}{pin.n}": pin for pin in entries}
        self._infos: dict[CommitId, VersionInfo] = {version.id: version}
        self._histories: dict[tuple[CommitId, str], Annotation] = {}
        self._sources: dict[tuple[CommitId, str], SourceCommit] = {}
        self._locks: dict[CommitId, dict[str, CommitId]] = {}

    @cached_property
    def chain(self) -> Annotation:
        """The version chain up to this version, annotated."""
        from pvc.store.history import GitHistory

        return annotate(GitHistory(self.repo, self.version.id))

    def of(self, span: Span) -> Iterator[BlameRun]:
        """Split a span by the commits that introduced its bytes."""
        match span.origin:
            case FromSource(path, _, offset):
                for start, end, run in overlaps(self.chain.runs(path), offset, len(span)):
                    yield from self._adopted(span, start - offset, end - start, run)
            case FromBinding(_, _, _, path, at) if path:  # else no placeholder asked for it
                for _, _, run in overlaps(self.chain.runs(path), at, 1):
                    info = self._info(run.commit)
                    yield BlameRun(span.start, span.end, span.section, span.origin, info)
            case FromBinding(pointer=pointer):
                entry = self._entries.get(pointer)
                yield BlameRun(span.start, span.end, span.section, span.origin, entry=entry)
            case _:
                yield BlameRun(span.start, span.end, span.section, span.origin)

    def _adopted(self, span: Span, skip: int, size: int, run: Run) -> Iterator[BlameRun]:
        """Split bytes that one version introduced by the commits of the user's history.

        `run` holds them: `size` bytes from byte `skip` of the span.
        """
        info = self._info(run.commit)
        assert isinstance(span.origin, FromSource)  # noqa: S101  # `of` calls this for sources only
        at = span.start + skip
        origin = replace(span.origin, offset=span.origin.offset + skip)
        blob = self.chain.blob_of(origin.path)
        offset = run.offset + origin.offset - run.start
        whole = BlameRun(at, at + size, span.section, origin, info, blob)
        history = self._history(info, run)
        if history is None:
            yield whole
            return
        for start, end, user in overlaps(history.annotation.runs(history.path), offset, size):
            begin = start - offset
            yield replace(
                whole,
                start=at + begin,
                end=at + end - offset,
                origin=replace(origin, offset=origin.offset + begin),
                source=self._source(user, history.folder),
            )

    def _history(self, info: VersionInfo, run: Run) -> _UserHistory | None:
        """Annotate where the version's bytes came from, when that holds the adopted blob."""
        from pvc.store.history import GitHistory, is_complete

        place = self._place(info, run.path)
        if place is None:
            return None
        tip, folder, path = place
        if (tip, folder) not in self._histories:
            if not is_complete(self.repo, tip):
                return None
            self._histories[tip, folder] = annotate(GitHistory(self.repo, tip, folder))
        history = self._histories[tip, folder]
        if path not in history.files or history.blob_of(path) != run.blob:
            return None
        return _UserHistory(history, folder, path)

    def _place(self, info: VersionInfo, path: str) -> tuple[CommitId, str, str] | None:
        """Find the commit, folder and path that a file of a version was taken from."""
        if not path.startswith(PACKS):
            return None if info.source is None else (info.source, info.source_path, path)
        pack, _, inner = path.removeprefix(PACKS).partition("/")
        commit = self._lock(info).get(pack)
        return None if commit is None else (commit, "", inner)

    def _lock(self, info: VersionInfo) -> dict[str, CommitId]:
        """Read which commit each pack of a version came from."""
        if info.id not in self._locks:
            from pvc.store.versions import pack_commits

            self._locks[info.id] = pack_commits(self.repo, info)
        return self._locks[info.id]

    def _source(self, run: Run, prefix: str) -> SourceCommit:
        path = f"{prefix}/{run.path}" if prefix else run.path
        key = (run.commit, path)
        if key not in self._sources:
            self._sources[key] = source_commit(self.repo, run.commit, path)
        return self._sources[key]

    def _info(self, commit: CommitId) -> VersionInfo:
        from pvc.store.versions import at_commit

        if commit not in self._infos:
            self._infos[commit] = at_commit(self.repo, commit)
        return self._infos[commit]


def source_commit(repo: Repository, oid: CommitId, path: str) -> SourceCommit:
    """Read who wrote a commit of the user's history, and its subject."""
    commit = repo.commit(oid)
    subject = commit.message.split("\n", 1)[0]
    return SourceCommit(oid, path, str(commit.author), commit.time.seconds, subject)


def overlaps(runs: tuple[Run, ...], offset: int, size: int) -> Iterator[tuple[int, int, Run]]:
    """Give the parts of `[offset, offset + size)` that each run covers, in order."""
    at = bisect_right(runs, offset, key=lambda run: run.end)
    while at < len(runs) and runs[at].start < offset + size:
        run = runs[at]
        yield max(run.start, offset), min(run.end, offset + size), run
        at += 1
