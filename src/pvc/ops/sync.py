"""Fold the spool, then exchange versions and pins with a remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import PvcError

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from pvc.store.sync import SyncResult


def run(repo: Repository, remote: str | None) -> SyncResult:
    """Fold, fetch, fast-forward, push; never forces. See `store.sync`.

    What came is compiled at once, so that the next launch need not.
    """
    from pvc.ops.fold import run as fold
    from pvc.store.sync import sync

    result = sync(repo, remote, fold=lambda: fold(repo))
    for move in result.forwarded:
        if not move.ref.startswith("refs/pvc/packs/"):
            _keep(repo, move.ref)
    return result


def _keep(repo: Repository, ref: str) -> None:
    from pvc.ops.programs import keep_program
    from pvc.store.versions import at_commit

    named_by = repo.ref(ref)
    if named_by is None:
        return
    try:
        keep_program(repo, at_commit(repo, named_by), named_by=named_by)
    except PvcError:  # in no form that this pvc reads: whoever pins it is told
        return
