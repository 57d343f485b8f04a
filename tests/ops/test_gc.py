"""Retention, orphans and litter: what is old and unneeded goes, what a record names stays."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pvc.errors
from launches import Launches
from pvc.errors import UsageError
from pvc.model.digest import Digest
from pvc.ops.gc import CACHES, Collected, run
from pvc.store.bodies import read_body
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from workspace import Workspace

DAY = 86_400
ORPHAN = b'{"who":"nobody"}'


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made


def collect(launches: Launches, *, dry_run: bool = False) -> Collected:
    repository = launches.workspace.open()
    try:
        return run(repository, dry_run=dry_run)
    finally:
        repository.close()


def has(launches: Launches, data: bytes) -> bool:
    repository = launches.workspace.open()
    try:
        return read_body(repository, Digest.of(data)) is not None
    finally:
        repository.close()


def orphan(launches: Launches, age_s: float) -> Path:
    """Leave what a launch leaves that was killed between its body and its record."""
    path = launches.home / "spool/b" / Digest.of(ORPHAN).hex
    path.write_bytes(ORPHAN)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def wait(launches: Launches, seconds: float) -> None:
    """Let a setting of that many seconds pass."""
    time.sleep(seconds)
    assert launches.home.is_dir()


# --- retention --------------------------------------------------------------------------------


def test_without_a_setting_nothing_is_past_its_time(launches: Launches) -> None:
    launches.record("s")
    result = collect(launches)
    assert (result.folded, result.forgotten, result.before) == (1, (), None)
    assert has(launches, b'{"who":"x"}')


def test_bodies_past_their_time_are_forgotten_and_the_ledger_says_so(launches: Launches) -> None:
    launches.record("old", "old")
    wait(launches, 2.1)
    launches.workspace.git("config", "pvc.keepBodies", "2.seconds")
    launches.record("new", "new")
    planned = collect(launches, dry_run=True)
    assert launches.spooled
    result = collect(launches)
    assert planned.forgotten == result.forgotten == (Digest.of(b'{"who":"old"}'),)
    assert not has(launches, b'{"who":"old"}')
    assert has(launches, b'{"who":"new"}')
    (tombstone,) = read_tombstones(launches.workspace.open())
    assert tombstone.reason == "pvc.keepBodies is 2.seconds"
    assert tombstone.of == tombstone.writer
    assert {pin.session for pin in launches.ledger().newest(None)} == {"old", "new"}


def test_a_run_that_takes_nothing_records_nothing(launches: Launches) -> None:
    launches.workspace.git("config", "pvc.keepBodies", "90.days")
    launches.record("s")
    collect(launches)
    refs = launches.workspace.git("for-each-ref")
    for _ in range(2):
        collect(launches)
    assert launches.workspace.git("for-each-ref") == refs
    assert read_tombstones(launches.workspace.open()) == ()


@pytest.mark.parametrize("name", ["keepBodies", "keepOrphans"])
@pytest.mark.parametrize("value", ["90", "soon", "2026-01-01", ""])
def test_a_setting_that_is_no_age_stops_before_anything_goes(
    launches: Launches, name: str, value: str
) -> None:
    launches.record("s")
    launches.workspace.git("config", f"pvc.{name}", value)
    with pytest.raises(UsageError, match=f"pvc.{name}"):
        collect(launches)
    assert launches.spooled


# --- orphans ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("age", "stays"), [(2 * DAY, False), (DAY / 2, True)])
def test_an_orphan_of_a_killed_launch_goes_after_a_day(
    launches: Launches, age: float, *, stays: bool
) -> None:
    launches.record("s")
    orphan(launches, age)
    planned = collect(launches, dry_run=True)
    result = collect(launches)
    assert planned.orphans == result.orphans == (() if stays else (Digest.of(ORPHAN),))
    assert has(launches, ORPHAN) == stays
    assert has(launches, b'{"who":"x"}')


def test_an_orphan_that_a_fold_took_goes_when_it_is_old_there(launches: Launches) -> None:
    launches.record("s")
    orphan(launches, 0)
    launches.fold()
    assert has(launches, ORPHAN)
    assert collect(launches).orphans == ()
    launches.workspace.git("config", "pvc.keepOrphans", "1.second")
    wait(launches, 2.1)
    assert collect(launches, dry_run=True).orphans == (Digest.of(ORPHAN),)
    assert has(launches, ORPHAN)
    assert collect(launches).orphans == (Digest.of(ORPHAN),)
    assert not has(launches, ORPHAN)
    assert has(launches, b'{"who":"x"}')


def test_an_old_file_that_a_record_names_is_no_orphan(launches: Launches) -> None:
    launches.record("s")
    for path in (launches.home / "spool/b").iterdir():
        os.utime(path, (0, 0))
    assert collect(launches).orphans == ()
    assert has(launches, b'{"who":"x"}')


# --- files ------------------------------------------------------------------------------------


def test_litter_and_caches_of_unknown_formats_go_and_what_is_read_stays(
    launches: Launches,
) -> None:
    launches.record("s")
    collect(launches)
    (program,) = (launches.home / "cache/v1").iterdir()
    made = {
        "cache/v0/0123": b"pvc.program/0 ...",
        "cache/v1/4567": b"something else",
        "cache/owners/89ab": b"pvc.owners/9 ...",
        "index/0123456789abcdef.run": b"no longer named",
        "cache/blame/x/.tmp.1.a": b"",
    }
    for name, data in made.items():
        path = launches.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (0, 0))
    young = launches.home / "index/.tmp.2.b"
    young.touch()
    planned = collect(launches, dry_run=True)
    assert all((launches.home / name).exists() for name in made)
    result = collect(launches)
    assert {swept.path for swept in result.swept} == {f"pvc/{name}" for name in made}
    assert {swept.path for swept in planned.swept} >= {swept.path for swept in result.swept}
    assert not any((launches.home / name).exists() for name in made)
    assert program.exists()
    assert young.exists()
    assert launches.ledger().newest(None)


def test_every_folder_that_pvc_caches_in_is_known() -> None:
    """A cache that `gc` does not know would be swept away."""
    source = Path(pvc.errors.__file__).parent
    written = {
        node.value.split("/")[2]
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith("pvc/cache/")
    }
    assert written == set(CACHES)


def test_there_is_nothing_to_do_in_a_repository_without_pins(workspace: Workspace) -> None:
    launches = Launches(workspace)
    for dry_run in (True, False):
        result = collect(launches, dry_run=dry_run)
        assert (result.folded, result.orphans, result.swept) == (0, (), [])
