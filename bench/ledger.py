"""What a ledger of pins costs as it grows: sizes up to 1,000,000 through the real fold.

    python bench/ledger.py [--pins 1000 10000 100000] [--all-fresh] [--cpu-time] [--folder DIR]

One repository grows from size to size. Spool files are written by the launch code in this process,
without waiting for the disk; everything that is measured waits. Half of the prompts are new, the
others come from a skewed pool of 500; with `--all-fresh` every one is new. Each record has all that
a launch of a provider's request gives: tools, head, provider, model.

The columns `design` and `budget` are what was promised before anything was built.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

from pvc.launch import disk, record, writer
from pvc.launch import prompt as prompts
from pvc.launch.pin import now
from pvc.launch.place import find
from pvc.launch.spool import Spool
from pvc.launch.version import Versions
from pvc.ops.fold import run as fold
from pvc.store.fold import NO_DELTAS
from pvc.store.index import refresh
from pvc.store.ledger import Ledger
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pvc.core.json_text import Value

MANIFEST = 'format = 1\nkind = "tree"\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'
TEXT = "You are an agent that works with care.\n" * 5 + "For {who}.\n"
POOL = 500
TOOL_SETS = 20
SHAPE = "anthropic.messages"
FOLD = 16_384
"""Pins of a fold while the ledger is built."""
SAMPLE = 200
MORE = 10_000


class Line(NamedTuple):
    """A row of the table: what it measures, what the design measured, what is allowed."""

    name: str
    design: str = ""
    budget: str = ""


LINES = {
    "fold": Line("fold, CPU µs a pin", "46–240"),
    "fold 256": Line("fold of 256 more, on the disk, ms"),
    "session": Line("look-up by session, p50 / p99 ms", "2.0 / 2.9", "3"),
    "digest": Line("look-up by digest, p50 / p99 ms", "2.0 / –", "3"),
    "newest": Line("newest 50, p50 ms", "2.3", "5"),
    "since": Line("newest 50 before the middle, p50 ms", "", "5"),
    "rebuild": Line("index made again, s", "4.4 at 1M"),
    "index": Line("index, MiB", "70 at 1M"),
    "gc": Line("git gc, s", "24 at 1M"),
    "packed": Line("packed, bytes a pin", "96–102, fresh 190", "130, fresh 260"),
    "bodies": Line("packed bodies, bytes a prompt", "", "600"),
    "fsck": Line("git fsck, s", "4.7 at 1M"),
    "verify": Line("verify, CPU µs a pin"),
    "verify chains": Line("verify --no-render, CPU µs a pin"),
    "verify MiB": Line("verify, most memory, MiB"),
    "push": Line("push of 10,000 more, s", "0.12–0.66", "1"),
    "push 0": Line("push of nothing, s", "0.01", "0.1"),
    "fetch": Line("fetch of 10,000 more, s", "0.17–0.66", "1"),
    "fetch 0": Line("fetch of nothing, s", "0.01–0.06", "0.1"),
}


class Site:
    """A repository whose ledger grows, a server, and somebody who fetches."""

    def __init__(self, folder: Path, *, all_fresh: bool, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.path, self.hub, self.peer = (folder / name for name in ("own", "hub.git", "peer.git"))
        self.random = random.Random(1)  # noqa: S311 - the same pins again, not a secret
        self.all_fresh = all_fresh
        self.pins = self.prompts = 0
        self.sessions: list[str] = []
        self._rendered: dict[tuple[str, int], prompts.Prompt] = {}
        self._make()
        self.place = find(str(self.path))
        self.version = Versions(self.place).named("agent")
        self.spool = Spool(self.place.home)
        self.repo = open_repository(str(self.path))

    def _make(self) -> None:
        (self.path / "agent").mkdir(parents=True)
        (self.path / "agent/pvc.toml").write_text(MANIFEST, encoding="utf-8")
        (self.path / "agent/AGENTS.md").write_text(TEXT, encoding="utf-8")
        for bare in (self.hub, self.peer):
            git(self.path.parent, "init", "-q", "--bare", str(bare))
            (bare / "info/attributes").write_bytes(NO_DELTAS)  # as docs/hooks.md has it on servers
        git(self.path, "init", "-q")
        for name, value in (("user.name", "bench"), ("user.email", "bench@example.com")):
            git(self.path, "config", name, value)
        for words in (["init", "agent"], ["supersede", "agent", "-m", "x", "--accept-findings"]):
            git(self.path, "add", "-A")
            git(self.path, "commit", "-qm", "agent", "--allow-empty")
            subprocess.run(
                [sys.executable, "-m", "pvc", *words],
                cwd=self.path,
                check=True,
                capture_output=True,
            )
        self.writer = writer.ensure(str(self.path / ".git/pvc"))

    # --- growing --------------------------------------------------------------------------------

    def grow(self, count: int) -> float:
        """Pin and fold; gives the CPU seconds of the folds."""
        spent = 0.0
        while count:
            some = min(count, FOLD)
            self.write(some)
            before = cpu_s()
            assert fold(self.repo).pins == some
            spent += cpu_s() - before
            count -= some
            print(f"\r{self.pins} pins", end="", file=sys.stderr, flush=True)
        return spent

    def write(self, count: int) -> None:
        """Write spool files as launches do, all but the waiting."""
        with mock.patch.object(disk, "sync", return_value=None):
            for _ in range(count):
                self._pin()

    def _pin(self) -> None:
        session = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        prompt = self._prompt()
        values: record.Record = {
            "format": record.FORMAT,
            "session": session,
            "chain": "main",
            "n": 0,
            "time": now(),
            "writer": self.writer,
            "tree": self.version.tree,
            "version": self.version.number,
            "commit": self.version.commit,
            "provider": SHAPE,
            "model": "a-model-of-this-year",
            **prompt.digests(),
        }
        for data in (prompt.environment, prompt.tools_body):
            if data is not None:
                self.spool.add_body(prompts.digest(data), data)
        assert self.spool.add(values, record.write(values))
        self.pins += 1
        if self.random.random() < 0.01 or len(self.sessions) < SAMPLE:
            self.sessions.append(session)

    def _prompt(self) -> prompts.Prompt:
        if self.all_fresh or self.random.random() < 0.5:
            self.prompts += 1
            tools = _skewed(self.random, TOOL_SETS)
            return self._render(f"user {self.random.getrandbits(64):016x}", tools)
        number = _skewed(self.random, POOL)
        key = (f"user {number}", number % TOOL_SETS)
        if key not in self._rendered:
            self.prompts += 1
            self._rendered[key] = self._render(*key)
        return self._rendered[key]

    def _render(self, who: str, tools: int) -> prompts.Prompt:
        listed: list[Value] = [
            {"name": f"tool_{tools}_{i}", "description": "Does things.", "input_schema": {}}
            for i in range(5)
        ]
        return prompts.render(self.version, {"who": who}, listed, SHAPE)

    # --- measuring ------------------------------------------------------------------------------

    def measure(self, fold_s: float, pins: int) -> dict[str, str]:
        """Measure what there is at this size; grows by 10,256 pins on the way."""
        found = {"fold": f"{1e6 * fold_s / pins:.0f}"}
        self.write(256)
        found["fold 256"] = f"{1000 * self._timed(lambda: fold(self.repo)):.0f}"
        found["gc"] = f"{self._timed(lambda: git(self.path, 'gc', '-q')):.1f}"
        found["fsck"] = f"{self._timed(lambda: git(self.path, 'fsck', '--no-dangling')):.1f}"
        self._reads(found)
        found["packed"] = f"{self._packed('pins') / self.pins:.0f}"
        found["bodies"] = f"{self._packed('bodies') / self.prompts:.0f}"
        self._verify(found)
        self._exchange(found)
        return found

    def _verify(self, found: dict[str, str]) -> None:
        for name, words in (("verify", []), ("verify chains", ["--no-render"])):
            command = [sys.executable, "-m", "pvc", "verify", *words]
            with subprocess.Popen(command, cwd=self.path, stdout=subprocess.DEVNULL) as child:
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            assert child.returncode == 0
            found[name] = f"{1e6 * (usage.ru_utime + usage.ru_stime) / self.pins:.0f}"
            found.setdefault("verify MiB", f"{usage.ru_maxrss / 1024:.0f}")

    def _reads(self, found: dict[str, str]) -> None:
        ledger = Ledger(self.repo)
        chosen = self.random.sample(self.sessions, SAMPLE)
        receipts = [ledger.session(session)[0].receipt[:20] for session in chosen]
        found["session"] = spread(self._timed(partial(ledger.session, each)) for each in chosen)
        found["digest"] = spread(self._timed(partial(ledger.digest, each)) for each in receipts)
        middle = ledger.session(self.sessions[len(self.sessions) // 2])[0].time
        lists: dict[str, Callable[[], object]] = {
            "newest": lambda: Ledger(self.repo).newest(50),
            "since": lambda: Ledger(self.repo).newest(50, until=middle),
        }
        for name, read in lists.items():
            found[name] = f"{1000 * statistics.median(self._timed(read) for _ in range(9)):.1f}"
        index = self.path / ".git/pvc/index"
        size = sum(path.stat().st_size for path in index.iterdir())
        found["index"] = f"{size / 2**20:.1f}"
        found["rebuild"] = f"{self._timed(lambda: refresh(self.repo, from_nothing=True)):.2f}"

    def _timed(self, action: Callable[[], object]) -> float:
        start = self.clock()
        action()
        return self.clock() - start

    def _packed(self, kind: str) -> int:
        """Give the bytes that one kind of ref takes, packed from nothing."""
        with tempfile.TemporaryDirectory(dir=self.path.parent) as name:
            git(self.path, "init", "-q", "--bare", name)
            git(self.path, "push", "-q", name, f"refs/pvc/{kind}/*:refs/pvc/{kind}/*")
            git(Path(name), "repack", "-adq")
            return sum(path.stat().st_size for path in Path(name).glob("objects/pack/*.pack"))

    def _exchange(self, found: dict[str, str]) -> None:
        push = ["push", "-q", str(self.hub), "refs/pvc/pins/*:refs/pvc/pins/*"]
        fetch = ["fetch", "-q", str(self.hub), "refs/pvc/pins/*:refs/pvc/remotes/hub/pins/*"]
        git(self.path, *push)
        git(self.peer, *fetch)
        self.grow(MORE)
        found["push"] = f"{self._timed(lambda: git(self.path, *push)):.2f}"
        found["push 0"] = f"{self._timed(lambda: git(self.path, *push)):.2f}"
        found["fetch"] = f"{self._timed(lambda: git(self.peer, *fetch)):.2f}"
        found["fetch 0"] = f"{self._timed(lambda: git(self.peer, *fetch)):.2f}"


def _skewed(chance: random.Random, count: int) -> int:
    return int(count * chance.random() ** 2)


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def cpu_s() -> float:
    """Give the CPU seconds of this process and of the children that ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def spread(seconds: Iterable[float]) -> str:
    ordered = sorted(seconds)
    return f"{1000 * ordered[len(ordered) // 2]:.1f} / {1000 * ordered[-len(ordered) // 100]:.1f}"


