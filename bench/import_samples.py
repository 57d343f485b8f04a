"""Take over prompts that other people wrote, and hold every answer against git's own.

    python bench/import_samples.py [--clio FRAGMENTS] [--skills BUNDLE] [--versions 20] [--keep]

FRAGMENTS is a folder of Clio fragments: imported, superseded, rendered, pinned, blamed section by
section; each byte must be git's byte at the place that blame names. BUNDLE is a git bundle with a
branch `main` and skills below `p/skills`: `p` becomes a tree of form `harness`, superseded along
that history; each version must hold the very tree of its commit, and no skill may cost a byte of
the prompt. Prints figures, then `N checks, M failed`; exits with 1 unless M is 0.
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
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Importer",
    "GIT_AUTHOR_EMAIL": "importer@example.org",
    "GIT_COMMITTER_NAME": "Importer",
    "GIT_COMMITTER_EMAIL": "importer@example.org",
}
SESSION = {
    "provider": "anthropic",
    "model": "m-1",
    "contextWindow": 200000,
    "providerSupportsTools": True,
    "toolNames": ["read", "edit", "context", "gateway"],
    "contextFiles": "The office mends ferries.",
    "memorySection": "High water was at nine.",
}


class Place:
    """A repository that is worked in, and the checks that were made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done = self.failed = 0

    def check(self, held: bool, what: str) -> None:  # noqa: FBT001  # the one thing it is about
        """Count one check and print what did not hold."""
        self.done += 1
        if not held:
            self.failed += 1
            print(f"FAILED: {what}")

    def call(self, *command: str) -> bytes:
        """Run a command that must succeed."""
        done = subprocess.run(
            command, cwd=self.path, env=ENVIRONMENT, capture_output=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} → {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    def pvc(self, *words: str) -> bytes:
        """Run pvc; gives its stdout."""
        return self.call(*PVC, *words)

    def json(self, *words: str) -> Any:
        """Run pvc with `--json`."""
        return json.loads(self.pvc(*words, "--json"))

    def commit(self, message: str) -> None:
        """Commit everything that is there."""
        self.call("git", "add", "-A")
        self.call("git", "commit", "-q", "-m", message)


# --- Clio's fragments -----------------------------------------------------------------------


def take_over_clio(place: Place, fragments: Path) -> None:
    place.call("git", "init", "-q", "-b", "main", ".")
    imported = place.json("import", "clio", str(fragments), "--name", "clio")
    place.commit("Take over the fragments")
    files = sorted(path for path in fragments.rglob("*") if path.is_file())
    for path in files:
        inner = path.relative_to(fragments).as_posix()
        held = place.call("git", "cat-file", "blob", f"HEAD:clio/{inner}")
        place.check(held == path.read_bytes(), f"{inner} is not the byte that it was")
    place.check(imported["files"] == len(files), "not every file was counted")
    corrupting = [f for f in imported["findings"] if f["severity"] == "corrupting"]
    for finding in imported["findings"]:
        print(f"  {finding['severity']}: {finding['message']}")
    accept = ["--accept-findings"] if corrupting else []
    adopted = place.json("supersede", "clio", "-m", "Take over the fragments", *accept)
    safety = sorted(f["section"] for f in imported["understood"] if "safety." in f["section"])
    values = {"session": SESSION, "safety": safety[0]}
    (place.path / "values.json").write_text(json.dumps(values), encoding="utf-8")
    data = place.pvc("render", "clio", "--env", "values.json")
    place.pvc("pin", "clio", "--session", "first", "--env", "values.json")
    place.check(place.pvc("show", "session:first", "--bytes") == data, "the pin shows other bytes")
    sections = blame_sections(place, data, adopted["commit"])
    print(
        f"clio: {len(files)} fragments, {imported['bytes']} bytes taken over; a prompt of "
        f"{len(data)} bytes in {sections} sections; every byte has its owner"
    )


def blame_sections(place: Place, data: bytes, version: str) -> int:
    """Blame each section of the pin; its runs tile it, and each byte of a file is git's."""
    runs = place.json("blame", "session:first")["runs"]
    names = list(dict.fromkeys(run["section"] for run in runs if run["section"]))
    for name in names:
        part = place.json("blame", "session:first", "--section", name)["runs"]
        ends = [run["end"] for run in part]
        place.check(ends[:-1] == [run["start"] for run in part[1:]], f"{name}: runs do not tile")
        for run in part:
            origin = run["origin"]
            if origin["kind"] == "source":
                blob = place.call("git", "cat-file", "blob", f"{version}:{origin['path']}")
                size = run["end"] - run["start"]
                there = blob[origin["offset"] : origin["offset"] + size]
                same = there == data[run["start"] : run["end"]]
                place.check(same and run["commit"] is not None, f"{name}: {run} is another byte")
            else:
                place.check(origin["kind"] in ("binding", "glue"), f"{name}: {run} has no owner")
    return len(names)


# --- skills along a history -----------------------------------------------------------------


def take_over_skills(place: Place, bundle: Path, wanted: int) -> None:
    place.call("git", "clone", "-q", "-b", "main", str(bundle), ".")
    lines = place.call("git", "log", "--first-parent", "--reverse", "--format=%H", "--", "p/skills")
    there = [
        commit
        for commit in lines.decode().split()
        if place.call("git", "ls-tree", commit, "--", "p/skills")  # empty where all skills went
    ]
    commits = spread(there, wanted)
    versions = []
    for number, commit in enumerate(commits):
        place.call("git", "checkout", "-q", "--detach", commit)
        if number == 0:
            write_desk(place.path / "p")
            place.pvc("init", "p")
        found = place.json("supersede", "desk", "--worktree", "-m", f"State {number}")
        versions.append((commit, found["commit"] or found["superseded"], len(found["findings"])))
        place.pvc("pin", "desk", "--session", f"s{number}")
    first = place.pvc("render", "desk@1")
    files = 0
    for number, (commit, version, _) in enumerate(versions):
        mine = place.call("git", "ls-tree", "-r", version, "skills/")
        theirs = place.call("git", "ls-tree", "-r", "--full-tree", f"{commit}:p", "skills/")
        place.check(mine == theirs != b"", f"version of {commit} holds other skills")
        shown = place.pvc("show", f"session:s{number}", "--bytes")
        place.check(shown == first, f"s{number}: a skill moved the prompt")
        files = len(mine.splitlines())
    moves = [move for row in place.json("log", "desk")["versions"] for move in row["moves"]]
    place.check(all(move["lost_bytes"] == 0 for move in moves), "pvc log says that bytes moved")
    place.check(place.call("git", "fsck", "--strict") == b"", "git fsck finds something")
    print(
        f"skills: {len(lines.split())} commits, {len({v for _, v, _ in versions})} versions of up "
        f"to {files} skill files, {len(moves)} adoptions, 0 of {len(first)} prompt bytes moved, "
        f"{versions[-1][2]} findings in the last"
    )


def write_desk(folder: Path) -> None:
    manifest = 'format = 1\nname = "desk"\nform = "harness"\n'
    (folder / "pvc.toml").write_text(manifest, encoding="utf-8")
    text = "Read the skill that fits before you start.\n"
    (folder / "systemprompt.md").write_text(text, encoding="utf-8")


def spread(commits: list[str], wanted: int) -> list[str]:
    """Choose commits over a history, first and last among them."""
    step = max(1, (len(commits) - 1) / max(1, wanted - 1))
    chosen = [commits[min(len(commits) - 1, round(i * step))] for i in range(wanted)]
    return list(dict.fromkeys(chosen))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--clio", type=Path)
    arguments.add_argument("--skills", type=Path)
    arguments.add_argument("--versions", type=int, default=20)
    arguments.add_argument("--keep", action="store_true")
    options = arguments.parse_args()
    root = Path(tempfile.mkdtemp(prefix="pvc-import-"))
    places = []
    try:
        for name, given in (("clio", options.clio), ("skills", options.skills)):
            if given is not None:
                (root / name).mkdir()
                places.append(Place(root / name))
                if name == "clio":
                    take_over_clio(places[-1], given.resolve())
                else:
                    take_over_skills(places[-1], given.resolve(), options.versions)
    finally:
        if options.keep:
            print(f"kept {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    done, failed = sum(p.done for p in places), sum(p.failed for p in places)
    print(f"{done} checks, {failed} failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
