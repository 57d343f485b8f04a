"""Fold the spool, then exchange versions and pins with a remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from pvc.store.sync import SyncResult


def run(repo: Repository, remote: str | None) -> SyncResult:
    """Fold, fetch, fast-forward, push; never forces. See `store.sync`."""
    from pvc.ops.fold import run as fold
    from pvc.store.sync import sync

    return sync(repo, remote, fold=lambda: fold(repo))
