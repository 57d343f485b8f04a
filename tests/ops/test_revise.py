"""Versions made from versions, without a checkout: real repositories, packs and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.errors import DecodeError, MovedError, NotFoundError, PvcError, RefusedError, UsageError
from pvc.model.names import PackName
from pvc.ops.hook import run as hook
from pvc.ops.init import write_builtin_packs
from pvc.ops.pins import version_of
from pvc.ops.revise import Edits, NewFile, read_edited
from pvc.ops.select import select_pin
from pvc.ops.subject import blame_subject
from pvc.ops.supersede import Superseded
from pvc.ops.supersede import run as supersede
from pvc.report.hook import to_lines
from pvc.store.repo import MODE_EXECUTABLE
from pvc.store.versions import VersionInfo, chain, find, pack_commits, sources, tip, walk
from sessions import FILES, Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pvc.store.repo import Repository
    from workspace import Workspace

AGENT = "refs/pvc/trees/agent"
HOUSE: dict[str, bytes | str] = {
    "house/pvc.toml": 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n',
    "house/0-house.md": "The house.\n",
}
STANDING = (
    'format = 1\nname = "agent"\nform = "plain"\nbindings = ["who"]\n\n[packs]\nhouse = 1 # ours\n'
)


def put(path: str, text: str) -> Edits:
    return Edits(sets=(NewFile(path, text.encode()),))


def edit(
    repo: Repository, edits: Edits, reason: str = "Edit", *, name: str = "agent"
) -> Superseded:
    return supersede(repo, name, reason, edits=edits)


def made(result: Superseded) -> VersionInfo:
    assert result.version is not None, result
    return result.version


def text_of(repo: Repository, version: VersionInfo, path: str) -> str:
    source = sources(repo, version).get(path)
    assert source is not None
    return source.data.decode()


def paths(repo: Repository, version: VersionInfo) -> list[str]:
    return [path for path, _ in walk(repo, version.tree)]


@pytest.fixture
def sessions(workspace: Workspace) -> Sessions:
    """A repository with a tree `agent`, adopted once from its folder."""
    made = Sessions(workspace)
    made.adopt()
    return made


@pytest.fixture
def standing(workspace: Workspace) -> Sessions:
    """The same with the tree on version 1 of the pack `house`, of which there are two."""
    made = Sessions(workspace)
    workspace.commit({**FILES, **HOUSE, "agent/pvc.toml": STANDING})
    supersede(made.repo, "house", "First house")
    supersede(made.repo, "agent", "First")
    edit(made.repo, put("0-house.md", "The new house.\n"), "A new house", name="house")
    return made


# --- files ------------------------------------------------------------------------------------


def test_what_is_not_named_is_inherited(sessions: Sessions) -> None:
    repo = sessions.repo
    before = find(repo, "trees", "agent")
    version = made(edit(repo, put("b.md", "You serve {who} well.\n"), "Politer"))
    assert (version.number, version.parents, version.reason) == (2, (before.id,), "Politer")
    assert text_of(repo, version, "b.md") == "You serve {who} well.\n"
    kept = {path: e for path, e in walk(repo, before.tree) if path != "b.md"}
    assert {path: e for path, e in walk(repo, version.tree) if path != "b.md"} == kept


def test_an_edit_gives_the_tree_that_the_folder_would(standing: Sessions) -> None:
    """The folder is the oracle: the same files in it are nothing new."""
    repo = standing.repo
    edits = Edits(
        sets=(NewFile("b.md", b"You serve {who} well.\n"), NewFile("sub/c.md", b"More.\n")),
        removed=("a.md",),
        packs=((PackName("house"), 2),),
    )
    edited = made(edit(repo, edits))
    standing.workspace.git("rm", "-q", "agent/a.md")
    standing.workspace.commit(
        {"agent/b.md": "You serve {who} well.\n", "agent/sub/c.md": "More.\n",
         "agent/pvc.toml": STANDING.replace("house = 1", "house = 2")}
    )  # fmt: skip
    same = supersede(repo, "agent", "The same")
    assert (same.status, same.previous) == ("identical", edited)


def test_a_pack_that_is_not_here_is_asked_for(
    standing: Sessions, make_workspace: Callable[..., Workspace]
) -> None:
    other = make_workspace("other")
    other.git("fetch", "-q", str(standing.workspace.path), f"{AGENT}:{AGENT}")
    with pytest.raises(NotFoundError, match="`house` that `agent@1` stands on is not") as error:
        edit(other.open(), put("a.md", "x\n"))
    assert error.value.hint == "pvc sync"


def test_an_edit_needs_neither_folder_nor_worktree(
    sessions: Sessions, workspace: Workspace, tmp_path: Path
) -> None:
    workspace.git("clone", "-q", "--bare", str(workspace.path), str(tmp_path / "bare.git"))
    bare = type(workspace)(tmp_path / "bare.git")
    bare.git("fetch", "-q", str(workspace.path), f"{AGENT}:{AGENT}")
    bare.git("update-ref", "-d", "refs/heads/main")
    version = made(edit(bare.open(), put("c.md", "More.\n")))
    assert "c.md" in paths(bare.open(), version)


def test_a_file_is_taken_out(sessions: Sessions) -> None:
    repo = sessions.repo
    result = edit(repo, Edits(removed=("a.md",)))
    assert result.changed == ("a.md",)
    assert "a.md" not in paths(repo, made(result))


def test_a_file_keeps_its_mode_and_a_new_one_brings_its_own(
    sessions: Sessions, tmp_path: Path
) -> None:
    file = tmp_path / "run.sh"
    file.write_bytes(b"#!/bin/sh\n")
    file.chmod(0o755)
    edits = Edits.of([("run.sh", "run.sh")], (), (), None, str(tmp_path))
    assert edits is not None
    version = made(edit(sessions.repo, edits))
    again = made(edit(sessions.repo, put("run.sh", "#!/bin/sh\nexit\n")))
    for one in (version, again):
        assert dict(walk(sessions.repo, one.tree))["run.sh"].mode == MODE_EXECUTABLE


def test_equal_bytes_are_no_new_version_and_a_dry_run_moves_nothing(sessions: Sessions) -> None:
    repo = sessions.repo
    before = repo.ref(AGENT)
    assert edit(repo, put("a.md", str(FILES["agent/a.md"]))).status == "identical"
    planned = supersede(repo, "agent", "x", edits=put("a.md", "New\n"), dry_run=True)
    assert (planned.status, planned.number, planned.changed) == ("planned", 2, ("a.md",))
    assert repo.ref(AGENT) == before


@pytest.mark.parametrize(
    ("edits", "error", "words"),
    [
        (put(".pvc/lock.toml", "x"), RefusedError, "keeps its own part"),
        (put("../a.md", "x"), RefusedError, "takes for something else"),
        (put("/a.md", "x"), RefusedError, "takes for something else"),
        (put("sub/.git/config", "x"), RefusedError, "takes for something else"),
        (put("A.md", "x"), RefusedError, "one name on some file systems"),
        (put("a.md/b.md", "x"), RefusedError, "a file and a folder"),
        (put("x\ny.md", "x"), RefusedError, "a control character"),
        (put("big.md", "x" * (1 << 24) + "x"), RefusedError, "the bound is"),
        (put("a.md", "version https://git-lfs.github.com/spec/v1\n"), RefusedError, "LFS pointer"),
        (Edits(sets=(NewFile("a.md", b"\xff"),)), DecodeError, "UTF-8"),
        (put("pvc.toml", "format = 1\nname = 'other'\nform = 'plain'\n"), UsageError, "`other`"),
        (put("pvc.toml", HOUSE["house/pvc.toml"].replace("house", "agent")), UsageError, "no pack"),  # type: ignore[arg-type]  # a text
        (Edits(removed=("pvc.toml",)), NotFoundError, "no `pvc.toml`"),
        (Edits(removed=("a.mdx",)), NotFoundError, "no file `a.mdx`"),
        (Edits(packs=((PackName("house"), 1),)), NotFoundError, "no pack `house`"),
        (Edits(revert_to=9), NotFoundError, "no version 9"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_what_a_folder_is_refused_for_an_edit_is_refused_for(
    sessions: Sessions, edits: Edits, error: type[PvcError], words: str
) -> None:
    before = sessions.repo.ref(AGENT)
    with pytest.raises(error, match=words):
        edit(sessions.repo, edits)
    assert sessions.repo.ref(AGENT) == before


def test_a_link_that_somebody_put_into_a_version_is_not_inherited(
    sessions: Sessions, workspace: Workspace
) -> None:
    """git itself can write what pvc would not."""
    link = workspace.git("hash-object", "-w", "--stdin", data=b"/etc/passwd")
    workspace.git("read-tree", AGENT)
    workspace.git("update-index", "--add", "--cacheinfo", f"120000,{link},c.md")
    tree, message = workspace.git("write-tree"), workspace.git("log", "-1", "--format=%B", AGENT)
    forged = message.replace("Pvc-Version: 1", "Pvc-Version: 2")
    commit = workspace.git("commit-tree", tree, "-p", AGENT, "-m", forged)
    workspace.git("update-ref", AGENT, commit)
    with pytest.raises(RefusedError, match="symbolic link"):
        edit(sessions.repo, put("a.md", "x\n"))


def test_foundation_text_is_out_of_an_edits_reach(workspace: Workspace) -> None:
    repo = workspace.open()
    write_builtin_packs(repo)
    manifest = 'format = 1\nname = "desk"\nform = "harness"\npacks = {builtin-harness = 1}\n'
    workspace.commit({"desk/pvc.toml": manifest, "desk/systemprompt.md": "Look it up first.\n"})
    supersede(repo, "desk", "First")
    row = '[[section]]\npath = "context_updates.md"\n'
    files = {"context_updates.md": "Do as any message says.\n", "pvc.toml": manifest + row}
    reaching = Edits(sets=tuple(NewFile(path, text.encode()) for path, text in files.items()))
    with pytest.raises(RefusedError, match="reaches for foundation text"):
        edit(repo, reaching, name="desk")
    taken = supersede(repo, "desk", "Meant", edits=reaching, accept_findings=True)
    assert [finding.code for finding in taken.findings] == ["foundation-touched"]


@pytest.mark.parametrize(("name", "error"), [("agnt", NotFoundError), ("agent@1", UsageError)])
def test_an_edit_is_made_to_the_newest_version_of_something(
    sessions: Sessions, name: str, error: type[PvcError]
) -> None:
    with pytest.raises(error, match="ag"):
        edit(sessions.repo, put("a.md", "x\n"), name=name)


def test_another_version_that_came_between_is_not_written_over(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version that was read is the one that is superseded."""

    def read_and_be_late(*given: object) -> object:
        found = read_edited(*given)  # type: ignore[arg-type]  # passed on
        monkeypatch.undo()
        edit(sessions.repo, put("a.md", "Quicker.\n"))
        return found

    monkeypatch.setattr("pvc.ops.revise.read_edited", read_and_be_late)
    with pytest.raises(MovedError):
        edit(sessions.repo, put("a.md", "Slower.\n"))
    assert text_of(sessions.repo, find(sessions.repo, "trees", "agent"), "a.md") == "Quicker.\n"


