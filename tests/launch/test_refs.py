"""Refs and folders found without a git library: git is the oracle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError, UnsupportedError
from pvc.launch import refs
from pvc.launch.place import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workspace import Workspace


def many_refs(workspace: Workspace) -> dict[str, str]:
    """Make some hundred refs, annotated tags among them, and pack them."""
    commit = workspace.commit({"a": "1"})
    names = [f"refs/pvc/trees/t{i}" for i in range(0, 300, 7)]
    names += [f"refs/heads/topic/{i:03}" for i in range(90)] + ["refs/pvc/trees/t", "refs/zzz/last"]
    lines = "".join(f"create {name} {commit}\n" for name in names)
    workspace.git("update-ref", "--stdin", data=lines.encode())
    for i in range(20):
        workspace.git("tag", "-a", f"v{i}", "-m", "tag")
    workspace.git("pack-refs", "--all")
    listed = workspace.git("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ", 1) for line in listed.split("\n"))


def test_every_packed_ref_is_found_by_bisection(workspace: Workspace) -> None:
    known = many_refs(workspace)
    place = find(str(workspace.path))
    assert {name: refs.read(place, name) for name in known} == known
    assert refs.read(place, "refs/pvc/trees/t1") is None
    assert refs.read(place, "refs/aaa") is None


@pytest.mark.parametrize("mapped_bytes", [0, 1 << 30])
def test_refs_below_a_folder_are_those_that_git_lists(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, mapped_bytes: int
) -> None:
    known = many_refs(workspace)
    monkeypatch.setattr(refs, "_MAPPED_BYTES", mapped_bytes)
    below = refs.below(find(str(workspace.path)), "refs/pvc/trees/")
    assert below == {name: oid for name, oid in known.items() if name.startswith("refs/pvc/trees/")}


def test_a_loose_ref_stands_above_a_packed_one(workspace: Workspace) -> None:
    many_refs(workspace)
    newer = workspace.commit({"a": "2"})
    workspace.git("update-ref", "refs/pvc/trees/t7", newer)
    (workspace.path / ".git/refs/pvc/trees/t7.lock").touch()
    place = find(str(workspace.path))
    assert refs.read(place, "refs/pvc/trees/t7") == newer
    assert refs.below(place, "refs/pvc/trees/")["refs/pvc/trees/t7"] == newer


def test_a_file_without_the_promise_of_order_is_walked(workspace: Workspace) -> None:
    known = many_refs(workspace)
    packed = workspace.path / ".git/packed-refs"
    _, *lines = packed.read_text().splitlines(keepends=True)
    packed.write_text("".join(lines))
    assert refs.read(find(str(workspace.path)), "refs/pvc/trees/t7") == known["refs/pvc/trees/t7"]


# --- folders ----------------------------------------------------------------------------------


def asked(folder: Path) -> tuple[str, str]:
    """Ask git for its folder and the common one, from `folder`."""
    from workspace import Workspace

    words = ("--path-format=absolute", "--absolute-git-dir", "--git-common-dir")
    git_dir, common_dir = Workspace(folder).git("rev-parse", *words).split("\n")
    return git_dir, common_dir


@pytest.mark.parametrize(
    "kind", ["top", "deep", "worktree", "bare", "inside", "submodule", "separate"]
)
def test_the_folders_are_those_that_git_finds(
    make_workspace: Callable[..., Workspace], tmp_path: Path, kind: str
) -> None:
    workspace = make_workspace("one")
    workspace.commit({"deep/er/file": "x"})
    if kind == "bare":
        folder = make_workspace("bare.git", "--bare").path
    elif kind == "separate":
        folder = make_workspace("checkout", "--separate-git-dir", str(tmp_path / "store")).path
    elif kind == "worktree":
        workspace.git("worktree", "add", "-q", str(tmp_path / "two"))
        folder = tmp_path / "two/deep"
    elif kind == "submodule":
        outer = make_workspace("outer")
        outer.git("submodule", "add", "-q", str(workspace.path), "sub")
        folder = outer.path / "sub/deep"
    else:
        folder = workspace.path / {"top": ".", "deep": "deep/er", "inside": ".git/refs"}[kind]
    place = find(str(folder))
    assert (place.git_dir, place.common_dir) == asked(folder)


def test_git_dir_in_the_environment_comes_first(
    make_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make_workspace("one"), make_workspace("two")
    monkeypatch.setenv("GIT_DIR", str(two.path / ".git"))
    assert find(str(one.path)).git_dir == str(two.path / ".git")


def test_nothing_above_a_ceiling_is_found(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = workspace.path / "a/b"
    inner.mkdir(parents=True)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(workspace.path / "a"))
    assert find(str(workspace.path)).git_dir
    with pytest.raises(NotFoundError, match="not in a git repository"):
        find(str(inner))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_repository_of_somebody_else_is_served_only_if_git_serves_it(
    workspace: Workspace,
) -> None:
    for path in (workspace.path, workspace.path / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UnsupportedError, match="belongs to somebody else"):
        find(str(workspace.path))
    workspace.git("config", "--global", "--add", "safe.directory", str(workspace.path))
    assert find(str(workspace.path)).git_dir == str(workspace.path / ".git")
