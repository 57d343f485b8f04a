"""A repository with a tree `agent` of one version, whose program is cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from launches import Launches

if TYPE_CHECKING:
    from workspace import Workspace


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    """The repository, ready for launches."""
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made
