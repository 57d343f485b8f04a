"""Every test runs with a git that knows nothing of this machine: own home, name and clock."""

from __future__ import annotations

import os
import subprocess
from functools import cache
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

REFTABLE_SINCE = (2, 45)
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
def make_workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Workspace]:
    """Make repositories below the test's folder: `make_workspace("a", "--bare")`."""
    for fixture in {"back_end", "git_format"} & {*request.fixturenames}:
        request.getfixturevalue(fixture)  # it says what `git init` makes

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


@pytest.fixture(params=["pygit", "gitcli", "sha256", "reftable"])
def back_end(request: pytest.FixtureRequest) -> BackEnd:
    """Each back end in turn, the second on every format: what holds for one holds for the other."""
    if request.param == "pygit":
        return "pygit"
    if request.param != "gitcli":
        use_format(request.param)
    return "gitcli"


@pytest.fixture(params=["files", "sha256", "reftable"])
def git_format(request: pytest.FixtureRequest) -> str:
    """Each format of repositories in turn; the store chooses the back end that serves it."""
    if request.param != "files":
        use_format(request.param)
    chosen: str = request.param
    return chosen


def use_format(name: str) -> None:
    """Let `git init` and `git clone` make repositories of a format, for this test."""
    if name == "sha256":
        os.environ["GIT_DEFAULT_HASH"] = "sha256"
        return
    if git_version() < REFTABLE_SINCE:
        pytest.skip("the installed git has no reftable (it came with 2.45)")
    os.environ["GIT_DEFAULT_REF_FORMAT"] = "reftable"


@cache
def git_version() -> tuple[int, ...]:
    """Ask the installed git."""
    said = subprocess.run(["git", "version"], capture_output=True, check=True, text=True).stdout
    return tuple(int(part) for part in said.split(" ")[2].split(".")[:2])


@pytest.fixture
def repository(workspace: Workspace, back_end: BackEnd) -> Iterator[Repository]:
    """The empty repository, opened through each back end in turn."""
    opened = workspace.open(back_end)
    yield opened
    opened.close()
