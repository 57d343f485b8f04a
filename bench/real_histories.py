"""Ask `pvc miss` about a real history, and hold each answer against git.

    python bench/real_histories.py REPOSITORY FOLDER [--branch main] [--states 20] [--distant 20]

REPOSITORY is any git repository or bundle, FOLDER one of its folders with Markdown files. States of
FOLDER, spread over its history, become versions of a `plain` tree, one pinned session each. For all
neighbors, distant pairs, and as many pairs backwards, four things are checked:

    byte     the first that differs, found here in the two prompts
    kind     one of an edited text: the states differ in nothing but sources
    owner    a version after the older one, up to the newer; a commit between the two states that
             touched the folder; and git's own diff of that commit has the words at the place, or
             it adds, removes or renames the file
    advice   "adopted between the two" forwards, "older than" backwards, with the owner's version

Prints a row and every answer that was wrong; exits with 1 unless there is none. Nothing of the
repository is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from adopt_history import PVC, adopt, call, spread

TEXT_KINDS = {
    *("prompt_text_edit", "catalog", "list_order", "block_moved", "whitespace", "line_endings"),
    *("unicode_form", "template_escape", "serializer_form"),
}
NEAR = 12
"""So many bytes around the place must be in git's diff."""


class History(NamedTuple):
    """An adopted history: commits of the states, each session's prompt and its version's number.

    A state with the text of the one before it makes no version.
    """

    work: Path
    folder: str
    commits: list[str]
    prompts: list[bytes]
    numbers: list[int]


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("repository", type=Path)
    arguments.add_argument("folder")
    arguments.add_argument("--branch", default="main")
    arguments.add_argument("--states", type=int, default=20)
    arguments.add_argument("--distant", type=int, default=20)
    options = arguments.parse_args()
    root = Path(tempfile.mkdtemp(prefix="pvc-real-"))
    try:
        made = build(root, options.repository.resolve(), options)
        pairs = choose(made, options.distant)
        right: Counter[str] = Counter()
        wrong = [each for pair in pairs for each in ask(made, pair, right)]
    finally:
        shutil.rmtree(root, ignore_errors=True)
    row = ", ".join(f"{what} {right[what]}" for what in ("byte", "kind", "owner", "advice"))
    print(f"{len(made.commits)} states, {right['pairs']} pairs that differ: {row} right")
    print("\n".join(wrong))
    return 1 if wrong or not pairs else 0


def build(root: Path, repository: Path, options: argparse.Namespace) -> History:
    work, whole = root / "work", root / "whole"
    call(["git", "clone", "-q", "--bare", str(repository), str(whole)], root)
    call(["git", "init", "-q", "-b", options.branch, str(work)], root)
    # The folder's history alone: a partial copy of a repository may lack its large files.
    words = ["git", "fast-export", "--reencode=yes", "--signed-tags=strip", options.branch]
    exported = call([*words, "--", "--", options.folder], whole)  # git drops the first
    subprocess.run(["git", "fast-import", "--quiet"], cwd=work, input=exported, check=True)
    call(["git", "checkout", "-q", options.branch], work)
    commits = spread(work, options.folder, options.states)
    adopt(work, options.folder, commits)
    names = [f"session:s{i}" for i in range(len(commits))]
    prompts = [call([*PVC, "show", name, "--bytes"], work) for name in names]
    pins = [json.loads(call([*PVC, "show", name, "--json"], work))["pin"] for name in names]
    numbers = [pin["version"] for pin in pins]
    return History(work, options.folder, commits, prompts, numbers)


def choose(made: History, distant: int) -> list[tuple[int, int]]:
    """Give all neighbors, `distant` further pairs, and some of both the other way round."""
    last = len(made.commits) - 1
    near = [(i, i + 1) for i in range(last)]
    far = [(i, j) for i in range(last) for j in range(i + 2, last + 1)]
    Random(1).shuffle(far)  # noqa: S311  # which pairs, not secrets
    forwards = near + far[:distant]
    return forwards + [(j, i) for i, j in forwards[:: max(1, len(forwards) // 10)]]


def ask(made: History, pair: tuple[int, int], right: Counter[str]) -> list[str]:
    a, b = pair
    old, new = made.prompts[a], made.prompts[b]
    if old == new:
        return []
    right["pairs"] += 1
    words = [*PVC, "miss", f"session:s{a}", f"session:s{b}", "--json"]
    answer: dict[str, Any] = json.loads(call(words, made.work, 0, 1))
    at = next(
        (k for k, (x, y) in enumerate(zip(old, new, strict=False)) if x != y),
        min(len(old), len(new)),
    )
    place, owner = answer["first_divergence"] or {}, answer["owner"] or {}
    faults = {
        "byte": place.get("leaf_byte_offset") != at,
        "kind": answer["kind"] not in TEXT_KINDS,
        "owner": not is_confirmed(made, pair, at, owner),
        "advice": not is_advised(pair, owner, answer["advice"]),
    }
    right.update(what for what, is_wrong in faults.items() if not is_wrong)
    who = (owner.get("version"), (owner.get("source") or {}).get("commit", "")[:12])
    return [
        f"  {what} s{a} -> s{b} at {at}: {answer['kind']}, {owner.get('change')} by {who}, "
        f"{owner.get('origin', {}).get('path')}; {answer['advice'][:90]}"
        for what, is_wrong in faults.items()
        if is_wrong
    ]


def number_of(owner: dict[str, Any]) -> int:
    version = owner.get("version")
    return version if isinstance(version, int) else -1


def is_confirmed(made: History, pair: tuple[int, int], at: int, owner: dict[str, Any]) -> bool:
    low, high = sorted(pair)
    if not made.numbers[low] < number_of(owner) <= made.numbers[high]:
        return False
    source = owner.get("source")
    if source is None:
        return False
    commit = source["commit"]
    states = made.commits[low], made.commits[high]
    words = ["git", "rev-list", f"{states[0]}..{states[1]}", "--", made.folder]
    if commit not in call(words, made.work).decode().split():
        return False
    show = ["git", "show", "--format=", "-m", "--first-parent", "-M"]
    status = call([*show, "--name-status", commit, "--", made.folder], made.work).decode()
    if any(line[:1] in "ADR" for line in status.split("\n") if line.endswith(".md")):
        return True
    patch = call([*show, "-U0", "--no-color", commit, "--", made.folder], made.work)
    signed = [line[1:] for line in patch.split(b"\n") if line[:1] in b"+-" and line[:1]]
    old, new = (made.prompts[i] for i in sorted(pair))
    nearby = [near(text, at) for text in (old, new)]
    return any(words in line if words else not line.strip() for words in nearby for line in signed)


def near(text: bytes, at: int) -> bytes:
    """Cut what is before and behind a place out of its line; nothing of a blank one."""
    start = text.rfind(b"\n", 0, at) + 1
    end = text.find(b"\n", at)
    line = text[start : end if end >= 0 else len(text)]
    return line[max(0, at - start - NEAR) : at - start + NEAR].strip()


def is_advised(pair: tuple[int, int], owner: dict[str, Any], advice: str) -> bool:
    label = f"@{number_of(owner)}"
    if pair[0] > pair[1]:
        return "older than" in advice and bool(owner.get("undone"))
    return "was adopted between the two" in advice and label in advice


if __name__ == "__main__":
    sys.exit(main())
