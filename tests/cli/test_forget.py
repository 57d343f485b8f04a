"""Sessions that are forgotten: the bytes are gone from every object and file, the proof stays."""

from __future__ import annotations

import json
import sys
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from pvc.ops.hook_ledger import check_fold
from pvc.store.codec import from_micros
from pvc.store.open import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone

VALUE = "tell-nobody-0b5e"
ENTRY = "said-in-between-77aa"


def pin(clone: Clone, session: str, cwd: str = VALUE, *words: str) -> dict[str, Any]:
    done = clone.pvc("pin", "agent", "--session", session, "--set", f"cwd={cwd}", "--json", *words)
    answer: dict[str, Any] = done.json
    return answer


def forget(clone: Clone, *words: str) -> dict[str, Any]:
    result: dict[str, Any] = clone.pvc("forget", *words, "--json").json
    return result


def found(clone: Clone, text: str) -> list[str]:
    """Name every place below `.git` where the bytes are: objects, packed or not, and files."""
    wanted = text.encode()
    rows = clone.git("cat-file", "--batch-all-objects", "--batch-check").split("\n")
    places = []
    for row in rows:
        oid, kind, _ = row.split(" ")
        if wanted in clone.run(["git", "cat-file", kind, oid]).out:
            places.append(f"{kind} {oid}")
    for path in (clone.path / ".git").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if wanted in data or wanted in _inflated(data):
            places.append(str(path))
    return places


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data)
    except zlib.error:
        return b""


def prune(clone: Clone) -> None:
    clone.git("gc", "--quiet", "--prune=now")


def check_ledgers(clone: Clone) -> None:
    """Read every fold as a server does: segments, numbers, chains."""
    repo = open_repository(clone.path)
    for ref, tip in repo.refs("refs/pvc/pins/"):
        for commit in repo.first_parents(tip):
            check_fold(repo, commit)
        assert ref
    clone.git("fsck", "--strict", "--no-dangling")


def as_pinned(_: Clone) -> None:
    """Leave it in the spool."""


def as_folded(clone: Clone) -> None:
    clone.pvc("sync")


def as_packed(clone: Clone) -> None:
    clone.pvc("sync")
    clone.git("gc", "--quiet")
    clone.git("repack", "-adq")


def as_looked_at(clone: Clone) -> None:
    """Fill the caches that commands keep."""
    clone.pvc("sync")
    for words in (["blame", "s"], ["blame", "s", "--head"], ["log", "--pins"]):
        clone.pvc(*words)
    for words in (["diff", "s", "o"], ["miss", "s", "o"]):
        clone.pvc(*words, code=1)


def with_reflogs(clone: Clone) -> None:
    clone.git("config", "core.logAllRefUpdates", "always")
    clone.pvc("sync")
    pin(clone, "later", "/later")
    clone.pvc("sync")


@pytest.mark.parametrize("before", [as_pinned, as_folded, as_packed, as_looked_at, with_reflogs])
def test_the_bytes_are_in_no_object_and_no_file(
    adopted: Clone, before: Callable[[Clone], None]
) -> None:
    tools = [{"name": "read", "description": VALUE, "input_schema": {"type": "object"}}]
    adopted.write("../tools.json", json.dumps(tools))
    pin(adopted, "s", VALUE, "--tools", "../tools.json", "--privacy", "bytes")
    pin(adopted, "o", "/other")
    adopted.pvc("session", "append", "s", "--text", ENTRY, "--accept-volatile")
    before(adopted)
    assert found(adopted, VALUE)
    result = forget(adopted, "s", "-m", "asked to")
    assert {body["part"] for body in result["forgotten"]} == {
        "environment", "tools", "prompt", "entry",
    }  # fmt: skip
    assert result["kept"] == []
    prune(adopted)
    assert found(adopted, VALUE) == []
    assert found(adopted, ENTRY) == []
    assert adopted.pvc("show", "o", "--bytes").out.find(b"/other") > 0
    check_ledgers(adopted)


