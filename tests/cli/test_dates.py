"""Dates: one reader, so a word means the same in every command, and a word that is not a date is
refused by all of them.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone

TRANSCRIPT = {
    "type": "assistant",
    "sessionId": "s",
    "requestId": "r",
    "uuid": "u",
    "message": {
        "id": "m",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 0, "output_tokens": 1},
    },
}


@pytest.fixture
def dated(adopted: Clone) -> Clone:
    """One pin, one fold, one commit and one transcript, all of this moment."""
    adopted.pvc("pin", "agent", "--session", "one", "--set", "cwd=/")
    adopted.pvc("sync")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    adopted.write("t.jsonl", json.dumps({**TRANSCRIPT, "timestamp": now}) + "\n")
    return adopted


def _pins(option: str) -> Callable[[Clone, str], bool]:
    def ask(clone: Clone, word: str) -> bool:
        return bool(clone.pvc("log", "--pins", option, word, "--json").json["pins"])

    return ask


def _verify(clone: Clone, word: str) -> bool:
    return bool(clone.pvc("verify", "--since", word, "--json").json["verified"]["pins"])


def _impact(clone: Clone, word: str) -> bool:
    sessions = clone.pvc("impact", "agent", "--since", word, "--json").json["sessions"]
    return bool(sessions["hit"] + sessions["unaffected"])


def _blame(clone: Clone, word: str) -> bool:
    runs = clone.pvc("blame", "agent/10-role.md", "--since", word, "--json").json["runs"]
    return not any("old" in run for run in runs)


def _miss(clone: Clone, word: str) -> bool:
    return bool(
        clone.pvc("miss", "--transcript", "t.jsonl", "--since", word, "--json").json["calls"]
    )


def _forget(clone: Clone, word: str) -> bool:
    done = clone.pvc("forget", "--before", word, "--dry-run", "--json").json
    return not done["forgotten"]


NEWER: dict[str, Callable[[Clone, str], bool]] = {
    "log --since": _pins("--since"),
    "verify --since": _verify,
    "impact --since": _impact,
    "blame --since": _blame,
    "miss --since": _miss,
    "forget --before": _forget,
}
"""Each says whether what was made just now is at or after the date."""
COMMANDS = {
    "log --since": ("log", "--pins", "--since"),
    "log --until": ("log", "--pins", "--until"),
    "verify --since": ("verify", "--since"),
    "impact --since": ("impact", "agent", "--since"),
    "blame --since": ("blame", "agent/10-role.md", "--since"),
    "blame --since of a pin": ("blame", "one", "--since"),
    "miss --since": ("miss", "--transcript", "t.jsonl", "--since"),
    "forget --before": ("forget", "--dry-run", "--before"),
}


def _shifted(hours: int) -> str:
    """Write the moment one minute from now in another zone."""
    later = datetime.now(UTC) + timedelta(minutes=1, hours=hours)
    return f"{later:%Y-%m-%d %H:%M:%S} +{hours:02}00"


@pytest.mark.parametrize("command", NEWER)
def test_a_word_means_the_same_in_every_command(dated: Clone, command: str) -> None:
    ask = NEWER[command]
    for word in ("1.hour.ago", "90.days", "30d", "yesterday", "today", "2001-01-01", "@86400",
                 "1900-01-01T00:00Z", "2001-01-01T12:00:00+02:00"):  # fmt: skip
        assert ask(dated, word), word
    if command == "forget --before":
        for word in (_shifted(5), "2099-01-01"):
            assert "is in the future" in dated.refused("forget", "--before", word, code=2)
    else:
        for word in (_shifted(5), "2099-01-01", "9999-12-31T23:59:59Z"):
            assert not ask(dated, word), word


@pytest.mark.parametrize("command", COMMANDS)
def test_a_word_that_is_not_a_date_is_refused_by_every_command(dated: Clone, command: str) -> None:
    for word in ("", "someday", "99999-01-01", "2026-02-30", "-1.day"):
        said = dated.refused(*COMMANDS[command], word, code=2)
        assert f"`{word}` is not a date" in said
        assert "hint: 2026-09-01," in said


def test_until_counts_up_to_the_second(dated: Clone) -> None:
    ask = _pins("--until")
    assert ask(dated, "now")
    assert ask(dated, "2099-01-01")
    assert not ask(dated, "1.hour.ago")
    assert not ask(dated, "1900-01-01")


def test_an_age_in_a_setting_is_read_by_the_same_reader(dated: Clone) -> None:
    dated.git("config", "pvc.keepBodies", "someday")
    assert "`someday` is not an age" in dated.refused("gc", "--dry-run", code=2)
    dated.git("config", "pvc.keepBodies", "30d")
    assert dated.pvc("gc", "--dry-run", "--json").json["forgotten"] == []
