"""Clones that exchange through real servers: many at once, over slow lines, over broken ones."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from clones import assert_sound, copy, exchange, ledgers, receipts_of, stored_in
from launches import Launches
from pvc.errors import NotFoundError
from servers import KINDS, Line, Server, served
from workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CLONES = 20
SESSIONS = 3


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """Each kind of server in turn, over the test's folder."""
    with served(request.param, tmp_path, tmp_path / "server") as started:
        yield started


def clone(template: Launches, server: Server, name: str) -> Launches:
    """Copy the template, cache and all, and connect it."""
    made = copy(template, name)
    server.connect(made.path)
    return made


def launch_and_sync(launches: Launches, name: str) -> list[str]:
    """Pin sessions and sync; gives the receipts."""
    receipts = [launches.record(f"{name}-{n}", f"{n}") for n in range(SESSIONS)]
    assert exchange(launches).refused == ()
    return receipts


def test_twenty_clones_pin_and_sync_at_once(template: Launches, server: Server) -> None:
    clones = [clone(template, server, f"c{number}") for number in range(CLONES)]
    with ThreadPoolExecutor(CLONES) as pool:
        names = [launches.path.name for launches in clones]
        pinned = sorted(chain.from_iterable(pool.map(launch_and_sync, clones, names)))
        list(pool.map(exchange, clones))
    assert len(pinned) == CLONES * SESSIONS
    for launches in clones:
        assert receipts_of(launches) == pinned
    assert len(ledgers(server.base / "hub.git")) == CLONES
    assert_sound(server.base / "hub.git")


# --- broken and slow --------------------------------------------------------------------------


@pytest.fixture
def pair(template: Launches, server: Server) -> tuple[Launches, Launches, list[str]]:
    """Ann, who has 40 pins to push, and Bob, who reads; with the receipts of Ann's pins."""
    ann, bob = (clone(template, server, name) for name in ("ann", "bob"))
    exchange(bob)
    return ann, bob, sorted(ann.record(f"s{number}", str(number)) for number in range(40))


def finish(pair: tuple[Launches, Launches, list[str]], server: Server) -> None:
    """Sync once more: all is there, once."""
    ann, bob, pinned = pair
    server.connect(ann.path)
    assert exchange(ann).refused == ()
    exchange(bob)
    for launches in (ann, bob):
        assert receipts_of(launches) == pinned
    (ledger,) = ledgers(server.base / "hub.git")
    assert stored_in(server.base / "hub.git", ledger) == len(pinned)
    assert_sound(server.base / "hub.git")


@pytest.mark.parametrize("passed", [0, 0.2, 0.9])
def test_a_connection_that_breaks_loses_nothing_and_doubles_nothing(
    pair: tuple[Launches, Launches, list[str]], server: Server, passed: float
) -> None:
    ann = pair[0]
    size = bytes_of_exchange(ann, server) if passed else 0
    with Line(server.port, cut_after=int(size * passed)) as line:
        server.connect(ann.path, port=line.port)
        with pytest.raises(NotFoundError, match="cannot exchange with `origin`"):
            exchange(ann)
    assert ledgers(server.base / "hub.git") == []
    finish(pair, server)


def bytes_of_exchange(launches: Launches, server: Server) -> int:
    """Measure what a clone would send: a copy of it does, to a copy of the hub."""
    shutil.copytree(server.base / "hub.git", server.base / "measured.git")
    copy = server.base / "measured"
    shutil.copytree(launches.path, copy, symlinks=True)
    with Line(server.port) as line:
        server.connect(copy, "measured.git", line.port)
        exchange(Launches(Workspace(copy), dict(launches.numbers)))
    assert ledgers(server.base / "measured.git")
    return line.passed


@pytest.mark.parametrize("moment", ["pre-receive", "update", "post-receive"])
def test_a_server_that_dies_in_a_push_loses_nothing_and_doubles_nothing(
    pair: tuple[Launches, Launches, list[str]], server: Server, moment: str
) -> None:
    """After `post-receive` the refs have moved, and nobody was told."""
    hook = server.base / "hub.git/hooks" / moment
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nkill -9 $PPID\n")
    hook.chmod(0o755)
    with pytest.raises(NotFoundError, match="cannot exchange with `origin`"):
        exchange(pair[0])
    assert bool(ledgers(server.base / "hub.git")) == (moment == "post-receive")
    hook.unlink()
    finish(pair, server)


def test_a_server_that_is_killed_under_a_slow_push_and_started_again(
    pair: tuple[Launches, Launches, list[str]], server: Server
) -> None:
    ann = pair[0]
    with Line(server.port, rate=20_000) as line:
        server.connect(ann.path, port=line.port)
        killer = threading.Thread(target=kill_when, args=(server, line, 4_000))
        killer.start()
        with pytest.raises(NotFoundError, match="cannot exchange with `origin`"):
            exchange(ann)
        killer.join()
    server.start()
    finish(pair, server)


def kill_when(server: Server, line: Line, passed: int) -> None:
    while line.passed < passed:
        time.sleep(0.005)
    server.kill()


def test_a_slow_server_is_waited_for(
    pair: tuple[Launches, Launches, list[str]], server: Server
) -> None:
    ann = pair[0]
    with Line(server.port, rate=30_000) as line:
        server.connect(ann.path, port=line.port)
        assert exchange(ann).refused == ()
    finish(pair, server)


# --- hosts that take heads and tags alone -----------------------------------------------------

HOOK = """\
#!/bin/sh
while read -r _ _ ref; do
  case $ref in refs/heads/*|refs/tags/*) ;; *) echo "only heads and tags here" >&2; exit 1 ;; esac
done
"""


def refuse_by_setting(hub: Path) -> str:
    subprocess.run(["git", "-C", str(hub), "config", "receive.hideRefs", "refs/pvc"], check=True)
    return "deny updating a hidden ref"


def refuse_by_hook(hub: Path) -> str:
    hook = hub / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o755)
    return "only heads and tags here"


@pytest.mark.parametrize("refuse", [refuse_by_setting, refuse_by_hook])
def test_a_host_that_takes_only_heads_and_tags_is_said_and_served(
    template: Launches, server: Server, refuse: Callable[[Path], str]
) -> None:
    reason = refuse(server.base / "hub.git")
    ann, bob = (clone(template, server, name) for name in ("ann", "bob"))
    receipt = ann.record("s")
    refused = exchange(ann).refused
    assert [refusal.ref.split("/")[2] for refusal in refused] == ["trees", "pins"]
    assert all(reason in refusal.reason for refusal in refused)
    assert "`git config pvc.refPrefix refs/heads/pvc`" in refused[0].hint
    for launches in (ann, bob):
        launches.workspace.git("config", "pvc.refPrefix", "refs/heads/pvc")
        assert exchange(launches).refused == ()
    assert receipts_of(bob) == receipts_of(ann) == [receipt]


def test_a_clone_that_looks_in_the_wrong_place_is_told(template: Launches, server: Server) -> None:
    ann, bob = (clone(template, server, name) for name in ("ann", "bob"))
    ann.workspace.git("config", "pvc.refPrefix", "refs/heads/pvc")
    ann.record("s")
    exchange(ann)
    bob.workspace.git("fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
    bob.workspace.git("update-ref", "-d", "refs/pvc/trees/agent")
    lines = list(exchange(bob).to_lines())
    assert lines[-1] == "hint: they may be elsewhere: `git config pvc.refPrefix refs/heads/pvc`"
