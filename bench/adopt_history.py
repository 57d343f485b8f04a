"""Adopt an existing history as versions of a `plain` tree, pin each, and check every answer.

    python bench/adopt_history.py BUNDLE [FOLDER] [--versions 10] [--keep]

BUNDLE is a git bundle with a branch `main`, FOLDER one of its folders with Markdown files. The
commits that changed FOLDER are spread over its history. For each neighbouring pair `pvc miss` must
name the first differing byte (found here by comparing the bytes) and a commit of the original
history that lies between the two and touched that file. Then `git log`, `git fsck` and `git gc
--prune=now` must find nothing wrong, and every pin must still show, here and on a second clone
after `pvc sync`. Prints `N checks, M failed`; exits with 1 unless M is 0.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PVC = [sys.executable, "-m", "pvc"]


class Checks:
    """Counts what held and says what did not."""

    def __init__(self) -> None:
        self.done = self.failed = 0

    def check(self, held: bool, what: str) -> None:  # noqa: FBT001  # the one thing it is about
        """Count one check and print what did not hold."""
        self.done += 1
        if not held:
            self.failed += 1
            print(f"FAILED: {what}")


def call(command: list[str], where: Path, *codes: int) -> bytes:
    """Run a command; its exit code must be one of `codes` (0 by default)."""
    done = subprocess.run(command, cwd=where, env=ENVIRONMENT, capture_output=True, check=False)
    if done.returncode not in (codes or (0,)):
        sys.exit(f"{' '.join(command)} → {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Adopter",
    "GIT_AUTHOR_EMAIL": "adopter@example.org",
    "GIT_COMMITTER_NAME": "Adopter",
    "GIT_COMMITTER_EMAIL": "adopter@example.org",
}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("bundle", type=Path)
    arguments.add_argument("folder", nargs="?", default="p/skills/brainstorming")
    arguments.add_argument("--versions", type=int, default=10)
    arguments.add_argument("--keep", action="store_true")
    options = arguments.parse_args()
    root = Path(tempfile.mkdtemp(prefix="pvc-history-"))
    try:
        checks = walk(root, options.bundle.resolve(), options.folder, options.versions)
    finally:
        if options.keep:
            print(f"kept {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"{checks.done} checks, {checks.failed} failed")
    return 1 if checks.failed or not checks.done else 0


def walk(root: Path, bundle: Path, folder: str, wanted: int) -> Checks:
    checks = Checks()
    work = root / "work"
    call(["git", "clone", "-q", "-b", "main", str(bundle), str(work)], root)
    call(["git", "init", "-q", "--bare", str(root / "hub.git")], root)
    call(["git", "remote", "add", "hub", str(root / "hub.git")], work)
    commits = spread(work, folder, wanted)
    adopt(work, folder, commits)
    prompts = [call([*PVC, "show", f"session:s{i}", "--bytes"], work) for i in range(len(commits))]
    for i in range(1, len(commits)):
        check_miss(checks, work, folder, (commits[i - 1], commits[i]), i, prompts)
    check_repository(checks, work, prompts)
    call([*PVC, "sync", "hub"], work)
    call(["git", "push", "-q", "hub", "main"], work)
    second = root / "second"
    call(["git", "clone", "-q", "-b", "main", str(root / "hub.git"), str(second)], root)
    call([*PVC, "sync"], second)
    check_repository(checks, second, prompts)
    return checks


def spread(work: Path, folder: str, wanted: int) -> list[str]:
    """Choose commits that changed the folder and left it there, spread evenly, oldest first."""
    lines = call(["git", "log", "--first-parent", "--reverse", "--format=%H", "--", folder], work)
    there = [
        commit
        for commit in lines.decode().split()
        if call(["git", "ls-tree", "-r", "--name-only", commit, f"{folder}/"], work)
    ]
    step = max(1, (len(there) - 1) / max(1, wanted - 1))
    return list(dict.fromkeys(there[min(len(there) - 1, round(i * step))] for i in range(wanted)))


def adopt(work: Path, folder: str, commits: list[str]) -> None:
    """One version and one pinned session at each commit."""
    for i, commit in enumerate(commits):
        call(["git", "checkout", "-q", "--detach", commit], work)
        if i == 0:
            call([*PVC, "init", folder, "--name", "adopted", "--form", "plain"], work)
        call([*PVC, "supersede", "adopted", "--worktree", "-m", f"State {i}"], work)
        call([*PVC, "pin", "adopted", "--session", f"s{i}"], work)


def check_miss(
    checks: Checks, work: Path, folder: str, pair: tuple[str, str], i: int, prompts: list[bytes]
) -> None:
    """Hold the answer of `pvc miss` against the bytes and the original history."""
    answer: dict[str, Any] = json.loads(
        call([*PVC, "miss", f"session:s{i - 1}", f"session:s{i}", "--json"], work, 0, 1)
    )
    before, after = prompts[i - 1], prompts[i]
    same = next(
        (k for k, (x, y) in enumerate(zip(before, after, strict=False)) if x != y),
        min(len(before), len(after)),
    )
    place = answer["first_divergence"]
    if before == after:
        checks.check(place is None, f"s{i}: equal prompts, yet a divergence")
        return
    checks.check(place is not None, f"s{i}: prompts differ, yet no divergence")
    if place is None:
        return
    checks.check(place["leaf_byte_offset"] == same, f"s{i}: byte {place} is not {same}")
    source = (answer["owner"] or {}).get("source")
    checks.check(source is not None, f"s{i}: no commit of the original history is named")
    if source is None:
        return
    between = (
        call(["git", "rev-list", f"{pair[0]}..{pair[1]}", "--", folder], work).decode().split()
    )
    checks.check(source["commit"] in between, f"s{i}: {source['commit']} is not between the two")
    touched = call(
        ["git", "show", "--format=", "--name-only", source["commit"], "--", folder], work
    ).decode()
    checks.check(source["path"] in touched.split("\n"), f"s{i}: {source} did not touch that file")


def check_repository(checks: Checks, work: Path, prompts: list[bytes]) -> None:
    """Everything still shows, and git finds nothing wrong, also after a collection."""
    call(["git", "log", "--oneline", "refs/pvc/trees/adopted"], work)
    for step in ("before", "after"):
        fsck = call(["git", "fsck", "--full", "--strict"], work)
        checks.check(fsck == b"", f"fsck {step} gc: {fsck.decode()}")
        for i, prompt in enumerate(prompts):
            shown = call([*PVC, "show", f"session:s{i}", "--bytes"], work)
            checks.check(shown == prompt, f"s{i} shows other bytes {step} gc")
        call(["git", "gc", "-q", "--prune=now"], work)


if __name__ == "__main__":
    sys.exit(main())
