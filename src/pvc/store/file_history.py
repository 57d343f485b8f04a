"""One file's history as `core.blame` walks it, through merges and renames, as `git blame` goes.

Rule 1: at a merge that has the file just as some parent has it, only that parent is followed; git's
own simplification does that, in C and with its changed-path filters.
Rule 2: where a commit brings the file in and its parent has one that it continues, the walk goes on
with that one (`core.moves.renames`). A commit that takes out more than `MOST_REMOVED` files is only
looked through for equal content.
Rule 3: text that moved here from a file that stayed is new here; `core.blame` over a whole folder
would know. One file is walked in the time that one file takes.
Rule 4: the last commit that touched the file stands for every later one, so a record serves until
the file changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.blame import Annotation, Change, Options, Step, replay
from pvc.core.moves import renames
from pvc.errors import NotFoundError
from pvc.store.history import Listed, Trees, list_commits
from pvc.store.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.blame import Watch
    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Repository

MOST_REMOVED = 200
_ROADS = "all parents of one file"


class FileHistory:
    """The commits that made the file at `path` of `tip` what it is, parents before children."""

    def __init__(self, repo: Repository, tip: CommitId, path: str) -> None:
        self._repo = repo
        self._trees = Trees(repo)
        with repo.unverified():
            self._steps = tuple(self._walk(tip, path))

    def steps(self) -> tuple[Step, ...]:
        """Give the commits; a rename takes the old name out and brings the new one."""
        return self._steps

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        with self._repo.unverified():
            return self._repo.blob(oid)

    def _walk(self, tip: CommitId, path: str) -> Iterator[Step]:
        rows = list(list_commits(self._repo, tip, path))
        blobs = {row.commit: self._trees.blob(row.tree, path) for row in rows}
        for row in rows:
            new = blobs[row.commit]
            if row.parents:
                others = tuple(
                    {} if (oid := blobs[parent]) is None else {path: oid}
                    for parent in row.parents[1:]
                )
                change = Change(path, blobs[row.parents[0]], new)
                yield Step(row.commit, (change,), row.parents, others)
            elif new is not None:
                yield from self._beginning(row, path, new)

    def _beginning(self, row: Listed, path: str, new: ObjectId) -> Iterator[Step]:
        """Give the commit that brings the file in, after the history of what it continues."""
        source = self._source(row, path, new)
        if source is None:
            yield Step(row.commit, (Change(path, None, new),), ())
            return
        parent, old_path, old = source
        last = None
        for last in self._walk(parent, old_path):
            yield last
        changes = (Change(old_path, old, None), Change(path, None, new))
        yield Step(row.commit, changes, (last.commit,) if last else ())

    def _source(
        self, row: Listed, path: str, new: ObjectId
    ) -> tuple[CommitId, str, ObjectId] | None:
        """Find the file of a parent that this one continues."""
        shallow = self._repo.shallow()
        for parent in self._repo.commit(row.commit).parents if row.commit not in shallow else ():
            tree = self._repo.commit(parent).tree
            gone = {
                change.path: change.old
                for change in self._trees.changes(tree, row.tree)
                if change.new is None and change.old is not None
            }
            same = [name for name, oid in gone.items() if oid == new]
            if len(gone) > MOST_REMOVED and not same:
                continue
            some = same or gone
            texts = {name: self.blob(gone[name]) for name in some}
            found = renames(texts, {path: self.blob(new)}).get(path)
            if found is not None:
                return parent, found, gone[found]
        return None


def annotate_file(
    repo: Repository,
    tip: CommitId,
    path: str,
    options: Options,
    watch: Watch | None = None,
) -> tuple[Annotation, FileHistory | None]:
    """Annotate one file as it is at `tip`; from a record, or with the history that was walked.

    Raises `NotFoundError` when it is not there.
    """
    if Trees(repo).blob(repo.commit(tip).tree, path) is None:
        raise NotFoundError(f"`{path}` is no file at `{tip.short}`")
    records = Records(repo, options, _ROADS, path)
    last = next(list_commits(repo, tip, path, newest=True)).commit
    found = records.read(last)
    if found is not None:
        return found, None
    history = FileHistory(repo, tip, path)
    resume, rest = _resumed(records, history)
    annotation, _ = replay(rest, options, resume, (), watch)
    records.write(last, annotation)
    return annotation, history


class _Part:
    """The last steps of a history."""

    def __init__(self, history: FileHistory, first: int) -> None:
        self._history = history
        self._first = first

    def steps(self) -> tuple[Step, ...]:
        return self._history.steps()[self._first :]

    def blob(self, oid: ObjectId) -> bytes:
        return self._history.blob(oid)


def _resumed(records: Records, history: FileHistory) -> tuple[Annotation | None, _Part]:
    """Begin at the newest record after which nothing forks or merges."""
    steps, known = history.steps(), records.names()
    at = len(steps) - 1
    while known and at > 0 and steps[at].parents == (steps[at - 1].commit,):
        found = records.read(steps[at - 1].commit) if steps[at - 1].commit in known else None
        if found is not None:
            return found, _Part(history, at)
        at -= 1
    return None, _Part(history, 0)
