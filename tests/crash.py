"""Pins and folds that are killed at random moments, and many at once: what was answered is found.

    PYTHONPATH=src:tests python tests/crash.py --kills 100 --writers 16 --sessions 50
    PYTHONPATH=src:tests python tests/crash.py --seconds 60 --processes 64 --pins 200 --folders 3

With `--seconds` a storm: that many processes pin and fold all the time, one after the other is
killed and started again with the same sessions. The tests run small versions of both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING, Any

from launches import Launches, environment
from workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

FOLD = "import sys; from crash import fold_for_ever; fold_for_ever(sys.argv[1])"


def fold_for_ever(folder: str) -> None:
    """Fold again and again, until killed."""
    launches = Launches(Workspace(Path(folder)))
    while True:
        launches.fold()


class Child:
    """A process whose standard output and error go to files beside the repository."""

    def __init__(self, launches: Launches, name: str, words: list[str], data: str = "") -> None:
        folder = launches.path / "children"
        folder.mkdir(exist_ok=True)
        self.out, self.err, given = (folder / f"{name}.{end}" for end in ("out", "err", "in"))
        given.write_text(data)
        source = f"{environment()['PYTHONPATH']}:{Path(__file__).parent}"
        with given.open("rb") as stdin, self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                cwd=launches.path,
                env=environment(PYTHONPATH=source),
                stdin=stdin,
                stdout=out,
                stderr=err,
            )

    def kill(self) -> None:
        """End it at once, wherever it is; it must not have failed before."""
        code = self.process.poll()
        assert code in (None, 0, 1), self.err.read_text()
        self.process.kill()
        self.process.wait()

    def wait_for_an_answer(self) -> None:
        """Wait until it is at work; a round that is killed before shows nothing."""
        while self.process.poll() is None and not self.out.stat().st_size:
            time.sleep(0.002)

    def answers(self) -> list[dict[str, Any]]:
        """Wait, and read what it answered; a cut last line is no answer."""
        self.process.wait()
        *whole, _ = self.out.read_bytes().split(b"\n")
        return [json.loads(line) for line in whole]


def start_folding(launches: Launches) -> Child:
    return Child(launches, "fold", ["-c", FOLD, str(launches.path)])


def start_pinning(
    launches: Launches, name: str, sessions: int, value: str = "", **more: str
) -> Child:
    """Pin many sessions in one process; with a `value`, all with that one."""
    lines = [
        {
            "tree": "agent",
            "session": f"{name}-{i}",
            "set": {"who": value or f"{name}-{i % 7}"},
            **more,
        }
        for i in range(sessions)
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines)
    return Child(launches, f"{name}{value}", ["-m", "pvc", "pin", "--batch"], data)


def receipts(child: Child) -> list[str]:
    """Read the receipts of what a process pinned; nothing may have been refused."""
    answers = child.answers()
    assert all(answer["status"] in ("pinned", "same") for answer in answers), answers
    return [answer["receipt"] for answer in answers]


def age_locks(launches: Launches) -> None:
    """Let a minute pass for the ref locks that a killed fold left."""
    for lock in (launches.path / ".git/refs/pvc").rglob("*.lock"):
        os.utime(lock, (0, 0))


def check(launches: Launches, acknowledged: list[str]) -> int:
    """Fold what is left; every acknowledged pin is there, and none twice. Gives their number."""
    launches.fold()
    stored = Counter(receipt_of_all(launches))
    lost = set(acknowledged) - set(stored)
    assert not lost, f"{len(lost)} acknowledged pins are lost"
    twice = [receipt for receipt, count in stored.items() if count > 1]
    assert not twice, f"{len(twice)} pins are recorded twice"
    keys = Counter((p.session, p.chain, p.n) for p in launches.ledger().newest(None))
    assert set(keys.values()) <= {1}, "two pins of one session, chain and number"
    assert launches.spooled == []
    launches.workspace.git("fsck", "--strict")
    return len(stored)


def receipt_of_all(launches: Launches) -> list[str]:
    """Read the receipts from the segments themselves, without index or union."""
    from pvc.store.codec import decode, split_segment
    from pvc.store.index import ledgers, new_segments

    repository = launches.workspace.open("pygit")
    return [
        decode(data).receipt
        for name, tip in ledgers(repository).items()
        for segment in new_segments(repository, name, None, tip)
        for data in split_segment(repository.blob(segment.pins))[0]
    ]


def many_at_once(launches: Launches, writers: int, sessions: int) -> int:
    """Pin from many processes while another folds."""
    folding = start_folding(launches)
    pinning = [start_pinning(launches, f"w{i}", sessions) for i in range(writers)]
    acknowledged = [receipt for child in pinning for receipt in receipts(child)]
    folding.kill()
    age_locks(launches)
    assert len(set(acknowledged)) == writers * sessions
    return check(launches, acknowledged)


def rivals(launches: Launches, processes: int, sessions: int, *, is_repin: bool = False) -> int:
    """Pin the same sessions from many processes, each with its own value, while another folds.

    One value wins a session, everybody is told which, and the winner is what is stored.
    """
    if is_repin:
        receipts(start_pinning(launches, "s", sessions, "before"))
    folding = start_folding(launches)
    more = {"repin": "rivals"} if is_repin else {}
    pinning = [
        start_pinning(launches, "s", sessions, f"value-{i}", **more) for i in range(processes)
    ]
    answers = [child.answers() for child in pinning]
    folding.kill()
    age_locks(launches)
    acknowledged = []
    for told in zip(*answers, strict=True):
        won = [answer["receipt"] for answer in told if answer["status"] == "pinned"]
        refused = {answer["receipt"] for answer in told if answer["status"] == "refused"}
        assert len(told) == processes == len(won) + sum(a["status"] == "refused" for a in told), (
            told
        )
        assert refused <= set(won), told
        assert is_repin or len(won) == 1, told  # a re-pin may follow another, never fork it
        acknowledged += won
    return check(launches, acknowledged)


def killed(launches: Launches, rounds: int, seed: int) -> int:
    """Kill a pinning and a folding process at random moments, round after round."""
    chance = random.Random(seed)  # noqa: S311 - the same moments again, not a secret
    acknowledged: list[str] = []
    for number in range(rounds):
        pinning = start_pinning(launches, f"k{number}", 150)
        folding = start_folding(launches)
        pinning.wait_for_an_answer()
        time.sleep(chance.uniform(0, 0.25))
        first, second = (pinning, folding) if chance.random() < 0.5 else (folding, pinning)
        first.kill()
        time.sleep(chance.uniform(0, 0.05))
        second.kill()
        age_locks(launches)
        acknowledged += receipts(pinning)
    check(launches, acknowledged)
    return len(acknowledged)


@dataclass
class Storm:
    """What a storm did: what was answered, and how often somebody was killed."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    kills: int = 0
    found: int = 0

    def take(self, child: Child) -> None:
        """Note what a process was answered: of one session, never two receipts."""
        for answer in child.answers():
            assert answer["status"] in ("pinned", "same"), answer
            before = self.acknowledged.setdefault(answer["id"], answer["receipt"])
            assert before == answer["receipt"], f"session {answer['id']} was answered twice"


