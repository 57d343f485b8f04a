"""Ledgers that nobody writes go into one: nothing is lost, all of it can be proven, refs go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clones import (
    assert_sound,
    consolidate,
    copy,
    exchange,
    ledgers,
    receipts_of,
    stored_in,
)
from pvc.launch import writer
from pvc.ops.hook_ledger import read_fold
from pvc.store import take
from pvc.store.index import refresh
from pvc.store.sync import Exchange
from pvc.store.taken import MOST_TAKEN, decode_taken
from workspace import FIRST_SECOND

if TYPE_CHECKING:
    from pathlib import Path

    from launches import Launches


pytestmark = pytest.mark.usefixtures("git_format")


@pytest.fixture
def hub(template: Launches) -> Path:
    return template.path.parent / "hub.git"


def own_ref(launches: Launches, kind: str = "pins") -> str:
    return f"refs/pvc/{kind}/{writer.read(str(launches.home))}"


def git(hub: Path, *words: str) -> str:
    from workspace import Workspace

    return Workspace(hub).git(*words)


def live_for_a_session(template: Launches, name: str, sessions: int = 1) -> list[str]:
    """Be a machine that is there for a while: pin, sync to the inbox, be gone."""
    machine = copy(template, name)
    machine.workspace.git("config", "pvc.inbox", "true")
    receipts = [machine.record(f"{name}-{number}") for number in range(sessions)]
    assert exchange(machine).refused == ()
    return receipts


def test_the_inbox_is_taken_whole_and_readers_see_the_same(template: Launches, hub: Path) -> None:
    receipts = [r for n in range(5) for r in live_for_a_session(template, f"m{n}", 2)]
    keeper, reader = copy(template, "keeper"), copy(template, "reader")
    receipts.append(keeper.record("keepers"))
    exchange(reader)
    assert receipts_of(reader) == sorted(receipts[:-1])
    tips = [git(hub, "rev-parse", ref) for ref in ledgers(hub)]
    result = consolidate(keeper)
    assert (result.refused, result.taken and result.taken.pins, len(result.removed)) == ((), 10, 5)
    assert ledgers(hub) == [own_ref(keeper)]
    assert stored_in(hub, own_ref(keeper)) == 11
    for tip in tips:
        git(hub, "merge-base", "--is-ancestor", tip, own_ref(keeper))
    assert git(hub, "log", "-1", "--format=%s", own_ref(keeper)) == "take 10 pins of 5 ledgers"
    git(hub, "gc", "--quiet", "--prune=now")
    assert_sound(hub)
    exchange(reader)
    for launches in (keeper, reader):
        assert receipts_of(launches) == sorted(receipts)
        refs = launches.workspace.git("for-each-ref", "--format=%(refname)", "refs/pvc/remotes")
        assert "/inbox/" not in refs
    again = consolidate(keeper)
    assert (again.pushed, again.removed, again.refused) == ((), (), ())


def test_many_small_ledgers_become_few_segments(
    template: Launches, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit takes 64; here 4 of 6 machines of one pin: a segment for what each one takes."""
    assert MOST_TAKEN == 64
    monkeypatch.setattr(take, "MOST_TAKEN", 4)
    machine = copy(template, "machine")
    machine.workspace.git("config", "pvc.inbox", "true")
    receipts = []
    for number in range(6):
        (machine.home / "writer").unlink(missing_ok=True)
        receipts.append(machine.record(f"s{number}"))
        machine.fold()
    machine.workspace.git("push", "-q", "origin", "refs/pvc/pins/*:refs/pvc/inbox/*")
    keeper = copy(template, "keeper")
    consolidate(keeper)
    assert receipts_of(keeper) == sorted(receipts)
    counts = git(hub, "log", "-2", "--format=%s", own_ref(keeper)).split("\n")
    assert counts == ["take 2 pins of 2 ledgers", "take 4 pins of 4 ledgers"]
    names = git(hub, "ls-tree", "--name-only", f"{own_ref(keeper)}:0000").split("\n")
    assert names == [f"0{n}.{kind}" for n in (0, 1) for kind in ("from", "idx", "pins")]
    said = git(hub, "cat-file", "blob", f"{own_ref(keeper)}:0000/00.from").encode() + b"\n"
    assert len(decode_taken(said, "here")) == 4


