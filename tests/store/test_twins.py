"""One disk twice: a block copy or a snapshot keeps the writer id, and no pin is lost by it."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING

import pytest

from clones import assert_sound, consolidate, copy, exchange, ledgers, receipts_of
from pvc.launch import writer
from pvc.ops.hook_ledger import check_fold
from pvc.ops.verify import VerifyOptions
from pvc.ops.verify import run as verify
from pvc.store.bodies import read_body
from pvc.store.fold import Fold, locked
from pvc.store.sync import sync
from pvc.store.take import renders_nothing
from pvc.store.tombstones import read_tombstones, segments_of
from servers import served
from workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from launches import Launches
    from pvc.store.sync_result import SyncResult

pytestmark = pytest.mark.usefixtures("git_format")


def twin_of(launches: Launches, name: str) -> Launches:
    """Copy a disk, block by block: the inode of `pvc/` is what it was, so the writer is too."""
    made = copy(launches, name)
    file = made.home / "writer"
    before = f" {launches.home.stat().st_ino}\n"
    file.write_text(file.read_text().replace(before, f" {made.home.stat().st_ino}\n"))
    assert writer.read(str(made.home)) == writer.read(str(launches.home))
    return made


def set_back(launches: Launches, snapshot: Launches) -> None:
    """Put a disk back to what it was."""
    number = launches.home.stat().st_ino
    shutil.rmtree(launches.path)
    snapshot.path.rename(launches.path)
    file = launches.home / "writer"
    lines = [line.rpartition(" ")[0] for line in file.read_text().splitlines()]
    assert number
    file.write_text("".join(f"{line} {launches.home.stat().st_ino}\n" for line in lines))


def exchanged(launches: Launches) -> SyncResult:
    """Sync as the command does, which judges what another clone wrote under our id."""
    repository = launches.workspace.open()
    try:
        return sync(
            repository, "origin", fold=launches.fold,
            judge=lambda commit: check_fold(repository, commit),
        )  # fmt: skip
    finally:
        repository.close()


def assert_clean(launches: Launches) -> None:
    repository = launches.workspace.open()
    try:
        report = verify(repository, VerifyOptions(render=False))
    finally:
        repository.close()
    odd = [found for found in report.found if "/trees/" not in found.ref]  # they have no manifest
    assert odd == []


@pytest.fixture
def ann(template: Launches) -> Launches:
    made = copy(template, "ann", str(template.path.parent / "hub.git"))
    made.record("both")
    assert exchange(made).refused == ()
    return made


@pytest.mark.parametrize("twins", [1, 2])
@pytest.mark.parametrize("kind", ["path", "http"])
def test_twins_that_pin_at_the_same_time_lose_nothing(
    ann: Launches, tmp_path: Path, twins: int, kind: str
) -> None:
    """Each pins twice between syncs; who comes second goes on under an id of its own."""
    machines = [ann, *(twin_of(ann, f"twin{number}") for number in range(twins))]
    pinned = receipts_of(ann)
    if kind == "http":
        with served("http", tmp_path, tmp_path / "server") as server:
            for each in machines:
                server.connect(each.path)
            _rounds(machines, pinned)
            hub = server.base / "hub.git"
    else:
        _rounds(machines, pinned)
        hub = tmp_path / "hub.git"
    assert len({writer.read(str(each.home)) for each in machines}) == len(machines)
    assert len(ledgers(hub)) == len(machines)
    assert_sound(hub)


def _rounds(machines: list[Launches], pinned: list[str]) -> None:
    for round_ in range(3):
        for each, number in itertools.product(machines, range(2)):
            pinned.append(each.record(f"{each.path.name}-{round_}-{number}"))
        for each in machines:
            assert exchanged(each).refused == ()
    for each in machines:
        assert exchanged(each).refused == ()
        assert receipts_of(each) == sorted(pinned)
        assert_clean(each)


def test_a_twin_without_network_for_long_carries_all_of_it(ann: Launches, tmp_path: Path) -> None:
    """Many folds, a whole segment among them, and what is in the spool still."""
    twin = twin_of(ann, "twin")
    pinned = [*receipts_of(ann), *(twin.record(f"t{number}") for number in range(300))]
    twin.fold()
    for number in range(3):
        pinned += [twin.record(f"u{number}"), ann.record(f"a{number}")]
        twin.fold()
        exchanged(ann)
    pinned.append(twin.record("spooled"))
    result = exchanged(twin)
    assert result.refused == ()
    (carried,) = result.carried
    assert carried.pins == 304
    exchanged(ann)
    assert receipts_of(ann) == receipts_of(twin) == sorted(pinned)
    assert_clean(twin)
    assert_sound(tmp_path / "hub.git")


def test_a_session_keeps_the_receipt_that_its_machine_was_answered_with(ann: Launches) -> None:
    """Both pin one session; each is told its own again, and the difference is a finding."""
    twin = twin_of(ann, "twin")
    first, second = ann.record("same", "ann"), twin.record("same", "twin")
    for each in (ann, twin, ann, twin):
        assert exchanged(each).refused == ()
    for each, who, receipt in ((ann, "ann", first), (twin, "twin", second)):
        done = each.pin("agent", "--session", "same", "--set", f"who={who}", "--json")
        assert (done.answer["status"], done.answer["receipt"]) == ("same", receipt)
        assert {first, second} <= set(receipts_of(each))


def test_a_disk_that_was_set_back_goes_on(ann: Launches, tmp_path: Path) -> None:
    """With nothing pinned since, with a pin since, and with a spool that was folded before."""
    ann.record("spooled")
    snapshot = twin_of(ann, "snapshot")
    again = twin_of(snapshot, "again")
    pinned = [*receipts_of(ann), ann.record("later")]
    exchanged(ann)
    pinned = receipts_of(ann)
    set_back(ann, snapshot)
    assert exchanged(ann).refused == ()
    assert receipts_of(ann) == pinned
    pinned.append(ann.record("since"))
    for each in (ann, again, ann):
        assert exchanged(each).refused == ()
    assert receipts_of(ann) == receipts_of(again) == sorted(pinned)
    assert_clean(ann)
    assert_sound(tmp_path / "hub.git")


def test_a_ledger_that_is_only_behind_is_brought_forward(ann: Launches) -> None:
    snapshot = twin_of(ann, "snapshot")
    ann.record("later")
    exchanged(ann)
    ledger = f"refs/pvc/pins/{writer.read(str(ann.home))}"
    tip = ann.workspace.oid(ledger)
    set_back(ann, snapshot)
    result = exchanged(ann)
    assert [(each.ledger, each.pins) for each in result.carried] == [(ledger, 0)]
    assert ann.workspace.oid(ledger) == tip
    assert exchanged(ann).carried == ()
    assert_clean(ann)


def test_a_ledger_that_another_wrote_to_at_the_hub_is_left_to_them(
    ann: Launches, tmp_path: Path
) -> None:
    """A commit that is not a fold comes after ours there: ours goes on under another id."""
    hub = Workspace(tmp_path / "hub.git")
    ledger = f"refs/pvc/pins/{writer.read(str(ann.home))}"
    ours = hub.oid(ledger)
    junk = hub.git("commit-tree", "-p", ours, "-m", "not a fold", f"{ours}^{{tree}}")
    hub.git("update-ref", ledger, junk)
    pinned = [*receipts_of(ann), ann.record("later")]
    result = exchanged(ann)
    assert result.refused == ()
    assert [each.pins for each in result.carried] == [1]
    assert receipts_of(ann) == sorted(pinned)
    assert exchanged(ann).carried == ()


@pytest.mark.parametrize("what", ["blob", "rewritten", "unrelated"])
def test_pins_leave_although_the_hub_has_something_else_under_our_id(
    ann: Launches, tmp_path: Path, what: str
) -> None:
    hub = Workspace(tmp_path / "hub.git")
    ledger = f"refs/pvc/pins/{writer.read(str(ann.home))}"
    tree = hub.git("rev-parse", f"{ledger}^{{tree}}")
    other = {
        "blob": lambda: hub.git("hash-object", "-w", "--stdin", data=b"x"),
        "rewritten": lambda: hub.git("commit-tree", "-m", "another", tree),
        "unrelated": lambda: hub.git("commit-tree", "-m", "none", hub.git("mktree", data=b"")),
    }[what]()
    hub.git("update-ref", ledger, other)
    pinned = [*receipts_of(ann), ann.record("later")]
    for _ in range(2):
        result = exchanged(ann)
        assert [refusal.ref for refusal in result.refused] == [ledger]
    bob = copy(ann, "bob")
    shutil.rmtree(bob.path / ".git/pvc")
    shutil.rmtree(bob.path / ".git/refs/pvc/pins")
    exchanged(bob)
    assert receipts_of(ann) == receipts_of(bob) == sorted(pinned)


def test_the_bodies_and_tombstones_of_both_are_kept(ann: Launches, tmp_path: Path) -> None:
    ann.workspace.git("config", "pvc.pushBodies", "true")
    twin = twin_of(ann, "twin")
    ann.record("a", "of ann")
    twin.record("t", "of twin")
    forget(twin, "both")
    for each in (ann, twin, ann, twin):
        assert exchanged(each).refused == ()
    for each in (ann, twin):
        repository = each.workspace.open()
        found = {str(pin.session): pin.environment for pin in each.ledger().newest(None)}
        held = {name: read_body(repository, digest) for name, digest in found.items() if digest}
        assert held["both"] is None
        assert (b"of ann" in (held["a"] or b""), b"of twin" in (held["t"] or b"")) == (True, True)
        assert len(read_tombstones(repository)) == 1
        repository.close()
        assert_clean(each)
    assert_sound(tmp_path / "hub.git")


def forget(launches: Launches, session: str) -> None:
    """Put a tombstone on record, as `pvc forget` does; the next sync heeds it."""
    from pvc.model.tombstone import Tombstone

    launches.fold()
    repository = launches.workspace.open()
    home = f"{repository.common_dir}/pvc"
    (pin,) = launches.ledger().session(session)
    assert pin.environment is not None
    tombstone = Tombstone(
        pin.time, writer.read(home), "A <a@b>", "asked to", pin.environment, (pin.receipt,)
    )
    with locked(home):
        folder = Fold(repository, home, renders_nothing)
        folder.append_tombstones(segments_of([tombstone]), [pin.time])
    repository.close()


def test_twins_that_push_to_the_inbox_lose_nothing(ann: Launches, template: Launches) -> None:
    taker = copy(template, "taker", str(template.path.parent / "hub.git"))
    ann.workspace.git("config", "pvc.inbox", "true")
    twin = twin_of(ann, "twin")
    pinned = receipts_of(ann)
    for round_ in range(2):
        for each in (ann, twin):
            pinned.append(each.record(f"{each.path.name}-{round_}"))
            assert exchanged(each).refused == ()
        consolidate(taker)
    for each in (ann, twin, taker):
        exchanged(each)
        assert receipts_of(each) == sorted(pinned)


def test_an_id_that_was_removed_leaves_no_pin_behind(ann: Launches) -> None:
    """What the old hint said to do: the pins of the old id are pushed all the same."""
    twin = twin_of(ann, "twin")
    pinned = [*receipts_of(ann), ann.record("a"), twin.record("t1")]
    exchanged(ann)
    twin.fold()
    (twin.home / "writer").unlink()
    pinned.append(twin.record("t2"))
    for each in (twin, ann):
        assert exchanged(each).refused == ()
    assert receipts_of(ann) == receipts_of(twin) == sorted(pinned)
    assert_clean(twin)


@pytest.mark.parametrize("step", ["append_taken", "refresh"])
def test_one_that_was_cut_off_is_finished_by_the_next(
    ann: Launches, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from pvc.store import carry

    twin = twin_of(ann, "twin")
    pinned = [*receipts_of(ann), ann.record("a"), twin.record("t1"), twin.record("t2")]
    exchanged(ann)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if step == "append_taken":
            patched.setattr(Fold, "append_taken", stop)
        else:
            patched.setattr(carry, "refresh", stop)
        with pytest.raises(KeyboardInterrupt):
            exchanged(twin)
    for each in (twin, ann):
        assert exchanged(each).refused == ()
    assert receipts_of(ann) == receipts_of(twin) == sorted(pinned)
    repository = twin.workspace.open()
    stored = [pin.receipt for pin in twin.ledger().newest(None)]
    repository.close()
    assert len(stored) == len(set(stored))
    assert_clean(twin)
