"""Copies of clones, and relays between sites: plain git in between, and the union is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clones import assert_sound, copy, exchange, ledgers, receipts_of, stored_in
from pvc.launch import writer
from servers import served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from launches import Launches
    from workspace import Workspace

pytestmark = pytest.mark.usefixtures("git_format")


ONWARD = [f"refs/pvc/{kind}/*:refs/pvc/{kind}/*" for kind in ("trees", "packs", "channels", "pins")]


def test_a_copied_clone_takes_a_writer_of_its_own_and_both_push(
    template: Launches, tmp_path: Path
) -> None:
    """The copy is made in the middle: some pins are pushed, some folded, some in the spool."""
    with served("daemon", tmp_path, tmp_path / "server") as server:
        ann = copy(template, "ann", server.url("hub.git"))
        pinned = [ann.record("pushed")]
        exchange(ann)
        pinned.append(ann.record("folded"))
        ann.fold()
        pinned.append(ann.record("spooled"))
        twin = copy(ann, "twin")
        pinned += [ann.record("anns"), twin.record("twins")]
        for launches in (ann, twin, ann, twin):
            assert exchange(launches).refused == ()
    assert writer.read(str(ann.home)) != writer.read(str(twin.home))
    assert receipts_of(ann) == receipts_of(twin) == sorted(pinned)
    hub = server.base / "hub.git"
    assert len(ledgers(hub)) == 2
    assert sum(stored_in(hub, ledger) for ledger in ledgers(hub)) == len(pinned) + 1  # "spooled"
    assert_sound(hub)


def test_a_relay_is_a_bare_repository_and_plain_git(
    template: Launches, make_workspace: Callable[..., Workspace]
) -> None:
    """Machines of a site know its relay; what it carries on reaches those of another site."""
    hub, relay = template.path.parent / "hub.git", make_workspace("relay.git", "--bare")
    relay.git("remote", "add", "hub", str(hub))
    site = [copy(template, f"m{number}", str(relay.path)) for number in range(3)]
    away = copy(template, "away", str(hub))
    pinned = []
    for round_ in range(2):
        for launches in (*site, away):
            pinned.append(launches.record(f"{launches.path.name}-{round_}"))
            assert exchange(launches).refused == ()
        relay.git("push", "-q", "hub", *ONWARD, code=round_)  # by then the hub is ahead with one
        relay.git("fetch", "-q", "hub", *ONWARD)
    for launches in (*site, away):
        exchange(launches)
        assert receipts_of(launches) == sorted(pinned)
    assert len(ledgers(hub)) == 4
    assert_sound(hub)
