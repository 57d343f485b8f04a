"""Forgetting that is killed anywhere is finished by the next run; what a launch needs stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crash import age_locks, receipts, start_pinning
from launches import Launches, environment
from pvc.launch.call import Call
from pvc.launch.pin import Plan
from pvc.model.digest import Digest
from pvc.ops.forget import Forgotten, Wanted, run
from pvc.store import forget as store_module
from pvc.store.bodies import read_body
from pvc.store.fold import Fold
from pvc.store.forget import heed
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.launch.pin import Pinner
    from workspace import Workspace

BODY = b'{"who":"x"}'
DIGEST = Digest.of(BODY)


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made


def forget(launches: Launches, *sessions: str) -> Forgotten:
    repository = launches.workspace.open()
    try:
        return run(repository, Wanted(sessions, reason="asked to"))
    finally:
        repository.close()


def body(launches: Launches, digest: Digest = DIGEST) -> bytes | None:
    repository = launches.workspace.open()
    try:
        return read_body(repository, digest)
    finally:
        repository.close()


# --- killed -----------------------------------------------------------------------------------

STEPS = [
    (Fold, "run", "before the fold"),
    (Fold, "_write_bodies", "in the fold, before the bodies"),
    (Fold, "_commit_segments", "in the fold, before the ledger"),
    (Fold, "append_tombstones", "before the tombstones"),
    (store_module, "reckon", "after the tombstones"),
    (store_module, "without_bodies", "before the bodies are written anew"),
    (store_module.Holdings, "_rewrite", "before the ref moves"),
    (store_module.Holdings, "_drop_reflog", "after the ref moved"),
    (store_module, "_stamp", "before it is noted that all is done"),
]


@pytest.mark.parametrize(
    ("owner", "step"), [row[:2] for row in STEPS], ids=[words for _, _, words in STEPS]
)
@pytest.mark.parametrize("then", ["forget", "heed"])
def test_what_was_interrupted_is_finished_by_the_next_run(
    launches: Launches, monkeypatch: pytest.MonkeyPatch, owner: object, step: str, then: str
) -> None:
    mine, other = launches.record("s"), launches.record("o", "other")

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, die)
        with pytest.raises(KeyboardInterrupt):
            forget(launches, "s")
    repository = launches.workspace.open()
    is_on_record = bool(read_tombstones(repository))
    if then == "heed":
        heed(repository)
        assert (body(launches) is None) == is_on_record
    repository.close()
    result = forget(launches, "s")
    assert result.tombstones == (0 if is_on_record else 1)
    assert body(launches) is None
    assert body(launches, Digest.of(b'{"who":"other"}')) is not None
    assert {pin.receipt for pin in launches.ledger().newest(None)} == {mine, other}
    launches.workspace.git("fsck", "--strict")


FORGET = """
import sys
from pvc.ops.forget import Wanted, run
from pvc.store.open import open_repository
print("begun", flush=True)
run(open_repository("."), Wanted(tuple(sys.argv[1:]), reason="asked to"))
"""


def test_a_run_that_is_killed_at_any_moment_loses_nothing_else(launches: Launches) -> None:
    """Real processes, real `kill -9`, at moments spread over a whole run."""
    kept = {session: launches.record(session, "y") for session in ("k1", "k2")}
    sessions = [f"s{i}" for i in range(12)]
    for number, session in enumerate(sessions):
        launches.record(session, f"value-{number}")
    for number, session in enumerate(sessions):
        process = subprocess.Popen(
            [sys.executable, "-c", FORGET, session],
            cwd=launches.path,
            env=environment(),
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.03 * number)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        age_locks(launches)
    forget(launches, *sessions)
    for number in range(len(sessions)):
        assert body(launches, Digest.of(b'{"who":"value-%d"}' % number)) is None
    assert body(launches, Digest.of(b'{"who":"y"}')) is not None
    found = {pin.session: pin.receipt for pin in launches.ledger().newest(None)}
    assert found.items() >= kept.items()
    assert set(found) == {*kept, *sessions}
    launches.workspace.git("fsck", "--strict")


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",), ("--bare",)], ids=str)
def test_every_kind_of_repository_forgets(
    make_workspace: Callable[..., Workspace], options: tuple[str, ...]
) -> None:
    made = Launches(make_workspace("odd", *options))
    if "--bare" in options:
        made = Launches(made.workspace)
        (made.path / ".git").symlink_to(".")  # where the helpers look for `pvc/`
    made.adopt(b"You are an agent.\n")
    made.record("s")
    made.record("o", "other")
    assert [str(digest) for digest in forget(made, "s").gone] == [DIGEST]
    assert body(made) is None
    assert body(made, Digest.of(b'{"who":"other"}')) is not None
    made.workspace.git("gc", "--quiet", "--prune=now")
    listing = made.workspace.git("cat-file", "--batch-all-objects", "--batch")
    assert BODY.decode() not in listing


# --- while others pin the same values ---------------------------------------------------------


def planned(pinner: Pinner, session: str) -> Plan:
    """Bring a pin as far as before its first write."""
    call = Call()
    call.tree, call.session, call.environment = "agent", session, {"who": "x"}
    plan = Plan(call)
    pinner._prepare(plan)
    return plan


@pytest.mark.parametrize("at", ["before the body", "before the record", "before the last look"])
@pytest.mark.parametrize("is_folded", [False, True])
def test_a_launch_under_way_keeps_the_body_that_it_shares(
    launches: Launches, at: str, *, is_folded: bool
) -> None:
    """Whatever step the launch has come to when another session with its values is forgotten."""
    launches.record("s")
    if is_folded:
        launches.fold()
    pinner = launches.pinner()
    plan = planned(pinner, "new")
    steps = {
        "before the body": (pinner._write_bodies, pinner.spool.sync_bodies),
        "before the record": (pinner._write_record, pinner.spool.sync),
        "before the last look": (pinner._hold_bodies, pinner.spool.sync_bodies),
    }
    for name, (write, sync) in steps.items():
        if name == at:
            forget(launches, "s")
        write(plan)
        sync()
    pinner._settle(plan)
    assert plan.answer is not None
    assert plan.answer.status == "pinned"
    assert body(launches) == BODY
    launches.fold()
    assert body(launches) == BODY
    assert {pin.session for pin in launches.ledger().newest(None)} == {"s", "new"}


def test_sessions_pinned_while_their_like_is_forgotten_all_keep_their_values(
    launches: Launches,
) -> None:
    """Two processes pin one value again and again; a third forgets older sessions that had it."""
    for number in range(12):
        launches.record(f"old{number}")
    pinning = [start_pinning(launches, f"w{n}", 150, "x") for n in range(2)]
    for number in range(12):
        forget(launches, f"old{number}")
    for child in pinning:
        assert len(receipts(child)) == 150
    launches.fold()
    assert body(launches) == BODY
    forget(launches, *(f"old{number}" for number in range(12)))
    assert body(launches) == BODY


# --- litter -----------------------------------------------------------------------------------


def test_a_half_written_body_of_a_killed_launch_goes_too(launches: Launches) -> None:
    launches.record("s")
    litter = launches.home / "spool/b/.tmp.1.abc"
    litter.write_bytes(BODY[:-1])
    forget(launches, "s")
    assert not litter.exists()


def test_a_damaged_body_of_a_forgotten_session_goes_too(launches: Launches) -> None:
    launches.record("s")
    path = launches.home / "spool/b" / DIGEST.hex
    path.write_bytes(BODY + b"?")
    forget(launches, "s")
    assert not path.exists()


def test_a_launch_whose_half_written_body_was_swept_writes_it_again(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pvc.launch import disk

    launches.record("old", "y")
    real = disk.write_temporary
    swept: list[str] = []

    def write(folder: str, data: bytes) -> str:
        path = real(folder, data)
        if data == BODY and not swept:
            swept.append(path)
            forget(launches, "old")
            assert not Path(path).exists()
        return path

    monkeypatch.setattr(disk, "write_temporary", write)
    launches.record("s")
    assert body(launches) == BODY


def test_the_ledger_says_what_was_forgotten_in_one_place_for_each_body(launches: Launches) -> None:
    receipt = launches.record("s")
    forget(launches, "s")
    repository = launches.workspace.open()
    (tombstone,) = read_tombstones(repository)
    assert (tombstone.digest, tombstone.pins) == (DIGEST, (receipt,))
    assert tombstone.who == "Ada Prompt <ada@example.com>"
    assert tombstone.reason == "asked to"
