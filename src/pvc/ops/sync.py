"""Fold the spool, then exchange versions and pins with a remote."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pvc.errors import PvcError

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from pvc.store.sync_result import SyncResult

_DAY_SECONDS = 86_400


def run(
    repo: Repository, remote: str | None, *, idle_days: float | None = None, now_seconds: int = 0
) -> SyncResult:
    """Fold, fetch, fast-forward, push; never forces. See `store.sync`.

    What came is compiled at once, so that the next launch need not. With `idle_days` the remote's
    inbox, and ledgers that nobody wrote for so long, are taken into this clone's own and their refs
    removed: see `store.consolidate`.
    """
    from pvc.ops.fold import run as fold
    from pvc.ops.hook_ledger import check_fold
    from pvc.store.sync import sync

    take, judge = None, partial(check_fold, repo)
    if idle_days is not None:
        from pvc.store.consolidate import consolidate

        before = now_seconds - int(idle_days * _DAY_SECONDS)
        take = partial(consolidate, before_seconds=before, judge=judge)
    result = sync(repo, remote, fold=lambda: fold(repo), take=take, judge=judge)
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
