"""Every kind of repository that git knows, lived in with the command: docs/repositories.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cli.conftest import Clone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIN = ("pin", "agent", "--set", "cwd=/srv", "--json", "--session")


@pytest.fixture
def hub(adopted: Clone, tmp_path: Path) -> Path:
    """A bare repository with one version, two commits, and the session `first`."""
    path = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True)
    adopted.git("remote", "add", "origin", str(path))
    adopted.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nNever delete a branch.\n")
    adopted.commit("Branches stay")
    adopted.git("push", "-q", "origin", "main")
    adopted.pvc(*PIN, "first")
    adopted.pvc("sync")
    return path


def clone(hub: Path, name: str, *options: str) -> Clone:
    path = hub.parent / name
    subprocess.run(
        ["git", "clone", "-q", *options, f"file://{hub}", str(path)],
        check=True,
        capture_output=True,
    )
    return Clone(path, "Bob Lindqvist")


# --- kinds ------------------------------------------------------------------------------------


def worktree(hub: Path) -> Clone:
    clone(hub, "main").git("worktree", "add", "-q", "-b", "side", "../side")
    return Clone(hub.parent / "side", "Bob Lindqvist")


def bare(hub: Path) -> Clone:
    return clone(hub, "bare.git", "--bare")


def submodule(hub: Path) -> Clone:
    path = hub.parent / "outer"
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{hub}")
    Clone(path).git(*words, "inner")
    return Clone(path / "inner", "Bob Lindqvist")


def shallow(hub: Path) -> Clone:
    """Not even the ledgers and trees came with their history."""
    made = clone(hub, "shallow", "--depth=1")
    made.git("fetch", "-q", "--depth=1", "origin", "refs/pvc/*:refs/pvc/remotes/origin/*")
    return made


def alternates(hub: Path) -> Clone:
    return clone(hub, "borrower", "--reference", str(hub.parent / "ada"))


def partial(hub: Path) -> Clone:
    subprocess.run(["git", "-C", str(hub), "config", "uploadpack.allowFilter", "true"], check=True)
    return clone(hub, "partial", "--filter=blob:none", "--no-checkout")


def packed(hub: Path) -> Clone:
    made = clone(hub, "packed")
    made.pvc("sync")
    made.git("pack-refs", "--all")
    made.git("gc", "-q", "--prune=now")
    return made


@pytest.mark.parametrize(
    "make", [worktree, bare, submodule, shallow, alternates, partial, packed],
    ids=lambda make: make.__name__,
)  # fmt: skip
def test_a_session_is_pinned_shown_blamed_and_shared(
    hub: Path, make: Callable[[Path], Clone]
) -> None:
    here = make(hub)
    assert here.pvc("sync", "origin", "--json").json["refused"] == []
    assert here.pvc(*PIN, "here").json["status"] == "pinned"
    assert here.pvc(*PIN, "here").json["status"] == "same"
    edit = f"10-role.md={Clone(hub.parent).write('edit.md', 'You mend boats.')}"
    here.pvc("supersede", "agent", "--set", edit, "-m", "Next")
    assert here.pvc(*PIN, "next").json["version"] == "agent@2"
    here.pvc("sync", "origin")
    runs = here.pvc("blame", "first", "--json").json["runs"]
    assert {run["reason"] for run in runs if run["reason"]} == {"First prompt"}
    listed = here.pvc("log", "--pins", "--json").json
    assert (len(listed["pins"]), listed["damage"]) == (3, [])
    assert here.pvc("verify", "--json").json["findings"] == []
    ada = Clone(hub.parent / "ada")
    ada.pvc("sync")
    assert ada.pvc("show", "next", "--json").json["verified"]


@pytest.mark.parametrize(
    ("options", "since"), [(["--object-format=sha256"], ""), (["--ref-format=reftable"], "2.45")],
    ids=["sha256", "reftable"],
)  # fmt: skip
def test_another_format_is_lived_in(
    hub: Path, plain: Clone, options: list[str], since: str
) -> None:
    """These formats do not exchange with others, so here is the whole story, two clones of it."""
    folder = hub.parent
    for words in (["--bare", str(folder / "other.git")], [str(folder / "cy")]):
        done = subprocess.run(
            ["git", "init", "-q", "-b", "main", *options, *words], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"the installed git has no such format (it came with {since})")
    cy = Clone(folder / "cy", "Cy Two")
    shutil.copytree(plain.path / "agent", cy.path / "agent")
    cy.commit("Start")
    cy.git("remote", "add", "origin", f"file://{folder}/other.git")
    cy.git("push", "-q", "origin", "main")
    cy.pvc("supersede", "agent", "-m", "First prompt")
    cy.pvc(*PIN, "cys")
    cy.pvc("sync")
    subprocess.run(
        ["git", "clone", "-q", *options[1:], f"file://{folder}/other.git", str(folder / "di")],
        check=True,
    )
    di = Clone(folder / "di", "Di Three")
    di.pvc("sync")
    assert di.pvc(*PIN, "dis").json["status"] == "pinned"
    assert di.pvc("blame", "cys", "--json").json["runs"]
    di.pvc("sync")
    assert di.pvc("verify", "--json").json["findings"] == []


# --- no network at a launch -------------------------------------------------------------------


@pytest.fixture
def promised(hub: Path) -> Clone:
    """A partial clone whose versions are promises; whoever goes to its remote leaves `asked`."""
    made = partial(hub)
    made.git("fetch", "-q", "--filter=blob:none", "origin", "refs/pvc/trees/*:refs/pvc/trees/*")
    trap = made.write("../trap", f"#!/bin/sh\ntouch {hub.parent}/asked\nexit 1\n")
    trap.chmod(0o755)
    made.git("config", "core.sshCommand", str(trap))
    made.git("config", "remote.origin.url", "ssh://nowhere/hub.git")
    return made


def test_a_launch_in_a_partial_clone_does_not_ask_the_network(promised: Clone, hub: Path) -> None:
    error = promised.refused(*PIN[:-2], "--session", "s", code=4)
    assert not (hub.parent / "asked").exists()
    assert "promised by a remote and is not here" in error
    assert "hint: pvc sync" in error
    assert promised.run([sys.executable, "-m", "pvc", "show", "agent"]).code != 0
    assert (hub.parent / "asked").exists(), "other commands may ask, as git does"


def test_a_sync_makes_a_partial_clone_whole(promised: Clone, hub: Path) -> None:
    promised.git("config", "remote.origin.url", f"file://{hub}")
    promised.pvc("sync", "origin")
    promised.git("config", "remote.origin.url", "ssh://nowhere/hub.git")
    assert promised.pvc(*PIN, "s").json["status"] == "pinned"
    assert not (hub.parent / "asked").exists()


# --- disks and owners -------------------------------------------------------------------------


def mounted(clone: Clone, mount: str, *commands: str) -> subprocess.CompletedProcess[str]:
    """Run commands in a mount namespace of their own, so that the mount goes with them."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount")
    lines = "\n".join(["set -e", mount, f"cd {clone.path}", "set +e", *commands])
    lines = lines.replace("PVC", f"{sys.executable} -m pvc").replace("HERE", str(clone.path))
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", lines],
        env=clone.environment, capture_output=True, check=False, text=True,
    )  # fmt: skip
    if "unshare failed" in done.stderr or "permission denied" in done.stderr.lower():
        pytest.skip("this machine lets nobody mount")
    return done


