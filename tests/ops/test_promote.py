"""Channels: moves on the record, what names them, and what a launch by their name gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.errors import CorruptError, MovedError, NotFoundError, PvcError, UsageError
from pvc.launch import cache
from pvc.ops.promote import Promoted
from pvc.ops.promote import run as promote
from pvc.ops.revise import Edits, NewFile
from pvc.ops.select import select_version
from pvc.ops.supersede import run as supersede
from pvc.store import channels
from sessions import Sessions

if TYPE_CHECKING:
    from pvc.model.names import CommitId
    from pvc.store.repo import Repository
    from workspace import Workspace

PRODUCTION = "refs/pvc/channels/agent/production"


def edit(repo: Repository, text: str, reason: str = "Edit") -> None:
    supersede(repo, "agent", reason, edits=Edits(sets=(NewFile("a.md", text.encode()),)))


@pytest.fixture
def sessions(workspace: Workspace) -> Sessions:
    """A repository with the tree `agent` and three versions of it."""
    made = Sessions(workspace)
    made.adopt()
    edit(made.repo, "Two.\n", "Second")
    edit(made.repo, "Three.\n", "Third")
    return made


def moved(result: Promoted) -> channels.ChannelMove:
    assert result.move is not None, result
    return result.move


def test_a_move_is_an_ordinary_commit_that_carries_its_version(
    sessions: Sessions, workspace: Workspace
) -> None:
    repo = sessions.repo
    first = moved(promote(repo, "agent@1", "production", "It passed\n\nAll of it."))
    second = moved(promote(repo, "agent@2", "production", "Better"))
    one, two = select_version(repo, "agent@1"), select_version(repo, "agent@2")
    parents = workspace.git("log", "-2", "--first-parent", "--format=%H %T %P", PRODUCTION)
    assert parents.split("\n") == [
        f"{second.id} {two.tree} {first.id} {two.id}",
        f"{first.id} {one.tree} {one.id}",
    ]
    message = workspace.git("log", "-1", "--format=%B", first.id)
    assert message == (
        "It passed\n\nAll of it.\n\nPvc-Channel: agent/production\nPvc-Format: 1\n"
    )  # fmt: skip
    assert workspace.git("fsck", "--strict", "--no-dangling") == ""


def test_a_rollback_is_one_more_move(sessions: Sessions) -> None:
    repo = sessions.repo
    for word, reason in (("agent", "Newest"), ("agent@1", "Back: it deleted files")):
        promote(repo, word, "production", reason)
    rows = [
        (move.version.number, move.subject) for move in channels.chain(repo, "agent", "production")
    ]
    assert rows == [(1, "Back: it deleted files"), (3, "Newest")]


def test_what_is_there_already_is_no_move(sessions: Sessions) -> None:
    promote(sessions.repo, "agent@2", "production", "Ready")
    before = sessions.repo.ref(PRODUCTION)
    for dry_run in (False, True):
        again = promote(sessions.repo, "agent@2", "production", "Ready", dry_run=dry_run)
        assert (again.status, again.move) == ("same", None)
    assert sessions.repo.ref(PRODUCTION) == before


def test_a_dry_run_moves_nothing(sessions: Sessions) -> None:
    planned = promote(sessions.repo, "agent@2", "production", "Ready", dry_run=True)
    assert (planned.status, sessions.repo.ref(PRODUCTION)) == ("planned", None)


def test_a_channel_names_a_version_for_another(sessions: Sessions) -> None:
    promote(sessions.repo, "agent@2", "beta", "Try it")
    assert moved(promote(sessions.repo, "agent@beta", "production", "It held")).version.number == 2
    assert channels.names(sessions.repo, "agent") == ("beta", "production")


@pytest.mark.parametrize(
    ("word", "channel", "reason", "error", "words"),
    [
        ("agent", "production", " \n", UsageError, "needs a reason"),
        ("agent", "9", "x", UsageError, "no channel name"),
        ("agent", "Prod", "x", UsageError, "no channel name"),
        ("agent", "../trees/agent", "x", UsageError, "no channel name"),
        ("agent@9", "production", "x", NotFoundError, "no version 9"),
        ("agent@beta", "production", "x", NotFoundError, "no channel `beta`"),
        ("agnt", "production", "x", NotFoundError, "no tree or pack `agnt`"),
        ("words", "production", "x", UsageError, "is a pack"),
    ],
)
def test_what_cannot_be_promoted_is_refused(
    sessions: Sessions, word: str, channel: str, reason: str, error: type[PvcError], words: str
) -> None:
    sessions.workspace.commit(
        {"words/pvc.toml": 'format = 1\nkind = "pack"\nname = "words"\nform = "plain"\n',
         "words/a.md": "x\n"}
    )  # fmt: skip
    supersede(sessions.repo, "words", "First")
    with pytest.raises(error, match=words):
        promote(sessions.repo, word, channel, reason)
    assert sessions.repo.refs("refs/pvc/channels/") == ()


def test_of_two_that_move_at_once_one_is_told(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = sessions.repo
    promote(repo, "agent@1", "production", "First")
    write = repo.write_commit

    def be_late(*given: object, **more: object) -> CommitId:
        monkeypatch.undo()
        promote(sessions.repo, "agent@2", "production", "Quicker")
        return write(*given, **more)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(repo, "write_commit", be_late)
    with pytest.raises(MovedError, match="production"):
        promote(repo, "agent@3", "production", "Slower")
    newest = channels.tip(repo, "agent", "production")
    assert newest is not None
    assert newest.subject == "Quicker"


# --- launches ---------------------------------------------------------------------------------


def test_a_launch_by_channel_is_warm_at_once_and_pinned_sessions_stay(sessions: Sessions) -> None:
    first = moved(promote(sessions.repo, "agent@1", "production", "Ready"))
    assert cache.read(str(sessions.repo.common_dir), first.id) is not None
    assert sessions.pin("s", tree="agent@production").version == "agent@1"
    promote(sessions.repo, "agent@3", "production", "Better")
    again = sessions.pin("s", tree="agent@production")
    assert again.version == "agent@1"
    assert again.notes == [
        "agent@production is agent@3; session s stays at agent@1 (--repin REASON moves it)"
    ]
    assert sessions.pin("t", tree="agent@production").version == "agent@3"
    promote(sessions.repo, "agent@1", "production", "Back")
    assert sessions.pin("s", tree="agent@production").notes == []
    assert sessions.pin("s", tree="agent@2").notes == [
        "agent@2 was asked for; session s stays at agent@1 (--repin REASON moves it)"
    ]


def test_a_launch_that_finds_no_program_keeps_it_under_the_move(sessions: Sessions) -> None:
    move = moved(promote(sessions.repo, "agent@1", "production", "Ready"))
    folder = sessions.repo.common_dir / cache.FOLDER
    for file in folder.iterdir():
        file.unlink()
    assert sessions.pin("s", tree="agent@production").version == "agent@1"
    assert {file.name for file in folder.iterdir()} == {move.id, move.version.id}


# --- what others may have written -------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Ready\n\nPvc-Channel: agent/beta\n", "no record of a move"),
        ("Ready\n\nPvc-Channel: other/production\n", "no record of a move"),
        ("Ready", "no record of a move"),
    ],
)
def test_a_forged_move_is_no_move(sessions: Sessions, message: str, words: str) -> None:
    repo = sessions.repo
    version = select_version(repo, "agent@1")
    forged = repo.write_commit(version.tree, [version.id], message)
    repo.move_ref(PRODUCTION, None, forged)
    with pytest.raises(CorruptError, match=words):
        channels.tip(repo, "agent", "production")


def test_a_move_with_other_bytes_than_the_version_is_no_move(sessions: Sessions) -> None:
    repo = sessions.repo
    one, two = select_version(repo, "agent@1"), select_version(repo, "agent@2")
    forged = repo.write_commit(two.tree, [one.id], "Ready\n\nPvc-Channel: production\n")
    repo.move_ref(PRODUCTION, None, forged)
    with pytest.raises(CorruptError, match="holds other bytes"):
        promote(repo, "agent@3", "production", "Over it")
    assert repo.ref(PRODUCTION) == forged
