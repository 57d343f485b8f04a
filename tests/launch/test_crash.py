"""Small versions of `crash.py`; `PVC_LONG_TESTS=1` runs the full ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crash import killed, many_at_once, rivals, storm

if TYPE_CHECKING:
    from launches import Launches

# The full ones must be asked for before the tests' own environment hides it.
LONG = "PVC_LONG_TESTS" in os.environ


def test_pins_of_many_processes_are_all_found_once_while_another_folds(launches: Launches) -> None:
    writers, sessions = (16, 50) if LONG else (4, 20)
    assert many_at_once(launches, writers, sessions) == writers * sessions


@pytest.mark.parametrize("is_repin", [False, True])
def test_one_of_two_conflicting_pins_wins_and_all_are_told_which(
    launches: Launches, *, is_repin: bool
) -> None:
    rivals(launches, 16 if LONG else 5, 50 if LONG else 12, is_repin=is_repin)


def test_what_was_answered_survives_kills_of_pin_and_fold(launches: Launches) -> None:
    assert killed(launches, 100 if LONG else 6, seed=7) > 0


def test_a_storm_of_kills_loses_nothing_that_was_answered(launches: Launches) -> None:
    seconds, processes, pins, folders = (60, 64, 200, 3) if LONG else (3, 5, 40, 2)
    made = storm(launches, seconds, processes, pins, folders)
    assert made.kills > 5
    assert 0 < len(made.acknowledged) <= made.found
