"""Pins and folds that are killed at random moments, and many at once: what was answered is found.

    python tests/launch/crash.py --kills 100 --writers 16 --sessions 50

The tests run a small version of it.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

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


def start_folding(launches: Launches) -> subprocess.Popen[bytes]:
    here = Path(__file__).resolve().parent
    source = f"{environment()['PYTHONPATH']}:{here}:{here.parent}"
    return subprocess.Popen(
        [sys.executable, "-c", FOLD, str(launches.path)],
        cwd=launches.path,
        env=environment(PYTHONPATH=source),
        stderr=subprocess.PIPE,
    )


def start_pinning(
    launches: Launches, name: str, sessions: int, value: str = ""
) -> subprocess.Popen[bytes]:
    """Pin many sessions in one process; with a `value`, all with that one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pvc", "pin", "--batch"],
        cwd=launches.path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    lines = [
        {"tree": "agent", "session": f"{name}-{i}", "set": {"who": value or f"{name}-{i % 7}"}}
        for i in range(sessions)
    ]
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    process.stdin.close()
    return process


def answers_of(process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """Read what a process answered; a cut last line is no answer."""
    assert process.stdout is not None
    *whole, _ = process.stdout.read().split(b"\n")
    process.wait()
    return [json.loads(line) for line in whole]


def receipts(process: subprocess.Popen[bytes]) -> list[str]:
    """Read the receipts of what a process pinned; nothing may have been refused."""
    answers = answers_of(process)
    assert all(answer["status"] in ("pinned", "same") for answer in answers), answers
    return [answer["receipt"] for answer in answers]


def check(launches: Launches, acknowledged: list[str]) -> int:
    """Fold what is left; every acknowledged pin is there, and none twice. Gives their number."""
    launches.fold()
    stored = Counter(receipt_of_all(launches))
    lost = set(acknowledged) - set(stored)
    assert not lost, f"{len(lost)} acknowledged pins are lost"
    twice = [receipt for receipt, count in stored.items() if count > 1]
    assert not twice, f"{len(twice)} pins are recorded twice"
    keys = Counter((p.session, p.chain, p.n) for p in launches.ledger().newest(None))
    assert max(keys.values()) == 1, "two pins of one session, chain and number"
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
    acknowledged = [receipt for process in pinning for receipt in receipts(process)]
    assert folding.poll() is None, folding.stderr.read() if folding.stderr else ""
    folding.kill()
    folding.wait()
    assert len(set(acknowledged)) == writers * sessions
    return check(launches, acknowledged)


def rivals(launches: Launches, processes: int, sessions: int) -> int:
    """Pin the same sessions from many processes, each with its own value, while another folds.

    One value wins a session, everybody is told which, and the winner is what is stored.
    """
    folding = start_folding(launches)
    pinning = [start_pinning(launches, "s", sessions, f"value-{i}") for i in range(processes)]
    answers = [answers_of(process) for process in pinning]
    folding.kill()
    folding.wait()
    acknowledged = []
    for told in zip(*answers, strict=True):
        statuses = Counter(answer["status"] for answer in told)
        assert statuses == {"pinned": 1, "refused": processes - 1}, told
        assert len({answer["receipt"] for answer in told}) == 1, told
        acknowledged.append(told[0]["receipt"])
    assert check(launches, acknowledged) == sessions
    return sessions


def killed(launches: Launches, rounds: int, seed: int) -> int:
    """Kill a pinning and a folding process at random moments, round after round."""
    chance = random.Random(seed)
    acknowledged: list[str] = []
    for number in range(rounds):
        pinning = start_pinning(launches, f"k{number}", 150)
        folding = start_folding(launches)
        time.sleep(chance.uniform(0.03, 0.6))
        first, second = (pinning, folding) if chance.random() < 0.5 else (folding, pinning)
        first.send_signal(signal.SIGKILL)
        time.sleep(chance.uniform(0, 0.05))
        second.send_signal(signal.SIGKILL)
        acknowledged += receipts(pinning)
        folding.wait()
    check(launches, acknowledged)
    return len(acknowledged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    stories: dict[str, Callable[[Launches], int]] = {
        "at once": lambda made: many_at_once(made, options.writers, options.sessions),
        "rivals": lambda made: rivals(made, options.writers, options.sessions),
        "killed": lambda made: killed(made, options.kills, options.seed),
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