def table(columns: dict[int, dict[str, str]]) -> None:
    rows = [["", *(f"{size:,}" for size in columns), "design", "budget"]]
    for key, line in LINES.items():
        values = [column.get(key, "–") for column in columns.values()]
        rows.append([line.name, *values, line.design, line.budget])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *rest = row
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))


def run(sizes: list[int], *, all_fresh: bool, is_cpu: bool, folder: str | None) -> None:
    made = Path(tempfile.mkdtemp(dir=folder))
    start, columns = time.monotonic(), {}
    try:
        clock = cpu_s if is_cpu else time.perf_counter
        site = Site(made, all_fresh=all_fresh, clock=clock)
        for size in sorted(sizes):
            pins = max(size - site.pins, FOLD // 16)
            columns[size] = site.measure(site.grow(pins), pins)
            print(f"\r{size}: {columns[size]}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(made)
        print("\r", end="", file=sys.stderr)
    print("all prompts fresh" if all_fresh else "half of the prompts repeated", end=", ")
    print("CPU time" if is_cpu else "wall clock")
    table(columns)
    print(f"{time.monotonic() - start:.0f} s in all", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pins", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--all-fresh", action="store_true")
    parser.add_argument(
        "--cpu-time", action="store_true", help="measure CPU time, for a machine that others use"
    )
    parser.add_argument("--folder", help="where to build; by default the system's temporary folder")
    options = parser.parse_args()
    run(options.pins, all_fresh=options.all_fresh, is_cpu=options.cpu_time, folder=options.folder)


if __name__ == "__main__":
    main()