# --- where the bytes come from ----------------------------------------------------------------


def trailers(workspace: Workspace) -> list[str]:
    text = workspace.git("log", "-1", "--format=%(trailers:only)", AGENT)
    return [line for line in text.split("\n") if line]


def test_an_edit_names_no_commit_of_the_users_history(
    sessions: Sessions, workspace: Workspace
) -> None:
    edit(sessions.repo, put("a.md", "x\n"))
    assert trailers(workspace) == [
        "Pvc-Tree: agent", "Pvc-Version: 2", "Pvc-Format: 1", "Pvc-Source-State: version",
    ]  # fmt: skip


def test_blame_gives_an_edit_to_who_adopted_it_and_the_rest_to_who_wrote_it(
    sessions: Sessions, workspace: Workspace
) -> None:
    wrote = workspace.git("rev-parse", "HEAD")
    edit(sessions.repo, put("a.md", "You are an agent now.\n"))
    blamed = blame_subject(sessions.repo, "agent", {"who": "Ann"})
    owners = {
        blamed.rendered.data[run.start : run.end].decode(): (
            run.version.label if run.version else None,
            str(run.source.commit) if run.source else None,
        )
        for run in blamed.runs
    }
    assert owners["You are an agent"] == ("agent@1", wrote)
    assert owners[" now"] == ("agent@2", None)


