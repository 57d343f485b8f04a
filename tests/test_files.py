"""Folders as git stores them, and what a version refuses to hold."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError, RefusedError, UsageError
from pvc.files import find_trees, read_folder
from pvc.model import bounds
from pvc.store.entries import entry_problems, name_problem
from pvc.store.repo import MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_LINK, Entry, Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.files import State
    from pvc.model.names import ObjectId
    from workspace import Workspace

STATES: tuple[State, ...] = ("head", "index", "worktree")


def contents(repository: Repository, state: State, folder: str = "p") -> dict[str, bytes]:
    return {file.path: file.data for file in read_folder(repository, folder, state).files}


def adopt_in(workspace: Workspace, state: State, changes: dict[str, bytes | str]) -> None:
    """Bring the folder into a state: the worktree only, staged, or committed."""
    workspace.write(changes)
    if state != "worktree":
        workspace.git("add", "--all")
    if state == "head":
        workspace.commit()


# --- three states -----------------------------------------------------------------------------


def test_each_state_has_its_own_bytes(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({"p/a.md": "head", "p/sub/b.md": "b", "other.md": "no"})
    workspace.write({"p/a.md": "index"})
    workspace.git("add", "p/a.md")
    workspace.write({"p/a.md": "worktree", "p/new.md": "new"})
    assert contents(repository, "head") == {"a.md": b"head", "sub/b.md": b"b"}
    assert contents(repository, "index") == {"a.md": b"index", "sub/b.md": b"b"}
    assert contents(repository, "worktree") == {
        "a.md": b"worktree", "new.md": b"new", "sub/b.md": b"b"
    }  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_a_snapshot_can_be_stored_with_modes_and_its_commit(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    first = workspace.commit({"x": "1"})
    workspace.write({"p/run.sh": "#!/bin/sh\n"})
    (workspace.path / "p/run.sh").chmod(0o755)
    adopt_in(workspace, state, {"p/a.md": "text"})
    snapshot = read_folder(repository, "./p/", state)
    rows = snapshot.store(repository)
    assert [(row.name, row.mode) for row in rows] == [
        ("a.md", MODE_FILE),
        ("run.sh", MODE_EXECUTABLE),
    ]
    assert [repository.blob(row.oid) for row in rows] == [b"text", b"#!/bin/sh\n"]
    assert (snapshot.path, snapshot.state) == ("p", state)
    assert snapshot.source_commit == (first if state != "head" else repository.head())


def test_the_whole_repository_can_be_the_folder(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({"a.md": "1", "s/b.md": "2"})
    for state in STATES:
        assert contents(repository, state, ".") == {"a.md": b"1", "s/b.md": b"2"}


def test_reading_the_worktree_leaves_the_repository_as_it_was(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({"p/a.md": "1"})
    workspace.write({"p/a.md": "2", "p/b.md": "3"})

    def everything() -> dict[str, bytes]:
        found = (workspace.path / ".git").rglob("*")
        return {str(path): path.read_bytes() for path in found if path.is_file()}

    before = everything()
    read_folder(repository, "p", "worktree")
    read_folder(repository, "p", "index")
    assert everything() == before


def test_the_worktree_is_what_git_add_would_store(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.write(
        {
            ".gitattributes": "*.txt text\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE\n",
            "p/a.txt": b"dos\r\nline\r\n",
            "p/raw.md": b"dos\r\nline\r\n",
            "p/c.id": "$Id: 0123 $\n",
            "p/d.u16": "wide\n".encode("utf-16-le"),
        }
    )
    mine = {file.path: file.oid for file in read_folder(repository, "p", "worktree").files}
    workspace.git("add", "--all")
    assert mine == {
        row.name.removeprefix("p/"): row.oid
        for row in repository.index()
        if row.name.startswith("p/")
    }
    assert contents(repository, "worktree")["a.txt"] == b"dos\nline\n"


def test_line_ends_that_are_committed_stay_under_autocrlf(
    workspace: Workspace, repository: Repository
) -> None:
    """`hash-object` alone would get this wrong: it does not look at what is staged."""
    workspace.commit({"p/a.md": b"dos\r\n"})
    workspace.git("config", "core.autocrlf", "true")
    workspace.write({"p/a.md": b"dos\r\nmore\r\n"})
    assert contents(repository, "worktree") == {"a.md": b"dos\r\nmore\r\n"}


def test_what_is_ignored_or_gone_is_not_in_the_worktree(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({".gitignore": "*.log\n", "p/a.md": "1", "p/b.md": "2"})
    workspace.write({"p/x.log": "noise"})
    (workspace.path / "p/b.md").unlink()
    assert contents(repository, "worktree") == {"a.md": b"1"}


def test_a_folder_where_a_file_was_is_read(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({"p/a": "file", "p/b/c": "folder", "p/d": "file"})
    (workspace.path / "p/a").unlink()
    (workspace.path / "p/b/c").unlink()
    (workspace.path / "p/b").rmdir()
    workspace.write({"p/a/inner": "folder now", "p/b": "file now"})
    (workspace.path / "p/d").unlink()
    (workspace.path / "p/d").mkdir()
    assert contents(repository, "worktree") == {"a/inner": b"folder now", "b": b"file now"}


@pytest.mark.parametrize("state", STATES)
def test_a_folder_that_is_not_there_is_not_found(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    workspace.commit({"p/a.md": "1"})
    for path in ("nope", "p/a.md"):
        with pytest.raises(NotFoundError, match="is no folder of"):
            read_folder(repository, path, state)


def test_before_the_first_commit_only_head_is_missing(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.write({"p/a.md": "1"})
    with pytest.raises(NotFoundError, match="nothing is committed yet"):
        read_folder(repository, "p")
    snapshot = read_folder(repository, "p", "worktree")
    assert (len(snapshot.files), snapshot.source_commit) == (1, None)


@pytest.mark.parametrize("path", ["../x", "/etc", "p/../..", "a\0b"])
def test_a_path_that_leads_out_is_refused(repository: Repository, path: str) -> None:
    with pytest.raises(UsageError, match="is no folder of this repository"):
        read_folder(repository, path)


def test_a_bare_repository_has_only_commits(
    make_workspace: Callable[..., Workspace], back_end: str
) -> None:
    repository = make_workspace("hub.git", "--bare").open()
    for state in ("index", "worktree"):
        with pytest.raises(UsageError, match=f"a bare repository has no {state}"):
            read_folder(repository, "p", state)


def test_a_conflict_is_named(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({"p/a": "base"})
    workspace.git("checkout", "-q", "-b", "side")
    workspace.commit({"p/a": "side"})
    workspace.git("checkout", "-q", "main")
    workspace.commit({"p/a": "main"})
    workspace.git("merge", "-q", "side", code=1)
    with pytest.raises(UsageError, match="`p/a` is in conflict"):
        read_folder(repository, "p", "index")


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_a_symbolic_link_is_refused(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    workspace.write({"p/a.md": "1"})
    (workspace.path / "p/link").symlink_to("/etc/passwd")
    adopt_in(workspace, state, {})
    with pytest.raises(RefusedError, match=r"`(p/)?link` is a symbolic link"):
        read_folder(repository, "p", state)


def test_a_link_in_place_of_a_folder_leads_nowhere(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({"p/sub/a.md": "1", "p/b.md": "2", "else/a.md": "elsewhere"})
    (workspace.path / "p/sub/a.md").unlink()
    (workspace.path / "p/sub").rmdir()
    (workspace.path / "p/sub").symlink_to("../else")
    with pytest.raises(RefusedError, match="`p/sub` is a symbolic link"):
        read_folder(repository, "p", "worktree")


@pytest.mark.parametrize("state", STATES)
def test_a_submodule_is_refused(
    make_workspace: Callable[..., Workspace],
    repository: Repository,
    workspace: Workspace,
    state: State,
) -> None:
    make_workspace("other").commit({"a": "1"})
    workspace.write({"p/a.md": "1"})
    workspace.git("submodule", "--quiet", "add", "../other", "p/sub")
    adopt_in(workspace, state, {})
    with pytest.raises(RefusedError, match=r"`(p/)?sub` is a submodule"):
        read_folder(repository, "p", state)


def test_a_repository_inside_is_refused(
    make_workspace: Callable[..., Workspace], repository: Repository, workspace: Workspace
) -> None:
    workspace.write({"p/a.md": "1"})
    make_workspace("repo/p/inner").commit({"a": "1"})
    with pytest.raises(RefusedError, match="`p/inner` is a submodule or another repository"):
        read_folder(repository, "p", "worktree")


@pytest.mark.parametrize("state", STATES)
def test_an_lfs_pointer_is_refused(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    adopt_in(workspace, state, {"p/a.md": pointer})
    with pytest.raises(RefusedError, match=r"`a.md` is an LFS pointer"):
        read_folder(repository, "p", state)


def test_an_external_filter_is_refused_and_never_run(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({"p/a.md": "1", "p/plain.md": "2"})
    workspace.git("config", "filter.trap.clean", f"touch {workspace.path}/ran; cat")
    workspace.write({"p/.gitattributes": "a.md filter=trap\nplain.md -filter\n", "p/a.md": "3"})
    with pytest.raises(RefusedError, match=r"`p/a.md` passes the filter `trap`"):
        read_folder(repository, "p", "worktree")
    assert contents(repository, "head")["a.md"] == b"1"
    assert not (workspace.path / "ran").exists()


def test_what_is_no_file_at_all_is_refused(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({"p/a.md": "1", "p/pipe": "2"})
    (workspace.path / "p/pipe").unlink()
    os.mkfifo(workspace.path / "p/pipe")
    with pytest.raises(RefusedError, match="`p/pipe` is no plain file"):
        read_folder(repository, "p", "worktree")


@pytest.mark.parametrize("state", STATES)
def test_too_large_a_file_is_refused(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    adopt_in(workspace, state, {"p/big": bytes(bounds.MAX_FILE_BYTES + 1), "p/ok": "1"})
    with pytest.raises(RefusedError, match="big` has 16777217 bytes, the bound is 16777216"):
        read_folder(repository, "p", state)


@pytest.mark.parametrize("state", STATES)
def test_too_large_a_folder_is_refused(
    repository: Repository, workspace: Workspace, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_FOLDER_BYTES", 5)
    adopt_in(workspace, state, {"p/a": "123", "p/b": "456"})
    with pytest.raises(RefusedError, match="it has 6 bytes, the bound is 5"):
        read_folder(repository, "p", state)


@pytest.mark.parametrize("state", STATES)
def test_too_many_files_are_refused(
    repository: Repository, workspace: Workspace, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_FILES", 2)
    adopt_in(workspace, state, {"p/a": "", "p/b": "", "p/c": ""})
    with pytest.raises(RefusedError, match="it has 3 files"):
        read_folder(repository, "p", state)


def test_all_problems_are_said_at_once(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({f"p/a{n}\\b": "1" for n in range(7)})
    with pytest.raises(RefusedError) as caught:
        read_folder(repository, "p")
    assert caught.value.message.count("holds a backslash") == 5
    assert caught.value.message.endswith("; and 2 more")


@pytest.mark.parametrize("state", STATES)
def test_a_users_own_reserved_entry_is_refused(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    adopt_in(workspace, state, {"p/.pvc/lock.toml": "", "p/a": "1"})
    with pytest.raises(RefusedError, match=r"`.pvc/lock.toml` is where pvc keeps"):
        read_folder(repository, "p", state)


def test_bytes_that_are_no_utf8_are_refused_as_a_name(
    repository: Repository, workspace: Workspace
) -> None:
    name = os.fsdecode(b"p/\xff.md")
    workspace.commit({name: "1"})
    for state in STATES:
        with pytest.raises(RefusedError, match=r"\\udcff.md` is not UTF-8"):
            read_folder(repository, "p", state)


def test_a_hostile_tree_is_refused(repository: Repository, workspace: Workspace) -> None:
    """Rows that git would never write itself: a remote can send them."""
    blob = bytes.fromhex(workspace.git("hash-object", "-w", "--stdin", data=b"x"))
    rows = [b"100644 ..\0" + blob, b"100644 .git\0" + blob, b"100644 a\x1bb\0" + blob]
    tree = workspace.git(
        "hash-object", "-w", "--literally", "-t", "tree", "--stdin", data=b"".join(rows)
    )
    folder = b"40000 p\0" + bytes.fromhex(tree)
    root = workspace.git("hash-object", "-w", "--literally", "-t", "tree", "--stdin", data=folder)
    workspace.git("update-ref", "HEAD", workspace.git("commit-tree", "-m", "x", root))
    with pytest.raises(RefusedError) as caught:
        read_folder(repository, "p")
    assert "`..` has a name" in caught.value.message
    assert "`.git` has a name" in caught.value.message
    assert r"`a\x1bb` holds a control character" in caught.value.message


NAMES = {
    "a.md": "",
    "déjà vu/ok.md": "",
    ".gitattributes": "",
    "sub/.pvc/x": "",
    "a" * 255: "",
    "a" * 256: "too long",
    "ä" * 128: "too long",
    "/".join(["a" * 250] * 5): "too long",
    "a\tb": "control",
    "a\x7f": "control",
    "a\u0085b": "control",
    "a\u202eb": "control",
    "\udcff": "not UTF-8",
    "a\\b": "backslash",
    "a/../b": "something else",
    "./a": "something else",
    "a//b": "something else",
    "a/.GIT/b": "something else",
    "a/.g\u200cit": "something else",
    "GIT~1": "something else",
    ".git. ": "something else",
    ".git::$INDEX_ALLOCATION": "something else",
    ".pvc": "keeps its own part",
    ".PVC/x": "keeps its own part",
}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_odd_names_are_refused(name: str) -> None:
    problem = name_problem(name)
    assert NAMES[name] in problem
    assert bool(NAMES[name]) == bool(problem)


COLLISIONS = [
    (("a.md", "A.md"), "`A.md` and `a.md` are one name"),
    (("é", "e\u0301"), "are one name"),
    (("straße", "STRASSE"), "are one name"),
    (("Sub/a", "sub/b"), "`sub` and `Sub` are one name"),
    (("x", "X/a"), "`X` and `x` are one name"),
    (("a/b", "a/c", "ab"), ""),
]


@pytest.mark.parametrize(("names", "said"), COLLISIONS)
def test_names_that_some_file_systems_confuse_are_refused(
    names: tuple[str, ...], said: str, empty_blob: ObjectId
) -> None:
    problems = list(entry_problems([Entry(name, MODE_FILE, empty_blob) for name in names]))
    assert (said in problems[0]) if said else not problems


def test_links_and_submodules_are_no_files(empty_blob: ObjectId) -> None:
    rows = [Entry("a", MODE_LINK, empty_blob), Entry("b", MODE_GITLINK, empty_blob)]
    assert [problem.split(" ")[0] for problem in entry_problems(rows)] == ["`a`", "`b`"]


@pytest.fixture
def empty_blob() -> ObjectId:
    from pvc.store.objects import object_id
    from pvc.store.repo import Kind

    return object_id(Kind.BLOB, b"", "sha1")


# --- folders by name --------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_folders_are_found_by_the_name_in_their_manifest(
    repository: Repository, workspace: Workspace, state: State
) -> None:
    adopt_in(
        workspace,
        state,
        {
            "prompts/agent/pvc.toml": 'name = "agent"\n',
            "pvc.toml": 'name = "top"\n',
            "x/pvc.toml": 'name = "twice"\n',
            "y/pvc.toml": 'name = "twice"\n',
            "broken/pvc.toml": "name = \n",
            "nameless/pvc.toml": "format = 1\n",
            "not-pvc.toml": 'name = "no"\n',
        },
    )
    folders = find_trees(repository, state)
    assert (folders["agent"], folders["top"]) == ("prompts/agent", "")
    assert set(folders) == {"agent", "top", "twice"}
    assert "nobody" not in folders
    with pytest.raises(UsageError, match="`twice` is the name of `x` and `y`"):
        folders["twice"]
    assert folders.one("agent") == "prompts/agent"
    with pytest.raises(NotFoundError) as caught:
        folders.one("agnet")
    assert caught.value.hint == "did you mean `agent`?"
    assert [path for path, _ in folders.unreadable] == ["broken/pvc.toml", "nameless/pvc.toml"]


def test_without_a_commit_head_has_no_folders(repository: Repository, workspace: Workspace) -> None:
    workspace.write({"pvc.toml": 'name = "a"\n'})
    assert len(find_trees(repository)) == 0
    assert len(find_trees(repository, "worktree")) == 1


def test_a_manifest_behind_a_link_is_not_read(repository: Repository, workspace: Workspace) -> None:
    workspace.write({"elsewhere.toml": 'name = "a"\n', "p/x": ""})
    (workspace.path / "p/pvc.toml").symlink_to("../elsewhere.toml")
    for state in ("worktree", "index", "head"):
        adopt_in(workspace, state, {})
        assert len(find_trees(repository, state)) == 0


def test_git_finds_nothing_changed_after_all_of_this(workspace: Workspace) -> None:
    workspace.commit({"p/a.md": "1"})
    repository = workspace.open()
    read_folder(repository, "p", "worktree")
    find_trees(repository, "worktree")
    assert (
        subprocess.run(["git", "diff", "--quiet"], cwd=workspace.path, check=False).returncode == 0
    )
