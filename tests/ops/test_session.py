"""A session's prompt at every position, and whose each byte is."""

from __future__ import annotations

from datetime import date
from random import Random
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from pvc.dialects.panto_wire import read_log
from pvc.errors import NotFoundError, RefusedError
from pvc.launch.entry import Change
from pvc.model.session import effective, entries_of
from pvc.ops import fold
from pvc.ops.session import Now, add, lines, log, record, show, tip
from pvc.ops.subject import blame_subject
from pvc.ops.sync import run as sync
from pvc.ops.told import Teller
from sessions import FILES, Sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from workspace import Workspace

BASE = b"You are an agent.\n\nYou serve Ann.\n"


@pytest.fixture
def sessions(workspace: Workspace) -> Sessions:
    made = Sessions(workspace)
    made.adopt()
    made.pin()
    return made


def walked(changes: list[Change], n: int) -> bytes:
    """The prompt after `n` changes, by a walk over them from the beginning."""
    blocks = [BASE]
    for change in changes[:n]:
        blocks = [] if change.mode == "replace" else blocks
        blocks.append(change.data)
    return b"\n\n".join(blocks)


def many(appends: int, replaces: int) -> list[Change]:
    random = Random(8)  # noqa: S311  # not a secret: the same changes each time
    modes = ["append"] * appends + ["replace"] * replaces
    random.shuffle(modes)
    return [Change(f"Rule {i}: {random.random()}\n".encode(), m) for i, m in enumerate(modes)]


def test_a_long_session_is_at_every_position_what_it_was_on_another_clone_too(
    sessions: Sessions, make_workspace: Callable[..., Workspace]
) -> None:
    changes = many(1000, 50)
    pins = record(sessions.repo, "s", changes)
    assert [pin.n for pin in pins] == [*range(1, 1051)]
    workspace = sessions.workspace
    hub = make_workspace("hub", "--bare")
    workspace.git("remote", "add", "origin", str(hub.path))
    workspace.git("config", "pvc.pushBodies", "true")
    sync(sessions.repo, "origin")
    other = make_workspace("other")
    other.git("remote", "add", "origin", str(hub.path))
    sync(other.open("pygit"), "origin")
    for clone in (workspace, other):
        repo = clone.open("pygit")
        teller, newest = Teller(repo), tip(repo, "s")
        chain = teller.chain(newest)
        assert [pin.n for pin in chain] == [*range(1051)]
        for pin in chain:
            assert teller.rendered(pin).data == walked(changes, pin.n)
    assert fold.run(sessions.repo).flagged == ()


def test_an_append_leaves_every_byte_before_it_and_costs_nothing(sessions: Sessions) -> None:
    before = show(sessions.repo, "s")
    added = add(sessions.repo, "s", Change(b"Be brief.", "append", "ext:x", "they asked"))
    after = show(sessions.repo, "s")
    assert after.rendered.data == before.rendered.data + b"\n\nBe brief."
    assert after.rendered.block_ends == (len(BASE), len(after.rendered.data))
    assert added.lost.size_bytes == 0
    assert (added.pin.supersedes, added.pin.reason) == (before.pin.receipt, "they asked")


def test_a_replace_forgets_and_is_priced(sessions: Sessions) -> None:
    sessions.change("Be brief.")
    added = add(sessions.repo, "s", Change(b"All new.", "replace"))
    assert show(sessions.repo, "s").rendered.data == b"All new."
    assert added.lost.size_bytes == len(BASE + b"\n\nBe brief.") + 2 * len(b"text\0\0")
    assert added.lost.cost
    assert show(sessions.repo, "s", 0).rendered.data == BASE
    assert [pin.n for pin in log(sessions.repo, "s").pins] == [0, 1, 2]
    assert log(sessions.repo, "s").standing == {2}


def test_the_log_as_lines_gives_the_prompts_blocks_again(sessions: Sessions) -> None:
    for text, mode in (("A\n", "append"), ("R", "replace"), ("B", "append")):
        sessions.change(text, mode)
    entries = entries_of(read_log(lines(sessions.repo, "s")).messages)
    assert effective(entries, 2) == (BASE, b"A\n")
    assert effective(entries) == (b"R", b"B")
    assert [entry.author for entry in entries] == ["config", "session", "session", "session"]


def test_blame_at_any_position_names_version_value_or_entry(sessions: Sessions) -> None:
    sessions.change("Be brief.", author="ext:x")
    sessions.change("All new.", "replace")
    past = blame_subject(sessions.repo, "s", {}, at=1)
    assert [0, *(run.end for run in past.runs)] == [
        *(run.start for run in past.runs),
        len(past.rendered.data),
    ]
    last = past.runs[-1]
    assert last.entry
    assert (last.author, last.entry.n, last.to_json()["author"]) == ("ext:x", 1, "ext:x")
    assert past.runs[0].version
    (now,) = blame_subject(sessions.repo, "s", {}).runs
    assert now.entry
    assert now.entry.n == 2


