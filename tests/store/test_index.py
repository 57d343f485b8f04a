"""The index of the ledgers: small, verified where it is read, made again where it does not hold."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.launch import index as reading
from pvc.store import index as writing

if TYPE_CHECKING:
    from workspace import Workspace


pytestmark = pytest.mark.usefixtures("git_format")


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made


def grown(launches: Launches, folds: int) -> list[str]:
    receipts = []
    for i in range(folds):
        receipts += [launches.record(f"f{i}-{j}") for j in range(3)]
        launches.fold()
    return receipts


def test_runs_stay_few(launches: Launches) -> None:
    grown(launches, 12)
    assert len(list((launches.home / "index").glob("*.run"))) <= 4


@pytest.mark.parametrize("damage", ["deleted", "no tips", "no run", "cut", "every byte"])
def test_an_index_that_does_not_verify_is_made_again(launches: Launches, damage: str) -> None:
    receipts = grown(launches, 3)
    folder = launches.home / "index"
    (run,) = list(folder.glob("*.run"))[:1]
    whole = run.read_bytes()
    if damage == "deleted":
        shutil.rmtree(folder)
    elif damage == "no tips":
        (folder / "tips").write_bytes(b"junk")
    elif damage == "no run":
        run.unlink()
    elif damage == "cut":
        run.write_bytes(whole[: len(whole) // 2])
    else:
        run.write_bytes(bytes(byte ^ 1 for byte in whole))
    found = [p.receipt for i in range(3) for p in launches.ledger().session(f"f{i}-1")]
    assert found == receipts[1::3]
    again = launches.pin("agent", "--session", "f1-1", "--set", "who=x", "--json").answer
    assert (again["status"], again["receipt"]) == ("same", receipts[4])


@pytest.mark.parametrize("damage", ["deleted", "every byte"])
def test_a_launch_makes_the_index_again_before_it_believes_a_session_is_new(
    launches: Launches, damage: str
) -> None:
    receipts = grown(launches, 2)
    folder = launches.home / "index"
    if damage == "deleted":
        shutil.rmtree(folder)
    else:
        for run in folder.glob("*.run"):
            run.write_bytes(bytes(byte ^ 1 for byte in run.read_bytes()))
    again = launches.pin("agent", "--session", "f0-0", "--set", "who=x", "--json").answer
    assert (again["status"], again["receipt"]) == ("same", receipts[0])


def test_blocks_and_fences_find_every_key(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (reading, writing):
        monkeypatch.setattr(module, "BLOCK_ROWS", 4)
    receipts = grown(launches, 9)
    ledger = launches.ledger()
    sessions = [f"f{i}-{j}" for i in range(9) for j in range(3)]
    assert [ledger.session(s)[0].receipt for s in sessions] == receipts
    assert [ledger.digest(r)[0].session for r in receipts] == sessions
