"""One bad ref or object, in any namespace, here or at the hub: named, and the rest goes on."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone, Done

WRITER = "e" * 32
NAMES = {
    "trees": "other", "packs": "other", "channels": "agent/beta", "pins": WRITER,
    "inbox": WRITER, "bodies": WRITER,
}  # fmt: skip
WHO = "A <a@b> 1 +0000"


def stored(hub: Clone, kind: str, data: bytes) -> str:
    (hub.path / "object").write_bytes(data)
    return hub.git("hash-object", "-w", "-t", kind, "--literally", "object")


def commit(hub: Clone, tree: str, message: bytes = b"x\n") -> str:
    head = f"tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\n".encode()
    return stored(hub, "commit", head + message)


def empty(hub: Clone) -> str:
    return stored(hub, "tree", b"")


def wide(hub: Clone) -> str:
    """Make a folder of many files."""
    blob = bytes.fromhex(stored(hub, "blob", b"x"))
    return stored(hub, "tree", b"".join(b"100644 %06d\0" % n + blob for n in range(20_000)))


BAD: dict[str, Callable[[Clone], str]] = {
    "a blob": lambda hub: stored(hub, "blob", b"x"),
    "a tree": empty,
    "a tag": lambda hub: stored(
        hub,
        "tag",
        f"object {commit(hub, empty(hub))}\ntype commit\ntag t\ntagger {WHO}\n\nx\n".encode(),
    ),
    "no version, fold or bodies": lambda hub: commit(hub, empty(hub)),
    "a zero byte": lambda hub: commit(hub, empty(hub), b"x\0y\n"),
    "a missing tree": lambda hub: commit(hub, "1" * 40),
    "a missing file": lambda hub: commit(
        hub, stored(hub, "tree", b"100644 a\0" + bytes.fromhex("2" * 40))
    ),
    "a hostile name": lambda hub: commit(
        hub, stored(hub, "tree", b"100644 .git\0" + bytes.fromhex(stored(hub, "blob", b"x")))
    ),
    "many files": lambda hub: commit(hub, wide(hub)),
    "a symbolic ref": lambda _: "ref: refs/pvc/trees/agent",
}


def put(clone: Clone, ref: str, target: str) -> None:
    """Let a ref name anything, as only its file can."""
    git_dir = clone.path / ".git"
    path = (git_dir if git_dir.is_dir() else clone.path) / ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{target}\n")


@pytest.mark.parametrize("what", BAD)
def test_at_the_hub_it_holds_up_nothing_else(hub: Clone, adopted: Clone, what: str) -> None:
    """In every namespace at once: a pin still reaches the hub, and a session can be forgotten."""
    for kind, name in NAMES.items():
        put(hub, f"refs/pvc/{kind}/{name}", BAD[what](hub))
    _goes_on(hub, adopted)


def _goes_on(hub: Clone, adopted: Clone) -> Done:
    adopted.pvc("pin", "agent", "--session", "later", "--set", "cwd=/later")
    ledger = f"refs/pvc/pins/{(adopted.path / '.git/pvc/writer').read_text()[:32]}"
    before = hub.git("rev-parse", ledger)
    done = adopted.run([sys.executable, "-m", "pvc", "sync"])
    assert done.code in (0, 1), done.err
    assert ("refused" in done.text) == (done.code == 1)
    assert hub.git("rev-parse", ledger) != before, done.text
    forgot = adopted.run([sys.executable, "-m", "pvc", "forget", "later", "-m", "asked to"])
    assert "Forgot 1 body" in forgot.text, forgot.err
    again = adopted.run([sys.executable, "-m", "pvc", "sync"])
    assert again.code in (0, 1), again.err
    return forgot


@pytest.mark.parametrize("what", ["a blob", "a tag", "no version, fold or bodies", "a zero byte"])
def test_here_it_holds_up_nothing_else(hub: Clone, adopted: Clone, what: str) -> None:
    for kind in ("trees", "packs", "channels", "bodies"):
        put(adopted, f"refs/pvc/{kind}/{NAMES[kind]}", BAD[what](adopted))
    forgot = _goes_on(hub, adopted)
    if what in ("a blob", "a tag"):
        assert f"not read: refs/pvc/bodies/{WRITER}" in forgot.text
        assert f"git update-ref -d refs/pvc/bodies/{WRITER}" in forgot.text
        assert forgot.code == 1
    assert "trees/other" not in hub.refs()


@pytest.mark.parametrize("age", [0, 3600])
def test_a_lock_of_a_killed_fetch_goes_by_its_age(
    hub: Clone, adopted: Clone, shared: Clone, age: int
) -> None:
    adopted.write("agent/10-role.md", "Two\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "Two")
    adopted.pvc("sync")
    lock = shared.path / ".git/refs/pvc/remotes/origin/trees/agent.lock"
    lock.write_bytes(b"")
    when = lock.stat().st_mtime - age
    os.utime(lock, (when, when))
    done = shared.pvc("sync", code=0 if age else 1)
    assert lock.exists() == (not age)
    assert ("forwarded trees/agent" in done.text) == bool(age)
    assert "rewritten" not in done.text
    if not age:
        assert "agent.lock" in done.text
    assert hub.git("rev-parse", "refs/pvc/trees/agent")
