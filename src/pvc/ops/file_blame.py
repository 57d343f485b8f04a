"""Blame of any text file of any repository, to the word: `pvc blame AGENTS.md`.

Rule 1: without a revision the file is read from the worktree, with line ends as git would store
them; what no commit has yet is not committed yet.
Rule 2: who ignores commits names them, or has `blame.ignoreRevsFile` set, as for `git blame`.
Rule 3: a run says where its bytes stood in the commit that wrote them, so it can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.core.blame import Annotation, Change, Options, Step, first, replay
from pvc.errors import DecodeError, NotFoundError, UsageError
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.ops.request import read_file
from pvc.store.file_history import FileHistory, annotate_file
from pvc.store.objects import object_id
from pvc.store.repo import Commit, Kind, Moment, Person

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.core.blame import History, Run, Watch
    from pvc.model.names import ObjectId
    from pvc.ops.asked import Asked
    from pvc.store.repo import Repository

UNCOMMITTED = Person("Not Committed Yet", "not.committed.yet")


@dataclass(frozen=True, slots=True)
class FileRun:
    """Bytes `[start, end)` of the file, which `commit` wrote at `offset` of `blob` at `path`.

    `earlier` are runs that had those bytes before a commit put them back. `is_old` tells that the
    commit is older than was asked about; `passed` that an ignored commit wrote over it.
    """

    start: int
    end: int
    commit: Commit
    path: str
    blob: ObjectId
    offset: int
    passed: bool = False
    is_old: bool = False
    earlier: tuple[FileRun, ...] = ()

    @property
    def is_committed(self) -> bool:
        """Whether any commit has these bytes."""
        return self.commit.author is not UNCOMMITTED

    def to_json(self) -> dict[str, object]:
        """One entry of `runs` in `pvc.blame/1`."""
        commit = self.commit
        source = {"commit": commit.id, "path": self.path, "subject": subject(commit)}
        origin = {"kind": "source", "path": self.path, "blob": self.blob, "offset": self.offset}
        return {
            "start": self.start,
            "end": self.end,
            "region": "file",
            "section": None,
            "origin": {**origin, "name": None, "rule": None, "pointer": None},
            "version": None,
            "commit": None,
            "source": source if self.is_committed else None,
            "author": str(commit.author) if self.is_committed else None,
            "time": commit.time.seconds if self.is_committed else None,
            "reason": None,
            "passed": self.passed,
            **({"first": [run.to_json() for run in self.earlier]} if self.earlier else {}),
            **({"old": True} if self.is_old else {}),
        }


@dataclass(frozen=True, slots=True)
class FileBlamed:
    """The runs of a file, tiling it or the part that was asked for; `tip` has its last commit."""

    path: str
    tip: CommitId
    data: bytes
    runs: tuple[FileRun, ...]

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.blame/1`."""
        return {
            "schema": "pvc.blame/1",
            "over": "file",
            "subject": {"path": self.path, "commit": self.tip},
            "digest": Digest.of(self.data),
            "bytes": len(self.data),
            "runs": [run.to_json() for run in self.runs],
        }


def subject(commit: Commit) -> str:
    """Give the first line of a commit's message."""
    return commit.message.split("\n", 1)[0]


def blame_file(
    repo: Repository,
    path: str,
    revision: str | None,
    options: Options,
    asked: Asked,
    watch: Watch | None = None,
) -> FileBlamed:
    """Blame the file at `path`, from the top of the repository, at `revision` or as it stands.

    Raises `NotFoundError` where there is none, `UsageError` on a range outside of it.
    """
    oldest = asked.oldest()
    tip = commit_of(repo, revision or "HEAD")
    annotation, walked = annotate_file(repo, tip, path, options, watch)
    data = repo.blob(annotation.blob_of(path))
    commits = _Commits(repo)
    if revision is None and repo.worktree is not None:
        annotation, data = _with_worktree(repo, annotation, path, options, commits)
    start, end = asked.range_of(data)
    runs = [run for run in annotation.runs(path) if run.end > start and run.start < end]
    earlier: dict[Run, tuple[Run, ...]] = {}
    if asked.first:
        history = walked or FileHistory(repo, tip, path)
        committed = [run for run in runs if run.commit != commits.missing]
        earlier = first(history, committed, options)
    made = (_file_run(commits, run, earlier.get(run, ()), oldest) for run in runs)
    return FileBlamed(path, tip, data, tuple(_cut(run, start, end) for run in made))


def commit_of(repo: Repository, revision: str) -> CommitId:
    """Find the commit of a revision; raises `NotFoundError`."""
    oid = repo.rev_parse(f"{revision}^{{commit}}")
    if oid is None:
        hint = "git log lists commits" if revision != "HEAD" else "git commit makes the first one"
        raise NotFoundError(f"no commit `{revision}` here", hint=hint)
    return CommitId(oid)


