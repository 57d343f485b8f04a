"""The program cache: what does not verify is compiled again, never trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from launches import compiled
from pvc.errors import NotFoundError
from pvc.launch import cache
from pvc.launch.place import find
from pvc.launch.version import Versions

if TYPE_CHECKING:
    from pathlib import Path

    from launches import Launches
    from pvc.launch.cache import Compiled

OID = "1" * 40
ENTRY = compiled("agent", 3, OID, b"text\n")


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    cache.write(str(tmp_path), OID, ENTRY)
    assert cache.read(str(tmp_path), OID) == ENTRY
    assert cache.read(str(tmp_path), "2" * 40) is None


def test_no_damage_is_read(tmp_path: Path) -> None:
    cache.write(str(tmp_path), OID, ENTRY)
    path = tmp_path / cache.FOLDER / OID
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        assert cache.read(str(tmp_path), OID) is None, f"byte {at}"
        path.write_bytes(whole[:at])
        assert cache.read(str(tmp_path), OID) is None, f"cut at {at}"


def test_what_verifies_and_is_no_program_is_not_read(tmp_path: Path) -> None:
    for wrong in ((), ("agent", 1, OID), ("agent", 1, "short", ENTRY[3]), b"bytes"):
        cache.write(str(tmp_path), OID, wrong)  # type: ignore[arg-type]  # wrong on purpose
        assert cache.read(str(tmp_path), OID) is None


@pytest.mark.parametrize("damage", [None, b"", b"pvc.program/2 junk", b"pvc.program/1 "])
def test_an_absent_or_damaged_entry_is_compiled_again(
    launches: Launches, damage: bytes | None
) -> None:
    commit = launches.workspace.git("rev-parse", "refs/pvc/trees/agent")
    path = launches.home / "cache/v1" / commit
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    asked = []

    def compile_again(git_dir: str, oid: str) -> Compiled:
        asked.append((git_dir, oid))
        return compiled("agent", 1, oid, b"compiled\n")

    versions = Versions(find(str(launches.path)), compile_again)
    assert versions.named("agent").label == "agent@1"
    assert versions.named("agent").program == compiled("agent", 1, commit, b"compiled\n")[3]
    assert asked == [(str(launches.path / ".git"), commit)]


def test_a_version_that_cannot_be_compiled_is_an_error_of_the_launch(launches: Launches) -> None:
    for path in (launches.home / "cache/v1").iterdir():
        path.unlink()

    def not_here(_git_dir: str, oid: str) -> Compiled:
        raise NotFoundError(f"no version at `{oid}`")

    with pytest.raises(NotFoundError, match="no version at"):
        Versions(find(str(launches.path)), not_here).named("agent")
