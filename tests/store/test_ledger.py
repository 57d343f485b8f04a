"""Look-ups over the union of spool, own ledger and others' ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from launches import Launches
from pvc.errors import UsageError
from pvc.launch import index as reading
from pvc.launch import pin as pinning
from pvc.store import fold
from pvc.store.codec import to_micros
from pvc.store.index import refresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from workspace import Workspace


pytestmark = pytest.mark.usefixtures("git_format")


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


@pytest.fixture
def years(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> Launches:
    """Pins of the years 2001 to 2024 in segments of two, every third one of another tree.

    They reach the ledger out of order: a clock that was wrong must hide nothing.
    """
    launches.adopt(b"Another.\n", "other")
    monkeypatch.setattr(fold, "SEGMENT_PINS", 2)
    for year in (*range(2013, 2025), *range(2001, 2013)):
        monkeypatch.setattr(pinning, "now", lambda year=year: f"{year}-06-01T00:00:00.000000Z")
        launches.record(f"s{year}", tree="other" if year % 3 == 0 else "agent")
        if year % 4 == 0:
            launches.fold()
    return launches


def micros(year: int) -> int:
    return to_micros(f"{year}-06-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    ("limit", "tree", "bounds", "wanted"),
    [
        (3, None, {}, [2024, 2023, 2022]),
        (2, "other", {}, [2022, 2019]),
        (None, None, {"since": micros(2022)}, [2024, 2023, 2022]),
        (None, None, {"until": micros(2003)}, [2002, 2001]),
        (2, None, {"until": micros(2014)}, [2013, 2012]),
        (None, "agent", {"since": micros(2005), "until": micros(2009)}, [2008, 2006, 2005]),
        (5, None, {"since": micros(2024) + 1}, []),
        (None, None, {"session": "s2010"}, [2010]),
        (None, "other", {"session": "s2010"}, [2010]),
        (None, "agent", {"session": "s2010"}, []),
        (None, None, {"session": "s2010", "since": micros(2011)}, []),
    ],
)
def test_lists_are_bounded_by_time_tree_and_session(
    years: Launches, limit: int | None, tree: str | None, bounds: Any, wanted: list[int]
) -> None:
    found = years.ledger().newest(limit, tree, **bounds)
    assert [pin.session for pin in found] == [f"s{year}" for year in wanted]


def test_the_newest_are_found_without_reading_the_rest(
    years: Launches, make_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 24 pins in 12 segments and two ledgers, two segments hold the newest three."""
    other = Launches(make_workspace("other"))
    other.workspace.git("fetch", "-q", str(years.path), "refs/pvc/trees/*:refs/pvc/trees/*")
    other.workspace.git(
        "fetch", "-q", str(years.path), "refs/pvc/pins/*:refs/pvc/remotes/origin/pins/*"
    )
    other.adopt(b"You are an agent.\n", "third")
    monkeypatch.setattr(pinning, "now", lambda: "2023-07-01T00:00:00.000000Z")
    other.record("own", tree="third")
    other.fold()
    ledger = other.ledger()
    ledger.newest(1)
    read: list[str] = []
    segment = ledger._segment

    def watched(oid: str) -> bytes:
        read.append(oid)
        return segment(oid)

    monkeypatch.setattr(ledger, "_segment", watched)
    assert [pin.session for pin in ledger.newest(3)] == ["s2024", "own", "s2023"]
    assert len(read) == 2
