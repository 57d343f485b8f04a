"""Which repositories open, through which back end."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError, UnsupportedError
from pvc.store.gitcli import GitCliRepository
from pvc.store.open import open_repository
from pvc.store.pygit import PygitRepository
from pvc.store.repo import MODE_FILE, Entry, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pvc.store.open import BackEnd
    from workspace import Workspace

REF = "refs/pvc/trees/agent"


def assert_serves(repository: Repository) -> None:
    """Write a version-like commit, move a ref to it, read it back."""
    blob = repository.write_blob(b"text\n")
    tree = repository.write_tree([Entry("a.md", MODE_FILE, blob)])
    old = repository.ref(REF)
    commit = repository.write_commit(tree, [old] if old else [], "version\n")
    repository.move_ref(REF, old, commit)
    assert repository.ref(REF) == commit
    assert repository.blob(repository.tree(commit)[0].oid) == b"text\n"
    assert repository.git.run("fsck", "--strict", "--no-dangling").code == 0
    repository.close()


def test_an_ordinary_repository_is_served_by_libgit2(workspace: Workspace) -> None:
    repository = open_repository(workspace.path)
    assert isinstance(repository, PygitRepository)
    assert_serves(repository)


def test_a_folder_inside_is_enough(workspace: Workspace, back_end: BackEnd) -> None:
    workspace.write({"deep/er/a": "1"})
    repository = open_repository(workspace.path / "deep/er", back_end=back_end)
    assert repository.worktree == workspace.path
    assert repository.git_dir == repository.common_dir == workspace.path / ".git"
    repository.close()


def test_outside_of_a_repository_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="not a git repository") as caught:
        open_repository(tmp_path)
    assert "git init" in caught.value.hint
    with pytest.raises(NotFoundError, match="there is no folder"):
        open_repository(tmp_path / "nowhere")


def test_gits_variables_are_followed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write({"staged": "1"})
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    workspace.git("add", "staged")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_DIR", "repo/.git")
    monkeypatch.setenv("GIT_WORK_TREE", "repo")
    monkeypatch.setenv("GIT_INDEX_FILE", "other-index")
    repository = open_repository(".")
    assert (repository.git_dir, repository.worktree) == (workspace.path / ".git", workspace.path)
    assert [entry.name for entry in repository.index()] == ["staged"]


def test_a_bare_repository(make_workspace: Callable[..., Workspace], back_end: BackEnd) -> None:
    repository = make_workspace("hub.git", "--bare").open(back_end)
    assert repository.is_bare
    assert repository.worktree is None
    assert_serves(repository)


def test_worktrees_share_refs_but_not_heads(workspace: Workspace, back_end: BackEnd) -> None:
    first = workspace.commit({"a": "1"})
    workspace.git("worktree", "add", "-q", "-b", "side", "../side")
    second = workspace.commit({"a": "2"})
    repository = open_repository(workspace.path.parent / "side", back_end=back_end)
    assert repository.git_dir == workspace.path / ".git/worktrees/side"
    assert repository.common_dir == workspace.path / ".git"
    assert (repository.head(), workspace.open(back_end).head()) == (first, second)
    assert_serves(repository)
    assert workspace.oid(REF)


def test_a_submodule(
    make_workspace: Callable[..., Workspace], workspace: Workspace, back_end: BackEnd
) -> None:
    make_workspace("other").commit({"a": "1"})
    workspace.git("submodule", "--quiet", "add", "../other", "sub")
    repository = open_repository(workspace.path / "sub", back_end=back_end)
    assert repository.git_dir == workspace.path / ".git/modules/sub"
    assert_serves(repository)


@pytest.mark.parametrize("packed", [False, True])
def test_objects_borrowed_from_an_alternate(
    workspace: Workspace, tmp_path: Path, back_end: BackEnd, *, packed: bool
) -> None:
    commit = workspace.commit({"a": "borrowed"})
    if packed:
        workspace.git("gc", "--quiet")
    workspace.git("clone", "-q", "--shared", ".", str(tmp_path / "borrower"))
    repository = open_repository(tmp_path / "borrower", back_end=back_end)
    assert repository.blob(repository.tree(commit)[0].oid) == b"borrowed"
    assert_serves(repository)


def test_a_shallow_clone_ends_where_it_was_cut(
    workspace: Workspace, tmp_path: Path, back_end: BackEnd
) -> None:
    commits = [workspace.commit({"a": str(number)}) for number in range(5)]
    url = f"file://{workspace.path}"
    workspace.git("clone", "-q", "--depth=2", url, str(tmp_path / "shallow"))
    repository = open_repository(tmp_path / "shallow", back_end=back_end)
    assert repository.shallow() == {commits[3]}
    walked = [commit.id for commit in repository.first_parents(commits[4])]
    assert walked == [commits[4], commits[3]]
    assert_serves(repository)


def test_sha256_goes_through_git(make_workspace: Callable[..., Workspace]) -> None:
    repository = make_workspace("long", "--object-format=sha256").open()
    assert isinstance(repository, GitCliRepository)
    assert repository.object_format == "sha256"
    assert len(repository.write_blob(b"x")) == 64
    assert_serves(repository)


def test_reftable_goes_through_git(tmp_path: Path) -> None:
    made = subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", str(tmp_path / "table")],
        check=False,
        capture_output=True,
    )
    if made.returncode != 0:
        pytest.skip("the installed git has no reftable (it came with 2.45)")
    repository = open_repository(tmp_path / "table")
    assert isinstance(repository, GitCliRepository)
    assert_serves(repository)


def test_a_partial_clone_gets_promised_blobs_through_git(
    workspace: Workspace, tmp_path: Path
) -> None:
    commit = workspace.commit({"a": "promised"})
    workspace.git("config", "uploadpack.allowFilter", "true")
    workspace.git("config", "uploadpack.allowAnySHA1InWant", "true")
    workspace.git(
        "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{workspace.path}",
        str(tmp_path / "partial"),
    )  # fmt: skip
    repository = open_repository(tmp_path / "partial")
    assert isinstance(repository, GitCliRepository)
    assert repository.blob(repository.tree(commit)[0].oid) == b"promised"
    assert_serves(repository)


def test_a_quarantine_is_seen_through_git(workspace: Workspace) -> None:
    """As in `pre-receive`: new objects are in a folder that only git's variables name."""
    quarantine = workspace.path / ".git/objects/tmp_objdir-incoming"
    quarantine.mkdir()
    os.environ["GIT_OBJECT_DIRECTORY"] = str(quarantine)
    os.environ["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(workspace.path / ".git/objects")
    incoming = workspace.git("hash-object", "-w", "--stdin", data=b"incoming")
    assert (quarantine / incoming[:2]).is_dir()
    repository = workspace.open()
    assert isinstance(repository, GitCliRepository)
    assert repository.blob(workspace.oid(incoming)) == b"incoming"
    repository.close()


def test_an_extension_that_git_does_not_know_is_unsupported(workspace: Workspace) -> None:
    workspace.git("config", "core.repositoryFormatVersion", "1")
    workspace.git("config", "extensions.unheardOf", "true")
    with pytest.raises(UnsupportedError, match="unheardof"):
        workspace.open()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_not_trusted(workspace: Workspace) -> None:
    for path in (workspace.path, workspace.path / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UnsupportedError, match="belongs to somebody else") as caught:
        workspace.open()
    assert f"safe.directory {workspace.path}" in caught.value.hint
    subprocess.run(
        ["git", "config", "--global", "--add", "safe.directory", str(workspace.path)], check=True
    )
    assert isinstance(workspace.open(), PygitRepository)


def test_nothing_that_a_repository_names_is_run(workspace: Workspace, back_end: BackEnd) -> None:
    workspace.commit({"a": "1"})
    trap = workspace.path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {workspace.path}/ran\n")
    trap.chmod(0o755)
    for hook in ("reference-transaction", "post-index-change", "pre-commit"):
        (workspace.path / ".git/hooks").mkdir(exist_ok=True)
        (workspace.path / ".git/hooks" / hook).symlink_to(trap)
    for name in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external"):
        workspace.git("config", name, str(trap))
    repository = workspace.open(back_end)
    assert_serves(repository)
    assert repository.index()
    assert not (workspace.path / "ran").exists()
