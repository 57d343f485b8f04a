"""A server with its guard and a clone of it, made once and copied for each test."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from cli.conftest import Clone, Done
from servers import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.tmpdir import TempPathFactory

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'


@dataclass(frozen=True)
class Site:
    """A folder with `hub.git`, which has the guard, and `ada`, a clone with two versions pushed."""

    path: Path
    url: str

    @property
    def ada(self) -> Clone:
        return Clone(self.path / "ada")

    @property
    def hub(self) -> Clone:
        return Clone(self.path / "hub.git", "Hub Keeper")

    def refs(self) -> str:
        return self.hub.git("for-each-ref")

    def push(self, *specs: str, force: bool = False) -> Done:
        words = ["git", "push", *(["--force"] if force else []), self.url, *specs]
        return self.ada.run(words)


def make_site(folder: Path) -> Site:
    """Make the template: adopted twice, two sessions pinned, all of it pushed."""
    run = Clone(folder).run
    assert run(["git", "init", "-q", "--bare", "-b", "main", "hub.git"]).code == 0
    assert run(["git", "clone", "-q", "hub.git", "ada"]).code == 0
    site = Site(folder, "../hub.git")
    ada = site.ada
    ada.git("checkout", "-q", "-b", "main")
    ada.write("agent/pvc.toml", MANIFEST)
    ada.write("agent/1.md", "You mend ships in {cwd}.\n")
    ada.commit("Start")
    ada.pvc("supersede", "agent", "-m", "First")
    ada.write("agent/1.md", "You mend boats in {cwd}.\n")
    ada.commit("Boats")
    ada.pvc("supersede", "agent", "-m", "Second")
    for session in ("s1", "s2"):
        ada.pvc("pin", "agent", "--session", session, "--set", "cwd=/srv")
    site.hub.pvc("hook", "install")
    ada.git("push", "-q", "origin", "main")
    ada.pvc("sync", "origin")
    return site


@pytest.fixture(scope="session")
def template(tmp_path_factory: TempPathFactory) -> Path:
    """The site that tests get copies of."""
    folder = tmp_path_factory.mktemp("site")
    make_site(folder)
    return folder


@pytest.fixture
def site(template: Path, tmp_path: Path) -> Site:
    """A copy of the site, pushed to by path."""
    shutil.copytree(template, tmp_path / "site", symlinks=True)
    made = Site(tmp_path / "site", "../hub.git")
    made.ada.git("remote", "set-url", "origin", str(made.path / "hub.git"))
    return made


@pytest.fixture(params=["path", "daemon", "http"])
def reached(request: pytest.FixtureRequest, site: Site) -> Iterator[Site]:
    """The same site, pushed to by path and through servers."""
    if request.param == "path":
        yield site
        return
    with served(request.param, site.path, site.path / "server") as server:
        server.connect(site.ada.path)
        yield Site(site.path, server.url("hub.git"))


@pytest.fixture
def guarded(tmp_path: Path) -> Clone:
    """A clone with an adopted tree and all hooks of a clone."""
    clone = Clone(tmp_path / "ada")
    clone.path.mkdir()
    clone.git("init", "-q", "-b", "main")
    clone.write("agent/pvc.toml", MANIFEST)
    clone.write("agent/1.md", "You mend ships in {cwd}.\n")
    clone.commit("Start")
    clone.pvc("supersede", "agent", "-m", "First")
    clone.pvc("hook", "install")
    return clone