def test_only_idle_ledgers_are_taken_from_the_pins(template: Launches, hub: Path) -> None:
    ann, keeper = copy(template, "ann"), copy(template, "keeper")
    ann.record("anns")
    exchange(ann)
    assert consolidate(keeper, before_seconds=FIRST_SECOND).removed == ()
    assert ledgers(hub) == [own_ref(ann)]
    assert len(consolidate(keeper, before_seconds=FIRST_SECOND + 1).removed) == 1
    assert ledgers(hub) == [own_ref(keeper)]


def test_a_writer_that_comes_back_goes_on_and_is_taken_from_there(
    template: Launches, hub: Path
) -> None:
    ann, keeper = copy(template, "ann"), copy(template, "keeper")
    receipts = [ann.record("first")]
    exchange(ann)
    consolidate(keeper)
    assert exchange(ann).pushed == (), "what was taken is not pushed back"
    assert ledgers(hub) == [own_ref(keeper)]
    receipts.append(ann.record("second"))
    assert [move.ref for move in exchange(ann).pushed] == [own_ref(ann)]
    assert ledgers(hub) == sorted([own_ref(ann), own_ref(keeper)])
    consolidate(keeper)
    assert ledgers(hub) == [own_ref(keeper)]
    assert stored_in(hub, own_ref(keeper)) == 2
    exchange(ann)
    assert receipts_of(ann) == receipts_of(keeper) == sorted(receipts)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_shallow_clone_has_all_that_was_taken(template: Launches, hub: Path, depth: int) -> None:
    receipts = [r for n in range(2) for r in live_for_a_session(template, f"m{n}", 2)]
    keeper = copy(template, "keeper")
    receipts.append(keeper.record("keepers"))
    consolidate(keeper)
    here = copy(template, "here", f"file://{hub}")
    here.workspace.git(
        "fetch", "-q", f"--depth={depth}", "origin", "refs/pvc/*:refs/pvc/remotes/origin/*"
    )
    assert receipts_of(here) == sorted(receipts)
    repo = here.workspace.open()
    (tip,) = (tip for ref, tip in repo.refs("refs/pvc/remotes/") if "/pins/" in ref)
    assert read_fold(repo, repo.commit(tip), is_cut=tip in repo.shallow()).problems == ()
    repo.close()


def test_they_are_taken_where_a_host_takes_only_heads(template: Launches, hub: Path) -> None:
    git(hub, "config", "receive.hideRefs", "refs/pvc")
    template.workspace.git("config", "pvc.refPrefix", "refs/heads/pvc")
    receipts = live_for_a_session(template, "machine")
    keeper = copy(template, "keeper")
    result = consolidate(keeper)
    assert (result.refused, len(result.removed)) == ((), 1)
    heads = git(hub, "for-each-ref", "--format=%(refname)").split("\n")
    assert heads == [
        own_ref(keeper).replace("refs/pvc/", "refs/heads/pvc/"), "refs/heads/pvc/trees/agent",
    ]  # fmt: skip
    assert receipts_of(keeper) == receipts


def test_a_consolidator_is_consolidated_by_another(template: Launches, hub: Path) -> None:
    receipts = live_for_a_session(template, "machine")
    keeper, next_keeper = copy(template, "keeper"), copy(template, "next")
    receipts.append(keeper.record("keepers"))
    consolidate(keeper)
    consolidate(next_keeper)
    assert ledgers(hub) == [own_ref(next_keeper)]
    exchange(keeper)
    assert receipts_of(keeper) == receipts_of(next_keeper) == sorted(receipts)
    assert_sound(hub)


