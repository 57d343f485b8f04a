"""`docs/investigate.md`, typed as it stands there: each command gives what is shown below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.conftest import Clone
from cli.test_readme import BLOCK, masked

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "investigate.md"


def steps() -> Iterator[tuple[str, str]]:
    """Give the page's commands, each with what is shown below it."""
    for kind, text in BLOCK.findall(PAGE.read_text()):
        if kind == "sh":
            yield text, ""
            continue
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            yield command, shown


def test_five_misses_go_as_the_page_says(tmp_path: Path) -> None:
    outside = Clone(tmp_path)  # no repository until the page makes one
    path = f"PATH={Path(sys.executable).parent}:{outside.environment['PATH']}"
    people = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    words = ["env", *(f"-uGIT_{name}" for name in people), path, "bash", "-c"]
    kinds = []
    for command, shown in steps():
        done = outside.run([*words, command])
        assert masked(done.text + done.err) == masked(shown), command
        kinds += re.findall(r"^miss: (\w+)$", shown, re.MULTILINE)
    assert kinds == ["clock", "tool_order", "prompt_text_edit", "ttl_expired", "line_endings"]
