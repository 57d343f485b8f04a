"""Clones that exchange versions and pins through real bare repositories; nothing is forced."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError, UsageError
from pvc.files import read_folder
from pvc.launch import writer
from pvc.model.names import CommitId
from pvc.store.fold import FoldResult
from pvc.store.history import GitHistory
from pvc.store.repo import MODE_FILE, Entry, Person, Repository
from pvc.store.sync import sync
from pvc.store.versions import chain, find, join_message, tip, version_tree, write_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pvc.store.open import BackEnd
    from pvc.store.sync_result import SyncResult
    from pvc.store.versions import VersionInfo
    from workspace import Workspace

AGENT = "refs/pvc/trees/agent"
CHANNEL = "refs/pvc/channels/agent/production"


def folded() -> FoldResult:
    return FoldResult(pins=0)


def run(repo: Repository, remote: str | None = "origin") -> SyncResult:
    return sync(repo, remote, fold=folded)


def adopt(repo: Repository, text: str, name: str = "agent") -> VersionInfo:
    rows = [Entry("a.md", MODE_FILE, repo.write_blob(text.encode()))]
    tree = version_tree(repo, rows, b"format = 1\n", {})
    return write_version(
        repo, kind="trees", name=name, tree=tree, reason=f"adopt {text}",
        previous=tip(repo, "trees", name),
    )  # fmt: skip


def promote(repo: Repository, version: VersionInfo) -> CommitId:
    before = repo.ref(CHANNEL)
    parents = [before, version.id] if before else [version.id]
    message = join_message("promote", {"Pvc-Channel": "agent/production"})
    move = repo.write_commit(version.tree, parents, message)
    repo.move_ref(CHANNEL, before, move)
    return move


def pin(repo: Repository) -> str:
    """Append to this clone's own ledger, as a fold does."""
    mine = writer.ensure(f"{repo.common_dir}/pvc")
    ref = f"refs/pvc/pins/{mine}"
    before = repo.ref(ref)
    commit = repo.write_commit(
        repo.write_tree([]), [before] if before else [], f"fold at {time.monotonic_ns()}\n",
        identity=Person("pvc", "pvc@localhost"),
    )  # fmt: skip
    repo.move_ref(ref, before, commit)
    return ref


@pytest.fixture
def hub(make_workspace: Callable[..., Workspace]) -> Workspace:
    return make_workspace("hub.git", "--bare")


@pytest.fixture
def clones(
    make_workspace: Callable[..., Workspace], hub: Workspace, back_end: BackEnd
) -> Iterator[tuple[Repository, Repository]]:
    """Two clones of the hub, each with its own user."""
    opened = []
    for name in ("ann", "bob"):
        workspace = make_workspace(name)
        workspace.git("remote", "add", "origin", f"file://{hub.path}")
        workspace.git("config", "user.name", name)
        opened.append(workspace.open(back_end))
    yield opened[0], opened[1]
    for repo in opened:
        repo.close()


def refs_of(result: SyncResult, kind: str) -> list[str]:
    return [move.ref for move in getattr(result, kind)]


# --- the ordinary road ------------------------------------------------------------------------


