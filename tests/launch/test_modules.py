"""What a launch imports, read from real processes: start-up time is what a launch pays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from launches import python

if TYPE_CHECKING:
    from launches import Launches

FORBIDDEN = (
    "dataclasses",
    "json",
    "re",
    "typing",
    "pathlib",
    "tomllib",
    "subprocess",
    "click",
    "pygit2",
    "datetime",
    "enum",
    "inspect",
    "tempfile",
    "random",
    "uuid",
)
ALLOWED = frozenset(
    (
        "__future__",
        "_json",
        "blake3",
        "blake3.blake3",
        "errno",
        "fcntl",
        "gc",
        "mmap",
        "pvc",
        "time",
    )
)
SCRIPT = (
    "import os, sys; before = set(sys.modules)\n"
    "def leave(code):\n"
    "    names = sorted(set(sys.modules) - before)\n"
    "    open('modules', 'w').write('\\n'.join(names)); exit_now(code)\n"
    "exit_now, os._exit = os._exit, leave\n"
    "from pvc.main import main; main()"
)


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "who=Ann"],
        ["--env", "env.json", "--tools", "tools.json"],
        ["--guidance", "NOTES.md", "--json"],
    ],
)
@pytest.mark.parametrize("is_known", [False, True])
def test_a_warm_pin_imports_nothing_that_is_slow(
    launches: Launches, words: list[str], *, is_known: bool
) -> None:
    if "--guidance" in words:
        launches.adopt_guided()
    (launches.path / "env.json").write_text(json.dumps({"who": "Ann"}))
    (launches.path / "tools.json").write_text(json.dumps([{"name": "t", "input_schema": {}}]))
    (launches.path / "NOTES.md").write_text("Be brief.")
    command = ["pin", "agent", "--session", "s", *words]
    for _ in range(1 + is_known):
        done = python(launches.path, "-c", SCRIPT, *command)
        assert done.code == 0, done.err
    names = (launches.path / "modules").read_text().split("\n")
    assert not set(FORBIDDEN) & set(names)
    foreign = {n for n in names if not n.startswith(("pvc.launch", "pvc.core", "pvc.model"))}
    assert foreign - ALLOWED <= {"pvc.errors", "pvc.main"}


def test_the_rule_about_secrets_is_loaded_only_at_a_sign_of_one(launches: Launches) -> None:
    loaded = {}
    token = "ghp_" + "a8Kd93jLmQ2xVb7Nc5Zt1Rw6Ye4Uo0Pi9SgH"
    for value in ("an ordinary value", token):
        command = ["pin", "agent", "--session", value[:2], "--set", f"who={value}"]
        assert python(launches.path, "-c", SCRIPT, *command).code == 0
        loaded[value] = set((launches.path / "modules").read_text().split("\n"))
    assert not loaded["an ordinary value"] & {*FORBIDDEN, "pvc.ops.secrets"}
    assert "pvc.ops.secrets" in loaded[token]
