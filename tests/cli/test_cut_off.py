"""Three clones, two of them cut off from the third for a while; then all are together again."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from servers import Server, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cli.conftest import Clone


def bare(path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True)
    return path


def reach(clone: Clone, name: str, server: Server, repository: str) -> None:
    """Give a clone a remote, or lead it elsewhere."""
    clone.git("config", f"remote.{name}.url", server.url(repository))


def pin(clone: Clone, session: str) -> str:
    words = ("pin", "agent", "--session", session, "--set", f"cwd=/{session}", "--json")
    receipt: str = clone.pvc(*words).json["receipt"]
    return receipt


def adopt(clone: Clone, text: str) -> None:
    clone.write("agent/20-rules.md", f"# Rules\n\nWork in {{cwd}}. {text}\n")
    clone.commit(text)
    clone.pvc("supersede", "agent", "-m", text)


def union(clone: Clone) -> list[str]:
    listed: Any = clone.pvc("log", "--pins", "--json").json
    assert listed["damage"] == []
    return sorted(row["receipt"] for row in listed["pins"])


def chain(clone: Clone) -> list[str]:
    return [row["reason"] for row in clone.pvc("log", "agent", "--json").json["versions"]]


def test_two_clones_that_were_cut_off_lose_nothing(
    adopted: Clone, make_clone: Callable[..., Clone], tmp_path: Path
) -> None:
    ann = adopted
    hub, _ = bare(tmp_path / "hub.git"), bare(tmp_path / "site.git")
    with (
        served("http", tmp_path, tmp_path / "http") as there,
        served("daemon", tmp_path, tmp_path / "daemon") as here,
    ):
        reach(ann, "origin", there, "hub.git")
        ann.git("push", "-q", "origin", "main")
        receipts = [pin(ann, "before")]
        ann.pvc("sync")
        bob, cy = (make_clone(name, name.title(), hub) for name in ("bob", "cy"))
        for clone in (bob, cy):
            reach(clone, "origin", there, "hub.git")
            clone.pvc("sync")

        there.kill()  # the hub is out of reach for two of them, who have a server of their own
        for clone in (bob, cy):
            assert "cannot exchange with `origin`" in clone.refused("sync", "origin", code=4)
            reach(clone, "site", here, "site.git")
        adopt(bob, "Bob's rule")
        receipts += [pin(bob, "bob-1"), pin(cy, "cy-1")]
        for clone in (bob, cy, bob):
            clone.pvc("sync", "site")
        adopt(cy, "Cy's rule")
        receipts += [pin(cy, "cy-2"), pin(bob, "bob-2")]
        for clone in (cy, bob, cy):
            clone.pvc("sync", "site")
        assert union(bob) == union(cy) == sorted(receipts)
        adopt(ann, "Ann's rule")
        receipts += [pin(ann, "ann-1"), pin(ann, "ann-2")]

        there.start()
        ann.pvc("sync", "origin")
        split = bob.pvc("sync", "origin", "--json", code=1).json["diverged"]
        assert [side["label"] for side in (split[0]["ours"], split[0]["theirs"])] == [
            "agent@3", "agent@2",
        ]  # fmt: skip
        assert union(bob) == sorted(receipts), "pins need no resolving"
        tip = bob.git("rev-parse", "refs/pvc/trees/agent")
        bob.pvc("supersede", "agent", "--resolve", "origin", "-m", "Both rules")
        for clone in (bob, cy, ann, cy, ann, bob):
            clone.pvc("sync", "origin")
        bob.pvc("sync", "site")

        for clone in (ann, bob, cy):
            assert union(clone) == sorted(receipts)
            assert chain(clone) == ["Both rules", "Ann's rule", "First prompt"]
            clone.git("merge-base", "--is-ancestor", tip, "refs/pvc/trees/agent")
            assert clone.pvc("verify").code == 0
        rules = {clone.pvc("show", "cy-2", "--json").json["version"]["reason"]
                 for clone in (ann, bob, cy)}  # fmt: skip
        assert rules == {"Cy's rule"}, "what lost is still what its sessions were told"
