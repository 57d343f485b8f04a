"""Attribute bare prompts of real histories, and time the alignment of a large one.

    python bench/align.py BUNDLE… [--prompts 200] [--large]

Each BUNDLE is a git bundle with a branch `main` and text files below `p/`. Its states become
versions of a `plain` tree, with a fragment of values put in front and one behind. Prompts are
rendered from versions chosen at random, with values filled in; then the pins are forgotten and the
bare bytes are attributed. A byte is right when it is traced to the same file content and place (or
the same value) as when it was rendered, wrong when to another, and else unclaimed.

`--large` makes a tree of 200 fragments and 1,000 versions, and times a 200 KB prompt of it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pvc.model.span import FromBinding, FromSource, Unversioned
from pvc.ops import supersede
from pvc.ops.attribute import attribute
from pvc.ops.render import render_version
from pvc.store.open import open_repository
from pvc.store.versions import chain, walk

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

MANIFEST = """format = 1
name = "adopted"
form = "plain"
files = ["**/*.md", "**/*.csv"]
bindings = ["cwd", "user", "today", "notes"]
"""
FIRST = "# Session\n\nYou work in {cwd} for {user}.\nToday is {today}.\n"
LAST = "# Notes\n\n{notes}\n\nThese notes are older than the request.\n"
WORDS = "tide pier crane ledger hull rope lamp notice route sailing crew berth fog".split(" ")  # noqa: SIM905 - a table


def git(where: Path, *words: str, data: bytes | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=where, input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def isolate(root: Path) -> None:
    """Give git a home and a name of its own."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    person = {"NAME": "Adopter", "EMAIL": "adopter@example.org"}
    os.environ.update(
        {f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in person.items()},
        HOME=str(root),
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_CONFIG_NOSYSTEM="1",
    )


def adopt(root: Path, bundle: Path, most: int) -> Repository:
    """Adopt the states of `p/`, spread over its history, as versions."""
    work = root / bundle.stem
    git(root, "clone", "-q", "-b", "main", str(bundle), str(work))
    logged = git(work, "log", "--first-parent", "--reverse", "--format=%H", "--", "p").split()
    listed = [commit for commit in logged if git(work, "ls-tree", commit, "p/")]
    step = max(1, len(listed) // most)
    git(work, "checkout", "-q", "--orphan", "states")
    for commit in listed[::step]:
        git(work, "read-tree", "--empty")
        shutil.rmtree(work / "p", ignore_errors=True)
        git(work, "checkout", "-q", commit, "--", "p")
        for path, text in (("pvc.toml", MANIFEST), ("a.md", FIRST), ("zz.md", LAST)):
            (work / "p" / path).write_text(text)
        git(work, "add", "-A", "p")
        git(work, "commit", "-q", "--allow-empty", "-m", f"State {commit}")
        with_open(work, lambda repo: supersede.run(repo, "adopted", "Adopt", accept_findings=True))
    return open_repository(work)


def with_open(work: Path, act: Any) -> None:
    repo = open_repository(work)
    try:
        act(repo)
    finally:
        repo.close()


def values(dice: random.Random) -> dict[str, str]:
    def some(most: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, most)))

    return {
        "cwd": f"/srv/{dice.choice(WORDS)}/{dice.randint(1, 99)}",
        "user": some(3).title(),
        "today": f"2026-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}",
        "notes": "\n".join(f"- {some(9)}." for _ in range(dice.randint(1, 12))),
    }


def places(repo: Repository, layers: Any, size: int) -> list[tuple[object, ...] | None]:
    """For each byte, the content and place that it is traced to; null where unclaimed."""
    found: list[tuple[object, ...] | None] = [None] * size
    for version, rendered in layers:
        blobs = {path: entry.oid for path, entry in walk(repo, version.tree)}
        for span in rendered.spans:
            origin = span.origin
            if isinstance(origin, Unversioned):
                continue
            for k, at in enumerate(range(span.start, span.end)):
                if found[at] is not None:
                    continue
                match origin:
                    case FromSource(path=path, offset=offset):
                        found[at] = (blobs[path], offset + k)
                    case FromBinding(pointer=pointer):
                        found[at] = (pointer,)
                    case other:
                        found[at] = (type(other).__name__,)
    return found