def test_observed_bytes_and_deliveries_go_too(adopted: Clone) -> None:
    body = {"system": [{"type": "text", "text": VALUE}], "messages": []}
    adopted.write("../body.json", json.dumps(body))
    adopted.pvc("pin", "--session", "seen", "--request", "../body.json")
    forget(adopted, "seen")
    prune(adopted)
    assert found(adopted, VALUE) == []
    said = adopted.refused("show", "seen", "--bytes", code=4)
    assert "the bytes of session `seen` were forgotten" in said


def test_records_receipts_and_chains_stay(adopted: Clone) -> None:
    receipt = pin(adopted, "s")["receipt"]
    adopted.pvc("sync")
    before = adopted.pvc("show", "s", "--json").json["pin"]
    forget(adopted, "s", "-m", "asked to")
    prune(adopted)
    shown = adopted.pvc("show", "s", "--json").json
    assert shown["pin"] == before
    assert before["receipt"] == receipt
    check_ledgers(adopted)
    again = pin(adopted, "s")
    assert (again["status"], again["receipt"]) == ("same", receipt)
    assert found(adopted, VALUE) == []


@pytest.mark.parametrize(
    "words",
    [
        ["show", "s", "--bytes"],
        ["session", "show", "s"],
        ["session", "append", "s", "--text", "More."],
        ["pin", "--session", "s", "--resume"],
    ],
    ids=" ".join,
)
def test_who_asks_is_told_when_by_whom_and_why(adopted: Clone, words: list[str]) -> None:
    pin(adopted, "s")
    pin(adopted, "o", "/other")
    forget(adopted, "s", "-m", "asked to")
    said = adopted.pvc(*words, code=4).err
    assert "the values of session `s` were forgotten on 20" in said
    assert "by Ada Osei: asked to" in said
    assert adopted.pvc("session", "log", "s").text


@pytest.mark.parametrize(
    ("words", "code"),
    [(["blame", "s"], 0), (["miss", "s", "o"], 1), (["diff", "s", "o"], 1)],
    ids=["blame", "miss", "diff"],
)
def test_what_needs_no_forgotten_value_is_answered(
    adopted: Clone, words: list[str], code: int
) -> None:
    """And it is said that placeholders stand in, and why."""
    pin(adopted, "s")
    pin(adopted, "o", "/other")
    forget(adopted, "s", "-m", "asked to")
    done = adopted.pvc(*words, code=code)
    said = done.err + done.text
    assert VALUE not in said
    assert "values" in said
    if words[0] == "blame":
        assert "were forgotten on 20" in said
        assert "by Ada Osei: asked to" in said


def test_forgotten_values_can_still_be_proved(adopted: Clone) -> None:
    pin(adopted, "s")
    forget(adopted, "s")
    assert adopted.pvc("show", "s", "--set", f"cwd={VALUE}", "--json").json["proved"]
    adopted.pvc("show", "s", "--set", "cwd=/else", code=1)


# --- what others need -------------------------------------------------------------------------


def test_a_body_that_another_session_needs_stays_until_that_one_is_forgotten(
    adopted: Clone,
) -> None:
    pin(adopted, "s")
    pin(adopted, "friend")
    result = forget(adopted, "s")
    assert [(body["part"], body["session"]) for body in result["kept"]] == [
        ("environment", "friend")
    ]
    assert result["forgotten"] == []
    assert VALUE in adopted.pvc("show", "friend", "--bytes").text
    result = forget(adopted, "friend")
    assert [body["part"] for body in result["forgotten"]] == ["environment"]
    prune(adopted)
    assert found(adopted, VALUE) == []


def test_the_same_values_pinned_later_are_needed_again(adopted: Clone) -> None:
    pin(adopted, "s")
    forget(adopted, "s")
    pin(adopted, "new")
    adopted.pvc("sync")
    assert VALUE in adopted.pvc("show", "new", "--bytes").text
    assert forget(adopted, "s")["forgotten"] == []
    assert VALUE in adopted.pvc("show", "new", "--bytes").text


def test_a_second_run_has_nothing_to_do_and_records_nothing(adopted: Clone) -> None:
    pin(adopted, "s")
    first = forget(adopted, "s")
    assert first["tombstones"] == 1
    refs = adopted.refs()
    second = forget(adopted, "s")
    assert (second["forgotten"], second["tombstones"]) == ([], 0)
    assert adopted.refs() == refs


