"""Prunes beside everything that writes, and faults at calls that write: short runs."""

from __future__ import annotations

import os
from shutil import which
from typing import TYPE_CHECKING

import pytest

from prunes import run
from sweep import FAULTS, SCENARIOS, sweep

if TYPE_CHECKING:
    from pathlib import Path

LONG = "PVC_LONG_TESTS" in os.environ


def test_what_is_acknowledged_beside_prunes_is_found(tmp_path: Path) -> None:
    made = run(tmp_path, 60 if LONG else 5)
    assert made.pinned
    assert made.ran["git gc"]


@pytest.mark.skipif(which("strace") is None, reason="strace makes the faults")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fault_at_a_call_that_writes_loses_and_blocks_nothing(
    tmp_path: Path, scenario: str
) -> None:
    every = 1 if LONG else 97
    result = sweep(
        tmp_path, scenario, list(FAULTS), every, 0 if LONG else SCENARIOS.index(scenario)
    )
    assert result.runs
    assert (result.blocked, result.lost, result.faults) == ([], [], [])
