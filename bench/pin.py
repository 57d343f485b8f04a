"""What a pin costs a session's launch: whole processes beside `python -c pass`, interleaved.

    python -m build --wheel && python -m venv V && V/bin/pip install dist/*.whl
    V/bin/python bench/pin.py

Ratios of medians are the result; run it with the interpreter of an environment that pvc's wheel is
installed in, for an editable install starts otherwise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.ops.fold import run as fold
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT_BYTES = 24 * 1024
FOLDED = 1000
BUDGETS = {"pin --set": 1.6, "pin --env --tools": 2.0, "pin, cold cache": 12.0}
TOOLS = [
    {
        "name": f"tool_{i}",
        "description": "Reads, writes or lists something in the workspace. " * 3,
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    for i in range(20)
]


def call(folder: Path, *words: str, data: bytes | None = None) -> None:
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, input=data)


def make_repository(folder: Path, pvc: str) -> None:
    """Make a plain tree of one version with a 24 KB prompt, and some folded pins."""
    (folder / "agent").mkdir(parents=True)
    call(folder, "git", "init", "-q")
    for name, value in (("user.name", "bench"), ("user.email", "bench@example.com")):
        call(folder, "git", "config", name, value)
    line = "A line of the prompt, long enough to be one.\n"
    text = (line * (PROMPT_BYTES // len(line) + 1))[:PROMPT_BYTES]
    manifest = 'format = 1\nkind = "tree"\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'
    (folder / "agent/pvc.toml").write_text(manifest, encoding="utf-8")
    (folder / "agent/AGENTS.md").write_text(text + "You work for {who}.\n", encoding="utf-8")
    call(folder, "git", "add", "-A")
    call(folder, "git", "commit", "-qm", "agent")
    call(folder, pvc, "supersede", "agent", "-m", "first")
    lines = [{"tree": "agent", "session": f"old-{i}", "set": {"who": "Ann"}} for i in range(FOLDED)]
    data = "".join(json.dumps(one) + "\n" for one in lines).encode()
    call(folder, pvc, "pin", "--batch", data=data)
    fold(open_repository(str(folder)))


def uncached(folder: Path, words: list[str]) -> list[str]:
    """Empty the program cache, then give `words`."""
    for path in (folder / ".git/pvc/cache/v1").iterdir():
        path.unlink()
    return words


def timed(words: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compared(variants: dict[str, Callable[[int], list[str]]], folder: Path, rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(-2, rounds):
        for name, words in variants.items():
            took = timed(words(number), folder)
            if number >= 0:
                times[name].append(took)
    base = statistics.median(times["python -c pass"])
    for name, all_times in times.items():
        median = statistics.median(all_times)
        budget = f"  (budget {BUDGETS[name]})" if name in BUDGETS else ""
        print(f"{name:24} {1000 * median:7.1f} ms  {median / base:5.2f} ×{budget}")


def in_process(folder: Path, rounds: int) -> None:
    """Compare a pin inside a process with the raw system calls."""
    from pvc.launch import disk
    from pvc.launch.call import Call
    from pvc.launch.pin import Pinner
    from pvc.launch.place import find

    pinner = Pinner(find(str(folder)))
    scratch = folder / "raw"
    scratch.mkdir()
    raw, pins = [], []
    for number in range(rounds):
        call = Call()
        call.tree, call.session, call.environment = "agent", f"in-{number}", {"who": "Ann"}
        start = time.perf_counter()
        assert pinner.pin([call])[0].status == "pinned"
        middle = time.perf_counter()
        disk.link(disk.write_temporary(str(scratch), bytes(600)), f"{scratch}/{number}")
        disk.sync_folder(str(scratch))
        raw.append(time.perf_counter() - middle)
        pins.append(middle - start)
    a, b = statistics.median(pins), statistics.median(raw)
    print(f"in process: pin {1e6 * a:.0f} µs, raw {1e6 * b:.0f} µs, {a / b:.2f} ×  (budget 1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--pvc", default=str(Path(sys.executable).with_name("pvc")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "repository")
        make_repository(folder, options.pvc)
        Path(folder, "env.json").write_text(json.dumps({"who": "Ann"}), encoding="utf-8")
        Path(folder, "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
        pin = [options.pvc, "pin", "agent", "--session"]
        compared(
            {
                "python -c pass": lambda _: [sys.executable, "-c", "pass"],
                "python, blake3": lambda _: [sys.executable, "-c", "import blake3"],
                "pin --set": lambda i: [*pin, f"a{i}", "--set", "who=Ann"],
                "pin --env --tools": lambda i: [
                    *pin,
                    f"b{i}",
                    "--env",
                    "env.json",
                    "--tools",
                    "tools.json",
                ],
                "pin, known, spooled": lambda _: [*pin, "a-2", "--set", "who=Ann"],
                "pin, known, folded": lambda _: [*pin, "old-7", "--set", "who=Ann"],
                "pin, cold cache": lambda i: uncached(folder, [*pin, f"c{i}", "--set", "who=Ann"]),
            },
            folder,
            options.rounds,
        )
        in_process(folder, 10 * options.rounds)


if __name__ == "__main__":
    main()