def test_a_dry_run_says_the_same_and_changes_nothing(adopted: Clone) -> None:
    pin(adopted, "s")
    pin(adopted, "friend", "/shared")
    pin(adopted, "other", "/shared")
    for fold in (False, True):
        if fold:
            adopted.pvc("sync")
        refs, files = adopted.refs(), sorted((adopted.path / ".git/pvc/spool").rglob("*"))
        planned = forget(adopted, "s", "friend", "--dry-run")
        assert adopted.refs() == refs
        assert sorted((adopted.path / ".git/pvc/spool").rglob("*")) == files
    done = forget(adopted, "s", "friend")
    for key in ("forgotten", "kept", "pins", "sessions"):
        assert planned[key] == done[key]


def test_a_session_of_which_nothing_was_kept_needs_no_tombstone(adopted: Clone) -> None:
    pin(adopted, "s", VALUE, "--privacy", "digest")
    result = forget(adopted, "s")
    assert (result["forgotten"], result["tombstones"]) == ([], 0)


# --- by time ----------------------------------------------------------------------------------


def test_all_before_a_date_goes_and_nothing_after_it(adopted: Clone) -> None:
    pin(adopted, "old", "/old-value")
    pin(adopted, "shared-1", "/shared-value")
    moment = adopted.pvc("show", "shared-1", "--json").json["pin"]["time"] + 1
    pin(adopted, "shared-2", "/shared-value")
    pin(adopted, "new", "/new-value")
    date = "2026-01-01T00:00:00Z"
    assert forget(adopted, "--before", date)["forgotten"] == []

    result = forget(adopted, "--before", from_micros(moment), "-m", "old enough")
    assert (len(result["forgotten"]), len(result["kept"])) == (1, 1)
    prune(adopted)
    assert found(adopted, "/old-value") == []
    for session in ("shared-1", "shared-2", "new"):
        adopted.pvc("show", session, "--bytes")
    assert "by Ada Osei: old enough" in adopted.refused("show", "old", "--bytes", code=4)
    check_ledgers(adopted)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 2),
        (("s", "--before", "1.day"), 2),
        (("--before", "garbage"), 2),
        (("--before", "2999-01-01"), 2),
        (("nobody",), 4),
        (("s", "nobody"), 4),
    ],
    ids=str,
)
def test_what_cannot_be_meant_forgets_nothing(
    adopted: Clone, words: tuple[str, ...], code: int
) -> None:
    pin(adopted, "s")
    adopted.pvc("sync")
    refs = adopted.refs()
    adopted.refused("forget", *words, code=code)
    assert adopted.refs() == refs


def test_a_tombstone_has_a_name_on_it(adopted: Clone) -> None:
    pin(adopted, "s")
    nobody = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"), "")
    done = adopted.run([sys.executable, "-m", "pvc", "forget", "s"], **nobody)
    assert done.code == 2
    assert "who you are" in done.err


# --- other clones -----------------------------------------------------------------------------


@pytest.fixture
def pair(adopted: Clone, make_clone: Callable[..., Clone]) -> tuple[Clone, Clone]:
    """Ada and Bob, who share bodies through a hub."""
    adopted.run(["git", "init", "-q", "--bare", "../hub.git"])
    for clone in (adopted, bob := make_clone("bob", "Bob Lindqvist")):
        clone.git("remote", "add", "origin", "../hub.git")
        clone.git("config", "pvc.pushBodies", "true")
    adopted.pvc("sync")
    bob.pvc("sync")
    return adopted, bob


def in_hub(clone: Clone, text: str) -> bool:
    """Whether a ref of the hub leads to the bytes."""
    hub = ["git", "--git-dir", "../hub.git"]
    for line in clone.run([*hub, "rev-list", "--objects", "--all"]).text.splitlines():
        oid = line.split(" ")[0]
        if text.encode() in clone.run([*hub, "cat-file", "-p", oid]).out:
            return True
    return False


