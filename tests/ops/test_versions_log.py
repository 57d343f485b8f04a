"""A log over all of it: adoptions, bytes, channels, sessions, and what remotes have otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pvc.cli.show_log import TEXTS
from pvc.model.names import CommitId, PackName
from pvc.ops.fold import run as fold
from pvc.ops.init import write_builtin_packs
from pvc.ops.promote import run as promote
from pvc.ops.revise import Edits, NewFile
from pvc.ops.subject import blame_subject
from pvc.ops.supersede import run as supersede
from pvc.ops.versions_log import VersionsLog, versions_log
from pvc.store.counts import Standing, sessions_on
from pvc.store.ledger import Ledger
from pvc.store.versions import find
from sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.store.repo import Repository
    from workspace import Workspace


def edit(repo: Repository, text: str, reason: str, *, name: str = "agent") -> None:
    supersede(repo, name, reason, edits=Edits(sets=(NewFile("a.md", text.encode()),)))


def text(log: VersionsLog) -> list[str]:
    return list(TEXTS["VersionsLog"](log))


def rows(log: VersionsLog) -> list[dict[str, Any]]:
    found: Any = log.to_json()["versions"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def sessions(workspace: Workspace) -> Sessions:
    """A repository with the tree `agent` and three versions of it."""
    made = Sessions(workspace)
    made.adopt()
    edit(made.repo, "Two.\n", "Second")
    edit(made.repo, "Three.\n", "Third")
    return made


# --- which versions ---------------------------------------------------------------------------


def test_a_log_begins_where_it_is_told_to(sessions: Sessions) -> None:
    promote(sessions.repo, "agent@2", "production", "Ready")
    for word, numbers in (
        ("agent", [3, 2, 1]), ("agent@2", [2, 1]), ("agent@production", [2, 1]), ("agent@1", [1]),
    ):  # fmt: skip
        log = versions_log(sessions.repo, word, 50)
        assert [row["version"] for row in rows(log)] == numbers
    assert [row["version"] for row in rows(versions_log(sessions.repo, "agent", 2))] == [3, 2]


def test_built_in_packs_are_listed_where_a_tree_stands_on_them_or_when_asked(
    sessions: Sessions, workspace: Workspace
) -> None:
    repo = sessions.repo
    write_builtin_packs(repo)

    def listed(*, packs: bool = False) -> list[str]:
        return [row["name"] for row in rows(versions_log(repo, None, 50, packs=packs))]

    assert listed() == ["agent"]
    manifest = 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n'
    workspace.commit({"house/pvc.toml": manifest, "house/a.md": "x\n"})
    supersede(repo, "house", "Our own")
    assert listed() == ["agent", "house"]
    loom = 'format = 1\nname = "desk"\nform = "loom"\npacks = {builtin-loom = 1}\n'
    workspace.commit({"desk/pvc.toml": loom, "desk/rules.md": "## Rules\n\nNone.\n"})
    supersede(repo, "desk", "On a pack")
    assert listed() == ["agent", "desk", "builtin-loom", "house"]
    everything = listed(packs=True)
    assert "house" in everything
    assert "builtin-raku" in everything
    assert "agent" not in everything


# --- who and why ------------------------------------------------------------------------------


def test_edits_reverts_and_moved_bytes_are_told(sessions: Sessions) -> None:
    repo = sessions.repo
    supersede(repo, "agent", "Back", edits=Edits(revert_to=1))
    log = versions_log(repo, "agent", 50)
    first = find(repo, "trees", "agent", 1)
    assert rows(log)[0]["reverts"] == first.id
    assert [row["source_state"] for row in rows(log)] == ["head", "version", "version", "head"]
    said = "\n".join(text(log))
    assert f"    has the tree of {first.id.short} again" in said
    assert "tree adoption (agent@3 → agent@4): " in said


def test_channels_stand_below_the_version_they_came_to(sessions: Sessions) -> None:
    repo = sessions.repo
    sessions.pin("s")  # its values show which bytes of the prompt moved
    promote(repo, "agent@1", "production", "Ready")
    promote(repo, "agent@3", "production", "Better")
    promote(repo, "agent@3", "beta", "Try")
    newest, _, oldest = rows(versions_log(repo, "agent", 50))
    moved = {move["channel"]: move for move in newest["channels"]}
    assert set(moved) == {"production", "beta"}
    production = moved["production"]
    assert (production["from"], production["is_there"], production["reason"]) == (1, True, "Better")
    assert production["kept_bytes"] == 0
    assert production["lost_bytes"] == len(
        "text\0You are an agent.\n\nYou serve Ann.\n\0"
    )  # as it was
    assert (moved["beta"]["from"], moved["beta"]["lost_bytes"]) == (None, None)
    assert [(m["channel"], m["is_there"]) for m in oldest["channels"]] == [("production", False)]
    lines = text(versions_log(repo, "agent@production", 50))
    here = "    production here since 2023-11-14 (from agent@1)  Ada Prompt  Better; Anthropic, "
    assert any(line.startswith(here) for line in lines), lines
    assert not any("beta" in line for line in lines)


def test_the_cost_of_a_channels_jump_is_that_of_all_versions_between(sessions: Sessions) -> None:
    """Versions 1 and 3 differ; 1 and the revert to it do not."""
    repo = sessions.repo
    sessions.pin("s")
    supersede(repo, "agent", "Back", edits=Edits(revert_to=1))
    promote(repo, "agent@1", "production", "Ready")
    promote(repo, "agent@4", "production", "The same text")
    (move,) = rows(versions_log(repo, "agent", 50))[0]["channels"]
    assert (move["from"], move["lost_bytes"]) == (1, None)


# --- sessions ---------------------------------------------------------------------------------


def counts(repo: Repository) -> list[int]:
    return [row["sessions"] for row in rows(versions_log(repo, "agent", 50))]


@pytest.mark.parametrize("folded", [False, True], ids=["spool", "ledger"])
def test_sessions_are_counted_where_they_stand(sessions: Sessions, folded: bool) -> None:  # noqa: FBT001 - a case
    repo = sessions.repo
    for session, tree in (("a", "agent@1"), ("b", "agent@1"), ("c", "agent@2"), ("d", "agent")):
        sessions.pin(session, tree=tree)
    if folded:
        fold(repo)
    assert counts(repo) == [1, 1, 2]
    sessions.pin("a", tree="agent@1")  # the same again is no other session
    assert counts(repo) == [1, 1, 2]
    assert "(2 sessions)" in text(versions_log(repo, "agent@1", 50))[0]
    assert "(1 session)" in text(versions_log(repo, "agent", 50))[0]


def test_a_session_that_was_pinned_again_counts_once_where_it_is_now(
    sessions: Sessions, workspace: Workspace
) -> None:
    from pvc.launch.call import Call

    repo = sessions.repo
    sessions.pin("s", tree="agent@1")
    fold(repo)
    again = Call()
    again.tree, again.session, again.environment = "agent@3", "s", {"who": "Ann"}
    again.repin = "Moved on"
    assert sessions.pinner().pin([again])[0].version == "agent@3"
    assert counts(repo) == [1, 0, 0]
    fold(repo)
    assert counts(repo) == [1, 0, 0]
    sessions.change("More.\n")  # an entry is no session of its own
    assert counts(repo) == [1, 0, 0]
    assert counts(workspace.open("gitcli")) == [1, 0, 0]


def test_counts_agree_with_the_records_over_many_runs(sessions: Sessions) -> None:
    """The index is several runs; the oracle reads every pin."""
    repo = sessions.repo
    for number in range(12):
        sessions.pin(f"s{number}", tree=f"agent@{1 + number % 3}")
        if number % 3 == 2:
            fold(repo)
    newest = {pin.session: pin.version for pin in reversed(Ledger(repo).newest(None))}
    oracle = [sum(version == n for version in newest.values()) for n in (3, 2, 1)]
    assert counts(repo) == oracle == [4, 4, 4]


def test_a_damaged_index_is_made_again_and_counted(sessions: Sessions) -> None:
    repo = sessions.repo
    sessions.pin("s")
    fold(repo)
    assert counts(repo) == [1, 0, 0]
    (run,) = (repo.common_dir / "pvc/index").glob("*.run")
    data = bytearray(run.read_bytes())
    data[80] ^= 1
    run.write_bytes(data)
    assert counts(repo) == [1, 0, 0]


def test_a_spooled_pin_stands_above_an_older_folded_one(sessions: Sessions) -> None:
    repo = sessions.repo
    one, two = (find(repo, "trees", "agent", number).id for number in (1, 2))
    key = b"12345678"
    spooled = [Standing(key, 5, bytes.fromhex(one[:8])), Standing(key, 6, bytes.fromhex(two[:8]))]
    for order in (spooled, spooled[::-1]):
        assert sessions_on(repo, [one, two], order) == {one: 0, two: 1}
    other = Standing(key, 7, b"\0\0\0\0")
    assert sessions_on(repo, [one], [other]) == {one: 0}


# --- remotes ----------------------------------------------------------------------------------


@pytest.fixture
def pair(make_workspace: Callable[..., Workspace]) -> tuple[Repository, Repository]:
    """Two clones that adopted other things after version 1; the first has synced."""
    from pvc.ops.sync import run as sync

    hub = make_workspace("hub.git", "--bare")
    opened = []
    for name in ("ann", "bob"):
        clone = make_workspace(name)
        clone.git("remote", "add", "origin", f"file://{hub.path}")
        clone.git("config", "user.name", name.title())
        opened.append(clone)
    ann, bob = (clone.open() for clone in opened)
    Sessions(opened[0]).adopt()
    promote(ann, "agent", "production", "Ready")
    for repo in (ann, bob):
        sync(repo, "origin")
    for repo, who in ((ann, "Ann"), (bob, "Bob")):
        edit(repo, f"{who}'s.\n", f"{who} knows better")
    promote(ann, "agent", "production", "Ann is sure")
    for repo in (ann, bob):
        sync(repo, "origin")
    return ann, bob


def test_what_a_remote_has_otherwise_stands_on_top(pair: tuple[Repository, Repository]) -> None:
    ann, bob = pair
    log = versions_log(bob, "agent", 50)
    theirs = find(ann, "trees", "agent")
    assert text(log)[:3] == [
        "origin went on otherwise: trees/agent",
        f"    agent@2  {theirs.id.short}  2023-11-14  Ann  Ann knows better",
        "    pvc supersede agent --resolve origin -m REASON goes on from both",
    ]
    assert [row["version"] for row in rows(log)] == [2, 1]
    assert versions_log(ann, "agent", 50).diverged == ()


def test_both_sides_of_a_resolve_are_told(pair: tuple[Repository, Repository]) -> None:
    _, bob = pair
    mine = find(bob, "trees", "agent")
    edits = Edits(sets=(NewFile("a.md", b"Both.\n"),))
    supersede(bob, "agent", "Both are right", edits=edits, resolve="origin")
    log = versions_log(bob, "agent", 50)
    assert log.diverged == ()
    top = rows(log)[0]
    assert (top["resolves"], top["resolved"]["reason"]) == (mine.id, "Bob knows better")
    assert [row["reason"] for row in rows(log)] == ["Both are right", "Ann knows better", "First"]
    said = "\n".join(text(log))
    assert f"    resolves agent@2  {mine.id.short}  2023-11-14  Bob  Bob knows better" in said


def test_a_session_on_the_side_that_lost_its_number_is_not_counted_for_another(
    pair: tuple[Repository, Repository],
) -> None:
    _, bob = pair
    from workspace import Workspace

    assert bob.worktree is not None
    clone = Sessions(Workspace(bob.worktree))
    clone.pin("s")
    edits = Edits(revert_to=2)
    supersede(bob, "agent", "Ann is right", edits=edits, resolve="origin")
    assert counts(bob) == [0, 0, 0]
    log = versions_log(bob, "agent", 50)
    assert rows(log)[0]["resolved"]["sessions"] == 1
    assert text(log)[2].endswith("  Bob  Bob knows better  (1 session)")


def test_a_forged_ref_of_a_remote_stops_no_log(
    pair: tuple[Repository, Repository],
) -> None:
    _, bob = pair
    forged = bob.write_commit(bob.write_tree([]), [], "Evil")
    for ref in ("trees/agent", "channels/agent/production", "channels/agent/UP.lock.x"):
        name = f"refs/pvc/remotes/evil/{ref}"
        bob.move_ref(name, None, CommitId(forged))
    log = versions_log(bob, "agent", 50)
    assert {apart.remote for apart in log.diverged} == {"origin"}
    assert len(log.entries) == 2


# --- blame names a pack's own version ---------------------------------------------------------


def test_text_of_a_pack_is_blamed_on_the_packs_version(workspace: Workspace) -> None:
    from pvc.cli.show_blame import owner

    repo = workspace.open()
    pack = 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n'
    tree = 'format = 1\nname = "agent"\nform = "plain"\npacks = {house = 1}\n'
    workspace.commit(
        {"house/pvc.toml": pack, "house/a.md": "Old.\n",
         "agent/pvc.toml": tree, "agent/b.md": "Own.\n"}
    )  # fmt: skip
    supersede(repo, "house", "First house")
    supersede(repo, "agent", "First")
    supersede(repo, "house", "More", edits=Edits(sets=(NewFile("b2.md", b"New.\n"),)))
    supersede(repo, "agent", "Take it", edits=Edits(packs=((PackName("house"), 2),)))
    for _ in range(2):  # made, then read back
        blamed = blame_subject(repo, "agent", {})
        owners = {
            blamed.rendered.data[run.start : run.end]: owner(run).split(" ")[0]
            for run in blamed.runs
            if run.version
        }
        assert owners == {b"Old.": "house@1", b"New.": "house@2", b"Own.\n": "agent@1"}
    assert [run.to_json()["version"] for run in blamed.runs if run.version] == [1, 2, 1]