def score(repo: Repository, versions: list[VersionInfo], prompts: int) -> tuple[int, int, int]:
    dice = random.Random(4)  # noqa: S311  # the same prompts each time
    right = wrong = total = 0
    spent = 0.0
    for _ in range(prompts):
        version = dice.choice(versions)
        rendered = render_version(repo, version, values(dice)).rendered
        started = time.process_time()
        found = attribute(repo, rendered.data)
        spent += time.process_time() - started
        truth = places(repo, [(version, rendered)], len(rendered.data))
        layers = [(layer.version, layer.rendered) for layer in found.layers]
        answer = places(repo, layers, len(rendered.data))
        total += len(truth)
        right += sum(a == b for a, b in zip(answer, truth, strict=True))
        wrong += sum(a is not None and a != b for a, b in zip(answer, truth, strict=True))
    print(f"  {spent / prompts * 1000:.0f} ms CPU a prompt of {total // prompts} bytes")
    return right, wrong, total


def large(root: Path) -> None:
    """Time a prompt of a tree of 200 fragments and 1,000 versions."""
    dice = random.Random(5)  # noqa: S311  # as above
    work = root / "large"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")

    def line() -> str:
        return " ".join(dice.choice(WORDS) + str(dice.randint(0, 999)) for _ in range(9)) + ".\n"

    texts = {f"{i:03}.md": [line() for _ in range(14)] for i in range(200)}
    (work / "p").mkdir()
    (work / "p" / "pvc.toml").write_text(MANIFEST.replace(', "**/*.csv"', ""))
    (work / "p" / "zz.md").write_text(LAST + FIRST)
    for name, lines in texts.items():
        (work / "p" / name).write_text("".join(lines))
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Start")
    repo = open_repository(work)
    supersede.run(repo, "adopted", "Adopt")
    for _ in range(999):
        name = dice.choice(list(texts))
        texts[name][dice.randrange(14)] = line()
        (work / "p" / name).write_text("".join(texts[name]))
        supersede.run(repo, "adopted", "Adopt", state="worktree")
    versions = list(chain(repo, "trees", "adopted"))
    rendered = render_version(repo, versions[500], values(dice)).rendered
    started, clock = time.process_time(), time.perf_counter()
    found = attribute(repo, rendered.data)
    cpu, wall = time.process_time() - started, time.perf_counter() - clock
    stray = sum(len(s) for s in found.layers[0].rendered.spans if isinstance(s.origin, Unversioned))
    print(
        f"{len(rendered.data)} bytes against 200 fragments x {len(versions)} versions: "
        f"{cpu:.2f} s CPU, {wall:.2f} s; {found.layers[0].version.label} for "
        f"{versions[500].label}, {stray} bytes unclaimed"
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("bundles", nargs="*", type=Path)
    arguments.add_argument("--prompts", type=int, default=200)
    arguments.add_argument("--versions", type=int, default=40)
    arguments.add_argument("--large", action="store_true")
    options = arguments.parse_args()
    root = Path(tempfile.mkdtemp(prefix="pvc-align-"))
    isolate(root)
    sums = [0, 0, 0]
    try:
        for bundle in options.bundles:
            repo = adopt(root, bundle.resolve(), options.versions)
            versions = list(chain(repo, "trees", "adopted"))
            print(f"{bundle.stem}: {len(versions)} versions")
            found = score(repo, versions, options.prompts // len(options.bundles))
            sums = [a + b for a, b in zip(sums, found, strict=True)]
        if sums[2]:
            right, wrong = sums[0] / sums[2], sums[1] / sums[2]
            print(f"{sums[2]} bytes: {right:.3%} right, {wrong:.3%} wrong", flush=True)
        if options.large:
            large(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
