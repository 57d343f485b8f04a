"""What reaches the disk, in which order, told by the system calls; and a kill at each of them.

The order is what a power cut sees; a kill is a real one, sent by strace before the call is made.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from shutil import which
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cli.conftest import Clone, Done

pytestmark = pytest.mark.skipif(which("strace") is None, reason="strace shows the system calls")

NAMES = ("link", "linkat", "rename", "renameat", "renameat2")
CALLS = ("fsync", "fdatasync", "mkdir", "unlink", *NAMES)
LONG = "PVC_LONG_TESTS" in os.environ


class Call(NamedTuple):
    """One system call that did not fail: its name and the paths that it names."""

    name: str
    paths: tuple[str, ...]


def strace(clone: Clone, *words: str, calls: tuple[str, ...] = CALLS, inject: str = "") -> Done:
    """Run `pvc WORDS` under strace, which writes the file `trace`."""
    options = ["-f", "-y", "-s", "4096", "-o", "../trace", "-e", f"trace={','.join(calls)}"]
    options += ["-e", f"inject={inject}"] if inject else []
    return clone.run(["strace", *options, sys.executable, "-m", "pvc", *words])


def calls_of(clone: Clone) -> list[Call]:
    """Read the calls that did something to what lies below the git folder, and answers."""
    calls = []
    for line in (clone.path.parent / "trace").read_text().splitlines():
        match = re.match(r"\d+ +(\w+)\((.*)\) += 0|\d+ +(write)\((1<pipe.*)", line)
        if match is not None:
            name, rest = match[1] or match[3], match[2] or match[4]
            paths = re.findall(r'[<"](/[^>"]*)[>"]', rest)
            calls.append(Call(name, tuple(path.partition("/.git/")[2] for path in paths)))
    return calls


@dataclass
class Disk:
    """What would be left after a power cut: names count once their folder is synced."""

    synced: set[str] = field(default_factory=set)
    pending: dict[str, set[str]] = field(default_factory=dict)

    def play(self, call: Call) -> None:
        """Let a call have its effect; what gets a name must have its bytes on the disk."""
        if call.name in ("fsync", "fdatasync"):
            self.synced.add(call.paths[0])
            self.pending.pop(call.paths[0], None)
        elif call.name == "mkdir":
            self._name(call.paths[0])
        elif call.name in NAMES and not call.paths[1].startswith("pvc/cache/"):  # it is made again
            assert call.paths[0] in self.synced, f"{call.paths[1]} is named before it is synced"
            self._name(call.paths[1])

    def _name(self, path: str) -> None:
        self.pending.setdefault(str(PurePath(path).parent).removeprefix("."), set()).add(path)

    def lost(self, *below: str) -> list[str]:
        """Give the names below these folders that a power cut would take away now."""
        names = [name for folder in self.pending.values() for name in folder]
        return sorted(name for name in names if name.startswith(below))


def play(clone: Clone, points: dict[str, tuple[str, ...]]) -> Counter[str]:
    """Play a trace; when a call on a path that starts so comes, nothing below may be lost."""
    disk, met = Disk(), Counter[str]()
    for call in calls_of(clone):
        target = "answer" if call.name == "write" else call.paths[-1]
        for point, below in points.items():
            kind, _, start = point.rpartition(" ")
            if target.startswith(start) and (not kind or kind == call.name):
                assert disk.lost(*below) == [], f"lost when `{call.name} {target}` comes"
                met[point] += 1
        disk.play(call)
    return met


@pytest.mark.parametrize("is_first", [True, False], ids=["first pin", "later pin"])
def test_a_pin_is_answered_when_it_would_survive_a_power_cut(
    adopted: Clone, *, is_first: bool
) -> None:
    if not is_first:
        adopted.pvc("pin", "agent", "--session", "before", "--set", "cwd=/")
    done = strace(
        adopted, "pin", "agent", "--session", "s", "--set", "cwd=/x", calls=(*CALLS, "write")
    )
    assert done.code == 0, done.err
    met = play(adopted, {"link pvc/spool/": ("pvc/spool/b/",), "answer": ("pvc/",)})
    assert met == {"link pvc/spool/": 2, "answer": 1}


def test_a_fold_syncs_bodies_then_segments_then_the_index_before_it_unlinks(
    adopted: Clone,
) -> None:
    for session in ("a", "b"):
        adopted.pvc("pin", "agent", "--session", session, "--set", f"cwd=/{session}")
    assert strace(adopted, "sync").text == "folded 2 pins\n"
    met = play(
        adopted,
        {
            "link refs/pvc/bodies/": ("objects/pack/",),
            "link refs/pvc/pins/": ("objects/pack/", "refs/pvc/bodies/", "objects/"),
            "rename pvc/index/": ("refs/pvc/pins/",),
            "unlink pvc/spool/": ("objects/", "refs/", "pvc/index/"),
        },
    )
    assert met["link refs/pvc/bodies/"] == met["link refs/pvc/pins/"] == 1
    assert met["unlink pvc/spool/"] == 4


def test_a_version_is_on_the_disk_before_its_ref(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nYou mend ships.\n")
    adopted.commit()
    assert strace(adopted, "supersede", "agent", "-m", "ships").code == 0
    met = play(adopted, {"rename refs/pvc/trees/": ("objects/",)})
    assert met == {"rename refs/pvc/trees/": 1}


def test_the_git_back_end_syncs_the_folders_that_git_does_not(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    adopted.git("config", "of-some-remote.promisor", "true")  # libgit2 cannot serve these
    assert strace(adopted, "sync").text == "folded 1 pin\n"
    points = {"rename refs/pvc/pins/": ("objects/",), "unlink pvc/spool/": ("objects/", "refs/")}
    assert play(adopted, points)["unlink pvc/spool/"] == 2


# --- kills ----------------------------------------------------------------------------------


def killed_everywhere(clone: Clone, words: Callable[[int], list[str]], most: int) -> Iterator[int]:
    """Kill `pvc WORDS` at call after call, at most so many; yields after each, to look."""
    clean = strace(clone, *words(0))
    assert clean.code == 0, clean.err
    own = (clone.path.parent / "trace").read_text().split(maxsplit=1)[0]
    counts = Counter(
        line.split()[1].partition("(")[0]
        for line in (clone.path.parent / "trace").read_text().splitlines()
        if line.startswith(own) and "(" in line
    )
    points = [(name, at) for name in CALLS for at in range(1, counts[name] + 1)]
    step = 1 if LONG else max(1, -(-len(points) // most))
    for number, (name, at) in enumerate(points[::step], 1):
        done = strace(clone, *words(number), inject=f"{name}:signal=SIGKILL:when={at}")
        assert done.code != 0, f"it was to die at {name} {at}"
        age_locks(clone)
        yield number


def age_locks(clone: Clone) -> None:
    """Let a minute pass for the ref locks that a killed process left."""
    for lock in (clone.path / ".git/refs/pvc").rglob("*.lock"):
        os.utime(lock, (0, 0))


def pins_of(clone: Clone) -> Counter[str]:
    """Count the pins of each session, from the segments themselves."""
    from pvc.store.codec import decode, split_segment
    from pvc.store.index import ledgers, new_segments
    from pvc.store.open import open_repository

    repo = open_repository(clone.path)
    return Counter(
        str(decode(data).session)
        for name, tip in ledgers(repo).items()
        if name.startswith("refs/pvc/pins/")
        for segment in new_segments(repo, name, None, tip)
        for data in split_segment(repo.blob(segment.pins))[0]
    )


@pytest.mark.parametrize("is_first", [True, False], ids=["first pin", "later pin"])
def test_a_pin_that_is_killed_is_there_whole_or_not_at_all(
    adopted: Clone, *, is_first: bool
) -> None:
    def words(number: int) -> list[str]:
        if is_first:
            (adopted.path / ".git/pvc/writer").unlink(missing_ok=True)  # all is set up again
        return ["pin", "agent", "--session", f"s{number}", "--set", f"cwd=/{number}"]

    sessions = Counter(["before", "s0"])
    adopted.pvc("pin", "agent", "--session", "before", "--set", "cwd=/")
    for number in killed_everywhere(adopted, words, 8):
        done = adopted.pvc(*words(number), "--json")
        assert json.loads(done.text)["status"] in ("pinned", "same")
        sessions[f"s{number}"] += 1
    listed = adopted.pvc("log", "--pins", "--json").json["pins"]
    assert Counter(pin["session"] for pin in listed) == sessions
    adopted.pvc("sync")
    assert pins_of(adopted) == sessions


def test_a_fold_that_is_killed_is_finished_by_the_next(adopted: Clone) -> None:
    def words(number: int) -> list[str]:
        for name in ("a", "b"):
            adopted.pvc("pin", "agent", "--session", f"{name}{number}", "--set", f"cwd=/{number}")
        return ["sync"]

    last = 0
    for number in killed_everywhere(adopted, words, 10):
        assert adopted.pvc("show", f"a{number}").code == 0
        last = number
    adopted.pvc("sync")
    assert pins_of(adopted) == Counter(f"{name}{i}" for name in "ab" for i in range(last + 1))
    assert not [p for p in (adopted.path / ".git/pvc/spool").iterdir() if len(p.name) == 32]
    adopted.git("fsck", "--strict")


def test_a_version_whose_adoption_is_killed_is_there_or_is_not(adopted: Clone) -> None:
    def words(number: int) -> list[str]:
        adopted.write("agent/10-role.md", f"# Role\n\nYou mend {number} ships.\n")
        adopted.commit()
        return ["supersede", "agent", "-m", f"{number} ships"]

    last = 0
    for number in killed_everywhere(adopted, words, 6):
        adopted.pvc("supersede", "agent", "-m", "again")
        last = number
    listed = adopted.pvc("log", "agent", "--json").json["versions"]
    assert [version["version"] for version in listed] == list(range(last + 2, 0, -1))
    adopted.git("fsck", "--strict")


def test_a_sync_that_is_killed_is_carried_out_by_the_next(hub: Clone, adopted: Clone) -> None:
    def words(number: int) -> list[str]:
        adopted.pvc("pin", "agent", "--session", f"s{number}", "--set", f"cwd=/{number}")
        return ["sync"]

    for _ in killed_everywhere(adopted, words, 6):
        assert "pins" in hub.refs()
    adopted.pvc("sync")
    own = adopted.git("for-each-ref", "--format=%(objectname)", "refs/pvc/pins")
    assert own == hub.git("for-each-ref", "--format=%(objectname)", "refs/pvc/pins")
    hub.git("fsck", "--strict")
