"""What `pvc check` must not report, beside what it must, in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.ops.check import CheckOptions, run

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = "- hostname: show the name of the system\n- pwd: print the working directory\n"
STATE = "- hostname: mole-3\n- pwd: /srv/harbor\n"
QUIET = {
    "commands explained": COMMANDS,
    "a sandbox": "Read `/home/mira/skills/pdf/SKILL.md` (the sandbox always has it there).\n",
    "a role's home": "Before you write a PDF, read `/home/helper/skills/pdf/SKILL.md`.\n",
    "a supposed day": "Examples, assuming that today is 2026-03-10:\n",
    "a day to imagine": "Suppose the current date is 2026-03-10; then Friday is the 13th.\n",
    "a condition": "If today is 2026-03-10, next Friday is the 13th.\n",
    "a supposed time": "Imagine that the current time is 09:41.\n",
}
FOUND = {
    "a machine's state": (STATE, "baked-environment"),
    "a state of two words": ("- branch: main\n- working directory: /srv\n", "baked-environment"),
    "a person's home": ("Read `/home/mira/notes.md` first.\n", "volatile-path"),
    "a day": ("Answer in German. Today is 2026-03-10.\n", "volatile-date"),
    "a day behind a condition": ("If asked, say so. Today is 2026-03-10.\n", "volatile-date"),
    "a time": ("The current time is 09:41.\n", "volatile-time"),
}


def codes(folder: Path, text: str, name: str = "a.md") -> set[str]:
    (folder / name).write_text(text)
    return {one.finding.code for one in run(str(folder), CheckOptions(paths=(name,))).found}


@pytest.mark.parametrize("name", QUIET)
def test_no_false_alarm(tmp_path: Path, name: str) -> None:
    assert codes(tmp_path, QUIET[name]) == set()


@pytest.mark.parametrize("name", FOUND)
def test_what_is_volatile_is_found(tmp_path: Path, name: str) -> None:
    text, code = FOUND[name]
    assert code in codes(tmp_path, text)


@pytest.mark.parametrize("name", ["LICENSE.txt", "NOTICE.md", "COPYING.txt"])
def test_a_licence_beside_a_prompt_is_never_sent(tmp_path: Path, name: str) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill/SKILL.md").write_text("Do it.\n")
    (tmp_path / "skill" / name).write_text("You may copy this. \n")
    assert run(str(tmp_path), CheckOptions(paths=("skill",))).found == ()
    asked = run(str(tmp_path), CheckOptions(paths=(f"skill/{name}",))).found
    assert [one.finding.code for one in asked] == ["trailing-blanks"]
