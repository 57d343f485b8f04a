"""Hooks of a clone, started by git itself: commits of every kind, refs, pushes, merges."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pvc.ops.hook_shims import CLIENT, SERVER, shim

if TYPE_CHECKING:
    from cli.conftest import Clone, Done

ROOT = Path(__file__).parent.parent.parent
TREE = "refs/pvc/trees/agent"
DATED = "Today is 2026-11-30.\n"


def commit(clone: Clone, *words: str) -> Done:
    return clone.run(["git", "commit", "-m", "work", *words])


def index_of(clone: Clone) -> bytes:
    return (clone.path / ".git/index").read_bytes()


# --- commits ----------------------------------------------------------------------------------


def test_a_commit_that_adds_a_grave_finding_is_stopped(guarded: Clone) -> None:
    guarded.write("agent/1.md", DATED)
    guarded.git("add", "-A")
    before = guarded.git("ls-files", "-s")
    done = commit(guarded)
    assert done.code == 1
    assert "agent/1.md:1:10: volatile volatile-date" in done.err
    assert guarded.git("ls-files", "-s") == before
    assert guarded.git("log", "--format=%s") == "Start"
    assert commit(guarded, "--no-verify").code == 0


def test_a_hook_leaves_index_and_worktree_to_the_byte(guarded: Clone) -> None:
    guarded.write("agent/1.md", "One. \r\n")
    guarded.git("add", "-A")
    guarded.write("agent/1.md", "Two {cwd}.\n")
    os.utime(guarded.path / "agent/1.md", (1, 1))
    before = index_of(guarded), (guarded.path / "agent/1.md").stat()
    guarded.pvc("hook", "run", "pre-commit")
    assert (index_of(guarded), (guarded.path / "agent/1.md").stat()) == before


def test_a_clean_commit_passes_and_its_impact_is_said(guarded: Clone) -> None:
    guarded.write("agent/1.md", "You mend boats in {cwd}.\n")
    guarded.git("add", "-A")
    done = commit(guarded)
    assert done.code == 0
    assert "pvc: agent@1 to index: the prompt moves from byte 9 of 25 on.\n" in done.err


def test_what_is_staged_is_judged_not_what_lies_in_the_folder(guarded: Clone) -> None:
    guarded.write("agent/1.md", "Staged {cwd}.\n")
    guarded.git("add", "-A")
    guarded.write("agent/1.md", DATED)
    assert commit(guarded).code == 0
    guarded.git("add", "-A")
    guarded.write("agent/1.md", "Clean again.\n")
    assert commit(guarded).code == 1


def test_a_partial_commit_is_judged_by_its_own_index(guarded: Clone) -> None:
    guarded.write("agent/2.md", "Fine.\n")
    guarded.git("add", "-A")
    assert commit(guarded).code == 0
    guarded.write("agent/1.md", DATED)
    guarded.write("agent/2.md", "Finer.\n")
    guarded.git("add", "-A")
    assert commit(guarded, "agent/1.md").code == 1
    assert commit(guarded, "agent/2.md").code == 0
    assert guarded.git("show", "--format=", "--name-only", "HEAD") == "agent/2.md"
    assert guarded.git("diff", "--cached", "--name-only") == "agent/1.md"


def test_an_amend_is_judged_by_what_it_adds(guarded: Clone) -> None:
    guarded.write("agent/1.md", DATED)
    guarded.git("add", "-A")
    assert commit(guarded, "--no-verify").code == 0
    guarded.write("agent/2.md", "Fine.\n")
    guarded.git("add", "-A")
    assert commit(guarded, "--amend").code == 0  # the date is there already
    guarded.write("agent/2.md", DATED)
    guarded.git("add", "-A")
    assert commit(guarded, "--amend").code == 1
    assert guarded.run(["git", "commit", "--amend", "-m", "x", "--only"]).code == 0


def test_a_worktree_has_the_same_hooks(guarded: Clone) -> None:
    guarded.git("worktree", "add", "-q", "../side")
    side = type(guarded)(guarded.path.parent / "side")
    side.write("agent/1.md", DATED)
    side.git("add", "-A")
    assert commit(side).code == 1
    side.write("agent/1.md", "Fine.\n")
    side.git("add", "-A")
    assert commit(side).code == 0


def test_a_submodule_has_hooks_of_its_own(guarded: Clone) -> None:
    outer = type(guarded)(guarded.path.parent / "outer")
    outer.path.mkdir()
    outer.git("init", "-q", "-b", "main")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", "../ada", "inner")
    inner = type(guarded)(outer.path / "inner")
    inner.pvc("hook", "install")
    assert (outer.path / ".git/modules/inner/hooks/pre-commit").exists()
    inner.write("agent/1.md", DATED)
    inner.git("add", "-A")
    assert commit(inner).code == 1
    inner.git("commit", "-q", "-m", "x", "--no-verify")
    outer.git("add", "-A")
    assert commit(outer).code == 0


def test_a_first_commit_is_judged_whole(guarded: Clone) -> None:
    fresh = type(guarded)(guarded.path.parent / "fresh")
    fresh.path.mkdir()
    fresh.git("init", "-q", "-b", "main")
    fresh.pvc("hook", "install")
    fresh.write("agent/pvc.toml", 'format = 1\nname = "agent"\nform = "plain"\n')
    fresh.write("agent/1.md", DATED)
    fresh.git("add", "-A")
    assert commit(fresh).code == 1


def test_a_rebase_and_a_merge_go_through(guarded: Clone) -> None:
    guarded.git("checkout", "-q", "-b", "side")
    guarded.write("agent/2.md", "Two.\n")
    guarded.git("add", "-A")
    assert commit(guarded).code == 0
    guarded.git("checkout", "-q", "main")
    guarded.write("agent/1.md", "One {cwd}.\n")
    guarded.git("add", "-A")
    assert commit(guarded).code == 0
    assert guarded.run(["git", "rebase", "-q", "main", "side"]).code == 0
    guarded.git("checkout", "-q", "main")
    done = guarded.run(["git", "merge", "--no-ff", "-q", "-m", "merge", "side"])
    assert done.code == 0
    assert "pvc: the folder of agent moved on since agent@1; pvc supersede agent" in done.err


@pytest.mark.parametrize("name", ["a b", "näh", 'q"uote', "st*r"])
def test_folders_with_odd_names_are_judged(guarded: Clone, name: str) -> None:
    guarded.write(f"{name}/pvc.toml", 'format = 1\nname = "odd"\nform = "plain"\n')
    guarded.write(f"{name}/1.md", DATED)
    guarded.git("add", "-A")
    assert commit(guarded).code == 1


def test_git_variables_are_followed(guarded: Clone) -> None:
    guarded.write("agent/1.md", DATED)
    guarded.git("add", "-A")
    where = {"GIT_DIR": str(guarded.path / ".git"), "GIT_WORK_TREE": str(guarded.path)}
    done = guarded.run(["git", "commit", "-m", "x"], **where)
    assert done.code == 1
    assert "volatile-date" in done.err


# --- what starts no Python --------------------------------------------------------------------


def without_pvc(clone: Clone) -> None:
    """Let the hooks fail loudly if they start pvc at all."""
    for name in CLIENT:
        hook = clone.path / ".git/hooks" / name
        text = "\n".join(
            "run_pvc() { echo PYTHON >&2; exit 9; }" if line.startswith("run_pvc()") else line
            for line in hook.read_text().split("\n")
        )
        hook.write_text(text)


def test_hooks_with_nothing_to_do_do_not_start_python(guarded: Clone) -> None:
    guarded.git("init", "-q", "--bare", "../hub.git")
    without_pvc(guarded)
    guarded.write("README.md", "Read.\n")
    guarded.git("add", "-A")
    assert "PYTHON" not in commit(guarded).err
    assert "PYTHON" not in guarded.run(["git", "branch", "topic"]).err
    pushed = guarded.run(["git", "push", "../hub.git", "main"])
    assert (pushed.code, "PYTHON" in pushed.err) == (0, False)
    assert "PYTHON" in guarded.run(["git", "update-ref", "-d", TREE]).err


def test_a_clone_whose_pvc_is_gone_stays_usable(guarded: Clone) -> None:
    hook = guarded.path / ".git/hooks/pre-commit"
    hook.write_text(hook.read_text().replace("command -v /", "command -v /gone/"))
    hook.write_text(hook.read_text().replace("command -v '/", "command -v '/gone/"))
    guarded.write("agent/1.md", DATED)
    guarded.git("add", "-A")
    done = commit(guarded)
    assert (done.code, "pvc: not found" in done.err) == (0, True)


# --- refs and pushes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("update-ref", "-d", TREE), "it would be deleted"),
        (("update-ref", TREE, "main"), "would be rewritten"),
        (("fetch", "-q", "--force", ".", f"main:{TREE}"), "would be rewritten"),
    ],
)
def test_git_cannot_rewrite_a_ref_of_ours(
    guarded: Clone, words: tuple[str, ...], message: str
) -> None:
    before = guarded.refs()
    done = guarded.run(["git", *words])
    assert done.code != 0
    assert f"pvc: refused {TREE}: " in done.err
    assert message in done.err
    assert guarded.refs() == before


def test_housekeeping_passes(guarded: Clone) -> None:
    before = guarded.refs()
    for words in (
        ("pack-refs", "--all", "--prune"), ("gc", "-q", "--prune=now"), ("fsck",),
        ("fetch", "-q", ".", f"{TREE}:{TREE}"), ("fetch", "-q", "--prune", "."),
        ("repack", "-adq"), ("remote", "add", "x", "."), ("remote", "remove", "x"),
    ):  # fmt: skip
        assert guarded.run(["git", *words]).code == 0, words
    assert guarded.refs() == before
    guarded.write("agent/1.md", "Next {cwd}.\n")
    guarded.commit("Next")
    guarded.pvc("supersede", "agent", "-m", "Next")
    guarded.git("pack-refs", "--all")
    assert guarded.pvc("log", "agent", "--json").json["versions"][0]["version"] == 2


def test_a_push_that_rewrites_is_stopped_before_it_leaves(guarded: Clone) -> None:
    guarded.git("init", "-q", "--bare", "../hub.git")
    guarded.write("agent/1.md", "Next {cwd}.\n")
    guarded.commit("Next")
    guarded.pvc("supersede", "agent", "-m", "Next")
    hub = "../hub.git"
    assert guarded.run(["git", "push", hub, f"{TREE}:{TREE}"]).code == 0
    for spec in (f"+{TREE}~1:{TREE}", f":{TREE}", f"+main:{TREE}"):
        done = guarded.run(["git", "push", hub, spec])
        assert done.code != 0, spec
        assert "pvc: refused refs/pvc/trees/agent" in done.err
    guarded.git("remote", "add", "hub", hub)
    guarded.pvc("sync", "hub")


# --- installing -------------------------------------------------------------------------------


def script(clone: Clone, name: str, text: str) -> Path:
    hook = clone.write(f".git/hooks/{name}", f"#!/bin/sh\n{text}\n")
    hook.chmod(0o755)
    return hook


def test_a_hook_that_is_there_runs_first_and_comes_back(guarded: Clone) -> None:
    guarded.pvc("hook", "uninstall")
    text = 'cat > seen; echo "$@" >> seen; exit "${FAIL:-0}"'
    hook = script(guarded, "pre-push", text)
    before = hook.read_bytes(), hook.stat().st_mode
    done = guarded.pvc("hook", "install")
    assert "chained pre-push" in done.text
    assert "renewed pre-push" in guarded.pvc("hook", "install").text
    guarded.git("init", "-q", "--bare", "../hub.git")
    assert guarded.run(["git", "push", "../hub.git", "main"]).code == 0
    seen = (guarded.path / "seen").read_text().split("\n")
    assert seen[0].startswith("refs/heads/main ")
    assert seen[1] == "../hub.git ../hub.git"
    assert guarded.run(["git", "push", "../hub.git", "main:x"], FAIL="3").code != 0
    assert "restored pre-push" in guarded.pvc("hook", "uninstall").text
    assert (hook.read_bytes(), hook.stat().st_mode) == before
    assert not list((guarded.path / ".git/hooks").glob("*pvc*"))


def test_uninstalling_leaves_what_is_not_ours(guarded: Clone) -> None:
    script(guarded, "pre-commit", "true")
    done = guarded.pvc("hook", "uninstall", "--json").json
    assert {"name": "pre-commit", "done": "kept"} in done["hooks"]
    assert (guarded.path / ".git/hooks/pre-commit").exists()


def test_a_dry_run_writes_nothing(guarded: Clone) -> None:
    folder = guarded.path / ".git/hooks"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    guarded.pvc("hook", "uninstall", "--dry-run")
    guarded.pvc("hook", "install", "pre-receive", "--dry-run")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("tracked", [True, False])
def test_core_hooks_path_is_followed_unless_the_folder_is_shared(
    guarded: Clone, *, tracked: bool
) -> None:
    guarded.pvc("hook", "uninstall")
    guarded.git("config", "core.hooksPath", ".hooks")
    guarded.write(".hooks/README", "x\n")
    if tracked:
        guarded.commit("Hooks of the project")
        assert "is tracked" in guarded.refused("hook", "install", code=1)
    else:
        guarded.pvc("hook", "install")
        assert (guarded.path / ".hooks/pre-commit").stat().st_mode & stat.S_IXUSR


def test_a_folder_for_all_repositories_is_left_alone(guarded: Clone) -> None:
    outside = guarded.path.parent / "global-hooks"
    outside.mkdir()
    guarded.git("config", "core.hooksPath", str(outside))
    assert "serves other repositories too" in guarded.refused("hook", "install", code=1)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("hook", "install", "pre-tend"), 2, "pvc has no hook `pre-tend`"),
        (("hook", "run"), 2, "which hook?"),
        (("hook", "run", "pre-tend"), 2, "pvc has no hook `pre-tend`"),
        (("hook", "run", "update", "x"), 2, "`update` takes REF OLD NEW"),
    ],
)
def test_bad_words_are_one_line(
    guarded: Clone, words: tuple[str, ...], code: int, message: str
) -> None:
    assert message in guarded.refused(*words, code=code)


# --- the shims in the repository --------------------------------------------------------------


@pytest.mark.parametrize("name", [*CLIENT, *SERVER])
def test_the_shims_in_hooks_are_those_that_install_writes(name: str) -> None:
    hook = ROOT / "hooks" / name
    assert hook.read_text() == shim(name)
    assert os.access(hook, os.X_OK)


def test_there_are_no_other_shims() -> None:
    assert {path.name for path in (ROOT / "hooks").iterdir()} == {*CLIENT, *SERVER}
