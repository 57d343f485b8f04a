"""What a pin costs a session's launch: whole processes beside `python -c pass`, interleaved.

    python -m build --wheel && python -m venv V && V/bin/pip install dist/*.whl
    V/bin/python bench/pin.py [--form FORM]

Each form that compiles has its own 24 KB prompt: `plain` by default, `all` for one after the other.
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
from typing import TYPE_CHECKING, Any, NamedTuple

from pvc.ops.fold import run as fold
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT_BYTES = 24 * 1024
FOLDED = 1000
BATCH = 2000
BUDGETS = {"pin --set": 1.6, "pin --env": 2.0, "pin --env --tools": 2.0, "pin, cold cache": 12.0}
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


class Tree(NamedTuple):
    """A tree of one form: its manifest's last line, its files, the values of a launch."""

    more: str
    files: dict[str, str]
    values: dict[str, Any]


LINE = "A line of the prompt, long enough to be one.\n"
TEXT = (LINE * (PROMPT_BYTES // len(LINE) + 1))[:PROMPT_BYTES]
FRAGMENT = "---\nid: {}\nversion: 1\ndescription: A piece.\n---\n{}"
LOOM = {
    "workspace": "/srv/harbour",
    "platform": "linux x86_64",
    "shell": "/bin/bash",
    "tools": ["read_file", "edit_file"],
    "enforcement": "PlatformEnforced",
    "network": {"kind": "NetworkBlocked"},
}
FORMS = {
    "plain": Tree('bindings = ["who"]', {"AGENTS.md": TEXT + "For {who}.\n"}, {"who": "Ann"}),
    "loom": Tree("packs = {builtin-loom = 1}", {"house_rules.md": TEXT}, LOOM),
    "harness": Tree(
        "packs = {builtin-harness = 1}",
        {"systemprompt.md": TEXT[:12_000], "guardrails.md": TEXT[:11_900]},
        {"sections": [{"id": "identity", "text": "You work for Ann."}]},
    ),
    "clio": Tree(
        "packs = {builtin-clio = 1}",
        {
            "clio.md": FRAGMENT.format("identity.clio", "You work for Ann.\n"),
            "contract.md": FRAGMENT.format("operating.contract", TEXT),
            "safety.md": FRAGMENT.format("safety.default", "Be safe.\n"),
        },
        {"session": {"toolNames": ["read", "edit"], "providerSupportsTools": True}},
    ),
    "panto": Tree("packs = {builtin-panto = 1}", {"layers/user/SYSTEM.md": TEXT}, {}),
    "raku": Tree("", {"identity.md": TEXT}, {"platform": "x", "os": "linux", "date": "today"}),
}


def make_repository(folder: Path, pvc: str, form: str) -> None:
    """Make a tree of one version with a 24 KB prompt, and some folded pins."""
    tree = FORMS[form]
    (folder / "agent").mkdir(parents=True)
    call(folder, "git", "init", "-q")
    for name, value in (("user.name", "bench"), ("user.email", "bench@example.com")):
        call(folder, "git", "config", name, value)
    manifest = f'format = 1\nkind = "tree"\nname = "agent"\nform = "{form}"\n{tree.more}\n'
    for path, text in {"pvc.toml": manifest, **tree.files}.items():
        (folder / "agent" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "agent" / path).write_text(text, encoding="utf-8")
    (folder / "env.json").write_text(json.dumps(tree.values), encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    call(folder, pvc, "init", "agent")
    call(folder, "git", "add", "-A")
    call(folder, "git", "commit", "-qm", "agent")
    call(folder, pvc, "supersede", "agent", "-m", "first", "--accept-findings")
    lines = [{"tree": "agent", "session": f"old-{i}", "env": tree.values} for i in range(FOLDED)]
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


def in_process(folder: Path, rounds: int, values: dict[str, Any]) -> None:
    """Compare a pin inside a process with the raw system calls."""
    from pvc.launch import disk
    from pvc.launch.call import Call
    from pvc.launch.pin import Pinner
    from pvc.launch.place import find

    pinner = Pinner(find(str(folder)))
    pinner.until_count = 1 << 30  # folds beside it have figures of their own
    scratch = folder / "raw"
    scratch.mkdir()
    times: dict[str, list[tuple[float, float]]] = {"pin": [], "raw": []}

    def pin(number: int) -> None:
        call = Call()
        call.tree, call.session, call.environment = "agent", f"in-{number}", values
        assert pinner.pin([call])[0].status == "pinned"

    def raw(number: int) -> None:
        disk.link(disk.write_temporary(str(scratch), bytes(600)), f"{scratch}/{number}")
        disk.sync_folder(str(scratch))

    for number in range(rounds):
        for action in (pin, raw) if number % 2 else (raw, pin):
            start, cpu = time.perf_counter(), time.thread_time()
            action(number)
            took = (time.perf_counter() - start, time.thread_time() - cpu)
            times[action.__name__].append(took)
    for at, clock in enumerate(("wall clock", "CPU")):
        a, b = (statistics.median(took[at] for took in times[name]) for name in ("pin", "raw"))
        budget = "  (budget 1.5)" if at == 0 else ""
        print(
            f"in process, {clock}: pin {1e6 * a:.0f} µs, raw {1e6 * b:.0f} µs,"
            f" {a / b:.2f} ×{budget}"
        )


def batch(folder: Path, pvc: str, form: str) -> None:
    """Pin many sessions through one process, start included; a group shares its syncs."""
    values = FORMS[form].values
    sets = {"the same values": [values] * BATCH}
    if form == "plain":
        sets["values of their own"] = [{"who": f"number {i}"} for i in range(BATCH)]
    for name, given in sets.items():
        lines = [
            json.dumps({"tree": "agent", "session": f"{name} {i}", "env": one})
            for i, one in enumerate(given)
        ]
        start = time.perf_counter()
        call(folder, pvc, "pin", "--batch", data="\n".join(lines).encode())
        took = time.perf_counter() - start
        print(f"--batch, {BATCH} sessions with {name}: {BATCH / took:.0f} pins a second")


def measure(form: str, pvc: str, rounds: int) -> None:
    """Measure the pins of one form."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # a fold may still run
        folder = Path(name, "repository")
        make_repository(folder, pvc, form)
        pin = [pvc, "pin", "agent", "--session"]
        given, label = ["--env", "env.json"], "pin --env"
        if form == "plain":  # the form of `--set` alone
            given, label = ["--set", "who=Ann"], "pin --set"
        tools = ["--env", "env.json", "--tools", "tools.json"]
        compared(
            {
                "python -c pass": lambda _: [sys.executable, "-c", "pass"],
                "python, blake3": lambda _: [sys.executable, "-c", "import blake3"],
                label: lambda i: [*pin, f"a{i}", *given],
                "pin --env --tools": lambda i: [*pin, f"b{i}", *tools],
                "pin, known, spooled": lambda _: [*pin, "a-2", *given],
                "pin, known, folded": lambda _: [*pin, "old-7", *given],
                "pin, cold cache": lambda i: uncached(folder, [*pin, f"c{i}", *given]),
            },
            folder,
            rounds,
        )
        in_process(folder, 10 * rounds, FORMS[form].values)
        batch(folder, pvc, form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=[*FORMS, "all"], default="plain")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--pvc", default=str(Path(sys.executable).with_name("pvc")))
    options = parser.parse_args()
    for form in FORMS if options.form == "all" else [options.form]:
        if options.form == "all":
            print(f"\n### {form}", flush=True)
        measure(form, options.pvc, options.rounds)


if __name__ == "__main__":
    main()
