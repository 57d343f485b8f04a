"""What the protocol promises, asked of both back ends; git is the oracle."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pvc.errors
from pvc.errors import CorruptError, MovedError, NotFoundError, UsageError, WriteError
from pvc.model.names import CommitId, ObjectId
from pvc.store.base import check_ref_name
from pvc.store.repo import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_TREE,
    Entry,
    Kind,
    Moment,
    Person,
    Repository,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.store.open import BackEnd
    from workspace import Workspace

REF = "refs/pvc/trees/agent"
MISSING = ObjectId("1" * 40)


def empty_commit(repository: Repository, message: str, *parents: CommitId) -> CommitId:
    return repository.write_commit(repository.write_tree([]), parents, message)


def land(repository: Repository, commit: CommitId) -> CommitId:
    """Give a commit a ref: only then git sees it, and all that was written for it."""
    repository.move_ref(f"refs/heads/{commit}", None, commit)
    return commit


def loose_file(repository: Repository, oid: str) -> Path:
    return repository.common_dir / "objects" / oid[:2] / oid[2:]


# --- objects ----------------------------------------------------------------------------------


def test_what_is_written_is_what_git_reads(repository: Repository, workspace: Workspace) -> None:
    blob = repository.write_blob(b"\0raw\r\n\xff")
    folder = repository.write_tree([Entry("deep.md", MODE_FILE, blob)])
    tree = repository.write_tree(
        [
            Entry("b.sh", MODE_EXECUTABLE, blob),
            Entry("b", MODE_TREE, folder),
            Entry("ä", MODE_FILE, blob),
        ]
    )
    commit = land(repository, repository.write_commit(tree, [], "first\n\nwhy\n"))
    assert workspace.git("cat-file", "-p", commit).endswith("\n\nfirst\n\nwhy")
    assert workspace.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", commit) == (
        "b.sh\nb/deep.md\nä"
    )
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""


def test_both_back_ends_make_the_same_commit(workspace: Workspace) -> None:
    made = set()
    for back_end in ("pygit", "gitcli"):
        repository = workspace.open(back_end)
        tree = repository.write_tree([Entry("a", MODE_FILE, repository.write_blob(b"x"))])
        root = repository.write_commit(tree, [], "root\n")
        made.add(
            repository.write_commit(tree, [root], "wörds\n", author=Person("Bo", "bo@example.com"))
        )
        repository.close()
    assert len(made) == 1


def test_trees_are_written_as_git_mktree_would(
    repository: Repository, workspace: Workspace
) -> None:
    blob = ObjectId(workspace.git("hash-object", "-w", "--stdin", data=b"x"))
    folder = ObjectId(workspace.git("mktree", data=b""))
    names = ["a", "a.b", "a-b", "a0", "b", "B", "ä", "a b", "\udcff"]
    entries = [Entry(name, MODE_FILE, blob) for name in names]
    entries += [Entry(f"{name}.d", MODE_TREE, folder) for name in names]
    entries += [Entry("a=", MODE_TREE, folder), Entry("a!", MODE_TREE, folder)]
    rows = b"".join(
        b"%06o %s %s\t%s\0" % (
            entry.mode, b"tree" if entry.is_tree else b"blob", entry.oid.encode(),
            entry.name.encode(errors="surrogateescape"),
        )
        for entry in entries
    )  # fmt: skip
    assert repository.write_tree(entries) == workspace.git("mktree", "-z", data=rows)


def test_a_commit_reads_back(repository: Repository) -> None:
    root = empty_commit(repository, "root\n")
    made = repository.write_commit(
        repository.write_tree([]), [root], "second\n\nbody\n", author=Person("Bo", "bo@example.com")
    )
    read = repository.commit(made)
    assert (read.parents, read.author) == ((root,), Person("Bo", "bo@example.com"))
    assert read.time == Moment(1_700_000_000, 60)
    assert read.message == "second\n\nbody\n"
    assert [commit.id for commit in repository.first_parents(made)] == [made, root]


@pytest.mark.parametrize("packed", [False, True])
def test_every_kind_is_known_loose_and_packed(
    workspace: Workspace, back_end: BackEnd, *, packed: bool
) -> None:
    commit = workspace.commit({"a/b.md": "text"})
    workspace.git("tag", "-a", "-m", "tag", "v1")
    if packed:
        workspace.git("gc", "--quiet", "--prune=now")
    repository = workspace.open(back_end)
    asked = {kind: workspace.oid(text) for kind, text in [
        (Kind.BLOB, "HEAD:a/b.md"), (Kind.TREE, "HEAD:a"), (Kind.COMMIT, "HEAD"), (Kind.TAG, "v1")
    ]}  # fmt: skip
    assert {kind: repository.kind(oid) for kind, oid in asked.items()} == {k: k for k in asked}
    assert repository.blob(asked[Kind.BLOB]) == b"text"
    assert repository.tree(commit)[0].name == "a"
    assert (
        repository.raw(commit)[1].decode() + ""
        == workspace.git("cat-file", "commit", commit) + "\n"
    )
    repository.close()


def test_a_missing_object_is_not_found(repository: Repository) -> None:
    with pytest.raises(NotFoundError, match=MISSING):
        repository.blob(MISSING)
    with pytest.raises(NotFoundError, match=MISSING):
        repository.write_tree([Entry("a", MODE_FILE, MISSING)])
    assert repository.blob(repository.write_blob(b"still answers")) == b"still answers"


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda data: data[:10], id="cut in its header"),
        pytest.param(lambda data: data[:-3], id="cut at its end"),
        pytest.param(lambda data: b"x" * len(data), id="no zlib"),
        pytest.param(
            lambda _: zlib.compress(b"blob 300\0" + b"other" * 60),
            id="other bytes",
        ),
        pytest.param(lambda _: zlib.compress(b"blob 12\0" + b"words" * 60), id="wrong size"),
    ],
)
def test_a_damaged_loose_object_is_corrupt(
    repository: Repository, workspace: Workspace, damage: Callable[[bytes], bytes]
) -> None:
    oid = ObjectId(workspace.git("hash-object", "-w", "--stdin", data=b"words" * 60))
    file = loose_file(repository, oid)
    data = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(damage(data))
    with pytest.raises(CorruptError, match=oid):
        repository.blob(oid)


def test_a_damaged_pack_is_corrupt(workspace: Workspace, back_end: BackEnd) -> None:
    workspace.commit({"a.md": os.urandom(5000).hex()})
    oid = workspace.oid("HEAD:a.md")
    workspace.git("gc", "--quiet")
    (pack,) = (workspace.path / ".git/objects/pack").glob("*.pack")
    data = bytearray(pack.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    pack.chmod(0o644)
    pack.write_bytes(data)
    repository = workspace.open(back_end)
    with pytest.raises(CorruptError, match=oid):
        repository.blob(oid)
    repository.close()


def test_an_object_of_another_kind_is_corrupt(repository: Repository) -> None:
    oid = repository.write_blob(b"x")
    with pytest.raises(CorruptError, match="is a blob, not a commit"):
        repository.commit(oid)
    with pytest.raises(CorruptError, match="is a blob, not a tree"):
        repository.tree(oid)


@pytest.mark.parametrize("name", ["", ".", "..", ".git", ".GIT", "a/b", "a\0b"])
def test_a_name_that_git_refuses_is_not_written(repository: Repository, name: str) -> None:
    blob = repository.write_blob(b"x")
    with pytest.raises(UsageError):
        repository.write_tree([Entry(name, MODE_FILE, blob)])


def test_a_name_stands_once_in_a_folder(repository: Repository) -> None:
    blob = repository.write_blob(b"x")
    folder = repository.write_tree([])
    with pytest.raises(UsageError, match="twice"):
        repository.write_tree([Entry("a", MODE_FILE, blob), Entry("a", MODE_TREE, folder)])


def test_a_name_that_is_no_utf8_survives(repository: Repository) -> None:
    entry = Entry("\udcff", MODE_FILE, repository.write_blob(b"x"))
    assert repository.tree(repository.write_tree([entry])) == (entry,)


def test_replace_refs_and_grafts_change_nothing(workspace: Workspace, back_end: BackEnd) -> None:
    first = workspace.commit({"a": "1"})
    second = workspace.commit({"a": "2"})
    workspace.git("replace", second, first)
    (workspace.path / ".git/info/grafts").write_text(f"{second}\n")
    repository = workspace.open(back_end)
    assert repository.commit(second).parents == (first,)
    assert repository.is_ancestor(first, second)
    repository.close()


# --- identity and signatures ------------------------------------------------------------------


def test_without_a_name_a_commit_is_refused_with_the_two_lines(
    workspace: Workspace, back_end: BackEnd
) -> None:
    os.environ["GIT_CONFIG_GLOBAL"] = "/dev/null"
    repository = workspace.open(back_end)
    with pytest.raises(UsageError) as caught:
        empty_commit(repository, "x\n")
    assert caught.value.hint.count("git config --global user.") == 2
    made = repository.write_commit(
        repository.write_tree([]), [], "fold\n", identity=Person("pvc", "writer@host")
    )
    land(repository, made)
    assert workspace.git("log", "-1", "--format=%an %ae %cn %ce", made) == (
        "pvc writer@host pvc writer@host"
    )
    repository.close()


def test_a_commit_is_signed_if_the_users_git_signs(
    workspace: Workspace, back_end: BackEnd, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (tmp_path / "allowed").write_text(f"ada@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in [
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("commit.gpgSign", "true"),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "allowed")),
    ]:
        workspace.git("config", name, value)
    repository = workspace.open(back_end)
    signed = land(repository, empty_commit(repository, "signed\n"))
    workspace.git("verify-commit", signed)
    assert repository.commit(signed).message == "signed\n"
    fold = repository.write_commit(
        repository.write_tree([]), [], "fold\n", identity=Person("pvc", "w@h")
    )
    land(repository, fold)
    workspace.git("verify-commit", fold, code=1)
    repository.close()


# --- refs -------------------------------------------------------------------------------------


def test_a_ref_is_made_moved_and_removed(repository: Repository, workspace: Workspace) -> None:
    one, two = empty_commit(repository, "1\n"), empty_commit(repository, "2\n")
    assert repository.ref(REF) is None
    repository.move_ref(REF, None, one, message="pvc: first")
    repository.move_ref(REF, one, two)
    assert repository.ref(REF) == two == workspace.oid(REF)
    repository.delete_ref(REF, two)
    assert repository.ref(REF) is None


def test_a_ref_that_moved_is_named_with_where_it_is(repository: Repository) -> None:
    one, two = empty_commit(repository, "1\n"), empty_commit(repository, "2\n")
    repository.move_ref(REF, None, one)
    with pytest.raises(MovedError, match=f"is at `{one}`, so it cannot be created"):
        repository.move_ref(REF, None, two)
    with pytest.raises(MovedError, match=f"is at `{one}`, not at `{two}`"):
        repository.move_ref(REF, two, one)
    with pytest.raises(MovedError, match=f"is at `{one}`, not at `{two}`"):
        repository.delete_ref(REF, two)
    with pytest.raises(MovedError, match="does not exist, not at"):
        repository.move_ref("refs/pvc/trees/other", one, two)


def test_a_ref_points_to_a_commit_that_is_here(repository: Repository) -> None:
    with pytest.raises(NotFoundError):
        repository.move_ref(REF, None, CommitId(MISSING))
    blob = CommitId(repository.write_blob(b"x"))
    with pytest.raises(UsageError, match="is no commit"):
        repository.move_ref(REF, None, blob)


@pytest.mark.parametrize("name", ["refs/pvc/a..b", "refs/pvc/a b", "refs/pvc/x.lock", "refs//x"])
def test_a_name_that_git_refuses_is_no_ref(repository: Repository, name: str) -> None:
    commit = empty_commit(repository, "1\n")
    with pytest.raises(UsageError):
        repository.ref(name)
    with pytest.raises(UsageError):
        repository.move_ref(name, None, commit)


def test_refs_are_listed_by_name_packed_or_not(
    repository: Repository, workspace: Workspace
) -> None:
    one = empty_commit(repository, "1\n")
    for name in ("b", "a"):
        repository.move_ref(f"refs/pvc/trees/{name}", None, one)
    workspace.git("pack-refs", "--all")
    repository.move_ref("refs/pvc/trees/ab", None, one)
    repository.move_ref("refs/pvc/treesome/x", None, one)
    assert repository.refs("refs/pvc/trees/") == tuple(
        (f"refs/pvc/trees/{name}", one) for name in ("a", "ab", "b")
    )
    two = empty_commit(repository, "2\n", one)
    repository.move_ref("refs/pvc/trees/a", one, two)
    assert repository.ref("refs/pvc/trees/a") == two
    repository.delete_ref("refs/pvc/trees/b", one)
    assert repository.ref("refs/pvc/trees/b") is None


def needs_ref_files(repository: Repository) -> None:
    if (repository.common_dir / "reftable").is_dir():
        pytest.skip("a reftable has no file for a ref")


@pytest.mark.parametrize("content", ["", "garbage\n"])
def test_a_damaged_ref_is_corrupt_not_absent(repository: Repository, content: str) -> None:
    needs_ref_files(repository)
    commit = empty_commit(repository, "1\n")
    repository.move_ref(REF, None, commit)
    (repository.common_dir / REF).write_text(content)
    with pytest.raises(CorruptError, match=REF):
        repository.ref(REF)
    with pytest.raises(CorruptError, match=REF):
        repository.refs("refs/pvc/")
    with pytest.raises(CorruptError, match=REF):
        repository.move_ref(REF, None, commit)


def test_head_is_null_before_the_first_commit(repository: Repository, workspace: Workspace) -> None:
    assert repository.head() is None
    commit = workspace.commit({"a": "1"})
    assert repository.head() == commit


REF_NAMES = """refs/a refs//a /refs/a refs/a/ refs/.a .refs/a refs/a.lock refs/a.lock/b refs/a.lockb
refs/a..b refs/a.b refs/a. refs/a@{b refs/@ refs/a~ refs/a^ refs/a: refs/a? refs/a* refs/a[ refs/a\\
refs/a\x7f refs/ä a refs/-a refs/a./b""".split()  # noqa: SIM905 - a table to read


@pytest.mark.parametrize("name", [*REF_NAMES, "refs/a b", "refs/a\tb", "refs/a\u2028b", ""])
def test_ref_names_are_gits(name: str) -> None:
    git_says = subprocess.run(["git", "check-ref-format", name], check=False).returncode == 0
    try:
        check_ref_name(name)
    except UsageError:
        assert not git_says
    else:
        assert git_says


RACE = """
import sys, time
from pvc.errors import MovedError
from pvc.model.names import CommitId
from pvc.store.open import open_repository
back_end, start, old, mine, names = sys.argv[1:6]
repository = open_repository(".", back_end=back_end)
repository.kind(CommitId(mine))
while time.time() < float(start):
    pass
for name in names.split(","):
    try:
        repository.move_ref(name, CommitId(old) if old else None, CommitId(mine))
        print("won", name)
    except MovedError:
        print("lost", name)
"""


@pytest.mark.parametrize("creates", [True, False], ids=["creation", "move"])
def test_of_eight_processes_exactly_one_moves_a_ref(
    repository: Repository, workspace: Workspace, back_end: BackEnd, *, creates: bool
) -> None:
    names = [f"refs/pvc/trees/t{number}" for number in range(12)]
    old = land(repository, empty_commit(repository, "old\n"))
    if not creates:
        for name in names:
            repository.move_ref(name, None, old)
    mine = [land(repository, empty_commit(repository, f"{n}\n", old)) for n in range(8)]
    start = str(time.time() + 2)
    words = [sys.executable, "-c", RACE, back_end, start, "" if creates else old]
    env = {**os.environ, "PYTHONPATH": str(Path(pvc.errors.__file__).parents[1])}
    runs = [
        subprocess.Popen(
            [*words, commit, ",".join(names)], cwd=workspace.path, env=env, stdout=subprocess.PIPE
        )
        for commit in mine
    ]
    said = {commit: run.communicate()[0].decode() for commit, run in zip(mine, runs, strict=True)}
    assert [run.returncode for run in runs] == [0] * 8
    for name in names:
        winners = [commit for commit in mine if f"won {name}\n" in said[commit]]
        assert winners == [repository.ref(name)]


# --- the disk ---------------------------------------------------------------------------------


def test_a_disk_that_refuses_is_a_write_error(repository: Repository) -> None:
    """A limit on the size of files stands for a full disk: the write itself fails."""
    commit = empty_commit(repository, "1\n")
    repository.move_ref(REF, None, commit)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        written = empty_commit(repository, "2\n")
        with pytest.raises(WriteError):
            repository.move_ref(REF, commit, written)
        with pytest.raises(WriteError):
            repository.move_ref("refs/pvc/trees/new", None, commit)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_lock_that_a_killed_process_left_is_named(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_ref_files(repository)
    monkeypatch.setattr("pvc.store.base._WAITS_SECONDS", (0.001, 0.001))
    commit = empty_commit(repository, "1\n")
    repository.move_ref(REF, None, commit)
    (repository.common_dir / f"{REF}.lock").touch()
    with pytest.raises(WriteError) as caught:
        repository.move_ref(REF, commit, empty_commit(repository, "2\n"))
    assert ".lock" in caught.value.hint
    assert repository.ref(REF) == commit


def test_a_lock_that_is_old_goes_away(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_ref_files(repository)
    monkeypatch.setattr("pvc.store.base._WAITS_SECONDS", (0.001, 0.001))
    one, two = empty_commit(repository, "1\n"), empty_commit(repository, "2\n")
    repository.move_ref(REF, None, one)
    repository.move_ref("refs/heads/side", None, one)
    for name in (REF, "refs/heads/side"):
        lock = repository.common_dir / f"{name}.lock"
        lock.touch()
        os.utime(lock, (0, time.time() - 61))
    repository.move_ref(REF, one, two)
    assert repository.ref(REF) == two
    with pytest.raises(WriteError):  # not ours: git leaves it to the user, and so do we
        repository.move_ref("refs/heads/side", one, two)


# --- questions --------------------------------------------------------------------------------


def test_revisions_are_gits(repository: Repository, workspace: Workspace) -> None:
    first = workspace.commit({"a": "1"})
    second = workspace.commit({"a": "2"})
    assert repository.rev_parse("HEAD~1") == first
    assert repository.rev_parse(second[:10]) == second
    assert repository.rev_parse("main:a") == workspace.oid("HEAD:a")
    for nothing in ("nope", "--all", "-h", "", "a\0b"):
        assert repository.rev_parse(nothing) is None


def test_ancestors_are_gits(repository: Repository, workspace: Workspace) -> None:
    first, second = workspace.commit({"a": "1"}), workspace.commit({"a": "2"})
    assert repository.is_ancestor(first, second)
    assert repository.is_ancestor(first, first)
    assert not repository.is_ancestor(second, first)
    with pytest.raises(NotFoundError):
        repository.is_ancestor(CommitId(MISSING), first)


def test_settings_are_gits(workspace: Workspace, back_end: BackEnd) -> None:
    for name, value in [("pvc.Note", "a\nb"), ("remote.Up.url", "x"), ("pvc.count", "2")]:
        workspace.git("config", name, value)
    workspace.git("config", "--add", "pvc.note", "last")
    with (workspace.path / ".git/config").open("a") as file:
        file.write("[pvc]\n  bare\n  empty =\n")
    os.environ["GIT_CONFIG_PARAMETERS"] = "'pvc.word'='off'"
    repository = workspace.open(back_end)
    assert repository.config("PVC.note") == "last"
    assert repository.config_all("pvc.note") == ("a\nb", "last")
    assert (repository.config("remote.Up.url"), repository.config("remote.up.url")) == ("x", None)
    flags = {
        name: repository.config_flag(f"pvc.{name}") for name in ("bare", "empty", "count", "word")
    }
    assert flags == {"bare": True, "empty": False, "count": True, "word": False}
    assert repository.config_flag("pvc.unset", default=True)
    with pytest.raises(UsageError, match="not true or false"):
        repository.config_flag("pvc.note")
    repository.close()


def test_the_index_lists_what_is_staged(repository: Repository, workspace: Workspace) -> None:
    workspace.write({"b/c.md": "1", "a.md": "2", "later": "3"})
    workspace.git("add", "a.md", "b/c.md")
    workspace.git("update-index", "--chmod=+x", "a.md")
    assert [(entry.name, entry.mode) for entry in repository.index()] == [
        ("a.md", MODE_EXECUTABLE),
        ("b/c.md", MODE_FILE),
    ]


def test_an_open_merge_is_refused(repository: Repository, workspace: Workspace) -> None:
    workspace.commit({"a": "base"})
    workspace.git("checkout", "-q", "-b", "side")
    workspace.commit({"a": "side"})
    workspace.git("checkout", "-q", "main")
    workspace.commit({"a": "main"})
    workspace.git("merge", "-q", "side", code=1)
    with pytest.raises(UsageError, match="`a` is in conflict"):
        repository.index()
