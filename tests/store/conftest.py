"""A clone that tests of many machines copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clones import adopt
from launches import Launches

if TYPE_CHECKING:
    from collections.abc import Callable

    from workspace import Workspace


@pytest.fixture
def template(make_workspace: Callable[..., Workspace]) -> Launches:
    """A clone of `hub.git` with a version, which nobody has pinned in; others are copies of it."""
    hub = make_workspace("hub.git", "--bare")
    made = Launches(make_workspace("template"))
    made.workspace.git("remote", "add", "origin", str(hub.path))
    adopt(made, "You are an agent.\n")
    return made
