"""Folders of pvc's that somebody removed: made again, or said, and nothing else is lost."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Clone

FOLDERS = ["spool/b", "spool", "index", "cache", "cache/v1", "fold.lock", "writer", ""]


@pytest.mark.parametrize("folder", FOLDERS, ids=[name or "all of it" for name in FOLDERS])
def test_a_folder_that_vanished_is_made_again(adopted: Clone, folder: str) -> None:
    adopted.pvc("pin", "agent", "--session", "before", "--set", "cwd=/")
    adopted.pvc("sync")
    gone = adopted.path / ".git/pvc" / folder
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    adopted.pvc("sync")
    words = ["pin", "agent", "--session", "after", "--set", "cwd=/x", "--must-record", "--json"]
    assert adopted.pvc(*words).json["status"] == "pinned"
    adopted.pvc("sync")
    listed = adopted.pvc("log", "--pins", "--json").json
    assert [pin["session"] for pin in listed["pins"]] == ["after", "before"]
    assert listed["damage"] == []
    assert "digest agrees" in adopted.pvc("show", "before").text
