"""Chains of versions: what is written, what is read, what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pvc.errors
from pvc.errors import CorruptError, MovedError, NotFoundError, RefusedError, UsageError
from pvc.model.names import CommitId
from pvc.model.source import Source
from pvc.store.repo import MODE_FILE, Entry, Moment, Person
from pvc.store.versions import (
    Taken,
    VersionInfo,
    at_commit,
    chain,
    changed_paths,
    find,
    join_message,
    names,
    pack_commits,
    sources,
    split_message,
    tip,
    version_tree,
    write_builtin,
    write_version,
)

if TYPE_CHECKING:
    from pvc.model.names import ObjectId
    from pvc.store.open import BackEnd
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind
    from workspace import Workspace

AGENT = "refs/pvc/trees/agent"
LOCK = b'format = 1\nform = "plain"\nrule = 1\n'


def tree_of(
    repo: Repository, files: dict[str, bytes], packs: dict[str, VersionInfo] | None = None
) -> ObjectId:
    rows = [Entry(path, MODE_FILE, repo.write_blob(data)) for path, data in files.items()]
    return version_tree(repo, rows, LOCK, packs or {})


def adopt(
    repo: Repository, text: bytes, reason: str = "why", *, kind: Kind = "trees", name: str = "agent"
) -> VersionInfo:
    tree = tree_of(repo, {"a.md": text})
    return write_version(
        repo, kind=kind, name=name, tree=tree, reason=reason, previous=tip(repo, kind, name)
    )


def raw_commit(repo: Repository, message: str, *parents: CommitId) -> CommitId:
    commit = repo.write_commit(repo.write_tree([]), parents, message)
    repo.move_ref(AGENT, repo.ref(AGENT), commit)
    return commit


# --- written and read -------------------------------------------------------------------------


def test_a_version_is_an_ordinary_commit(repository: Repository, workspace: Workspace) -> None:
    source = workspace.commit({"prompts/agent/a.md": "one"})
    pack = adopt(repository, b"words", "words\n", kind="packs", name="builtin-loom")
    tree = tree_of(repository, {"a.md": b"one", "s/b.md": b"two"}, {"builtin-loom": pack})
    made = write_version(
        repository, kind="trees", name="agent", tree=tree, reason="First words\r\n\r\nof it\n",
        previous=None, taken=Taken(source, "prompts/agent", "head"),
    )  # fmt: skip
    assert workspace.git("log", "-1", "--format=%B", AGENT) == (
        "First words\n\nof it\n\nPvc-Tree: agent\nPvc-Version: 1\nPvc-Format: 1\n"
        f"Pvc-Source: {source}\nPvc-Source-Path: prompts/agent\nPvc-Source-State: head\n"
    )
    assert workspace.git("ls-tree", "-r", "--name-only", AGENT).split("\n") == [
        ".pvc/lock.toml",
        ".pvc/packs/builtin-loom/a.md",
        "a.md",
        "s/b.md",
    ]
    assert workspace.git("interpret-trailers", "--parse", data=made_message(workspace)).startswith(
        "Pvc-Tree: agent\nPvc-Version: 1\n"
    )
    assert made == VersionInfo(
        "trees", "agent", 1, CommitId(workspace.oid(AGENT)), tree, (),
        Person("Ada Prompt", "ada@example.com"), made.time,
        "First words\n\nof it", source, "prompts/agent", "head",
    )  # fmt: skip
    assert (made.subject, made.label) == ("First words", "agent@1")
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""


def made_message(workspace: Workspace) -> bytes:
    return workspace.git("log", "-1", "--format=%B", AGENT).encode()


def test_all_that_a_version_renders_from_is_in_it(repository: Repository) -> None:
    pack = adopt(repository, b"words", kind="packs", name="words")
    made = write_version(
        repository, kind="trees", name="agent", reason="x", previous=None,
        tree=tree_of(repository, {"z.md": b"z", "Z/a.md": b"a"}, {"words": pack}),
    )  # fmt: skip
    assert [(source.path, source.data) for source in sources(repository, made)] == [
        (".pvc/lock.toml", LOCK),
        (".pvc/packs/words/a.md", b"words"),
        ("Z/a.md", b"a"),
        ("z.md", b"z"),
    ]


def lock_with(text: bytes, repo: Repository) -> VersionInfo:
    tree = version_tree(repo, [], text, {})
    return write_version(
        repo,
        kind="trees",
        name="agent",
        tree=tree,
        reason="x",
        previous=tip(repo, "trees", "agent"),
    )


def test_the_lock_says_which_commit_a_pack_came_from(repository: Repository) -> None:
    commit = CommitId("5" * 40)
    made = lock_with(b'[packs.words]\nversion = 1\ncommit = "%s"\n' % commit.encode(), repository)
    assert pack_commits(repository, made) == {"words": commit}
    assert pack_commits(repository, adopt(repository, b"none")) == {}


@pytest.mark.parametrize(
    "lock", [b"= =", b"\xff", b"packs = 1", b"[packs]\nx = 1", b"[packs.x]\ncommit = 'HEAD'"]
)
def test_a_damaged_lock_is_corrupt(repository: Repository, lock: bytes) -> None:
    with pytest.raises(CorruptError, match="the lock of `agent@1` is damaged"):
        pack_commits(repository, lock_with(lock, repository))


def test_a_chain_is_walked_newest_first(repository: Repository) -> None:
    made = [adopt(repository, str(number).encode(), f"reason {number}") for number in range(1, 5)]
    assert list(chain(repository, "trees", "agent")) == made[::-1]
    assert [version.number for version in made] == [1, 2, 3, 4]
    assert [find(repository, "trees", "agent", number) for number in range(1, 5)] == made
    assert find(repository, "trees", "agent") == tip(repository, "trees", "agent") == made[-1]
    assert at_commit(repository, made[1].id) == made[1]


def test_names_are_listed_by_kind(repository: Repository) -> None:
    for name in ("b", "a"):
        adopt(repository, b"x", name=name)
    adopt(repository, b"x", kind="packs", name="p")
    assert names(repository, "trees") == ("a", "b")
    assert names(repository, "packs") == ("p",)
    assert tip(repository, "packs", "nope") is None


def test_changed_paths_are_in_byte_order(repository: Repository) -> None:
    old = tree_of(repository, {"a": b"1", "b/c": b"2", "same": b"3", "x": b"file"})
    new = tree_of(repository, {"a": b"1 more", "Z": b"new", "same": b"3", "x/y": b"folder"})
    assert changed_paths(repository, old, new) == ("Z", "a", "b/c", "x", "x/y")
    assert changed_paths(repository, new, new) == ()
    assert ".pvc/lock.toml" in changed_paths(repository, None, new)


BUILTIN = {
    "sha1": "89308810cfb7f552a884cd4bb2ad3131b079afbe",
    "sha256": "5f9196871ec80a356b640dd35267eae41c0f0fc0c94346d5681d0d585e2de15d",
}


def test_a_builtin_pack_is_the_same_commit_everywhere(
    repository: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.git("config", "commit.gpgSign", "true")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "@1 +0000")
    made = write_builtin(repository, "builtin-x", [Source("pvc.toml", b"x"), Source("s/a", b"y")])
    assert made.id == BUILTIN[repository.object_format]
    assert (made.author, made.time) == (
        Person("pvc", "pvc@localhost"),
        Moment(1_795_910_400, 0),
    )
    assert (made.number, made.kind) == (1, "packs")


# --- resolving --------------------------------------------------------------------------------


def test_two_tips_become_one_chain_that_both_sides_fast_forward_to(
    repository: Repository,
) -> None:
    base = adopt(repository, b"1")
    ours = adopt(repository, b"ours")
    tree = tree_of(repository, {"a.md": b"theirs"})
    message = join_message("theirs", {"Pvc-Tree": "agent", "Pvc-Version": "2", "Pvc-Format": "1"})
    theirs = at_commit(repository, repository.write_commit(tree, [base.id], message))
    made = write_version(
        repository, kind="trees", name="agent", tree=tree_of(repository, {"a.md": b"both"}),
        reason="both", previous=theirs, resolves=ours,
    )  # fmt: skip
    assert (made.number, made.parents) == (3, (theirs.id, ours.id))
    assert repository.is_ancestor(ours.id, made.id)
    assert [version.id for version in chain(repository, "trees", "agent")] == [
        made.id, theirs.id, base.id
    ]  # fmt: skip


ADOPTING = """
import sys
from pvc.store.open import open_repository
from pvc.store.repo import MODE_FILE, Entry
from pvc.store.versions import tip, version_tree, write_version
repo = open_repository(".", back_end=sys.argv[1])
while True:
    old = tip(repo, "trees", "agent")
    number = old.number + 1 if old else 1
    rows = [Entry("a.md", MODE_FILE, repo.write_blob(b"%d" % number))]
    tree = version_tree(repo, rows, b"format = 1", {})
    made = write_version(repo, kind="trees", name="agent", tree=tree, reason="x", previous=old)
    print(made.number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_said(
    repository: Repository, workspace: Workspace, back_end: BackEnd
) -> None:
    said = 0
    for kill in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", ADOPTING, back_end],
            cwd=workspace.path,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(pvc.errors.__file__).parents[1])},
            process_group=0,
        ) as writer:
            assert writer.stdout
            for _ in range(3):
                said = int(writer.stdout.readline())
            time.sleep(0.003 * kill)
            os.killpg(writer.pid, 9)
            said = int((writer.stdout.read().split() or [b"%d" % said])[-1])
        for lock in (workspace.path / ".git").rglob("*.lock"):
            os.utime(lock, (0, 0))
        newest = tip(repository, "trees", "agent")
        assert newest
        assert newest.number in (said, said + 1)
        assert len(list(chain(repository, "trees", "agent"))) == newest.number
        assert sources(repository, newest).get("a.md") == Source("a.md", b"%d" % newest.number)
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""


