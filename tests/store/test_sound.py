"""What git's own fsck refuses is refused before it is adopted: no clone could fetch it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pvc.errors import RefusedError
from pvc.model.names import ObjectId
from pvc.store.sound import check_sound

if TYPE_CHECKING:
    from workspace import Workspace

pytestmark = pytest.mark.usefixtures("git_format")

WHO = "A <a@b> 1 +0000"
COMMITS = {
    "no author": "tree {tree}\ncommitter A <a@b> 1 +0000\n\nx\n",
    "a late date": f"tree {{tree}}\nauthor A <a@b> {10**20} +0000\ncommitter {WHO}\n\nx\n",
    "a zero byte": f"tree {{tree}}\nauthor {WHO}\ncommitter {WHO}\n\nx\0y\n",
    "an empty name": f"tree {{tree}}\nauthor <a@b> 1 +0000\ncommitter {WHO}\n\nx\n",
}
FILES = {
    ".gitattributes": b"*.md text # " + b"x" * 2100 + b"\n",
    ".gitmodules": b'[submodule "a"]\n\tpath = -x\n\turl = --upload-pack=x\n',
}


def stored(workspace: Workspace, kind: str, data: bytes) -> ObjectId:
    """Store an object that git itself would not make."""
    words = ["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"]
    done = subprocess.run(words, cwd=workspace.path, input=data, capture_output=True, check=True)
    return ObjectId(done.stdout.decode().strip())


def tree_of(workspace: Workspace, *rows: tuple[str, str, ObjectId]) -> ObjectId:
    data = b"".join(b"%s %s\0" % (m.encode(), n.encode()) + bytes.fromhex(o) for m, n, o in rows)
    return stored(workspace, "tree", data)


def taken_by_a_fetch(workspace: Workspace, tip: ObjectId) -> bool:
    """Ask git: whether a clone that checks what it fetches takes this commit."""
    workspace.git("update-ref", "refs/heads/tried", tip)
    words = ["git", "-c", "fetch.fsckObjects=true", "fetch", "-q", str(workspace.path), "tried"]
    reader = workspace.path.parent / "reader"
    subprocess.run(["git", "init", "-q", str(reader)], check=True)
    return subprocess.run(words, cwd=reader, capture_output=True, check=False).returncode == 0


def commit_of(workspace: Workspace, tree: ObjectId) -> ObjectId:
    return stored(
        workspace, "commit", f"tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\nx\n".encode()
    )


@pytest.mark.parametrize("what", COMMITS)
def test_a_commit_is_judged_as_a_fetch_would(workspace: Workspace, what: str) -> None:
    text = COMMITS[what].format(tree=tree_of(workspace))
    tip = stored(workspace, "commit", text.encode())
    assert not taken_by_a_fetch(workspace, tip)
    with pytest.raises(RefusedError, match=tip[:12]):
        check_sound(workspace.open(), tip)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_judged_as_a_fetch_would_and_its_path_is_named(
    workspace: Workspace, name: str
) -> None:
    blob = stored(workspace, "blob", FILES[name])
    inner = tree_of(workspace, ("100644", name, blob))
    below = tree_of(workspace, ("40000", "docs", inner))
    path, tree = (f"docs/{name}", below) if name == ".gitattributes" else (name, inner)
    tip = commit_of(workspace, tree)
    assert not taken_by_a_fetch(workspace, tip)
    for each in (tip, tree):  # a dry run has no commit yet
        with pytest.raises(RefusedError) as caught:
            check_sound(workspace.open(), each)
        assert caught.value.at == path
        assert "fsck" in caught.value.hint


@pytest.mark.parametrize("mode", ["100664", "0100644"])
def test_an_odd_mode_is_judged_as_a_fetch_would(workspace: Workspace, mode: str) -> None:
    blob = stored(workspace, "blob", b"x")
    tip = commit_of(workspace, tree_of(workspace, (mode, "a", blob)))
    if taken_by_a_fetch(workspace, tip):
        check_sound(workspace.open(), tip)
        return
    with pytest.raises(RefusedError):
        check_sound(workspace.open(), tip)


def test_what_is_known_is_not_looked_at_again(workspace: Workspace) -> None:
    blob = stored(workspace, "blob", FILES[".gitattributes"])
    bad = commit_of(workspace, tree_of(workspace, ("100644", ".gitattributes", blob)))
    text = f"tree {tree_of(workspace)}\nparent {bad}\nauthor {WHO}\ncommitter {WHO}\n\nmended\n"
    tip = stored(workspace, "commit", text.encode())
    check_sound(workspace.open(), tip, [bad])
    check_sound(workspace.open(), tip, [tip])  # nothing is new
    with pytest.raises(RefusedError):
        check_sound(workspace.open(), tip, [None])


def test_what_is_not_here_is_refused(workspace: Workspace) -> None:
    gone = ObjectId("1" * len(tree_of(workspace)))
    tip = commit_of(workspace, tree_of(workspace, ("100644", "a", gone)))
    with pytest.raises(RefusedError, match=gone[:12]):
        check_sound(workspace.open(), tip)