def test_other_clones_let_go_at_their_next_sync_and_the_remote_is_replaced(
    pair: tuple[Clone, Clone],
) -> None:
    ada, bob = pair
    pin(ada, "s")
    pin(ada, "stays", "/stays")
    ada.pvc("sync")
    bob.pvc("sync")
    assert VALUE in bob.pvc("show", "s", "--bytes").text
    forget(ada, "s", "-m", "asked to")
    assert in_hub(ada, VALUE)
    assert ada.pvc("sync", "--json").json["refused"] == []
    assert not in_hub(ada, VALUE)
    result = bob.pvc("sync", "--json").json
    assert (result["refused"], result["forgotten"]) == ([], 0)
    for clone in pair:
        prune(clone)
        assert found(clone, VALUE) == []
        assert "by Ada Osei: asked to" in clone.refused("show", "s", "--bytes", code=4)
        assert "/stays" in clone.pvc("show", "stays", "--bytes").text
        assert clone.pvc("sync").text.endswith("nothing to exchange with origin\n")
        check_ledgers(clone)


def test_a_session_that_another_clone_pinned_goes_from_there_too(
    pair: tuple[Clone, Clone],
) -> None:
    """Ada forgets what Bob pinned and pushed: Bob's own chain, and his ref on the hub, follow."""
    ada, bob = pair
    pin(bob, "s")
    pin(bob, "stays", "/stays")
    bob.pvc("sync")
    ada.pvc("sync")
    forget(ada, "s", "-m", "asked to")
    for _ in range(2):
        result = ada.pvc("sync", "--json").json
        assert result["refused"] == []
    assert result["fetched"] == [], "what the hub still has is not fetched again and again"
    prune(ada)
    assert found(ada, VALUE) == []
    result = bob.pvc("sync", "--json").json
    assert (result["forgotten"], result["refused"]) == (1, [])
    assert not in_hub(bob, VALUE)
    prune(bob)
    assert found(bob, VALUE) == []
    ada.pvc("sync")
    for clone in pair:
        assert "/stays" in clone.pvc("show", "stays", "--bytes").text
        assert clone.pvc("sync").text.endswith("nothing to exchange with origin\n")


def test_what_is_needed_there_stays_there(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    pin(ada, "s")
    ada.pvc("sync")
    pin(bob, "mine")
    forget(ada, "s")
    ada.pvc("sync")
    bob.pvc("sync")
    assert VALUE in bob.pvc("show", "mine", "--bytes").text
    prune(ada)
    assert found(ada, VALUE) == []
    ada.pvc("sync")
    assert VALUE in ada.pvc("show", "mine", "--bytes").text


def test_bodies_pushed_once_are_replaced_though_none_are_pushed_now(
    pair: tuple[Clone, Clone],
) -> None:
    ada, _ = pair
    pin(ada, "s")
    pin(ada, "stays", "/stays")
    ada.pvc("sync")
    ada.git("config", "pvc.pushBodies", "false")
    pin(ada, "private", "/private")
    forget(ada, "s")
    ada.pvc("sync")
    assert not in_hub(ada, VALUE)
    assert in_hub(ada, "/stays")
    assert not in_hub(ada, "/private")


def test_who_does_not_heed_others_keeps_what_they_forgot(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    bob.git("config", "pvc.heedForgotten", "false")
    pin(bob, "s")
    bob.pvc("sync")
    ada.pvc("sync")
    forget(ada, "s")
    ada.pvc("sync")
    bob.pvc("sync")
    assert VALUE in bob.pvc("show", "s", "--bytes").text
    bob.git("config", "pvc.heedForgotten", "true")
    assert bob.pvc("sync", "--json").json["forgotten"] == 1


def test_a_guarded_server_takes_tombstones_and_rewritten_bodies(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    pin(ada, "s")
    ada.pvc("sync")
    ada.pvc("-C", "../hub.git", "hook", "install")
    for clone in pair:
        clone.pvc("hook", "install")
    forget(ada, "s")
    assert ada.pvc("sync", "--json").json["refused"] == []
    assert not in_hub(ada, VALUE)
    bob.pvc("sync")
