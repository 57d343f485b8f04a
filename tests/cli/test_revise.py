"""Edits from the command line: wiring and wording."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.conftest import Clone


def test_an_edit_comes_from_a_file_or_from_standard_input(adopted: Clone) -> None:
    adopted.write("sub/new.md", "# Role\n\nYou mend ships.\n")
    words = ["supersede", "agent", "-m", "Ships", "--set", "10-role.md=new.md", "--set", "x.md=-"]
    done = subprocess.run(
        [sys.executable, "-m", "pvc", *words],
        cwd=adopted.path / "sub", env=adopted.environment, input=b"More.\n",
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.decode().split("\n")[1:] == ["  10-role.md", "  x.md", ""]
    assert adopted.git("show", "refs/pvc/trees/agent:x.md") == "More."
    adopted.git("add", "agent")
    taken = adopted.pvc("supersede", "agent", "-m", "From the folder", "--json")
    assert taken.json["undone"] == ["10-role.md", "x.md"]
    assert "note: 10-role.md is as it was before it was edited in the chain" in taken.err
    back = adopted.pvc("supersede", "agent", "--revert-to", "2", "-m", "Back to ships")
    assert "  reverts to agent@2 " in back.text
    shown = adopted.pvc("show", "agent").text
    assert "reverts to   " in shown


def test_edits_and_a_folder_do_not_go_together(adopted: Clone) -> None:
    said = adopted.refused("supersede", "agent", "-m", "x", "--rm", "a.md", "--index", code=2)
    assert "edits are made to the version" in said