@pytest.mark.parametrize("moment", ["push", "removal"])
def test_one_that_was_interrupted_is_finished_by_the_next(
    template: Launches, hub: Path, moment: str
) -> None:
    receipts = live_for_a_session(template, "machine", 3)
    hook = hub / "hooks/update"
    hook.parent.mkdir(exist_ok=True)
    pattern = "*" if moment == "push" else "refs/pvc/inbox/*"
    hook.write_text(f"#!/bin/sh\ncase $1 in {pattern}) exit 1 ;; esac\n")
    hook.chmod(0o755)
    keeper = copy(template, "keeper")
    assert consolidate(keeper).removed == ()
    assert len([ref for ref in ledgers(hub) if "/inbox/" in ref]) == 1
    hook.unlink()
    assert len(consolidate(keeper).removed) == 1
    assert ledgers(hub) == [own_ref(keeper)]
    assert stored_in(hub, own_ref(keeper)) == 3
    assert receipts_of(keeper) == sorted(receipts)


def test_a_writer_that_pushes_meanwhile_keeps_its_ref(template: Launches, hub: Path) -> None:
    ann, keeper = copy(template, "ann"), copy(template, "keeper")
    ann.record("first")
    exchange(ann)
    repo = keeper.workspace.open()
    looked = Exchange(repo, "origin")
    looked.run()
    seen = list(looked.ledgers())
    ann.record("second")
    exchange(ann)
    assert looked.remove(seen, seen[0][1]) == []
    assert "stale info" in looked.refused[0].reason
    assert ledgers(hub) == [own_ref(ann)]
    repo.close()


def test_a_ledger_that_does_not_hold_up_is_left_and_said(template: Launches, hub: Path) -> None:
    live_for_a_session(template, "machine")
    (ref,) = ledgers(hub)
    forged = git(hub, "commit-tree", "-m", "fold 1 pin", "-p", ref, f"{ref}^{{tree}}")
    git(hub, "update-ref", ref, forged)
    good = live_for_a_session(template, "other")
    keeper = copy(template, "keeper")
    result = consolidate(keeper)
    assert [refusal.hint for refusal in result.refused] == ["it is left where it is"]
    assert "do not go on" in result.refused[0].reason
    assert ledgers(hub) == sorted([ref, own_ref(keeper)])
    assert stored_in(hub, own_ref(keeper)) == len(good)


def test_a_pin_of_ours_outlives_anothers_of_the_same_session(template: Launches) -> None:
    """Both were acknowledged: what was taken overrules nothing that waits in the spool."""
    other = live_for_a_session(template, "machine")
    keeper = copy(template, "keeper")
    ours = keeper.record("machine-0", who="another")
    repo = keeper.workspace.open()
    looked = Exchange(repo, "origin")
    looked.run()
    from functools import partial

    from pvc.ops.hook_ledger import check_fold
    from pvc.store.consolidate import consolidate as take_ledgers

    take_ledgers(looked, before_seconds=0, judge=partial(check_fold, repo))
    assert keeper.fold().pins == 1
    assert receipts_of(keeper) == sorted([*other, ours])
    refresh(repo, from_nothing=True)
    assert receipts_of(keeper) == sorted([*other, ours])
    repo.close()


def test_what_was_forgotten_stays_on_record(template: Launches, hub: Path) -> None:
    from pvc.model.tombstone import Tombstone
    from pvc.store.fold import Fold, locked
    from pvc.store.tombstones import read_tombstones, segments_of

    machine = copy(template, "machine")
    machine.workspace.git("config", "pvc.inbox", "true")
    machine.record("s")
    machine.fold()
    repo = machine.workspace.open()
    said = Tombstone(
        time=1, writer="a" * 32, who="Ada", reason="asked", digest=None, pins=(), before=5, of=""
    )
    with locked(str(machine.home)):
        Fold(repo, str(machine.home), lambda _: None).append_tombstones(segments_of([said]), [1])
    exchange(machine)
    keeper = copy(template, "keeper")
    assert consolidate(keeper).refused == ()
    assert ledgers(hub) == [own_ref(keeper)]
    reader = copy(template, "reader")
    exchange(reader)
    assert read_tombstones(reader.workspace.open()) == (said,)
    repo.close()
