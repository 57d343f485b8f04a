"""A ref of this clone's own that names what is not here: go on from what is whole.

    refs/pvc/pins/<writer> ──► a commit that git has removed
                      └──► the newest whole one: a remote's, or one that no ref names any more

A prune that ran while an older pvc folded left such refs (see docs/decisions/0018). Without this
no fold would ever end again, and what waits in the spool would wait for ever.

Rule 1: only a ref whose commit cannot be read is touched; what it named is said, so that a clone or
a backup that has it can bring it back.
Rule 2: bodies go on from a remote's chain or from nothing: one that no ref names may hold what was
forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError
from pvc.launch.child import OFFLINE
from pvc.launch.refs import REMOTES
from pvc.model.names import CommitId
from pvc.store.codec import decode, split_segment
from pvc.store.fold_message import FoldMessage
from pvc.store.repo import RefMove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.store.repo import Commit, Repository


def mend_ledger(repo: Repository, ref: str) -> str:
    """Bring this clone's ledger to a commit that is here; says what was done, or nothing."""
    tip = repo.ref(ref)
    if tip is None or _reads(repo, tip):
        return ""
    writer = ref.rpartition("/")[2]
    found = [
        commit
        for commit in (*_seen(repo, ref), *_unnamed(repo, writer))
        if commit != tip and _is_whole(repo, commit)
    ]
    return _go_on(repo, ref, tip, max(found, key=lambda oid: _length(repo, oid), default=None))


def mend_bodies(repo: Repository, ref: str) -> str:
    """Bring this clone's chain of bodies to a commit that is here; says what was done."""
    tip = repo.ref(ref)
    if tip is None or _reads(repo, tip):
        return ""
    whole = (oid for oid in _seen(repo, ref) if oid != tip and _is_whole(repo, oid))
    return _go_on(repo, ref, tip, next(whole, None))


def _go_on(repo: Repository, ref: str, tip: CommitId, good: CommitId | None) -> str:
    named = f"`{ref}` named {tip}, which git has removed"
    if good is None:
        repo.delete_ref(ref, tip)
        return f"{named}; it begins anew"
    repo.move_refs([RefMove(ref, tip, good, "pvc: what it named is gone")])
    return f"{named}; it goes on from {good}"


def _reads(repo: Repository, tip: CommitId) -> bool:
    """Whether a fold can go on from a tip: its commit, its tree and the last folder are here."""
    try:
        folders = [entry for entry in repo.tree(tip) if entry.is_tree]
        for entry in folders[-1:]:
            repo.tree(entry.oid)
    except NotFoundError:
        return False
    return True


def _is_whole(repo: Repository, tip: CommitId) -> bool:
    return repo.git.run("rev-list", "--objects", "--quiet", tip, more=OFFLINE).code == 0


def _seen(repo: Repository, ref: str) -> Iterator[CommitId]:
    """Give where a sync saw this ref on remotes."""
    kind, _, name = ref.removeprefix("refs/pvc/").partition("/")
    ends = (f"/{kind}/{name}", f"/inbox/{name}") if kind == "pins" else (f"/{kind}/{name}",)
    yield from (oid for seen, oid in repo.refs(REMOTES) if seen.endswith(ends))


def _unnamed(repo: Repository, writer: str) -> Iterator[CommitId]:
    """Give the folds of a writer that are here and that no later fold goes on from."""
    form = "--batch-check=%(objecttype) %(objectname)"
    rows = repo.git.output("cat-file", "--batch-all-objects", "--unordered", form)
    folds: dict[CommitId, Commit] = {}
    for row in rows.decode().split("\n"):
        if row.startswith("commit "):
            try:
                commit = repo.commit(CommitId(row[7:]))
                FoldMessage.decode(commit.message, commit.id)
            except (CorruptError, NotFoundError):
                continue
            folds[commit.id] = commit
    before = {parent for commit in folds.values() for parent in commit.parents}
    for oid in folds.keys() - before:
        if _writer_of(repo, oid) == writer:
            yield oid


def _writer_of(repo: Repository, tip: CommitId) -> str:
    """Read from its last pin who writes a ledger."""
    try:
        for folder in reversed(repo.tree(tip)):
            for entry in reversed(repo.tree(folder.oid)):
                if entry.name.endswith(".pins"):
                    records, _ = split_segment(repo.blob(entry.oid), entry.oid)
                    return decode(records[-1], entry.oid).writer
    except (CorruptError, NotFoundError):
        pass
    return ""


def _length(repo: Repository, tip: CommitId) -> int:
    return FoldMessage.decode(repo.commit(tip).message, tip).last_segment
