"""Objects and their ref reach the disk together, whatever git removes; git is the oracle."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launches import Launches
from pvc.errors import MovedError, NotFoundError, WriteError
from pvc.launch.refs import BODIES, PINS
from pvc.store import landing
from pvc.store.landing import MARK, encode_pack, release_dead
from pvc.store.objects import object_id
from pvc.store.repo import MODE_FILE, Entry, Kind, RefMove

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.base import BaseRepository
    from pvc.store.open import BackEnd
    from pvc.store.repo import Repository
    from workspace import Workspace

REF, OTHER = "refs/pvc/trees/agent", "refs/pvc/trees/other"
PRUNES = ["gc --quiet --prune=now", "prune --expire=now", "repack -adq", "repack -Adq", "gc -q"]


def written(repo: Repository, text: str, *parents: CommitId) -> CommitId:
    blob = repo.write_blob(text.encode())
    return repo.write_commit(repo.write_tree([Entry("a.md", MODE_FILE, blob)]), parents, text)


def read(workspace: Workspace, ref: str) -> str:
    return workspace.git("cat-file", "blob", f"{ref}:a.md")


def packs(repo: Repository) -> list[Path]:
    return sorted((repo.common_dir / "objects/pack").glob("*.pack"))


# --- the form of a pack -----------------------------------------------------------------------

OBJECTS = st.lists(st.binary(max_size=40) | st.binary(min_size=3000, max_size=5000), max_size=12)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@given(datas=OBJECTS)
def test_a_pack_and_its_index_are_what_git_makes_of_it(
    tmp_path_factory: pytest.TempPathFactory, datas: list[bytes], object_format: str
) -> None:
    """For any blobs, `git index-pack` makes the index that we made, byte for byte."""
    folder = tmp_path_factory.mktemp("pack")
    objects = {object_id(Kind.BLOB, data, object_format): (Kind.BLOB, data) for data in datas}
    made = encode_pack(objects, object_format)
    (folder / "x.pack").write_bytes(made.pack)
    words = ["index-pack", f"--object-format={object_format}", "-o", "x.idx", "x.pack"]
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    assert (folder / "x.idx").read_bytes() == made.idx


def test_an_index_of_a_large_pack_has_offsets_of_eight_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(landing, "_SMALL_OFFSETS", 1 << 31)
    rows = [(bytes([at]) * 20, at, at << 30) for at in range(4)]
    idx = landing._index(rows, b"\1" * 20, "sha1")
    offsets = idx[8 + 4 * 256 + 4 * 24 :]
    assert [int.from_bytes(offsets[at : at + 4], "big") for at in range(0, 16, 4)] == [
        0, 1 << 30, 1 << 31, (1 << 31) + 1,
    ]  # fmt: skip
    assert [int.from_bytes(offsets[16 + at : 24 + at], "big") for at in (0, 8)] == [
        2 << 30,
        3 << 30,
    ]


# --- prunes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("prune", PRUNES)
def test_a_prune_before_and_after_the_ref_moves_takes_nothing(
    repository: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, prune: str
) -> None:
    back_end: type[BaseRepository] = type(repository)  # type: ignore[assignment]
    set_ref = back_end._set_ref

    def pruned(self: BaseRepository, *move: Any) -> None:
        workspace.git(*prune.split())
        set_ref(self, *move)
        workspace.git(*prune.split())

    monkeypatch.setattr(back_end, "_set_ref", pruned)
    one = written(repository, "one")
    repository.move_ref(REF, None, one)
    two = written(repository, "two", one)
    repository.move_ref(REF, one, two)
    workspace.git(*prune.split())
    assert (read(workspace, REF), read(workspace, f"{REF}~1")) == ("two", "one")
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""
    assert not [*repository.common_dir.rglob("*.keep")]


@pytest.mark.parametrize("prune", ["gc --quiet --prune=now", "repack -adq"])
def test_what_is_there_already_but_held_by_nothing_is_written_again(
    repository: Repository, workspace: Workspace, prune: str
) -> None:
    """A blob that is loose garbage, or in a pack of garbage, cannot go between the two either."""
    blob = workspace.git("hash-object", "-w", "--stdin", data=b"garbage")
    tree = repository.write_tree([Entry("a.md", MODE_FILE, repository.rev_parse(blob) or blob)])  # type: ignore[arg-type]
    commit = repository.write_commit(tree, [], "one")
    unheld = repository._unheld([RefMove(REF, None, commit)])  # type: ignore[attr-defined]
    assert [data for _, data in unheld.values()] == [b"garbage"]
    repository.move_ref(REF, None, commit)
    (repository.common_dir / "objects" / blob[:2] / blob[2:]).unlink()  # as a late prune does
    workspace.git(*prune.split())
    assert read(workspace, REF) == "garbage"


def test_what_a_lender_has_is_in_the_borrower_too(
    make_workspace: Callable[..., Workspace], back_end: BackEnd
) -> None:
    lender = make_workspace("lender")
    lender.commit({"a.md": "shared"})
    borrower = make_workspace("borrower")
    (borrower.path / ".git/objects/info/alternates").write_text(f"{lender.path}/.git/objects\n")
    repository = borrower.open(back_end)
    blob = repository.rev_parse(lender.git("rev-parse", "HEAD:a.md"))
    assert blob
    tree = repository.write_tree([Entry("a.md", MODE_FILE, blob)])
    repository.move_ref(REF, None, repository.write_commit(tree, [], "borrowed"))
    (borrower.path / ".git/objects/info/alternates").unlink()
    assert read(borrower, REF) == "shared"
    assert borrower.git("fsck", "--strict", "--no-dangling") == ""
    repository.close()


# --- read back --------------------------------------------------------------------------------


def remove_packs(repo: Repository) -> None:
    for path in (repo.common_dir / "objects/pack").glob("pack-*"):
        if path.suffix != ".keep":
            path.unlink()


@pytest.mark.parametrize("times", [1, 9])
def test_what_is_gone_when_it_is_read_back_is_written_again_or_nothing_moves(
    repository: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    missing, calls = landing.missing, iter(range(99))

    def late(git: object, objects: object, others: object) -> list[ObjectId]:
        if next(calls) < times:
            remove_packs(repository)
        return missing(git, objects, others)  # type: ignore[arg-type]

    monkeypatch.setattr(landing, "missing", late)
    one = written(repository, "one")
    if times == 1:
        repository.move_ref(REF, None, one)
        assert read(workspace, REF) == "one"
    else:
        with pytest.raises(WriteError, match="was gone again"):
            repository.move_ref(REF, None, one)
        assert repository.ref(REF) is None
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""


def test_a_parent_that_is_gone_moves_nothing(repository: Repository, workspace: Workspace) -> None:
    one = written(repository, "one")
    repository.move_ref(REF, None, one)
    two = written(repository, "two", one)
    remove_packs(repository)
    with pytest.raises((WriteError, NotFoundError)):
        repository.move_ref(OTHER, None, two)
    assert workspace.git("for-each-ref", OTHER) == ""


def test_nothing_is_stored_that_no_ref_moves_to(repository: Repository) -> None:
    one = written(repository, "one")
    with pytest.raises(MovedError):
        repository.move_ref(REF, one, written(repository, "two"))
    assert not [*repository.common_dir.rglob("*.keep")]
    written(repository, "three")
    repository.move_ref(REF, None, written(repository, "four"))
    assert repository.ref(REF)


# --- marks ------------------------------------------------------------------------------------


def test_the_marks_of_dead_processes_go_and_others_stay(
    repository: Repository, workspace: Workspace
) -> None:
    repository.move_ref(REF, None, written(repository, "one"))
    (pack,) = packs(repository)
    folder = pack.parent
    dead, torn, live, own = (
        folder / f"pack-{name}.keep" for name in ("dead", "torn", "live", "own")
    )
    for mark, data in ((dead, MARK), (torn, b""), (live, MARK), (own, b"mine\n")):
        mark.write_bytes(data)
    torn.with_suffix(".pack").write_bytes(b"PACK")  # no index yet: git has never seen it
    people = pack.with_suffix(".keep")
    people.touch()
    handle = os.open(live, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    release_dead(str(folder.parent))
    assert [mark.exists() for mark in (dead, torn, live, own, people)] == [
        False, False, True, True, True,
    ]  # fmt: skip
    assert not torn.with_suffix(".pack").exists()
    os.close(handle)
    release_dead(str(folder.parent))
    assert not live.exists()
    assert read(workspace, REF) == "one"


# --- locks ------------------------------------------------------------------------------------


def test_the_lock_of_a_process_that_died_while_it_moved_a_ref_goes_at_once(
    repository: Repository,
) -> None:
    if (repository.common_dir / "reftable").is_dir():
        pytest.skip("a reftable has no file for a ref")
    one = written(repository, "one")
    repository.move_ref(REF, None, one)
    (repository.common_dir / f"{REF}.lock").touch()
    (repository.common_dir / "pvc/moving").write_text(f"{REF}\n")  # what a kill leaves there
    start = time.monotonic()
    repository.move_ref(OTHER, None, one)
    repository.move_ref(REF, one, written(repository, "two", one))
    assert time.monotonic() - start < 5
    assert (repository.common_dir / "pvc/moving").read_bytes() == b""


# --- what an older pvc left -------------------------------------------------------------------


@pytest.fixture
def launches(make_workspace: Callable[..., Workspace], git_format: str) -> Launches:
    assert git_format
    made = Launches(make_workspace())
    made.adopt(b"You are an agent.\n")
    return made


def lose(launches: Launches, kind: str) -> str:
    """Let a ref of the clone's own name a commit that was removed; gives the ref."""
    (ref,) = launches.workspace.git("for-each-ref", "--format=%(refname)", kind).split("\n")
    tip = launches.workspace.git("rev-parse", ref)
    (launches.path / ".git" / ref).write_text("1" * len(tip) + "\n")
    return ref


