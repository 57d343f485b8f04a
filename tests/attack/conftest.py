"""Hostile users, broken disks and odd repositories: the clones of the command's own tests."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cli.conftest import Clone, Done, ada, adopted, make_clone, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["ada", "adopted", "hub", "make_clone", "plain", "shared"]

PVC = f"{sys.executable} -m pvc"


def shell(clone: Clone, line: str, **changes: str) -> Done:
    """Run a line of bash in which `PVC` is the command."""
    return clone.run(["bash", "-c", line.replace("PVC", PVC)], **changes)


@pytest.fixture
def hub(adopted: Clone, tmp_path: Path) -> Clone:
    """A bare repository that Ada has synced with: version 1, and the session `own`."""
    path = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True)
    adopted.git("remote", "add", "origin", str(path))
    adopted.git("push", "-q", "origin", "main")
    adopted.pvc("pin", "agent", "--session", "own", "--set", "cwd=/")
    adopted.pvc("sync")
    return Clone(path, "The Hub")


@pytest.fixture
def shared(hub: Clone, make_clone: Callable[..., Clone]) -> Clone:
    """Bob's clone of the hub, synced."""
    bob = make_clone("bob", "Bob Lindqvist", hub.path)
    bob.pvc("sync")
    return bob