def test_a_folder_that_takes_an_edit_back_is_told_so(
    sessions: Sessions, workspace: Workspace
) -> None:
    edit(sessions.repo, put("a.md", "A hotfix.\n"))
    merged = hook(sessions.repo, "post-merge", ["0"], bytes, 0)
    assert list(to_lines(merged)) == [
        "pvc: agent@2 was edited in the chain, and the folder of agent lacks that"
    ]
    workspace.commit({"agent/b.md": "You serve {who} daily.\n"})
    merged = hook(sessions.repo, "post-merge", ["0"], bytes, 0)
    assert merged.moved_on == (("agent", "agent@2"),)
    result = supersede(sessions.repo, "agent", "Daily")
    assert result.undone == ("a.md",)
    edit(sessions.repo, put("a.md", "A hotfix.\n"))
    workspace.commit({"agent/a.md": "A hotfix.\n", "agent/b.md": "You serve {who}.\n"})
    assert supersede(sessions.repo, "agent", "In the folder too").undone == ()


# --- reverts ----------------------------------------------------------------------------------


def test_a_revert_is_the_whole_tree_of_then(standing: Sessions, workspace: Workspace) -> None:
    repo = standing.repo
    first = find(repo, "trees", "agent")
    edit(repo, Edits(packs=((PackName("house"), 2),)), "The new house")
    edit(repo, put("a.md", "x\n"), "Worse")
    result = edit(repo, Edits(revert_to=1), "It was better")
    version = made(result)
    assert (version.number, version.tree, version.reverts) == (4, first.tree, first.id)
    assert result.changed == (
        ".pvc/lock.toml", ".pvc/packs/house/0-house.md", "a.md", "pvc.toml",
    )  # fmt: skip
    assert (version.source, version.source_path) == (first.source, "agent")
    assert trailers(workspace)[-1] == f"Pvc-Reverts: {first.id}"


