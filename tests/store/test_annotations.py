"""Kept annotations: what is read back is what would be worked out, or it is worked out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from histories import write_history
from pvc.core import owners
from pvc.core.blame import Granularity, Options, annotate, dump
from pvc.model.names import CommitId
from pvc.store import records
from pvc.store.annotations import Annotations
from pvc.store.file_history import FileHistory, annotate_file
from pvc.store.history import GitHistory
from pvc.store.open import open_repository
from pvc.store.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pvc.core.blame import Annotation
    from pvc.store.repo import Repository

pytestmark = pytest.mark.usefixtures("git_format")


TEXTS = [
    b"Ask before you push.\n",
    b"Ask before you push to main.\nBe brief.\n",
    b"Ask somebody before you push to main.\nBe brief.\n",
    b"Ask somebody before you push to main.\nBe brief, and be kind.\n",
]
# 0 ─ 1 ─ 3 ─ 4 ─ 5     5 merges; 2 and 3 touch other files than each other
#      └─ 2 ──────┘
GRAPH = [
    ([], {"p/a": TEXTS[0], "x": b"0"}),
    ([0], {"p/a": TEXTS[1], "x": b"0"}),
    ([1], {"p/a": TEXTS[1], "p/b": b"From the side.\n", "x": b"0"}),
    ([1], {"p/a": TEXTS[2], "x": b"0"}),
    ([3], {"p/a": TEXTS[2], "x": b"1"}),
    ([4, 2], {"p/a": TEXTS[2], "p/b": b"From the side.\n", "x": b"1"}),
    ([5], {"p/a": TEXTS[3], "p/b": b"From the side.\n", "x": b"1"}),
]


@pytest.fixture
def made(workspace: object, tmp_path: Path) -> Iterator[tuple[Repository, list[CommitId]]]:
    """The graph above, and its commits."""
    path = tmp_path / "made"
    write_history(path, GRAPH)
    repo = open_repository(path)
    commits = [CommitId(str(repo.rev_parse(f"refs/made/{n}"))) for n in range(len(GRAPH))]
    yield repo, commits
    repo.close()


def cold(repo: Repository, tip: CommitId, prefix: str = "", *, graph: bool = False) -> bytes:
    return dump(annotate(GitHistory(repo, tip, prefix, graph=graph)))


def files_of(repo: Repository) -> list[Path]:
    return sorted((repo.common_dir / records.FOLDER).glob("*/*"))


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("prefix", ["", "p"])
def test_what_is_resumed_or_read_equals_the_cold_answer(
    made: tuple[Repository, list[CommitId]], prefix: str, *, graph: bool
) -> None:
    repo, commits = made
    for at in (1, 4, 6, 6, 3):
        found = Annotations(repo, prefix, graph=graph).at(commits[at])
        assert dump(found) == cold(repo, commits[at], prefix, graph=graph)


def test_several_states_of_one_walk_are_each_the_cold_answer(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    asked = [commits[at] for at in (6, 4, 2, 1, 0)]
    found = Annotations(repo, "p", graph=True).at_each(asked)
    for commit in asked:  # where the folder was left alone, the commit before has the state
        wanted = annotate(GitHistory(repo, commit, "p", graph=True))
        assert found[commit].files.keys() == wanted.files.keys()
        assert all(found[commit].runs(p) == wanted.runs(p) for p in wanted.files)


def test_merged_text_belongs_to_the_branch_that_wrote_it(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    graph = Annotations(repo, "p", graph=True).at(commits[6])
    assert {run.commit for run in graph.runs("b")} == {commits[2]}
    chain = Annotations(repo, "p").at(commits[6])
    assert {run.commit for run in chain.runs("b")} == {commits[5]}


def test_a_walk_begins_at_the_nearest_record_that_bounds_it(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    history = Annotations(repo, "p", graph=True)
    history.at(commits[1])
    history.at(commits[4])
    assert next(history._resumes(commits[6])).commit == commits[1]  # 2 does not pass 4
    history.at(commits[5])
    assert next(history._resumes(commits[6])).commit == commits[5]


DAMAGES = {
    "cut short": lambda data: data[:-9],
    "a bit is another": lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
    "of a later format": lambda data: data.replace(b"/1 ", b"/2 ", 1),
    "empty": lambda data: data[:0],
    "something else": lambda data: b"x" * len(data),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_is_worked_out_and_written_anew(
    made: tuple[Repository, list[CommitId]], damage: object
) -> None:
    assert callable(damage)
    repo, commits = made
    right = dump(Annotations(repo).at(commits[6]))
    (file,) = files_of(repo)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert dump(Annotations(repo).at(commits[6])) == right
    assert file.read_bytes() == whole


def test_a_record_under_another_name_is_not_believed(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    Annotations(repo).at(commits[3])
    (file,) = files_of(repo)
    file.with_name(str(commits[6])).write_bytes(file.read_bytes())
    assert dump(Annotations(repo).at(commits[6])) == cold(repo, commits[6])
    words = Annotations(repo, options=Options(granularity=Granularity.BYTE))
    words._records.folder.mkdir()
    (words._records.folder / str(commits[3])).write_bytes(file.read_bytes())
    assert words._records.read(commits[3]) is None


def test_another_algorithm_has_records_of_its_own(
    made: tuple[Repository, list[CommitId]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, _ = made
    before = Records(repo, Options(), "first parents", "")
    monkeypatch.setattr(records, "ALGORITHM", owners.ALGORITHM + 1)
    after = Records(repo, Options(), "first parents", "")
    assert before.folder != after.folder


def test_a_folder_that_cannot_be_written_costs_no_answer(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    (repo.common_dir / "pvc").write_text("in the way")
    assert dump(Annotations(repo).at(commits[6])) == cold(repo, commits[6])


def test_the_oldest_records_go(
    made: tuple[Repository, list[CommitId]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, commits = made
    monkeypatch.setattr(records, "MOST_KEPT", 2)
    for commit in commits[:5]:
        Annotations(repo).at(commit)
    assert len(files_of(repo)) == 2


# --- one file -----------------------------------------------------------------------------------


def bytewise(annotation: Annotation, path: str) -> list[CommitId]:
    return [run.commit for run in annotation.runs(path) for _ in range(run.start, run.end)]


def test_a_file_alone_has_the_owners_that_it_has_in_its_folder(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    whole = Annotations(repo, graph=True).at(commits[6])
    for path in ("p/a", "p/b", "x"):
        for _ in range(2):
            found, _ = annotate_file(repo, commits[6], path, Options())
            assert bytewise(found, path) == bytewise(whole, path)


def test_a_record_of_a_file_serves_until_the_file_changes(
    made: tuple[Repository, list[CommitId]],
) -> None:
    repo, commits = made
    _, walked = annotate_file(repo, commits[3], "p/a", Options())
    assert walked is not None
    _, walked = annotate_file(repo, commits[5], "p/a", Options())
    assert walked is None
    found, walked = annotate_file(repo, commits[6], "p/a", Options())
    assert walked is not None
    assert dump(found) == dump(annotate(FileHistory(repo, commits[6], "p/a")))


LONG = b"Ask somebody before you push to a branch that is not yours, and wait for an answer.\n"


def test_a_file_is_followed_through_renames(workspace: object, tmp_path: Path) -> None:
    path = tmp_path / "renamed"
    write_history(
        path,
        [
            ([], {"old.md": LONG}),
            ([0], {"old.md": LONG + b"Two.\n"}),
            ([1], {"d/new.md": LONG + b"Two.\n"}),
            ([2], {"d/newer.md": LONG + b"Two. Three.\n"}),
        ],
    )
    repo = open_repository(path)
    tip = CommitId(str(repo.rev_parse("main")))
    found, _ = annotate_file(repo, tip, "d/newer.md", Options())
    numbers = {repo.rev_parse(f"refs/made/{n}"): n for n in range(4)}
    runs = [(numbers[run.commit], run.path, run.end) for run in found.runs("d/newer.md")]
    assert runs == [
        (0, "old.md", len(LONG)),
        (1, "old.md", len(LONG) + 4),
        (3, "d/newer.md", len(LONG) + 11),
        (1, "old.md", len(LONG) + 12),
    ]
    repo.close()
