"""`git blame` is the oracle: a line that one commit wrote whole is that commit's, here as there."""

from __future__ import annotations

import subprocess
from random import Random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from histories import write_history
from pvc.core.blame import Options
from pvc.model.names import CommitId
from pvc.store.annotations import Annotations
from pvc.store.file_history import annotate_file
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pvc.core.blame import Annotation

Lines = list[bytes]


def line(random: Random) -> bytes:
    """A line of words that no other line has: no two lines are alike."""
    return b" ".join(b"%x" % random.getrandbits(60) for _ in range(random.randint(2, 6))) + b"\n"


def edited(random: Random, lines: Lines) -> Lines:
    """Put in, take out or replace whole lines."""
    lines = list(lines)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(lines) + 1)
        match random.randrange(3):
            case 0:
                lines[at:at] = [line(random) for _ in range(random.randint(1, 4))]
            case 1:
                del lines[at : at + random.randint(1, 2)]
            case _:
                lines[at : at + 1] = [line(random)]
    return lines


def history(seed: int, size: int) -> list[tuple[list[int], dict[str, bytes]]]:
    """Two branches that edit two halves of a file, merged now and then; merges add a line too."""
    random = Random(seed)  # noqa: S311 - text for tests, not secrets
    halves: list[tuple[Lines, Lines]] = [([line(random)] * 1, [line(random)] * 1)]
    commits: list[list[int]] = [[]]
    main = side = 0
    middle: dict[int, Lines] = {0: [line(random)]}
    for number in range(1, size):
        kind = random.randrange(4)
        if kind == 3 and main != side:
            parents = [main, side]
            halves.append((halves[main][0], halves[side][1]))
            extra = [line(random)] if random.random() < 0.5 else []
            middle[number] = middle[main] + extra
            main = side = number
        elif kind in (0, 3):
            parents = [main]
            halves.append((edited(random, halves[main][0]), halves[main][1]))
            middle[number] = middle[main]
            main = number
        else:
            parents = [side]
            halves.append((halves[side][0], edited(random, halves[side][1])))
            middle[number] = middle[side]
            side = number
        commits.append(parents)
    if main != side:
        commits.append([main, side])
        halves.append((halves[main][0], halves[side][1]))
        middle[size] = middle[main]
    texts = [b"".join((*a, *middle[n], *b)) for n, (a, b) in enumerate(halves)]
    return [
        (parents, {"a.md": text} if text else {})
        for parents, text in zip(commits, texts, strict=True)
    ]


def whole_lines(annotation: Annotation, path: str, data: bytes) -> dict[int, CommitId]:
    """The lines whose words one commit wrote, by number from 1; a line end may be older."""
    owner = [run.commit for run in annotation.runs(path) for _ in range(run.start, run.end)]
    out = {}
    at = 0
    for number, text in enumerate(data.splitlines(keepends=True), 1):
        commits = {owner[at + k] for k, byte in enumerate(text) if byte not in b" \n"}
        at += len(text)
        if len(commits) == 1:
            out[number] = commits.pop()
    return out


def as_git_says(path: Path, file: str) -> dict[int, str]:
    out = subprocess.run(
        ["git", "blame", "--porcelain", "main", "--", file],
        cwd=path,
        capture_output=True,
        check=True,
    ).stdout.decode()
    heads = (row.split(" ") for row in out.split("\n") if len(row) > 40 and row[40] == " ")
    return {int(words[2]): words[0] for words in heads if len(words[0]) == 40}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000), size=st.integers(2, 25))
def test_lines_that_one_commit_wrote_are_that_commits_as_for_git(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int
) -> None:
    path = tmp_path_factory.mktemp("made")
    made = history(seed, size)
    write_history(path, made)
    data = made[-1][1].get("a.md")
    if data is None:
        return
    repo = open_repository(path)
    tip = CommitId(str(repo.rev_parse("main")))
    options = Options(moves=False)
    theirs = as_git_says(path, "a.md")
    for annotation in (
        annotate_file(repo, tip, "a.md", options)[0],
        Annotations(repo, graph=True, options=options).at(tip),
    ):
        ours = whole_lines(annotation, "a.md", data)
        assert ours.items() <= theirs.items()
        assert len(ours) == len(theirs)  # all lines are edited whole here
    repo.close()
