"""A launch finds versions and sessions from files, every other command through the repository.
Both roads get the same questions and must give the same answer, mistakes included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.errors import PvcError
from pvc.launch.known import newest
from pvc.launch.place import find
from pvc.launch.spool import Spool
from pvc.launch.version import Versions
from pvc.ops.select import select_version
from pvc.store.ledger import Ledger
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cli.conftest import Clone

WORDS = (
    "agent", "agent@1", "agent@2", "agent@3", "agent@0", "agent@4", "agent@007", "agent@1234567890",
    "agent@\u0663", "agent@-1", "agent@1.0", "agent@ 1", "agent@", "agent@1@2",
    "agent@production", "agent@prodution", "agent@Prod", "agent@nowhere", "agent@refs/heads/main",
    "Agent", "agnet", "nope", "nope@1", "nope@production", "", "@", "@1", "a/b", "../trees/agent",
    "agent.lock", "agent~1", "agent^{tree}", "HEAD", "x" * 80,
    "other", "other@1", "other@2", "other@production",
)  # fmt: skip
SESSIONS = ("one", "two", "three", "nobody", "agent", "One", "one ", "")


@pytest.fixture
def three(adopted: Clone) -> Clone:
    """A tree of three versions with a channel, another tree of one, and sessions of each state."""
    for number in (2, 3):
        adopted.write("agent/10-role.md", f"# Role\n\nYou mend boats, {number}.\n")
        adopted.commit(f"Change {number}")
        adopted.pvc("supersede", "agent", "-m", f"Reason {number}")
    adopted.write("other/pvc.toml", 'format = 1\nname = "other"\nform = "plain"\n')
    adopted.write("other/a.md", "Other.\n")
    adopted.commit("Another")
    adopted.pvc("supersede", "other", "-m", "Another")
    adopted.pvc("promote", "agent@2", "production", "-m", "Good")
    adopted.pvc("pin", "agent", "--session", "one", "--set", "cwd=/")
    adopted.pvc("pin", "agent", "--session", "two", "--set", "cwd=/")
    adopted.pvc("sync")
    adopted.pvc("pin", "agent", "--session", "two", "--set", "cwd=/2", "--repin", "moved")
    adopted.pvc("pin", "agent@1", "--session", "three", "--set", "cwd=/")
    return adopted


def _answer(ask: Callable[[], tuple[int, str]]) -> tuple[object, ...]:
    try:
        return ask()
    except PvcError as error:
        return type(error).__name__, str(error), error.hint


def _launch(path: Path, word: str) -> tuple[int, str]:
    found = Versions(find(str(path))).named(word)
    return found.number, found.commit


def _full(path: Path, word: str) -> tuple[int, str]:
    found = select_version(open_repository(path), word)
    return found.number, found.id


def assert_same(path: Path) -> dict[str, tuple[object, ...]]:
    answers = {word: _answer(lambda word=word: _launch(path, word)) for word in WORDS}  # type: ignore[misc]
    assert answers == {word: _answer(lambda word=word: _full(path, word)) for word in WORDS}  # type: ignore[misc]
    return answers


def _oid(clone: Clone, number: int) -> str:
    return clone.git("rev-parse", f"refs/pvc/trees/agent~{3 - number}")


def _graft(clone: Clone) -> None:
    clone.write(".git/info/grafts", f"{_oid(clone, 3)} {_oid(clone, 1)}\n")


def _replace(clone: Clone) -> None:
    clone.git("replace", _oid(clone, 2), _oid(clone, 1))


def _pack(clone: Clone) -> None:
    clone.git("pack-refs", "--all")


def _no_programs(clone: Clone) -> None:
    for path in (clone.path / ".git/pvc/cache/v1").iterdir():
        path.unlink()


def _symbolic(clone: Clone) -> None:
    clone.git(
        "symbolic-ref", "refs/pvc/channels/agent/nowhere", "refs/pvc/channels/agent/production"
    )


def _shallow(clone: Clone) -> None:
    clone.write(".git/shallow", f"{_oid(clone, 2)}\n")


def _other_in_its_place(clone: Clone) -> None:
    clone.git("update-ref", "refs/pvc/trees/agent", "refs/pvc/trees/other")


def _no_version(clone: Clone) -> None:
    clone.git("update-ref", "refs/pvc/trees/agent", "HEAD")


def _numbers_do_not_follow(clone: Clone) -> None:
    """Make a third version whose parent is the first."""
    text = clone.git("cat-file", "commit", _oid(clone, 3)).replace(_oid(clone, 2), _oid(clone, 1))
    path = clone.write("../commit", text + "\n")
    made = clone.git("hash-object", "-w", "-t", "commit", str(path))
    clone.git("update-ref", "refs/pvc/trees/agent", made)


def _damaged(clone: Clone) -> None:
    clone.write(".git/refs/pvc/trees/agent", "not a commit\n")
    clone.write(".git/refs/pvc/channels/agent/production", "")


def _fresh(clone: Clone) -> None:
    """Leave what a `git clone` brings: the folders, a remote, and no ref of pvc's."""
    for ref in clone.git("for-each-ref", "--format=%(refname)", "refs/pvc/").split():
        clone.git("update-ref", "-d", ref)
    clone.git("remote", "add", "origin", "../hub.git")


STATES = {
    "as it is": lambda _: None,
    "a graft": _graft,
    "a replace ref": _replace,
    "packed refs": _pack,
    "nothing compiled": _no_programs,
    "a symbolic channel": _symbolic,
    "a shallow clone": _shallow,
    "another tree's version": _other_in_its_place,
    "an ordinary commit": _no_version,
    "numbers that do not follow": _numbers_do_not_follow,
    "damaged refs": _damaged,
    "a fresh clone": _fresh,
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_both_roads_find_the_same_version(three: Clone, state: str) -> None:
    expected = {f"agent@{n}": (n, _oid(three, n)) for n in (1, 2, 3)}
    STATES[state](three)
    answers = assert_same(three.path)
    if state in ("as it is", "a graft", "a replace ref", "packed refs", "nothing compiled"):
        assert {word: answers[word] for word in expected} == expected
    else:
        assert answers != {**answers, **expected} or state == "a symbolic channel"


def test_both_roads_say_that_a_fresh_clone_has_no_versions(three: Clone) -> None:
    _fresh(three)
    answers = assert_same(three.path)
    for word in ("agent", "agent@1", "agent@production", "other"):
        kind, message, hint = answers[word]
        name = word.partition("@")[0]
        assert kind == "UnfetchedError"
        assert message == f"`{name}` has no versions in this clone"
        assert str(hint).startswith("pvc sync fetches them")


def test_a_graft_does_not_change_what_is_pinned(three: Clone) -> None:
    shown = three.pvc("render", "agent@2", "--set", "cwd=/").out
    _graft(three)
    done = three.pvc("pin", "agent@2", "--session", "new", "--set", "cwd=/", "--out", "-")
    assert done.out == shown == three.pvc("render", "agent@2", "--set", "cwd=/").out


def test_a_pack_is_not_pinned(ada: Clone) -> None:
    (ada.path / "agent").mkdir()
    ada.pvc("init", "agent", "--form", "loom")
    assert "is a pack, and only a tree" in ada.refused(
        "pin", "builtin-loom", "--session", "s", code=4
    )


@pytest.mark.parametrize("session", SESSIONS)
def test_both_roads_find_the_same_pin(three: Clone, session: str) -> None:
    place = find(str(three.path))
    found = newest(place, Spool(place.home), session, "main")
    pins = Ledger(open_repository(three.path)).session(session, "main")
    assert (found and found.receipt) == (pins[0].receipt if pins else None)
