"""Real repositories from whole trees, made by one `git fast-import`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

FIRST_SECOND = 1_700_000_000


def write_history(
    path: Path,
    commits: Iterable[tuple[Sequence[int], Mapping[str, bytes]]],
    *,
    message: Callable[[int], str] = "Commit {}".format,
    ref: str = "refs/heads/main",
    is_chain: bool = False,
) -> None:
    """Make a repository whose `ref` ends at the last commit; `refs/made/N` names each.

    A commit is `(numbers of its parents, whole tree)`; commits count from 0. Of a chain no more
    than one tree is kept in memory.
    """
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    child = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--force"], cwd=path, stdin=subprocess.PIPE
    )
    assert child.stdin is not None
    before: dict[int, Mapping[str, bytes]] = {}
    number = -1
    for number, (parents, tree) in enumerate(commits):
        text = message(number).encode()
        who = b"Ada <ada@example.org> %d +0000" % (FIRST_SECOND + 60 * number)
        child.stdin.write(b"commit refs/made/%d\nmark :%d\n" % (number, number + 1))
        child.stdin.write(b"author %s\ncommitter %s\n" % (who, who))
        child.stdin.write(b"data %d\n%s\n" % (len(text), text))
        for at, parent in enumerate(parents):
            child.stdin.write(b"%s :%d\n" % (b"merge" if at else b"from", parent + 1))
        old = before[parents[0]] if parents else {}
        for name, data in tree.items():
            if old.get(name) != data:
                child.stdin.write(b"M 100644 inline %s\n" % name.encode())
                child.stdin.write(b"data %d\n%s\n" % (len(data), data))
        for name in old:
            if name not in tree:
                child.stdin.write(b"D %s\n" % name.encode())
        before[number] = tree
        if is_chain:
            before.pop(number - 1, None)
    child.stdin.write(b"reset %s\nfrom :%d\n" % (ref.encode(), number + 1))
    child.stdin.close()
    assert child.wait() == 0
