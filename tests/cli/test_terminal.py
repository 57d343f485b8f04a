"""What a person at a terminal sees: colour of ours, and no control character of anybody else."""

import os
import pty
import subprocess
import sys

import pytest

from cli.conftest import Clone


def at_terminal(clone: Clone, *words: str, **changes: str) -> str:
    """Run pvc with a terminal as its standard output; gives what the terminal got."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        subprocess.run(
            [sys.executable, "-m", "pvc", *words],
            cwd=clone.path,
            env={k: v for k, v in clone.environment.items() if k != "NO_COLOR"} | changes,
            stdout=theirs,
            check=True,
            timeout=120,
        )
        os.close(theirs)
        return terminal.read(1 << 16).decode().replace("\r\n", "\n")


def test_a_terminal_gets_versions_in_colour(adopted: Clone) -> None:
    line = at_terminal(adopted, "log", "agent")
    assert line.startswith("\x1b[33magent@1\x1b[0m  ")
    assert "\\x1b" not in line


def test_colour_leaves_the_words_as_they_are(adopted: Clone) -> None:
    shown = at_terminal(adopted, "log")
    for code in ("\x1b[33m", "\x1b[0m"):
        shown = shown.replace(code, "")
    assert shown == adopted.pvc("log").text


def test_no_color_is_heeded(adopted: Clone) -> None:
    assert "\x1b" not in at_terminal(adopted, "log", NO_COLOR="1")


@pytest.mark.parametrize("command", ["log", "show"])
def test_a_reason_cannot_bring_colour_of_its_own(adopted: Clone, command: str) -> None:
    adopted.write("agent/10-role.md", "other\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "why \x1b[31m not")
    assert "why \\u001b[31m not" in at_terminal(adopted, command, "agent")