def test_versions_channels_and_pins_reach_the_other_clone(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    promote(ann, adopt(ann, "one"))
    ledger = pin(ann)
    result = run(ann)
    assert refs_of(result, "pushed") == [AGENT, CHANNEL, ledger]
    assert (result.refused, result.diverged) == ((), ())
    result = run(bob)
    assert refs_of(result, "forwarded") == [CHANNEL, AGENT]
    assert bob.ref(AGENT) == ann.ref(AGENT) == hub.oid(AGENT)
    assert bob.ref(CHANNEL) == ann.ref(CHANNEL)
    assert bob.ref(ledger) is None
    remote = ledger.replace("refs/pvc/", "refs/pvc/remotes/origin/")
    assert bob.ref(remote) == ann.ref(ledger)
    adopt(bob, "two")
    pin(bob)
    run(bob)
    assert refs_of(run(ann), "forwarded") == [AGENT]
    assert [version.reason for version in chain(ann, "trees", "agent")] == [
        "adopt two",
        "adopt one",
    ]


def test_a_second_sync_does_nothing(clones: tuple[Repository, Repository]) -> None:
    ann, bob = clones
    adopt(ann, "one")
    pin(ann)
    for repo in (ann, bob, ann, bob):
        result = run(repo)
    assert (result.fetched, result.forwarded, result.pushed, result.refused) == ((), (), (), ())
    assert list(result.to_lines()) == ["folded 0 pins", "nothing to exchange with origin"]
    assert result.to_json()["schema"] == "pvc.sync/1"


def test_bodies_go_only_where_the_setting_says(
    clones: tuple[Repository, Repository], hub: Workspace, back_end: BackEnd
) -> None:
    ann, bob = clones
    body = pin(ann).replace("/pins/", "/bodies/")
    commit = ann.ref(body.replace("/bodies/", "/pins/"))
    assert commit
    ann.move_ref(body, None, commit)
    run(ann)
    hub.git("rev-parse", "--verify", "-q", body, code=1)
    ann.git.output("config", "pvc.pushBodies", "true")
    from pvc.store.open import open_repository

    run(open_repository(ann.git_dir.parent, back_end=back_end))
    assert hub.oid(body) == commit
    lines = list(run(bob).to_lines())
    assert bob.ref(body.replace("refs/pvc/", "refs/pvc/remotes/origin/")) == commit
    assert f"fetched {body.removeprefix('refs/pvc/')} to {commit.short}" in lines
    assert "nothing to exchange with origin" not in lines


def test_over_git_daemon(clones: tuple[Repository, Repository], hub: Workspace) -> None:
    ann, bob = clones
    made = adopt(ann, "one")
    with daemon(hub.path.parent) as url:
        for repo in (ann, bob):
            repo.git.output("remote", "set-url", "origin", f"{url}/hub.git")
            run(repo)
    assert bob.ref(AGENT) == made.id
    result_text = ""
    try:
        run(bob)
    except NotFoundError as error:
        result_text = str(error)
    assert "cannot exchange with `origin`" in result_text


@contextmanager
def daemon(base: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["git", "daemon", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1",
         f"--port={port}", f"--base-path={base}", str(base)],
        stderr=subprocess.DEVNULL,
        process_group=0,
    )  # fmt: skip
    try:
        for _ in range(200):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, 15)
        server.wait()


# --- what does not fit together ---------------------------------------------------------------


def test_two_versions_of_one_number_are_reported_with_both_reasons(
    clones: tuple[Repository, Repository],
) -> None:
    ann, bob = clones
    adopt(ann, "base")
    run(ann)
    run(bob)
    ours, theirs = adopt(bob, "bobs"), adopt(ann, "anns")
    adopt(bob, "fine", name="other")
    run(ann)
    result = run(bob)
    (split,) = result.diverged
    assert (split.ours.label, split.ours.reason) == ("agent@2", "adopt bobs")
    assert (split.theirs.label, split.theirs.reason) == ("agent@2", "adopt anns")
    assert refs_of(result, "pushed") == ["refs/pvc/trees/other"]
    assert bob.ref(AGENT) == ours.id
    text = "\n".join(result.to_lines())
    assert "adopt bobs" in text
    assert "adopt anns" in text
    assert "--resolve origin" in text

    made = write_version(
        bob, kind="trees", name="agent", tree=ours.tree, reason="both",
        previous=theirs, resolves=ours,
    )  # fmt: skip
    assert run(bob).diverged == ()
    run(ann)
    assert ann.ref(AGENT) == made.id
    assert find(ann, "trees", "agent", 2) == theirs


