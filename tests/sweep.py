"""A fault at every call that writes: kills, full disks, errors; what was acknowledged is found.

    PYTHONPATH=src:tests python tests/sweep.py --every 10
    PYTHONPATH=src:tests python tests/sweep.py --scenario fold --fault kill

A clean run under strace lists the calls that change something below the clone, or answer, in pvc
and in each git that it starts. Then the command runs once for each call and fault, with that fault
at that call. After each: the same command works, every acknowledged pin is listed, `git fsck` is
clean. `--every K` takes each K-th point. The tests run a few.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from launches import Done, environment, process
from prunes import make
from workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = (
    "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate",
    "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir",
    "mkdir", "mkdirat", "open", "openat", "chmod", "fchmod",
)  # fmt: skip
FAULTS = {
    "kill": "signal=KILL:when={at}",
    "ENOSPC": "error=ENOSPC:when={at}+",  # a disk that is full stays full
    "EIO": "error=EIO:when={at}",
    "EINTR": "error=EINTR:when={at}",
}
SCENARIOS = ("pin", "fold", "sync", "supersede", "promote", "forget", "gc")
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)$")


class Point(NamedTuple):
    """A call: its name, and the how manieth of that name it is in its process."""

    call: str
    at: int


@dataclass
class Result:
    """What a scenario came to."""

    runs: int = 0
    blocked: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)


class Sweep:
    """One clone, and one command in it."""

    def __init__(self, folder: Path, scenario: str) -> None:
        self.path = make(folder)
        self.scenario = scenario
        self.acknowledged: dict[str, str] = {}
        self.number = 0
        self.result = Result()
        if scenario != "sync":
            Workspace(self.path).git("remote", "remove", "origin")
        self.pin("first")
        for _ in range(2):
            self.number += 1
            assert self.run(self._supersede()).code == 0

    # --- commands ---------------------------------------------------------------------------

    def run(self, words: list[str]) -> Done:
        return process(self.path, *words)

    def pin(self, session: str) -> None:
        done = self.run(self._pin(session))
        assert done.code == 0, done.err
        self._take(session, done)

    def _take(self, session: str, done: Done) -> None:
        if done.out.endswith(b"\n") and (line := json.loads(done.out))["status"] in (
            "pinned",
            "same",
        ):
            self.acknowledged[session] = line["receipt"]

    def _pin(self, session: str) -> list[str]:
        return ["pin", "agent", "--session", session, "--set", f"cwd=/{session}", "--json"]

    def _supersede(self) -> list[str]:
        text = self.path.parent / "new.md"
        text.write_text(f"You mend {self.number} ships.\n")
        return ["supersede", "agent", "--set", f"1.md={text}", "-m", f"{self.number}"]

    def prepare(self) -> list[str]:
        """Make something to do, and give the words that do it."""
        self.number += 1
        session = f"s{self.number}"
        match self.scenario:
            case "pin":
                return self._pin(session)
            case "supersede":
                return self._supersede()
            case "promote":
                version = 1 + self.number % 2
                return ["promote", f"agent@{version}", "production", "-m", f"{self.number}"]
            case "forget":
                self.pin(session)
                return ["forget", session, "-m", "asked"]
            case _:
                self.pin(session)
                return ["gc"] if self.scenario == "gc" else ["sync"]

    # --- faults -----------------------------------------------------------------------------

    def points(self) -> list[Point]:
        """List the calls of a clean run that change something, each once, in their order."""
        code, trace, err = self._strace(self.prepare(), [])
        assert code == 0, err
        counts: Counter[tuple[str, str]] = Counter()
        found: dict[Point, None] = {}
        for line in trace.splitlines():
            match = _LINE.match(line)
            if match is not None and match[2] in CALLS:
                counts[match[1], match[2]] += 1
                if self._changes(match[2], match[3]):
                    found[Point(match[2], counts[match[1], match[2]])] = None
        return list(found)

    def _changes(self, call: str, rest: str) -> bool:
        if call in ("open", "openat"):
            return "O_CREAT" in rest and str(self.path.parent) in rest
        return str(self.path.parent) in rest or rest.startswith("1<")

    def _strace(self, words: list[str], inject: list[str]) -> tuple[int, str, str]:
        trace = self.path.parent / "trace"
        done = subprocess.run(
            [
                *("strace", "-f", "-y", "-s", "64", "-o", str(trace)),
                *("-e", f"trace={','.join(CALLS)}", *inject),
                *(sys.executable, "-m", "pvc", *words),
            ],
            cwd=self.path,
            env=environment(PYTHONDONTWRITEBYTECODE="1"),
            capture_output=True,
            check=False,
        )
        if words[0] == "pin":
            self._take(words[3], Done(done.returncode, done.stdout, ""))
        return done.returncode, trace.read_text(errors="replace"), done.stderr.decode()

    def fault(self, point: Point, fault: str) -> None:
        """Run the command with one fault, then without, and look."""
        words = self.prepare()
        told = f"{self.scenario} {fault} {point.call} {point.at}"
        inject = ["-e", f"inject={point.call}:{FAULTS[fault].format(at=point.at)}"]
        code, _, err = self._strace(words, inject)
        self.result.runs += 1
        self.result.codes[code] += 1
        if code == 70:
            self.result.faults.append(f"{told}: {err[-300:]}")
        after = self.run(words)
        if after.code != 0:
            self.result.blocked.append(f"{told}: exit {after.code}: {after.err[-300:]}")
        elif words[0] == "pin":
            self._take(words[3], after)
        self.look(told)

    def look(self, told: str) -> None:
        """Look for every acknowledged pin, and let git look at what is there."""
        listed = self.run(["log", "--pins", "-n", "1000000", "--json"])
        pins = json.loads(listed.out)["pins"] if listed.code == 0 else []
        found = {pin["session"]: pin["receipt"] for pin in pins}
        lost = [s for s, receipt in self.acknowledged.items() if found.get(s) != receipt]
        if lost:
            self.result.lost.append(f"{told}: {lost[:3]}")
        done = subprocess.run(
            ["git", "fsck", "--strict", "--no-dangling"],
            cwd=self.path,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0 or b"missing" in done.stdout:
            self.result.lost.append(f"{told}: fsck: {done.stdout + done.stderr!r}")


def sweep(folder: Path, scenario: str, faults: list[str], every: int = 1, first: int = 0) -> Result:
    """Put faults at each `every`-th point of a scenario."""
    made = Sweep(folder, scenario)
    for point, fault in chosen(made.points(), faults, every, first):
        made.fault(point, fault)
    return made.result


def chosen(
    points: list[Point], faults: list[str], every: int, first: int
) -> Iterator[tuple[Point, str]]:
    pairs = [(point, fault) for point in points for fault in faults]
    yield from pairs[first::every]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", choices=SCENARIOS, action="append")
    parser.add_argument("--fault", choices=sorted(FAULTS), action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    bad = 0
    for scenario in options.scenario or SCENARIOS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            faults = options.fault or list(FAULTS)
            result = sweep(Path(name), scenario, faults, options.every, options.first)
        sys.stdout.write(
            f"{scenario:10} {result.runs:5} runs, {len(result.blocked)} blocked,"
            f" {len(result.lost)} lost, {len(result.faults)} faults of pvc,"
            f" {time.monotonic() - start:.0f} s, exits {dict(sorted(result.codes.items()))}\n"
        )
        for line in (*result.blocked, *result.lost, *result.faults):
            sys.stdout.write(f"    {line}\n")
        sys.stdout.flush()
        bad += len(result.blocked) + len(result.lost) + len(result.faults)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_NOSYSTEM", "1")
    main()
