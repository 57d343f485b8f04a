"""Clones that launch, fold and sync within this process; what the tests of many machines share."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from typing import TYPE_CHECKING

from launches import Launches, compiled
from pvc.launch import cache
from pvc.ops.hook_ledger import check_fold
from pvc.store.consolidate import consolidate as take_ledgers
from pvc.store.repo import MODE_FILE, Entry
from pvc.store.sync import sync
from pvc.store.versions import tip, version_tree, write_version
from workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.store.sync_result import SyncResult
    from pvc.store.versions import VersionInfo


def adopt(launches: Launches, text: str) -> VersionInfo:
    """Make a version that `sync` takes for one, and its program."""
    repo = launches.workspace.open()
    rows = [Entry("AGENTS.md", MODE_FILE, repo.write_blob(text.encode()))]
    version = write_version(
        repo, kind="trees", name="agent", tree=version_tree(repo, rows, b"format = 1\n", {}),
        reason=f"adopt {text}", previous=tip(repo, "trees", "agent"),
    )  # fmt: skip
    program = compiled("agent", version.number, version.id, text.encode())
    cache.write(str(launches.path / ".git"), version.id, program)
    repo.close()
    return version


def copy(template: Launches, name: str, url: str = "") -> Launches:
    """Copy a clone, cache and all; as a copy it takes a writer of its own."""
    path = template.path.parent / name
    shutil.copytree(template.path, path, symlinks=True)
    made = Launches(Workspace(path), dict(template.numbers))
    if url:
        made.workspace.git("config", "remote.origin.url", url)
    return made


def exchange(launches: Launches) -> SyncResult:
    """Sync within this process, as `pvc sync` does."""
    repository = launches.workspace.open()
    try:
        return sync(repository, "origin", fold=launches.fold)
    finally:
        repository.close()


def consolidate(launches: Launches, before_seconds: int = 1 << 62) -> SyncResult:
    """Sync and consolidate, as `pvc sync --consolidate` does; everything counts as idle."""
    repository = launches.workspace.open()
    judge = partial(check_fold, repository)
    take = partial(take_ledgers, before_seconds=before_seconds, judge=judge)
    try:
        return sync(repository, "origin", fold=launches.fold, take=take)
    finally:
        repository.close()


def receipts_of(launches: Launches) -> list[str]:
    return sorted(pin.receipt for pin in launches.ledger().newest(None))


def ledgers(hub: Path) -> list[str]:
    """Name the ledgers that a hub has, those of the inbox too."""
    kinds = ("refs/pvc/inbox", "refs/pvc/pins")
    words = ["git", "-C", str(hub), "for-each-ref", "--format=%(refname)", *kinds]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()


def assert_sound(hub: Path) -> None:
    done = subprocess.run(
        ["git", "-C", str(hub), "fsck", "--strict"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def stored_in(hub: Path, ledger: str) -> int:
    """Count the records that stand in a ledger."""
    words = ["git", "-C", str(hub), "grep", "-c", "-F", "[[pin]]", ledger, "--", "*.pins"]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    return sum(int(line.rpartition(":")[2]) for line in done.stdout.split())