def test_a_ref_that_was_rewritten_there_is_refused_and_kept(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    first = adopt(ann, "one")
    second = adopt(ann, "two")
    ledger = pin(ann)
    run(ann)
    run(bob)
    hub.git("update-ref", AGENT, first.id)
    other = hub.git("commit-tree", "-m", "rewritten", first.tree)
    hub.git("update-ref", ledger, other)
    result = run(bob)
    assert sorted(refusal.ref for refusal in result.refused) == [ledger, AGENT]
    assert "non-fast-forward" in result.refused[0].reason
    assert bob.ref(AGENT) == second.id
    assert bob.ref(AGENT.replace("refs/pvc", "refs/pvc/remotes/origin")) == second.id
    assert hub.oid(AGENT) == first.id


def test_a_clone_under_anothers_id_goes_on_under_a_new_one(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    ledger = pin(ann)
    run(ann)
    mine = ledger.rpartition("/")[2]
    mark = f"{writer.ensure(f'{bob.common_dir}/pvc')}"
    file = bob.common_dir / "pvc" / "writer"
    file.write_text(file.read_text().replace(mark, mine))
    assert pin(bob) == ledger
    result = run(bob)
    assert result.refused == ()
    (carried,) = result.carried
    assert (carried.ledger, carried.pins) == (ledger, 0)
    assert carried.to == f"refs/pvc/pins/{writer.read(f'{bob.common_dir}/pvc')}" != ledger
    assert hub.oid(ledger) == ann.ref(ledger)


def test_what_a_remote_calls_a_tree_must_be_one(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    made = adopt(ann, "one")
    run(ann)
    hub.git("update-ref", "refs/pvc/trees/renamed", made.id)
    hub.git("update-ref", "refs/pvc/trees/Upper", made.id)
    hub.git("update-ref", "refs/pvc/packs/agent", made.id)
    hub.git("update-ref", "refs/pvc/channels/agent/9", made.id)
    stray = hub.git("commit-tree", "-m", "no version", made.tree)
    hub.git("update-ref", "refs/pvc/trees/stray", stray)
    result = run(bob)
    assert {refusal.ref.removeprefix("refs/pvc/") for refusal in result.refused} == {
        "trees/renamed", "trees/Upper", "packs/agent", "channels/agent/9", "trees/stray"
    }  # fmt: skip
    assert refs_of(result, "forwarded") == [AGENT]
    assert [name for name, _ in bob.refs("refs/pvc/trees/")] == [AGENT]


def test_a_hostile_tree_does_not_come_in(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    _, bob = clones
    blob = bytes.fromhex(hub.git("hash-object", "-w", "--stdin", data=b"x"))
    tree = hub.git(
        "hash-object", "-w", "--literally", "-t", "tree", "--stdin",
        data=b"100644 .git\0" + blob,
    )  # fmt: skip
    message = join_message("x", {"Pvc-Tree": "agent", "Pvc-Version": "1", "Pvc-Format": "1"})
    hub.git("update-ref", AGENT, hub.git("commit-tree", "-m", message, tree))
    adopt(bob, "sound", name="other")
    ledger = pin(bob)
    result = run(bob)
    (refusal,) = result.refused
    assert refusal.ref == AGENT
    assert "hasDotgit" in refusal.reason
    assert bob.ref(AGENT) is None
    assert refs_of(result, "pushed") == ["refs/pvc/trees/other", ledger]


def test_a_remote_that_refuses_the_prefix_is_said_and_another_prefix_works(
    clones: tuple[Repository, Repository], hub: Workspace, back_end: BackEnd
) -> None:
    from pvc.store.open import open_repository

    ann, bob = clones
    hook = hub.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) ;; *) exit 1;; esac\n')
    hook.chmod(0o755)
    made = adopt(ann, "one")
    (refusal,) = run(ann).refused
    assert refusal.ref == AGENT
    assert "pvc.refPrefix refs/heads/pvc" in refusal.hint
    for repo in (ann, bob):
        repo.git.output("config", "pvc.refPrefix", "refs/heads/pvc")
    ann, bob = (open_repository(r.git_dir.parent, back_end=back_end) for r in (ann, bob))
    assert refs_of(run(ann), "pushed") == [AGENT]
    assert hub.oid("refs/heads/pvc/trees/agent") == made.id
    assert refs_of(run(bob), "forwarded") == [AGENT]


def test_users_settings_for_fetches_do_not_force_anything(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    first = adopt(ann, "one")
    run(ann)
    run(bob)
    ours = adopt(bob, "two")
    for name, value in [
        ("remote.origin.fetch", "+refs/*:refs/*"),
        ("remote.origin.mirror", "true"),
        ("remote.origin.prune", "true"),
        ("fetch.prune", "true"),
        ("push.followTags", "true"),
    ]:
        bob.git.output("config", name, value)
    hub.git("update-ref", "refs/pvc/trees/stranger", first.id)
    result = run(bob)
    assert bob.ref(AGENT) == ours.id == hub.oid(AGENT)
    assert refs_of(result, "pushed") == [AGENT]


def test_a_push_runs_the_users_own_hook(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, _ = clones
    adopt(ann, "one")
    hook = ann.git_dir / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ncat > pushed\n")
    hook.chmod(0o755)
    run(ann)
    assert AGENT in (ann.git_dir.parent / "pushed").read_text()
    adopt(ann, "two")
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    with pytest.raises(NotFoundError):
        run(ann)


# --- which remote -----------------------------------------------------------------------------


def test_without_a_remote_it_only_folds(repository: Repository) -> None:
    result = sync(repository, None, fold=lambda: FoldResult(pins=1))
    assert list(result.to_lines()) == ["folded 1 pin"]
    assert result.to_json() == {
        "schema": "pvc.sync/1", "remote": None, "folded": 1, "flagged": [], "damaged": [],
        "fetched": [], "forwarded": [], "carried": [], "pushed": [], "refused": [], "diverged": [],
        "taken": None, "removed": [], "hint": None, "unsigned": None, "forgotten": 0, "mended": [],
    }  # fmt: skip


def test_the_remote_is_origin_or_the_only_one_or_asked_for(
    repository: Repository, hub: Workspace
) -> None:
    url = f"file://{hub.path}"
    repository.git.output("remote", "add", "up", url)
    assert run(repository, None).remote == "up"
    repository.git.output("remote", "add", "down", url)
    with pytest.raises(UsageError, match="`down`, `up`"):
        run(repository, None)
    repository.git.output("remote", "add", "origin", url)
    assert run(repository, None).remote == "origin"
    with pytest.raises(NotFoundError, match="no remote `orgin`") as caught:
        run(repository, "orgin")
    assert caught.value.hint == "did you mean `origin`?"
    with pytest.raises(NotFoundError):
        run(repository, "--upload-pack=touch ran")


def test_two_syncs_at_once_both_get_through(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    """Between a fetch and the push of one clone, the other one pushed."""
    ann, bob = clones
    adopt(ann, "base")
    run(ann)
    run(bob)
    newer = adopt(bob, "newer")
    late = write_version(
        ann, kind="trees", name="second", tree=newer_tree(ann), reason="second", previous=None
    )
    hook = ann.git_dir / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    other = bob.git_dir.parent
    hook.write_text(
        f"#!/bin/sh\nunset GIT_DIR\ncd {other} && git push -q origin {AGENT}:{AGENT} || exit 1\n"
    )
    hook.chmod(0o755)
    result = run(ann)
    assert refs_of(result, "pushed") == ["refs/pvc/trees/second"]
    assert hub.oid(AGENT) == newer.id
    assert hub.oid("refs/pvc/trees/second") == late.id
    assert refs_of(run(ann), "forwarded") == [AGENT]


def newer_tree(repo: Repository) -> CommitId:
    found = tip(repo, "trees", "agent")
    assert found
    return CommitId(found.tree)


def test_a_push_that_comes_second_is_followed_by_another_fetch(
    clones: tuple[Repository, Repository], hub: Workspace
) -> None:
    ann, bob = clones
    adopt(ann, "base")
    run(ann)
    run(bob)
    first = adopt(bob, "first")
    adopt(ann, "second")
    hook = ann.git_dir / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    other = bob.git_dir.parent
    hook.write_text(f"#!/bin/sh\nunset GIT_DIR\ncd {other} && git push -q origin {AGENT}:{AGENT}\n")
    hook.chmod(0o755)
    result = run(ann)
    assert [split.theirs.commit for split in result.diverged] == [first.id]
    assert result.refused == ()
    assert hub.oid(AGENT) == first.id


def test_all_of_it_works_with_long_ids(make_workspace: Callable[..., Workspace]) -> None:
    """SHA-256: a folder becomes a version, travels, and is walked on the other side."""
    hub = make_workspace("hub.git", "--bare", "--object-format=sha256")
    opened = []
    for name in ("ann", "bob"):
        workspace = make_workspace(name, "--object-format=sha256")
        workspace.git("remote", "add", "origin", f"file://{hub.path}")
        workspace.commit({"p/a.md": "one", "p/s/b.md": "two"})
        opened.append(workspace.open())
    ann, bob = opened
    rows = read_folder(ann, "p", "worktree").store(ann)
    tree = version_tree(ann, rows, b"format = 1\n", {})
    made = write_version(ann, kind="trees", name="agent", tree=tree, reason="long", previous=None)
    assert len(made.id) == 64
    run(ann)
    run(bob)
    assert list(chain(bob, "trees", "agent")) == [made]
    (step,) = GitHistory(bob, made.id).steps()
    assert [change.path for change in step.changes] == [".pvc/lock.toml", "a.md", "s/b.md"]
    for repo in opened:
        repo.close()
