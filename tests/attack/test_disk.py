"""Disks that are full, read-only or damaged: one line, and nothing half-written."""

import os
import shutil
import time

import pytest

from attack.conftest import shell
from cli.conftest import Clone


@pytest.mark.parametrize("kilobytes", [0, 1, 2])
def test_init_on_a_full_disk_leaves_nothing_half_written(ada: Clone, kilobytes: int) -> None:
    (ada.path / "t").mkdir()
    done = shell(ada, f"ulimit -f {kilobytes}; PVC init t")
    assert done.code == 5, done.text
    assert list((ada.path / "t").iterdir()) == []
    ada.pvc("init", "t")
    assert "text" in (ada.path / "t/.gitattributes").read_text()


def test_init_leaves_the_users_own_files_when_it_fails(ada: Clone) -> None:
    ada.write("t/role.md", "Mine\n")
    shell(ada, "ulimit -f 0; PVC init t")
    assert [path.name for path in (ada.path / "t").iterdir()] == ["role.md"]


@pytest.mark.parametrize("words", ["supersede agent -m x", "sync", "pin agent --session s"])
def test_a_write_that_fails_leaves_refs_as_they_were(adopted: Clone, words: str) -> None:
    adopted.pvc("pin", "agent", "--session", "before", "--set", "cwd=/")
    adopted.write("agent/10-role.md", "x" * 40_000)
    adopted.commit()
    before = adopted.refs()
    values = " --set cwd=/ --must-record" if words.startswith("pin") else ""
    done = shell(adopted, f"ulimit -f 0; PVC {words}{values}")
    assert done.code == 5
    assert "Traceback" not in done.err
    assert adopted.refs() == before
    assert "session      before" in adopted.pvc("show", "before").text


def test_no_room_for_a_scratch_folder_is_said(plain: Clone) -> None:
    done = shell(plain, "ulimit -f 0; PVC render agent --worktree --set cwd=/")
    assert done.code == 5
    assert "temporary directory" in done.err


@pytest.mark.parametrize("state", ["cache", "all of it"])
def test_a_version_is_adopted_where_the_cache_cannot_be_written(plain: Clone, state: str) -> None:
    if state == "cache":
        plain.write(".git/pvc/cache", "a file where a folder should be")
    else:
        plain.write(".git/pvc", "a file where a folder should be")
    assert plain.pvc("supersede", "agent", "-m", "x").text.startswith("adopted agent@1")
    done = plain.pvc("pin", "agent", "--session", "s", "--set", "cwd=/", "--out", "-")
    assert b"Work in /" in done.out
    if state == "all of it":
        error = plain.refused("pin", "agent", "--session", "s", "--resume", code=5)
        assert "not a directory" in error


@pytest.mark.parametrize("state", ["--index", "--worktree", ""])
def test_a_damaged_head_is_not_as_good_as_none(plain: Clone, state: str) -> None:
    oid = plain.git("rev-parse", "HEAD")
    file = plain.path / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(b"")
    words = ["supersede", "agent", "-m", "x", *([state] if state else [])]
    assert oid in plain.refused(*words, code=3)
    assert plain.refs() == ""


@pytest.mark.parametrize("what", ["", "^{tree}"])
def test_a_damaged_body_chain_is_said_on_resume(adopted: Clone, what: str) -> None:
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.pvc("sync")
    shell(adopted, "mv .git/objects/pack/* . && for p in *.pack; do git unpack-objects < $p; done")
    ref = adopted.git("for-each-ref", "--format=%(refname)", "refs/pvc/bodies")
    oid = adopted.git("rev-parse", ref + what)
    file = adopted.path / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(b"")
    for words in (["pin", "agent", "--session", "s", "--resume"], ["show", "s"]):
        assert "damaged" in adopted.refused(*words, code=3)


def test_a_fold_that_was_killed_holds_up_the_next_for_seconds_only(
    hub: Clone, adopted: Clone
) -> None:
    assert hub.refs()
    [ref] = (adopted.path / ".git/refs/pvc/pins").iterdir()
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    lock = ref.with_name(ref.name + ".lock")
    lock.touch()
    os.utime(lock, (time.time() - 6,) * 2)
    assert "folded 1 pin" in adopted.pvc("sync").text
    assert not lock.exists()


def test_a_cache_of_another_machine_is_no_matter(adopted: Clone) -> None:
    shutil.rmtree(adopted.path / ".git/pvc/cache")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    assert list((adopted.path / ".git/pvc/cache/v1").iterdir())