# --- refused ----------------------------------------------------------------------------------


def test_a_version_is_not_written_over_another(repository: Repository) -> None:
    first = adopt(repository, b"1")
    second = adopt(repository, b"2")
    for seen in (None, first):
        with pytest.raises(MovedError):
            write_version(
                repository, kind="trees", name="agent", tree=first.tree, reason="late",
                previous=seen,
            )  # fmt: skip
    assert tip(repository, "trees", "agent") == second


def test_entries_that_no_version_holds_are_refused(repository: Repository) -> None:
    for path in (".pvc/lock.toml", "a/../b", "a\nb"):
        with pytest.raises(RefusedError):
            tree_of(repository, {path: b"x"})


@pytest.mark.parametrize("reason", ["", " \n", "a\0b"])
def test_a_version_needs_a_reason(repository: Repository, reason: str) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        adopt(repository, b"x", reason)


def test_what_is_not_there_is_named_with_what_is(repository: Repository) -> None:
    adopt(repository, b"1")
    adopt(repository, b"2")
    for number in (0, 3, 99):
        with pytest.raises(NotFoundError, match=f"no version {number}") as caught:
            find(repository, "trees", "agent", number)
        assert caught.value.hint == "there is 1 to 2"
    with pytest.raises(NotFoundError, match="no tree `agnet`") as caught:
        find(repository, "trees", "agnet")
    assert caught.value.hint == "did you mean `agent`?"
    with pytest.raises(NotFoundError, match="no pack `agent`"):
        list(chain(repository, "packs", "agent"))


