"""The tamper table: every attack is done with real git, and found where the table says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from attack.tamper import ATTACKS, Attack, World, copy_world, make_world, table
from pvc.ops.sync import run as sync
from pvc.ops.verify import VerifyOptions
from pvc.ops.verify import run as verify
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from cli.conftest import Clone

DOCUMENT = Path(__file__).parents[2] / "docs/verify.md"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The world that attacks get copies of."""
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    return copy_world(template, tmp_path / "world")


def codes(clone: Clone, remote: str = "", receipt: str = "") -> set[str]:
    """Verify a clone: each finding says what, where and what to do."""
    repo = open_repository(clone.path)
    options = VerifyOptions(receipts=(receipt,) if receipt else (), remote=remote)
    found = verify(repo, options).found
    repo.close()
    for each in found:
        assert each.message
        assert each.hint
        assert each.ref or each.path or each.code == "receipt"
    return {each.code for each in found}


def synced(clone: Clone) -> bool:
    """Sync a clone; true when nothing was refused."""
    repo = open_repository(clone.path)
    result = sync(repo, None)
    repo.close()
    return not result.has_findings


def assert_found(clone: Clone, expected: str, *, is_taken: bool, world: World) -> None:
    """Look for an attack the way that the table says."""
    if expected == "sync":
        assert not is_taken
    elif expected == "remote":
        assert "rollback" in codes(clone, remote="origin")
    elif expected == "receipt":
        receipt = (world.path / "receipt").read_text()
        assert codes(clone) == set(), "it can be told by the receipt alone"
        assert codes(clone, receipt=f"s5={receipt}") == {"receipt"}
    elif expected == "—":
        assert codes(clone) == set()
    else:
        assert expected in codes(clone)


def test_nothing_is_found_where_nothing_was_done(world: World) -> None:
    carol = world.carol()
    carol.pvc("sync")
    for clone in (world.ada, world.bob, world.hub, carol):
        done = clone.pvc("verify")
        assert done.text.endswith("Nothing is wrong.\n"), done.text
        assert "note" not in done.text
    assert "not rendered" not in world.ada.pvc("verify").text


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.do.__name__)
def test_an_attack_is_found_where_the_table_says(attack: Attack, world: World) -> None:
    attack.do(world)
    is_taken = synced(world.bob)
    carol = world.carol()
    synced(carol)
    place = {"ada": world.ada, "hub": world.hub, "bob": world.bob}[attack.where]
    assert_found(place, attack.here, is_taken=True, world=world)
    assert_found(world.bob, attack.synced, is_taken=is_taken, world=world)
    assert_found(carol, attack.fresh, is_taken=True, world=world)


def test_the_document_shows_the_table() -> None:
    assert table() in DOCUMENT.read_text(), "python tests/attack/tamper.py prints it"
