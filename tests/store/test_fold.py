"""Folds: many files become segments, once, whatever interrupts them."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from launches import Launches
from pvc.launch import cache
from pvc.launch.call import Call
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.store import fold as fold_module
from pvc.store.base import BaseRepository
from pvc.store.bodies import read_body
from pvc.store.codec import Unrendered, decode, decode_prompt, split_segment
from pvc.store.index import ledgers, new_segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from workspace import Workspace


pytestmark = pytest.mark.usefixtures("git_format")


@pytest.fixture
def launches(workspace: Workspace) -> Launches:
    made = Launches(workspace)
    made.adopt(b"You are an agent.\n")
    return made


def pin_many(launches: Launches, count: int, name: str = "s") -> list[str]:
    """Pin sessions within this process; gives their receipts."""
    pinner = launches.pinner()
    pinner.until_count = 1 << 30  # folds are this test's business
    calls = []
    for i in range(count):
        call = Call()
        call.tree, call.session, call.environment = "agent", f"{name}{i}", {"who": f"{i % 3}"}
        calls.append(call)
    answers = [answer for at in range(0, count, 64) for answer in pinner.pin(calls[at : at + 64])]
    assert all(answer.status == "pinned" for answer in answers)
    return [answer.receipt for answer in answers]


def segments(launches: Launches) -> list[bytes]:
    repository = launches.workspace.open()
    found = [
        segment
        for name, tip in ledgers(repository).items()
        for segment in new_segments(repository, name, None, tip)
    ]
    return [repository.blob(s.pins) for s in sorted(found, key=lambda s: s.number)]


def stored(launches: Launches) -> Counter[str]:
    return Counter(decode(r).receipt for data in segments(launches) for r in split_segment(data)[0])


def test_a_fold_makes_segments_of_at_most_256_and_empties_the_spool(launches: Launches) -> None:
    receipts = pin_many(launches, 300)
    result = launches.fold()
    assert (result.pins, result.segments, result.flagged, result.damaged) == (300, 2, (), ())
    assert [len(split_segment(data)[0]) for data in segments(launches)] == [256, 44]
    assert stored(launches) == Counter(receipts)
    assert launches.spooled == []
    assert list((launches.home / "spool/b").iterdir()) == []
    launches.workspace.git("fsck", "--strict")


def test_the_message_says_what_the_fold_holds_and_chains_it(launches: Launches) -> None:
    from blake3 import blake3

    pin_many(launches, 2)
    launches.fold()
    pin_many(launches, 1, "t")
    launches.fold()
    (ref,) = launches.workspace.git("for-each-ref", "--format=%(refname)", "refs/pvc/pins").split()
    messages = launches.workspace.git("log", "--reverse", "--format=%B", ref)
    chains = [line.split(": b3:")[1] for line in messages.split("\n") if line.startswith("Chain: ")]
    one, two = (blake3(data).digest() for data in segments(launches))
    first = blake3(one).digest()
    assert chains == [first.hex(), blake3(first + two).hexdigest()]
    assert "fold 2 pins\n\nPins: 2\nSegments: 0..0\nFirst: " in messages
    assert "fold 1 pin\n\nPins: 1\nSegments: 1..1\nFirst: " in messages


def test_each_distinct_prompt_is_rendered_again_and_described_once(launches: Launches) -> None:
    pin_many(launches, 9)
    launches.fold()
    document = tomllib.loads(segments(launches)[0].decode())
    digests = [prompt["digest"] for prompt in document["prompt"]]
    assert digests == [*dict.fromkeys(pin["prompt"]["digest"] for pin in document["pin"])]
    assert [prompt["bytes"] for prompt in document["prompt"]] == [19] * 3
    assert document["prompt"][0]["planes"] == ["surface:0", "launch:18"]


def test_git_looks_for_no_deltas_between_segments(launches: Launches) -> None:
    attributes = launches.path / ".git/info/attributes"
    attributes.write_bytes(b"*.bin diff=hex")
    for name in ("s", "t"):
        pin_many(launches, 1, name)
        launches.fold()
    lines = attributes.read_text().splitlines()
    assert lines[0] == "*.bin diff=hex"
    assert len(lines) == 3
    said = launches.workspace.git("check-attr", "delta", "00af/0b.pins", "00af/0b.idx", "a.pins")
    assert [line.split(": ")[2] for line in said.split("\n")] == ["unset", "unset", "unspecified"]


def test_a_poisoned_cache_does_not_stay_hidden(launches: Launches) -> None:
    pin_many(launches, 1)
    (path,) = (launches.home / "cache/v1").iterdir()
    entry = cache.read(str(launches.path / ".git"), path.name)
    assert entry is not None
    from launches import compiled

    cache.write(
        str(launches.path / ".git"), path.name, compiled("agent", 1, path.name, b"Other.\n")
    )
    result = launches.fold()
    (table,) = split_segment(segments(launches)[0])[1]
    assert [pin.session for pin in result.flagged] == ["s0"]
    assert decode_prompt(table) == Unrendered(Digest.of(b"Other.\n0"))


def test_bodies_move_to_their_own_chain(launches: Launches) -> None:
    pin_many(launches, 3)
    digests = {pin.environment for pin in launches.ledger().newest(None)}
    launches.fold()
    repository = launches.workspace.open()
    assert {read_body(repository, digest) for digest in digests if digest} == {
        b'{"who":"0"}',
        b'{"who":"1"}',
        b'{"who":"2"}',
    }
    names = launches.workspace.git("for-each-ref", "--format=%(refname)", "refs/pvc/bodies")
    assert len(names.split()) == 1
    pin_many(launches, 3, "again")
    assert launches.fold().pins == 3
    count = launches.workspace.git("rev-list", "--count", names)
    assert count == "1", "bodies that are there make no commit"


STEPS: list[tuple[type, str, str]] = [
    (fold_module.Fold, "_write_bodies", "before the bodies"),
    (fold_module.Fold, "_commit_segments", "before the ledger"),
    (BaseRepository, "_turn", "before the refs"),
    (BaseRepository, "_see_that_it_holds", "after the refs"),
    (fold_module.Fold, "_sweep", "after the unlinks"),
]


@pytest.mark.parametrize(
    ("owner", "step"), [row[:2] for row in STEPS], ids=[words for _, _, words in STEPS]
)
def test_an_interrupted_fold_is_finished_and_nothing_is_stored_twice(
    launches: Launches, monkeypatch: pytest.MonkeyPatch, owner: type, step: str
) -> None:
    receipts = pin_many(launches, 5)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, die)
        with pytest.raises(KeyboardInterrupt):
            launches.fold()
    receipts += pin_many(launches, 5, "later")
    launches.fold()
    assert stored(launches) == Counter(receipts)
    assert launches.spooled == []


@pytest.mark.parametrize("dies_in", ["refresh", "unlink"])
def test_a_fold_that_dies_after_its_ref_moved_is_not_folded_again(
    launches: Launches, monkeypatch: pytest.MonkeyPatch, dies_in: str
) -> None:
    receipts = pin_many(launches, 5)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if dies_in == "refresh":
            patched.setattr(fold_module, "refresh", die)
        else:
            patched.setattr(Path, "unlink", die)
        with pytest.raises(KeyboardInterrupt):
            launches.fold()
    assert len(launches.spooled) == 5
    assert len(launches.ledger().newest(None)) == 5
    receipts += pin_many(launches, 2, "later")
    assert launches.fold().pins == 2
    assert stored(launches) == Counter(receipts)


def test_a_record_that_the_ledger_overrules_is_dropped(launches: Launches) -> None:
    """Its writer died between the link and the look into the index; nobody was told of it."""
    from pvc.launch import record

    (receipt,) = pin_many(launches, 1)
    values = record.read(launches.spooled[0].read_bytes())
    launches.fold()
    phantom = record.write({**values, "model": "other"})
    (launches.home / "spool" / record.key("s0", "main", 0)).write_bytes(phantom)
    assert (
        launches.pin("agent", "--session", "s0", "--set", "who=0", "--json").answer["receipt"]
        == receipt
    )
    assert launches.fold().pins == 0
    assert (stored(launches), launches.spooled) == (Counter([receipt]), [])


def test_what_is_no_record_stays_where_it_is_and_is_named(launches: Launches) -> None:
    pin_many(launches, 1)
    odd = launches.home / "spool" / ("0" * 32)
    odd.write_bytes(b"[[pin]]\nnonsense\n\n")
    body = launches.home / "spool/b" / ("0" * 64)
    body.write_bytes(b"no such digest")
    result = launches.fold()
    assert result.pins == 1
    assert set(result.damaged) == {str(odd), str(body)}
    assert odd.exists()
    assert body.exists()


def test_litter_goes_after_an_hour(launches: Launches) -> None:
    import os

    pin_many(launches, 1)
    old, young = launches.home / "spool/.tmp.1.a", launches.home / "spool/.tmp.1.b"
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    launches.fold()
    assert (old.exists(), young.exists()) == (False, True)


def test_what_a_killed_import_left_goes_and_nothing_of_the_users(launches: Launches) -> None:
    import os

    git = launches.path / ".git"
    litter = {
        "objects/pack/pack-1.keep": b"fast-import",
        "fast_import_crash_1": b"* refs/pvc/import/bodies\n",
        "objects/pack/pack-2.keep": b"a pack that its user keeps\n",
        "fast_import_crash_2": b"* refs/heads/main\n",
    }
    pin_many(launches, 1)
    for name, data in litter.items():
        (git / name).write_bytes(data)
        os.utime(git / name, (0, 0))
    launches.fold()
    assert [name for name in litter if (git / name).exists()] == [*litter][2:]


@pytest.mark.parametrize("age_s", [-3600, 120])
def test_a_ref_lock_is_taken_away_only_when_it_is_old(
    launches: Launches, age_s: int, git_format: str
) -> None:
    if git_format == "reftable":
        pytest.skip("a reftable has no lock for a ref")
    import os
    import time

    from pvc.errors import PvcError

    pin_many(launches, 1)
    launches.fold()
    pin_many(launches, 1, "t")
    (ref,) = launches.workspace.git("for-each-ref", "--format=%(refname)", "refs/pvc/pins").split()
    lock = launches.path / ".git" / f"{ref}.lock"
    lock.touch()
    os.utime(lock, (time.time() - age_s,) * 2)
    if age_s > 0:
        assert launches.fold().pins == 1
    else:
        with pytest.raises(PvcError):
            launches.fold()
        assert len(launches.spooled) == 1


def test_a_second_fold_leaves_while_one_runs(launches: Launches) -> None:
    import fcntl

    pin_many(launches, 1)
    with (launches.home / "fold.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        repository = launches.workspace.open()
        result = fold_module.fold(repository, render=lambda _: None, wait=False)
    assert (result.pins, len(launches.spooled)) == (0, 1)


def test_a_fold_needs_no_user_name(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    pin_many(launches, 1)
    commit = launches.fold().commit
    assert launches.workspace.git("log", "-1", "--format=%an", str(commit)) == "pvc"
    assert isinstance(commit, CommitId)


def test_both_back_ends_fold_alike(
    make_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = Launches(make_workspace("one"))
    launches.adopt(b"You are an agent.\n")
    receipts = pin_many(launches, 3)
    repository = launches.workspace.open("gitcli")
    assert fold_module.fold(repository, render=lambda _: None).pins == 3
    repository.close()
    assert stored(launches) == Counter(receipts)