def test_a_read_only_repository_is_read_and_a_launch_goes_on(adopted: Clone) -> None:
    adopted.pvc(*PIN, "before")
    adopted.pvc("sync")
    before = adopted.refs()
    done = mounted(
        adopted, "mount --bind HERE HERE\nmount -o remount,ro,bind HERE",
        "PVC show before --json >/dev/null || exit 91", "PVC log --pins >/dev/null || exit 92",
        "PVC blame before >/dev/null || exit 93", "PVC verify >/dev/null || exit 94",
        "PVC render agent --set cwd=/srv >/dev/null || exit 95",
        "PVC pin agent --session s --set cwd=/srv --out - >/dev/null || exit 96",
        "PVC pin agent --session s --set cwd=/srv --must-record; [ $? = 5 ] || exit 97",
        "PVC supersede agent --rm 20-rules.md -m x; [ $? = 5 ] || exit 98",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert adopted.refs() == before


def test_a_full_disk_refuses_in_one_line_and_keeps_what_was(adopted: Clone) -> None:
    adopted.pvc(*PIN, "before")
    disk = adopted.path.parent / "disk"
    disk.mkdir()
    done = mounted(
        adopted, f"mount -t tmpfs -o size=2m tmpfs {disk}\ncp -a HERE {disk}/full",
        f"cd {disk}/full", "dd if=/dev/zero of=fill bs=1k 2>/dev/null",
        "git for-each-ref refs/pvc >../../before",
        "PVC pin agent --session s --set cwd=/srv --must-record; [ $? = 5 ] || exit 91",
        "PVC pin agent --session s --set cwd=/srv --out - >/dev/null || exit 92",
        "PVC supersede agent --rm 20-rules.md -m x; [ $? = 5 ] || exit 93",
        "PVC sync; [ $? = 5 ] || exit 94",
        "git for-each-ref refs/pvc | cmp - ../../before || exit 95",
        "PVC show before >/dev/null || exit 96",
        "rm fill", "PVC pin agent --session s --set cwd=/srv || exit 97", "PVC sync || exit 98",
        "git fsck --strict || exit 99", "PVC show s && PVC show before || exit 90",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_served_when_it_is_called_safe(adopted: Clone) -> None:
    subprocess.run(["chown", "-R", "12345:12345", str(adopted.path)], check=True)
    for words in (["show", "agent"], ["sync"], [*PIN[:-2], "--session", "s"]):
        error = adopted.refused(*words, code=5)
        assert "belongs to somebody else" in error
        assert f"safe.directory {adopted.path}" in error
    subprocess.run(["git", "config", "--global", "safe.directory", str(adopted.path)], check=True)
    settings = os.environ["GIT_CONFIG_GLOBAL"]
    pinned = adopted.pvc(*PIN, "s", GIT_CONFIG_GLOBAL=settings).json
    assert pinned["status"] == "pinned"
    assert "folded 1 pin" in adopted.pvc("sync", GIT_CONFIG_GLOBAL=settings).text