class Pinning:
    """A seat for a process that pins its sessions until all are answered, then the next ones."""

    def __init__(self, launches: Launches, storm: Storm, number: int, pins: int) -> None:
        self._launches, self._storm, self._number, self._pins = launches, storm, number, pins
        self._starts = self._sets = 0
        self._start()

    def _start(self) -> None:
        name = f"p{self._number}.{self._sets}"
        lines = [
            {"id": f"{name}-{i}", "tree": "agent", "session": f"{name}-{i}", "set": {"who": f"{i}"}}
            for i in range(self._pins)
        ]
        data = "".join(json.dumps(line) + "\n" for line in lines)
        self._starts += 1
        words = ["-m", "pvc", "pin", "--batch"]
        self._child = Child(self._launches, f"{name}.{self._starts}", words, data)

    def kill(self) -> None:
        """Kill the process."""
        self._child.kill()

    def go_on(self) -> None:
        """Start again what was killed; what ended by itself goes on with new sessions."""
        code = self._child.process.poll()
        if code is not None:
            assert code in (0, -SIGKILL), self._child.err.read_text()
            self._storm.take(self._child)
            self._sets += code == 0
            self._start()


class Folding:
    """A seat for a process that folds."""

    def __init__(self, launches: Launches) -> None:
        self._launches = launches
        self._child = start_folding(launches)

    def kill(self) -> None:
        """Kill the process."""
        self._child.process.kill()
        self._child.process.wait()

    def go_on(self) -> None:
        """Start again what was killed, or gave up before the lock of a killed one."""
        code = self._child.process.poll()
        if code is not None:
            assert code == -SIGKILL or "lock" in self._child.err.read_text()
            self._child = start_folding(self._launches)


def storm(
    launches: Launches, seconds: float, processes: int, pins: int, folders: int, seed: int = 1
) -> Storm:
    """Pin and fold from many processes, kill one after the other, and look at what is left."""
    chance = random.Random(seed)  # noqa: S311 - the same victims again, not a secret
    made = Storm()
    seats: list[Pinning | Folding] = [Folding(launches) for _ in range(folders)]
    seats += [Pinning(launches, made, number, pins) for number in range(processes)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(0, 0.1))
        chance.choice(seats).kill()
        made.kills += 1
        for seat in seats:
            seat.go_on()
    for seat in seats:
        seat.kill()
        seat.go_on() if isinstance(seat, Pinning) else None
        seat.kill()
    age_locks(launches)
    made.found = check(launches, list(made.acknowledged.values()))
    sys.stdout.write(f"{len(made.acknowledged)} pins were answered, {made.kills} kills\n")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--pins", type=int, default=200)
    parser.add_argument("--folders", type=int, default=3)
    options = parser.parse_args()
    stories: dict[str, Callable[[Launches], int]] = {
        "at once": lambda made: many_at_once(made, options.writers, options.sessions),
        "rivals": lambda made: rivals(made, options.writers, options.sessions),
        "rivals that re-pin": lambda made: rivals(
            made, options.writers, options.sessions, is_repin=True
        ),
        "killed": lambda made: killed(made, options.kills, options.seed),
    }
    if options.seconds:
        stories = {
            "storm": lambda made: (
                storm(
                    made,
                    options.seconds,
                    options.processes,
                    options.pins,
                    options.folders,
                    options.seed,
                ).found
            )
        }
    for story, run in stories.items():
        with tempfile.TemporaryDirectory() as name:
            launches = Launches(Workspace(Path(name)))
            launches.workspace.git("init", "--quiet")
            launches.adopt(b"You are an agent.\n")
            start = time.monotonic()
            found = run(launches)
            sys.stdout.write(f"{story}: {found} found, {time.monotonic() - start:.1f} s\n")


if __name__ == "__main__":
    main()
