"""Every test runs with a git that knows nothing of this machine: own home, name and clock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest

from workspace import FIRST_SECOND, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pvc.store.open import BackEnd
    from pvc.store.repo import Repository

# No test is timed: a busy machine is no fault. In CI the same examples come each time.
hypothesis.settings.register_profile(
    "pvc",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("pvc")

_GLOBAL_CONFIG = """\
[user]
    name = Ada Prompt
    email = ada@example.com
[init]
    defaultBranch = main
[gc]
    auto = 0
[maintenance]
    auto = false
[protocol "file"]
    allow = always
"""


@pytest.fixture(autouse=True)
def _hermetic_git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = dict(os.environ)
    home = tmp_path_factory.mktemp("home")
    config = home / "gitconfig"
    config.write_text(_GLOBAL_CONFIG)
    for name in [name for name in os.environ if name.startswith(("GIT_", "PVC_", "XDG_"))]:
        del os.environ[name]
    when = f"@{FIRST_SECOND} +0100"
    os.environ.update(
        HOME=str(home),
        GIT_CONFIG_GLOBAL=str(config),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_DATE=when,
        GIT_COMMITTER_DATE=when,
        GIT_CEILING_DIRECTORIES=str(home.parent),
        GNUPGHOME=str(home),
        LC_ALL="C.UTF-8",
        TZ="UTC",
    )
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def make_workspace(tmp_path: Path) -> Callable[..., Workspace]:
    """Make repositories below the test's folder: `make_workspace("a", "--bare")`."""

    def make(name: str = "repo", *options: str) -> Workspace:
        path = tmp_path / name
        path.mkdir(parents=True)
        workspace = Workspace(path)
        workspace.git("init", "--quiet", *options)
        return workspace

    return make


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    """An empty repository with a worktree."""
    return make_workspace()


@pytest.fixture(params=["pygit", "gitcli"])
def back_end(request: pytest.FixtureRequest) -> BackEnd:
    """Each back end in turn: what holds for one holds for the other."""
    chosen: BackEnd = request.param
    return chosen


@pytest.fixture
def repository(workspace: Workspace, back_end: BackEnd) -> Iterator[Repository]:
    """The empty repository, opened through each back end in turn."""
    opened = workspace.open(back_end)
    yield opened
    opened.close()
