"""`pvc log --pins`: lists of sessions, bounded by time, tree and session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone


@pytest.fixture
def pinned(adopted: Clone) -> Clone:
    """Three sessions; the second is folded, and pinned again in a chain of its own."""
    for session in ("one", "two"):
        adopted.pvc("pin", "agent", "--session", session, "--set", "cwd=/")
    adopted.pvc("pin", "agent", "--session", "two", "--chain", "helper", "--set", "cwd=/h")
    adopted.pvc("sync")
    adopted.pvc("pin", "agent", "--session", "three", "--set", "cwd=/")
    return adopted


@pytest.mark.parametrize(
    ("words", "sessions"),
    [
        ([], ["three", "two", "two", "one"]),
        (["--limit", "2"], ["three", "two"]),
        (["agent", "-n", "1"], ["three"]),
        (["--session", "two"], ["two", "two"]),
        (["--tree", "agent", "--session", "one"], ["one"]),
        (["--since", "1 hour ago"], ["three", "two", "two", "one"]),
        (["--since", "2040-01-01 00:00:00"], []),
        (["--until", "1 hour ago"], []),
        (["--until", "2040-01-01 00:00:00", "-n", "1"], ["three"]),
    ],
)
def test_pins_are_listed_newest_first(pinned: Clone, words: list[str], sessions: list[str]) -> None:
    listed = pinned.pvc("log", "--pins", *words, "--json").json
    assert (listed["schema"], listed["damage"]) == ("pvc.pins/1", [])
    assert [pin["session"] for pin in listed["pins"]] == sessions
    lines = pinned.pvc("log", "--pins", *words).text.splitlines()
    assert [line.split("  ")[3].split()[0] for line in lines if "agent@" in line] == sessions


def test_the_time_that_a_list_shows_bounds_the_next(pinned: Clone) -> None:
    newest = pinned.pvc("log", "--pins", "-n", "1", "--json").json["pins"][0]
    second = newest["time"] // 1_000_000
    for words in (["--since", f"@{second}"], ["--until", f"@{second}"]):
        listed = pinned.pvc("log", "--pins", *words, "--json").json["pins"]
        assert newest in listed


@pytest.mark.parametrize("option", ["--session", "--since", "--until"])
def test_what_chooses_pins_is_refused_for_versions(adopted: Clone, option: str) -> None:
    assert "add --pins" in adopted.refused("log", "agent", option, "x", code=2)
