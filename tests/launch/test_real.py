"""The launch path on a tree that pvc itself made: cold starts, and folds that start alone."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from launches import Launches, process

if TYPE_CHECKING:
    from workspace import Workspace

MANIFEST = 'format = 1\nkind = "tree"\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'


@pytest.fixture
def real(workspace: Workspace) -> Launches:
    """A plain tree, adopted with `pvc supersede`."""
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/A.md": "You work for {who}.\n"})
    done = process(workspace.path, "supersede", "agent", "-m", "first")
    assert done.code == 0, done.err
    return Launches(workspace)


@pytest.mark.parametrize("damage", ["none", "deleted", "junk"])
def test_a_cold_pin_gives_the_bytes_of_a_warm_one(real: Launches, damage: str) -> None:
    for path in (real.home / "cache/v1").iterdir():
        if damage == "deleted":
            path.unlink()
        elif damage == "junk":
            path.write_bytes(b"pvc.program/2 " + bytes(100))
    done = real.pin("agent", "--session", "s", "--set", "who=Ann", "--out", "-")
    assert done.out == b"You work for Ann.\n", done.err
    assert len(list((real.home / "cache/v1").iterdir())) == 1
    rendered = process(real.path, "render", "agent", "--set", "who=Ann")
    assert rendered.out == done.out


def test_an_older_version_is_compiled_from_git(real: Launches) -> None:
    real.workspace.commit({"agent/A.md": "You serve {who}.\n"})
    assert process(real.path, "supersede", "agent", "-m", "second").code == 0
    for path in (real.home / "cache/v1").iterdir():
        path.unlink()
    done = real.pin("agent@1", "--session", "s", "--set", "who=Ann", "--out", "-")
    assert done.out == b"You work for Ann.\n"


def test_a_full_spool_is_folded_beside_the_launch(real: Launches) -> None:
    lines = [{"tree": "agent", "session": f"s{i}", "set": {"who": "Ann"}} for i in range(300)]
    done = real.pin("--batch", data="\n".join(map(json.dumps, lines)).encode())
    assert {answer["status"] for answer in done.answers} == {"pinned"}
    assert real.pin("agent", "--session", "last", "--set", "who=Ann").code == 0
    deadline = time.monotonic() + 30
    while len(real.spooled) >= 256 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(real.spooled) < 256
    assert len(real.ledger().newest(None)) == 301
    again = real.pin("agent", "--session", "s7", "--resume", "--out", "-")
    assert again.out == b"You work for Ann.\n"
