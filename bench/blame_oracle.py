"""Forward is backward: two independent ways to the same answer, on real histories.

    python bench/blame_oracle.py BUNDLE…

BUNDLE is a git bundle with a branch `main`. `core.blame` walks its first parents forward; the
oracle of the tests follows every byte of the head backwards through plain lists. Each byte of each
file must have the same commit, path, content and offset in both. Exits with 1 where one differs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from core.generated import FakeHistory  # from the tests' folder
from core.history_oracle import blame_backwards, bytewise
from pvc.core.blame import annotate
from pvc.model.names import CommitId
from pvc.store.history import GitHistory
from pvc.store.open import open_repository


def differing(bundle: Path) -> int:
    """Compare both ways over one history; gives how many bytes differ."""
    folder = Path(tempfile.mkdtemp(prefix="pvc-oracle-"), "r")
    try:
        clone = ["git", "clone", "-q", "-b", "main", str(bundle.resolve()), str(folder)]
        subprocess.run(clone, check=True)
        repo = open_repository(folder)
        given = GitHistory(repo, CommitId(str(repo.rev_parse("main"))))
        steps = list(given.steps())
        named = {oid for s in steps for c in s.changes for oid in (c.old, c.new) if oid}
        history = FakeHistory({oid: given.blob(oid) for oid in named}, steps)
    finally:
        shutil.rmtree(folder.parent)
    start = time.process_time()
    forward = bytewise(annotate(history))
    middle = time.process_time()
    backward = blame_backwards(history)
    end = time.process_time()
    wrong = sum(a != b for p in backward for a, b in zip(forward[p], backward[p], strict=True))
    size = sum(map(len, backward.values()))
    print(
        f"{bundle.stem}: {len(steps)} commits, {len(backward)} files, {size} bytes:"
        f" {wrong} differ (forward {middle - start:.1f} s, backward {end - middle:.1f} s)"
    )
    return wrong if forward.keys() == backward.keys() else size


if __name__ == "__main__":
    sys.exit(1 if sum([differing(Path(name)) for name in sys.argv[1:]]) else 0)
