"""The documents say what the program does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pvc.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])


def test_the_command_reference_is_what_the_commands_say() -> None:
    # In a process of its own: click keeps the help option of a command's first context.
    made = subprocess.run(
        [sys.executable, "-m", "pvc.cli.reference"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/cli.md").read_text() == made.stdout, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{target} in {page}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_pages_show_exist(page: Path) -> None:
    for name in re.findall(r"^\$ pvc ([a-z]+)", page.read_text(), re.MULTILINE):
        assert name in COMMANDS, f"`pvc {name}` in {page}"
