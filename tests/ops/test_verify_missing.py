"""`pvc verify` of a clone that lacks an object: a finding, and all else is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from attack.tamper import World, make_world
from pvc.ops.verify import VerifyOptions, run
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.ops.verify_report import Verified

JUNK = "f" * 32


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A clone whose objects are all loose, with a file in its spool that is in no form."""
    folder = tmp_path_factory.mktemp("world")
    made = make_world(folder)
    ada = made.ada
    objects = ada.path / ".git/objects"
    for pack in objects.glob("pack/*.pack"):
        aside = folder / pack.name
        pack.rename(aside)
        assert ada.run(["sh", "-c", f"git unpack-objects -q < {aside}"]).code == 0
    for file in objects.glob("pack/*"):
        file.unlink()
    for graph in objects.glob("info/commit-graph*"):
        graph.unlink()
    (ada.path / f".git/pvc/spool/{JUNK}").write_bytes(b"junk")
    return made


def verified(path: Path) -> Verified:
    repo = open_repository(path)
    try:
        return run(repo, VerifyOptions())
    finally:
        repo.close()


def test_each_object_that_is_missing_is_a_finding_and_hides_nothing(world: World) -> None:
    path = world.ada.path
    whole = verified(path)
    assert [found.code for found in whole.found] == ["spool"]
    listing = world.ada.git("rev-list", "--objects", "--glob=refs/pvc/*")
    oids = sorted({line.split(" ")[0] for line in listing.split("\n")})
    assert len(oids) > 30
    quiet = []
    for oid in oids:
        file = path / f".git/objects/{oid[:2]}/{oid[2:]}"
        aside = path / ".git/aside"
        file.rename(aside)
        try:
            answer = verified(path)
        finally:
            aside.rename(file)
        others = [found for found in answer.found if found.code != "spool"]
        assert "spool" in {found.code for found in answer.found}, oid
        assert all(found.hint for found in answer.found)
        assert all(found.ref or found.path for found in others), (oid, others)
        named = [found for found in others if found.ref]
        if not named:
            quiet.append(oid)
        assert answer.counts["spooled"] == whole.counts["spooled"]
        assert answer.counts["programs"] == whole.counts["programs"]
    assert quiet == []
    assert verified(path) == whole
