"""Everything that writes, beside everything that prunes: what was acknowledged is found.

    PYTHONPATH=src:tests python tests/prunes.py --seconds 60

One clone with a remote. Threads pin, sync, supersede and promote through the command; one runs
`git gc --prune=now`, `git repack -ad`, `git pack-refs --all` and `git prune --expire=now` in turn,
without a pause. The tests run some seconds of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from launches import Done, process
from workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

PRUNES = ("gc --quiet --prune=now", "repack -adq", "pack-refs --all", "prune --expire=now")
MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'
LOCKED = ("another git process", "File exists", "cannot lock", "is being used")


@dataclass
class Beside:
    """What was run and what came of it."""

    path: Path
    end: float
    ran: Counter[str] = field(default_factory=Counter)
    pinned: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def pvc(self, *words: str) -> Done:
        """Run a command; a fault of pvc's, or a refusal to write, is noted."""
        done = process(self.path, *words)
        self.ran[f"pvc {words[0]} {done.code}"] += 1
        if done.code != 0:
            self.faults.append(f"{' '.join(words[:3])}: exit {done.code}: {done.err}")
        return done

    def going(self) -> bool:
        return time.monotonic() < self.end

    def prune(self) -> None:
        workspace = Workspace(self.path)
        while self.going():
            for words in PRUNES:
                try:
                    workspace.git(*words.split())
                    self.ran[f"git {words.split()[0]}"] += 1
                except AssertionError as error:  # its own locks against our moves, or a real fault
                    if not any(word in str(error) for word in LOCKED):
                        self.faults.append(f"git {words}: {error}")
                    self.ran[f"git {words.split()[0]} locked"] += 1

    def pin(self, name: str) -> None:
        number = 0
        while self.going():
            lines = [
                {"tree": "agent", "session": f"{name}-{number}-{i}", "set": {"cwd": f"/{i}"}}
                for i in range(5)
            ]
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            done = process(self.path, "pin", "--batch", data=data)
            self.ran[f"pvc pin {done.code}"] += 1
            for line, answer in zip(lines, done.answers, strict=True):
                if answer["status"] != "pinned":
                    self.faults.append(f"pin: {answer}")
                else:
                    self.pinned[str(line["session"])] = answer["receipt"]
            number += 1

    def sync(self) -> None:
        while self.going():
            self.pvc("sync")

    def adopt(self) -> None:
        number = 0
        text = self.path.parent / "new.md"
        while self.going():
            number += 1
            text.write_text(f"You mend {number} ships.\n")
            self.pvc("supersede", "agent", "--set", f"1.md={text}", "-m", f"{number}")
            self.pvc("promote", "agent", "production", "-m", f"{number}")


def make(folder: Path) -> Path:
    """Make a clone with a tree, and its remote."""
    hub, own = Workspace(folder / "hub.git"), Workspace(folder / "own")
    hub.path.mkdir()
    own.path.mkdir()
    hub.git("init", "--quiet", "--bare")
    own.git("init", "--quiet")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com"), ("gc.auto", "0")):
        own.git("config", name, value)
    own.git("remote", "add", "origin", str(hub.path))
    own.commit({"agent/pvc.toml": MANIFEST, "agent/1.md": "You mend ships.\n"})
    assert process(own.path, "supersede", "agent", "-m", "first", "--accept-findings").code == 0
    return own.path


def run(folder: Path, seconds: float, pinners: int = 2) -> Beside:
    """Run all of it beside each other, then fold what is left and look for every pin."""
    beside = Beside(make(folder), time.monotonic() + seconds)
    work: list[Callable[[], None]] = [beside.prune, beside.sync, beside.adopt]
    work += [lambda name=f"p{number}": beside.pin(name) for number in range(pinners)]  # type: ignore[misc]
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = process(beside.path, "sync")
    assert last.code == 0, (last.out, last.err)
    listed = json.loads(process(beside.path, "log", "--pins", "-n", "1000000", "--json").out)
    found = {pin["session"]: pin["receipt"] for pin in listed["pins"]}
    lost = [session for session, receipt in beside.pinned.items() if found.get(session) != receipt]
    assert not lost, f"{len(lost)} acknowledged pins are lost"
    assert not [p for p in (beside.path / ".git/pvc/spool").iterdir() if len(p.name) == 32]
    for path in (beside.path, folder / "hub.git"):
        Workspace(path).git("fsck", "--strict")
    assert process(beside.path, "verify").code == 0
    assert not beside.faults, beside.faults
    return beside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pinners", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        made = run(Path(name), options.seconds, options.pinners)
        for words, count in sorted(made.ran.items()):
            sys.stdout.write(f"{count:6} {words}\n")
        sys.stdout.write(f"{len(made.pinned)} pins acknowledged, all found; fsck is clean\n")


if __name__ == "__main__":
    main()