def test_a_known_session_gives_its_entries_back(sessions: Sessions) -> None:
    sessions.change("Be brief.")
    again = sessions.pin()
    assert (again.status, again.data) == ("same", BASE + b"\n\nBe brief.")
    other = sessions.pin(who="Bob")
    assert other.status == "refused"
    assert other.divergence
    assert other.divergence["owner"] == "the value `/who` for `{who}` in section `b.md`"


def test_two_that_add_at_once_both_count(sessions: Sessions) -> None:
    def one(name: str) -> None:
        for i in range(8):
            sessions.pinner().change("s", "main", [Change(f"{name}{i}".encode(), "append")])

    threads = [Thread(target=one, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    newest = tip(sessions.repo, "s")
    texts = [Teller(sessions.repo).text(pin) for pin in Teller(sessions.repo).entries(newest)]
    assert newest.n == 16
    for name in (b"a", b"b"):
        assert [t for t in texts if t[:1] == name] == [name + b"%d" % i for i in range(8)]


NOW = Now(date(2031, 2, 3), {"cwd": "/srv/harbour", "home": "/home/ann"})


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("Today is 2031-02-03.", "clock"),
        ("It is Feb 2, 2031, 10:41.", "clock"),
        ("Version of 2030-11-02.", ""),
        ("Work in /srv/harbour.", "cwd"),
        ("Work in /srv/harbours, not /x/srv/harbour.", ""),
        ("Notes lie in /home/ann/notes.", "home"),
    ],
)
def test_what_is_true_only_now_is_refused_with_the_place_to_put_it(
    sessions: Sessions, text: str, refused: str
) -> None:
    change = Change(text.encode(), "append")
    if not refused:
        assert add(sessions.repo, "s", change, now=NOW).pin.n == 1
        return
    with pytest.raises(RefusedError, match=rf"\({refused}\) is true only now") as caught:
        add(sessions.repo, "s", change, now=NOW)
    assert "pvc context s --section" in caught.value.hint
    assert tip(sessions.repo, "s").n == 0
    assert add(sessions.repo, "s", change).pin.n == 1


def test_a_session_that_is_not_here_and_a_position_that_is_not(sessions: Sessions) -> None:
    with pytest.raises(NotFoundError, match="`t` is not pinned here"):
        show(sessions.repo, "t")
    with pytest.raises(NotFoundError, match="no position 3"):
        show(sessions.repo, "s", 3)
    with pytest.raises(NotFoundError, match="`t` is not pinned here"):
        record(sessions.repo, "t", [Change(b"x", "append")])


def test_an_observed_session_takes_no_entries(sessions: Sessions) -> None:
    from pvc.launch.call import Call

    call = Call()
    call.session, call.observed, call.observed_bytes = "o", "rendered", b"sent"
    assert sessions.pinner().pin([call])[0].status == "pinned"
    with pytest.raises(RefusedError, match="pinned from bytes that were sent"):
        record(sessions.repo, "o", [Change(b"x", "append")])


def test_entries_survive_a_fold_and_are_rendered_again_by_it(sessions: Sessions) -> None:
    sessions.change("Be brief.")
    assert fold.run(sessions.repo).flagged == ()
    sessions.change("All new.", "replace")
    sessions.change("More.")
    result = fold.run(sessions.repo)
    assert (result.pins, result.flagged) == (2, ())
    assert show(sessions.repo, "s").rendered.data == b"All new.\n\nMore."
    assert show(sessions.repo, "s", 1).rendered.data == BASE + b"\n\nBe brief."


def test_a_re_pin_begins_anew(sessions: Sessions) -> None:
    from pvc.launch.call import Call

    sessions.change("Be brief.")
    sessions.adopt({**FILES, "agent/a.md": "You are another.\n"}, "Another")
    call = Call()
    call.tree, call.session, call.environment, call.repin = "agent", "s", {"who": "Ann"}, "moved"
    assert sessions.pinner().pin([call])[0].status == "pinned"
    sessions.change("After.")
    assert show(sessions.repo, "s").rendered.data == (
        b"You are another.\n\nYou serve Ann.\n\n\nAfter."
    )
    assert show(sessions.repo, "s", 1).rendered.data == BASE + b"\n\nBe brief."
    assert log(sessions.repo, "s").standing == {2, 3}