def test_a_ledger_that_names_nothing_goes_on_from_its_newest_whole_fold(launches: Launches) -> None:
    before = launches.record("before")
    launches.fold()
    good = launches.workspace.git(
        "rev-parse", "--verify", launches.workspace.git("for-each-ref", "--format=%(refname)", PINS)
    )
    waiting = launches.record("waiting")
    ref = lose(launches, PINS)
    result = launches.fold()
    assert result.pins == 1
    assert [ref in words and good in words for words in result.mended] == [True]
    assert [pin.receipt for pin in launches.ledger().newest(None)] == [waiting, before]
    assert launches.fold().mended == ()
    launches.workspace.git("fsck", "--strict")


def test_a_ledger_of_which_nothing_is_left_begins_anew(launches: Launches) -> None:
    launches.record("before")
    launches.fold()
    tip = launches.workspace.git("for-each-ref", "--format=%(objectname)", PINS)
    ref = lose(launches, PINS)
    launches.workspace.git("gc", "--quiet", "--prune=now", code=128)  # git itself stops there
    launches.workspace.git("update-ref", "-d", ref)
    launches.workspace.git("gc", "--quiet", "--prune=now")
    (launches.path / ".git" / ref).parent.mkdir(parents=True, exist_ok=True)
    (launches.path / ".git" / ref).write_text("1" * len(tip) + "\n")
    waiting = launches.record("waiting")
    result = launches.fold()
    assert "begins anew" in result.mended[0]
    assert [pin.receipt for pin in launches.ledger().newest(None)] == [waiting]


def test_bodies_that_name_nothing_begin_anew(launches: Launches) -> None:
    launches.record("before")
    launches.fold()
    receipt = launches.record("waiting", "other")
    ref = lose(launches, BODIES)
    result = launches.fold()
    assert [ref in words for words in result.mended] == [True]
    assert receipt in [pin.receipt for pin in launches.ledger().newest(None)]
    launches.workspace.git("fsck", "--strict")
