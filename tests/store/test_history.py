"""Chains as blame walks them; `git log --raw` is the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.core.blame import Change, Step
from pvc.errors import NotFoundError
from pvc.model.names import CommitId, ObjectId
from pvc.store.file_history import FileHistory
from pvc.store.history import GitHistory, is_complete
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.store.open import BackEnd
    from pvc.store.repo import Repository
    from workspace import Workspace


def busy(workspace: Workspace) -> list[CommitId]:
    """Make commits that add, change, move, remove, and swap a file for a folder."""
    made = [
        workspace.commit({"p/a.md": "1", "p/s/b.md": "2", "other": "x"}),
        workspace.commit({"other": "y"}),
        workspace.commit({"p/a.md": "1 more"}),
    ]
    workspace.git("mv", "p/s/b.md", "p/c.md")
    made.append(workspace.commit())
    workspace.git("rm", "-q", "p/a.md")
    made.append(workspace.commit({"p/a.md/inner.md": "now a folder"}))
    (workspace.path / "p/link").symlink_to("c.md")
    made.append(workspace.commit())
    workspace.git("rm", "-q", "-r", "p")
    made += [workspace.commit(), workspace.commit({"p/a.md": "back"})]
    return made


def as_git_says(workspace: Workspace, prefix: str, revisions: str = "HEAD") -> tuple[Step, ...]:
    log = workspace.git(
        "log", "--first-parent", "--reverse", "--root", "-m", "--raw", "--no-abbrev",
        "--no-renames", "--format=commit %H", revisions,
    )  # fmt: skip
    steps: list[tuple[CommitId, list[Change]]] = []
    for line in log.split("\n"):
        if line.startswith("commit "):
            steps.append((CommitId(line[7:]), []))
        elif line.startswith(":"):
            head, path = line.split("\t")
            old_mode, new_mode, old, new, _ = head[1:].split(" ")
            a = ObjectId(old) if old_mode.startswith("100") else None
            b = ObjectId(new) if new_mode.startswith("100") else None
            if path.startswith(prefix) and a != b:
                steps[-1][1].append(Change(path.removeprefix(prefix), a, b))
    return tuple(Step(commit, tuple(changes)) for commit, changes in steps)


def touching(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out what changes nothing, but for the tip."""
    return (*(step for step in steps[:-1] if step.changes), *steps[-1:])


def in_order(steps: tuple[Step, ...]) -> tuple[tuple[CommitId, frozenset[Change]], ...]:
    return tuple((step.commit, frozenset(step.changes)) for step in steps)


@pytest.mark.parametrize("prefix", ["", "p/", "p/s/", "nowhere/"])
def test_steps_are_what_git_log_says(
    repository: Repository, workspace: Workspace, prefix: str
) -> None:
    made = busy(workspace)
    history = GitHistory(repository, made[-1], prefix)
    assert in_order(touching(history.steps())) == in_order(touching(as_git_says(workspace, prefix)))


def test_a_range_begins_after_its_commit(repository: Repository, workspace: Workspace) -> None:
    made = busy(workspace)
    history = GitHistory(repository, made[-2], "p", since=made[2])
    said = as_git_says(workspace, "p/", f"{made[2]}..{made[-2]}")
    assert in_order(touching(history.steps())) == in_order(touching(said))
    with pytest.raises(NotFoundError, match="git log"):
        GitHistory(repository, CommitId("0" * 40)).steps()


def test_a_merge_is_one_step_on_the_first_parent(
    repository: Repository, workspace: Workspace
) -> None:
    workspace.commit({"a.md": "1"})
    workspace.git("checkout", "-q", "-b", "side")
    workspace.commit({"b.md": "2"})
    workspace.git("checkout", "-q", "main")
    workspace.commit({"c.md": "3"})
    workspace.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    tip = CommitId(workspace.oid("HEAD"))
    steps = GitHistory(repository, tip).steps()
    assert [[change.path for change in step.changes] for step in steps] == [
        ["a.md"],
        ["c.md"],
        ["b.md"],
    ]
    assert in_order(steps) == in_order(as_git_says(workspace, ""))


def forked(workspace: Workspace) -> CommitId:
    """Make two branches that touch `p/`, and merge them."""
    workspace.commit({"p/a.md": "1\n", "other": "x"})
    workspace.git("checkout", "-q", "-b", "side")
    workspace.commit({"other": "side"})
    workspace.commit({"p/b.md": "2\n"})
    workspace.git("checkout", "-q", "main")
    workspace.commit({"p/a.md": "1\n3\n"})
    workspace.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    return CommitId(workspace.oid("HEAD"))


def test_a_graph_gives_every_parent_before_its_children(
    repository: Repository, workspace: Workspace
) -> None:
    tip = forked(workspace)
    steps = GitHistory(repository, tip, "p", graph=True).steps()
    seen: set[CommitId] = set()
    for step in steps:
        assert step.parents is not None
        assert seen.issuperset(step.parents)
        seen.add(step.commit)
    main, side = workspace.oid("main~1"), workspace.oid("side")
    assert steps[-1].parents == (main, side)
    (change,) = steps[-1].changes
    assert change == Change("b.md", None, workspace.oid("side:p/b.md"))
    assert steps[-1].others == ({"b.md": workspace.oid("side:p/b.md")},)


def test_what_a_user_set_for_logs_changes_nothing(workspace: Workspace) -> None:
    tip = forked(workspace)

    def walked() -> tuple[object, ...]:
        repo = workspace.open()
        graph = GitHistory(repo, tip, "p", graph=True).steps()
        file = FileHistory(repo, tip, "p/a.md").steps()
        repo.close()
        return graph, file

    before = walked()
    for name, value in (
        ("log.follow", "true"),
        ("log.showRoot", "false"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
        ("diff.renames", "copies"),
        ("diff.noprefix", "true"),
        ("core.quotePath", "true"),
        ("core.abbrev", "4"),
    ):
        workspace.git("config", name, value)
    assert walked() == before


def test_a_graph_after_a_commit_has_only_what_that_does_not_have(
    repository: Repository, workspace: Workspace
) -> None:
    tip = forked(workspace)
    later = workspace.commit({"p/a.md": "4\n"})
    (step,) = GitHistory(repository, later, "p", since=tip, graph=True).steps()
    assert (step.commit, step.parents) == (later, (tip,))
    assert [change.path for change in step.changes] == ["a.md"]


def test_a_shallow_history_begins_where_it_was_cut(
    workspace: Workspace, tmp_path: Path, back_end: BackEnd
) -> None:
    made = [workspace.commit({"a.md": str(number)}) for number in range(4)]
    workspace.git("clone", "-q", "--depth=2", f"file://{workspace.path}", str(tmp_path / "shallow"))
    with_all, cut = workspace.open(back_end), open_repository(tmp_path / "shallow")
    assert is_complete(with_all, made[-1])
    assert not is_complete(cut, made[-1])
    steps = GitHistory(cut, made[-1]).steps()
    assert [step.commit for step in steps] == made[2:]
    assert steps[0].changes == (Change("a.md", None, workspace.oid(f"{made[2]}:a.md")),)
    with_all.close()