def test_a_shallow_clone_says_how_to_get_the_rest(
    repository: Repository, workspace: Workspace
) -> None:
    made = [adopt(repository, str(number).encode()) for number in range(3)]
    (repository.common_dir / "shallow").write_text(f"{made[1].id}\n")
    assert find(repository, "trees", "agent", 2) == made[1]
    with pytest.raises(NotFoundError) as caught:
        find(repository, "trees", "agent", 1)
    assert "unshallow" in caught.value.hint
    assert [version.number for version in chain(repository, "trees", "agent")] == [3, 2]


TRAILERS = {"Pvc-Tree": "agent", "Pvc-Version": "1", "Pvc-Format": "1"}
WRONG = {
    "another number at the root": TRAILERS | {"Pvc-Version": "2"},
    "no number": TRAILERS | {"Pvc-Version": "one"},
    "a number of other digits": TRAILERS | {"Pvc-Version": "\u0661"},
    "a number with a zero in front": TRAILERS | {"Pvc-Version": "01"},
    "a number without end": TRAILERS | {"Pvc-Version": "1" * 5000},
    "number zero": TRAILERS | {"Pvc-Version": "0"},
    "two kinds": TRAILERS | {"Pvc-Pack": "agent"},
    "a newer format": TRAILERS | {"Pvc-Format": "2"},
    "a source that is no commit": TRAILERS | {"Pvc-Source": "HEAD"},
}


@pytest.mark.parametrize("trailers", WRONG.values(), ids=WRONG)
def test_trailers_that_contradict_are_corrupt(
    repository: Repository, trailers: dict[str, str]
) -> None:
    commit = raw_commit(repository, join_message("x", trailers))
    with pytest.raises(CorruptError):
        at_commit(repository, commit)


def test_a_number_that_does_not_follow_is_corrupt(repository: Repository) -> None:
    first = raw_commit(repository, join_message("x", TRAILERS))
    third = raw_commit(repository, join_message("x", TRAILERS | {"Pvc-Version": "3"}), first)
    with pytest.raises(CorruptError, match="`agent@1` stands where `agent@2` should"):
        find(repository, "trees", "agent", 2)
    with pytest.raises(CorruptError, match="agent@3 follows agent@1"):
        list(chain(repository, "trees", "agent"))
    assert at_commit(repository, third).number == 3


def test_a_commit_of_the_users_is_no_version(repository: Repository, workspace: Workspace) -> None:
    commit = workspace.commit({"a": "1"}, message="Pvc-Version: 1 was good")
    with pytest.raises(NotFoundError, match="is no version"):
        at_commit(repository, commit)


def test_a_reason_can_say_anything(repository: Repository) -> None:
    reason = "Pvc-Version: 9\n\nPvc-Tree: other\nPvc-Format: 1"
    made = adopt(repository, b"x", reason)
    assert (made.reason, made.number, made.name) == (reason, 1, "agent")


@pytest.mark.parametrize("message", ["x", "x\n\ny\n", "x\n\nPvc-A: 1\nnot a trailer\n", ""])
def test_a_message_without_trailers_is_all_text(message: str) -> None:
    assert split_message(message) == (message.rstrip("\n"), {})


def test_a_trailer_that_stands_twice_is_corrupt() -> None:
    with pytest.raises(CorruptError, match="stands twice"):
        split_message("x\n\nPvc-Version: 1\nPvc-Version: 2\n")
