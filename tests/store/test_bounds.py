"""Bounds are asked of what others wrote before it is read (`model.bounds`), in each back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.errors import CorruptError, TooLargeError, UsageError
from pvc.model import bounds
from pvc.model.digest import Digest
from pvc.model.names import CommitId, ObjectId
from pvc.store.bodies import bodies_at
from pvc.store.repo import MODE_FILE, MODE_TREE, Entry
from pvc.store.versions import VersionInfo, at_commit, changed_paths, files_of, sources, walk

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from workspace import Workspace

MESSAGE = "x\n\nPvc-Tree: agent\nPvc-Version: 1\nPvc-Format: 1\n"


def bomb(repo: Repository, names: str, leaf: str = "f", depth: int = 9) -> ObjectId:
    """Write few trees that spell very many paths."""
    at = repo.write_blob(b"x")
    rows = [Entry(f"{leaf}{name}", MODE_FILE, at) for name in names]
    for _ in range(depth):
        at = repo.write_tree(rows)
        rows = [Entry(name, MODE_TREE, at) for name in names]
    return repo.write_tree(rows)


def a_version(repo: Repository, files: dict[str, ObjectId]) -> VersionInfo:
    rows = [Entry(name, MODE_FILE, oid) for name, oid in files.items()]
    return at_commit(repo, repo.write_commit(repo.write_tree(rows), [], MESSAGE))


def zeros(workspace: Workspace, size: int) -> ObjectId:
    """Store a file of zeros, which is small on the disk."""
    with (workspace.path / "zeros").open("wb") as file:
        file.truncate(size)
    return ObjectId(workspace.git("hash-object", "-w", "--no-filters", "zeros"))


@pytest.fixture(autouse=True)
def _fewer_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 3000)  # what spells 10^9 is beyond any bound


def test_a_walk_ends_at_its_bound(repository: Repository) -> None:
    tree = bomb(repository, "0123456789")
    with pytest.raises(TooLargeError, match="spells more than 3000 files and folders"):
        list(walk(repository, tree))
    with pytest.raises(TooLargeError, match="spells more than"):
        changed_paths(repository, None, tree)
    with pytest.raises(TooLargeError):
        sources(repository, at_commit(repository, repository.write_commit(tree, [], MESSAGE)))


def test_empty_folders_count(repository: Repository) -> None:
    at = repository.write_tree([])
    for _ in range(9):
        at = repository.write_tree([Entry(name, MODE_TREE, at) for name in "0123456789"])
    with pytest.raises(TooLargeError):
        list(walk(repository, at))


def test_a_chain_of_folders_has_a_bound(repository: Repository) -> None:
    at = repository.write_tree([])
    for _ in range(bounds.MAX_DEPTH + 2):
        at = repository.write_tree([Entry("d", MODE_TREE, at)])
    with pytest.raises(CorruptError, match="deeper than 256"):
        list(walk(repository, at))


def test_a_file_of_a_version_has_a_bound(repository: Repository, workspace: Workspace) -> None:
    large, small = (zeros(workspace, size) for size in (bounds.MAX_FILE_BYTES + 1, 1))
    version = a_version(repository, {"1.md": small, "big.md": large})
    with pytest.raises(TooLargeError, match="has 16777217 bytes, the bound is 16777216"):
        sources(repository, version)
    assert files_of(repository, a_version(repository, {"1.md": small}))


def test_the_files_of_a_version_have_a_bound_together(
    repository: Repository, workspace: Workspace
) -> None:
    large = zeros(workspace, bounds.MAX_FILE_BYTES)
    sources(repository, a_version(repository, {f"{n}.md": large for n in range(4)}))
    with pytest.raises(TooLargeError, match="too large together: the bound is 64 MiB"):
        sources(repository, a_version(repository, {f"{n}.md": large for n in range(5)}))


@pytest.mark.parametrize("packed", [False, True])
def test_an_object_has_a_bound(
    repository: Repository, workspace: Workspace, *, packed: bool
) -> None:
    large = zeros(workspace, bounds.MAX_BLOB_BYTES + 1)
    commit = workspace.commit({"a": "x"})
    if packed:
        workspace.git("repack", "-adq")
        workspace.git("pack-objects", "-q", ".git/objects/pack/pack", data=f"{large}\n".encode())
        workspace.git("prune-packed")
        repository.close()
    assert repository.size(large) == bounds.MAX_BLOB_BYTES + 1
    with pytest.raises(TooLargeError, match="has 134217729 bytes, the bound is 128 MiB"):
        repository.blob(large)
    assert repository.commit(commit).id == commit


def test_a_message_that_could_not_be_read_back_is_not_written(repository: Repository) -> None:
    tree = repository.write_tree([])
    repository.commit(repository.write_commit(tree, [], "x" * bounds.MAX_MESSAGE_BYTES))
    with pytest.raises(UsageError, match="the message of a commit is larger than 8 MiB"):
        repository.write_commit(tree, [], "x" * (bounds.MAX_MESSAGE_BYTES + 1))


def test_only_what_is_in_form_counts_as_a_body(repository: Repository) -> None:
    tip = repository.write_commit(bomb(repository, "0123456789"), [], "x")
    assert bodies_at(repository, tip) == frozenset()
    digest = Digest.of(b"x")
    at = repository.write_blob(b"x")
    rows = [Entry(digest.hex[4:], MODE_FILE, at), Entry("junk", MODE_FILE, at)]
    for name in reversed(digest.hex[:4]):
        at = repository.write_tree(rows)
        rows = [Entry(name, MODE_TREE, at)]
    tip = repository.write_commit(repository.write_tree(rows), [], "x")
    assert bodies_at(repository, tip) == {digest}


def test_folders_of_bodies_that_spell_many_are_looked_at_once(repository: Repository) -> None:
    rest = "".join("0123456789abcdef"[n % 16] for n in range(59))
    tree = bomb(repository, "0123456789abcdef", leaf=rest, depth=4)
    tip = repository.write_commit(tree, [], "x")
    assert len(bodies_at(repository, CommitId(tip))) == 16