def ignored_of(
    repo: Repository, revisions: Iterable[str], files: Iterable[str], directory: str
) -> frozenset[CommitId]:
    """Read which commits to look through: named ones, and those that files list."""
    listed = (oid for name in files for oid in _listed(Path(directory) / name, name))
    return frozenset((*listed, *(commit_of(repo, revision) for revision in revisions)))


def configured(repo: Repository) -> frozenset[CommitId]:
    """Read what `blame.ignoreRevsFile` lists; an empty name forgets those before it, as in git."""
    out: set[CommitId] = set()
    for name in repo.config_all("blame.ignoreRevsFile"):
        if name:
            path = (repo.worktree or repo.git_dir) / Path(name).expanduser()
            out.update(_listed(path, name))
        else:
            out.clear()
    return frozenset(out)


def _listed(path: Path, name: str) -> list[CommitId]:
    lines = read_file(path, name).decode(errors="replace").split("\n")
    out = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        try:
            out += [CommitId(text)] if text else []
        except UsageError:
            raise DecodeError(
                f"`{text}` is no full commit id", at=f"{name}:{number}", hint="one id a line"
            ) from None
    return out


# --- commits and runs -------------------------------------------------------------------------


class _Commits:
    """The commits that runs name, each read once; one of zeros stands for the worktree."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._read: dict[CommitId, Commit] = {}
        self.missing = CommitId("0" * (64 if repo.object_format == "sha256" else 40))

    def of(self, oid: CommitId) -> Commit:
        if oid not in self._read:
            self._read[oid] = self._repo.commit(oid)
        return self._read[oid]

    def stand_in(self, tree: ObjectId, parent: CommitId, seconds: int, name: str) -> None:
        """Make the commit that the worktree would be, its time that of the file."""
        message = f"Version of {name} from the worktree"
        self._read[self.missing] = Commit(
            self.missing, tree, (parent,), UNCOMMITTED, Moment(seconds), message
        )


class _Worktree:
    """One step: from what is committed to what stands in the worktree."""

    def __init__(self, step: Step, texts: dict[ObjectId, bytes]) -> None:
        self._step = step
        self._texts = texts

    def steps(self) -> tuple[Step, ...]:
        return (self._step,)

    def blob(self, oid: ObjectId) -> bytes:
        return self._texts[oid]


def _with_worktree(
    repo: Repository, annotation: Annotation, path: str, options: Options, commits: _Commits
) -> tuple[Annotation, bytes]:
    """Go on to the file as it stands in the worktree."""
    assert repo.worktree is not None  # noqa: S101  # the caller looked
    file = repo.worktree / path
    data = read_file(file, path)
    changed = int(file.stat().st_mtime)
    old = annotation.blob_of(path)
    committed = repo.blob(old)
    if data != committed and b"\r\n" not in committed and _converts(repo, path):
        data = data.replace(b"\r\n", b"\n")
    new = object_id(Kind.BLOB, data, repo.object_format)
    if new == old or annotation.commit is None:
        return annotation, data
    commits.stand_in(new, annotation.commit, changed, path)
    step = Step(commits.missing, (Change(path, old, new),))
    history: History = _Worktree(step, {old: committed, new: data})
    return replay(history, options, annotation)[0], data


def _converts(repo: Repository, path: str) -> bool:
    """Whether git stores the line ends of this file as LF, whatever the worktree has."""
    said = repo.git.output("check-attr", "-z", "text", "eol", "--", path).split(b"\0")
    text, eol = said[2], said[5]
    if text in (b"unset", b"unspecified") and eol == b"unspecified":
        automatic = (repo.config("core.autocrlf") or "").lower()
        return text == b"unspecified" and automatic in ("true", "input")
    return text != b"unset"


def _file_run(commits: _Commits, run: Run, earlier: tuple[Run, ...], oldest: int | None) -> FileRun:
    commit = commits.of(run.commit)
    return FileRun(
        run.start,
        run.end,
        commit,
        run.path,
        run.blob,
        run.offset,
        run.passed,
        oldest is not None and commit.time.seconds < oldest,
        tuple(_file_run(commits, other, (), oldest) for other in earlier),
    )


def _cut(run: FileRun, start: int, end: int) -> FileRun:
    """Cut a run to the bytes that were asked for."""
    skip = max(start - run.start, 0)
    earlier = tuple(
        _cut(other, start, end) for other in run.earlier if other.end > start and other.start < end
    )
    return replace(
        run,
        start=run.start + skip,
        end=min(run.end, end),
        offset=run.offset + (0 if run.passed else skip),
        earlier=earlier,
    )
