"""Look-ups over the union of spool, own ledger and others' ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.errors import UsageError
from pvc.launch import index as reading
from pvc.store.index import refresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from workspace import Workspace


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made


def test_a_pin_is_found_in_the_spool_and_in_the_ledger(launches: Launches) -> None:
    receipts = [launches.record("folded"), launches.record("spooled", "y")]
    for _ in range(2):
        ledger = launches.ledger()
        assert [p.receipt for p in ledger.session("folded")] == receipts[:1]
        assert [p.receipt for p in ledger.digest(receipts[1][:16])] == receipts[1:]
        prompt = ledger.session("spooled")[0].prompt
        assert [p.session for p in ledger.digest(prompt[:12])] == ["spooled"]
        assert [p.receipt for p in ledger.newest(None)] == receipts[::-1]
        launches.fold()


def test_the_main_chain_comes_first_and_each_chain_newest_first(launches: Launches) -> None:
    launches.record("s", "1")
    launches.record("s", "2", repin="r")
    launches.fold()
    launches.record("s", "3", chain="a-helper")
    launches.record("s", "4", repin="r")
    order = [(p.chain, p.n) for p in launches.ledger().session("s")]
    assert order == [("main", 2), ("main", 1), ("main", 0), ("a-helper", 0)]
    assert [p.n for p in launches.ledger().session("s", "a-helper")] == [0]
    assert launches.ledger().session("other") == ()


@pytest.mark.parametrize("prefix", ["b3:", "b3:12", "b3:xyzw", "b3:ABCD", "b3:" + "0" * 65])
def test_what_begins_no_digest_is_refused(launches: Launches, prefix: str) -> None:
    with pytest.raises(UsageError, match="begins no digest"):
        launches.ledger().digest(prefix)


def test_a_prefix_of_two_digests_gives_both(launches: Launches) -> None:
    receipts = [launches.record(f"s{i}", str(i)) for i in range(40)]
    launches.fold()
    ledger = launches.ledger()
    every = [*receipts, *(p.prompt for p in ledger.newest(None))]
    for digest in every[:10]:
        for size in (7, 8, 20, 67):
            wanted = {d for d in every if d.startswith(digest[:size])}
            got = ledger.digest(digest[:size])
            assert wanted <= {d for p in got for d in (p.receipt, p.prompt)}
            assert all(digest[:size] in (p.receipt[:size], p.prompt[:size]) for p in got)


def test_the_newest_are_the_last_by_time_over_all_segments(launches: Launches) -> None:
    launches.adopt(b"Another.\n", "other")
    receipts = []
    for i in range(30):
        receipts.append(launches.record(f"s{i}", tree="other" if i % 5 == 0 else "agent"))
        if i % 4 == 3:
            launches.fold()
    ledger = launches.ledger()
    assert [p.receipt for p in ledger.newest(7)] == receipts[::-1][:7]
    assert [p.receipt for p in ledger.newest(3, "other")] == receipts[25::-5][:3]
    assert len(ledger.newest(None)) == 30
    assert ledger.newest(0) == ()


def test_another_clones_pins_are_in_the_union_and_come_back_once(
    launches: Launches, make_workspace: Callable[..., Workspace]
) -> None:
    receipt = launches.record("s")
    launches.fold()
    other = Launches(make_workspace("other"))
    other.workspace.git("fetch", "-q", str(launches.path), "refs/pvc/trees/*:refs/pvc/trees/*")
    other.workspace.git(
        "fetch", "-q", str(launches.path), "refs/pvc/pins/*:refs/pvc/remotes/origin/pins/*"
    )
    assert [p.receipt for p in other.ledger().session("s")] == [receipt]
    launches.workspace.git("fetch", "-q", ".", "refs/pvc/pins/*:refs/pvc/remotes/o/pins/*")
    assert [p.receipt for p in launches.ledger().newest(None)] == [receipt]
    rows = reading.Runs(str(launches.home), refresh(launches.workspace.open()).runs)
    key = reading.session_key("s")
    assert len(rows.find(reading.BY_SESSION, key, key)) == 1