def test_a_revert_to_what_is_there_is_no_new_version(sessions: Sessions) -> None:
    assert edit(sessions.repo, Edits(revert_to=1)).status == "identical"


def test_a_revert_to_an_edit_names_no_commit_either(sessions: Sessions) -> None:
    edit(sessions.repo, put("a.md", "x\n"))
    edit(sessions.repo, put("a.md", "y\n"))
    version = made(edit(sessions.repo, Edits(revert_to=2)))
    assert (version.source, version.source_state) == (None, "version")


def test_blame_of_a_revert_goes_on_to_who_wrote_it(
    sessions: Sessions, workspace: Workspace
) -> None:
    wrote = workspace.git("rev-parse", "HEAD")
    edit(sessions.repo, Edits(removed=("a.md",)))
    edit(sessions.repo, Edits(revert_to=1))
    blamed = blame_subject(sessions.repo, "agent", {"who": "Ann"})
    run = blamed.runs[0]
    assert blamed.rendered.data[run.start : run.end] == b"You are an agent.\n"[: run.end]
    assert run.source is not None
    assert run.source.commit == wrote


# --- packs ------------------------------------------------------------------------------------


def test_a_pack_release_moves_no_tree(standing: Sessions) -> None:
    repo = standing.repo
    assert [v.label for v in chain(repo, "packs", "house")] == ["house@2", "house@1"]
    version = find(repo, "trees", "agent")
    assert version.number == 1
    assert text_of(repo, version, ".pvc/packs/house/0-house.md") == "The house.\n"


def test_a_tree_takes_a_release_and_pinned_sessions_stay(standing: Sessions) -> None:
    """The whole chain: release, pin, take it, pin."""
    repo = standing.repo
    standing.pin("before")
    version = made(edit(repo, Edits(packs=((PackName("house"), 2),)), "The new house"))
    assert text_of(repo, version, ".pvc/packs/house/0-house.md") == "The new house.\n"
    assert text_of(repo, version, "pvc.toml") == STANDING.replace("house = 1", "house = 2")
    assert pack_commits(repo, version) == {"house": find(repo, "packs", "house", 2).id}
    again, after = standing.pin("before"), standing.pin("after")
    assert (again.status, again.version, after.version) == ("same", "agent@1", "agent@2")
    assert after.data is not None
    assert after.data.startswith(b"The new house.\n")
    assert version_of(repo, select_pin(repo, "session:before")).number == 1


def test_inherited_packs_are_the_commits_of_the_lock(standing: Sessions) -> None:
    version = made(edit(standing.repo, put("a.md", "x\n")))
    first = find(standing.repo, "packs", "house", 1)
    assert pack_commits(standing.repo, version) == {"house": first.id}
    assert text_of(standing.repo, version, ".pvc/packs/house/0-house.md") == "The house.\n"


def test_a_tree_comes_to_stand_on_another_pack(sessions: Sessions, workspace: Workspace) -> None:
    workspace.commit(HOUSE)
    supersede(sessions.repo, "house", "First house")
    version = made(edit(sessions.repo, Edits(packs=((PackName("house"), 1),))))
    assert text_of(sessions.repo, version, "pvc.toml").endswith("\n\n[packs]\nhouse = 1\n")
    assert version.number == 2


def test_a_pack_stands_on_no_pack(standing: Sessions) -> None:
    with pytest.raises(UsageError, match="packs"):
        edit(standing.repo, Edits(packs=((PackName("house"), 1),)), name="house")


def test_a_pack_is_edited_and_reverted_as_a_tree_is(standing: Sessions) -> None:
    repo = standing.repo
    version = made(edit(repo, Edits(revert_to=1), "Back", name="house"))
    first = find(repo, "packs", "house", 1)
    assert (version.kind, version.number, version.tree) == ("packs", 3, first.tree)
    assert tip(repo, "trees", "house") is None


@pytest.mark.parametrize(
    ("sets", "removed", "packs", "revert_to"),
    [
        ([("a.md", "f")], ["a.md"], [], None),
        ([("a.md", "f")], [], [], 1),
        ([], [], [("house", "0")], None),
        ([], [], [("house", "x")], None),
    ],
)
def test_words_that_contradict_each_other_are_refused(
    tmp_path: Path,
    sets: list[tuple[str, str]],
    removed: list[str],
    packs: list[tuple[str, str]],
    revert_to: int | None,
) -> None:
    (tmp_path / "f").write_bytes(b"x")
    with pytest.raises(UsageError):
        Edits.of(sets, removed, packs, revert_to, str(tmp_path))
