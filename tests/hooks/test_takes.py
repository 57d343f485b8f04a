"""The guard and ledgers that take others: what is whole passes, anything else does not."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from cli.conftest import Clone
from hooks.test_server import changed_tree, commit, ledger, segment
from pvc.model.digest import Digest
from pvc.store.codec import decode, encode_idx, encode_segment, split_segment
from pvc.store.fold_message import FoldMessage, next_chain, trailer

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Done
    from hooks.conftest import Site


@dataclass(frozen=True)
class Take:
    """A commit on Ada's ledger that takes Eve's from the inbox, before it is written."""

    records: tuple[bytes, ...]
    tables: tuple[bytes, ...]
    parents: tuple[str, ...]
    source: bytes | None
    base: str


@pytest.fixture
def eve(site: Site) -> str:
    """Name the ledger that Eve, whose clone is a copy, left in the inbox: two pins."""
    shutil.copytree(site.ada.path, site.path / "eve", symlinks=True)
    clone = Clone(site.path / "eve", "Eve Sand")
    clone.git("config", "pvc.inbox", "true")
    clone.git("config", "remote.origin.url", str(site.hub.path))
    for session in ("e1", "e2"):
        clone.pvc("pin", "agent", "--session", session, "--set", "cwd=/eve")
    clone.pvc("sync", "origin")
    site.ada.git("config", "remote.origin.url", str(site.hub.path))
    site.ada.pvc("sync", "origin")
    return site.hub.git("for-each-ref", "--format=%(refname)", "refs/pvc/inbox/")


def whole(site: Site, eve: str) -> Take:
    """Take Eve's ledger as pvc does."""
    seen = eve.replace("refs/pvc/", "refs/pvc/remotes/origin/")
    data = site.ada.run(["git", "cat-file", "blob", f"{seen}:0000/00.pins"]).out
    records, tables = split_segment(data)
    tip, own = site.ada.git("rev-parse", seen), site.ada.git("rev-parse", ledger(site.ada))
    source = f"{eve.rpartition('/')[2]} {tip}\n".encode()
    return Take(records, tables, (own, tip), source, ledger(site.ada))


def written(site: Site, take: Take) -> str:
    """Write the commit, so that nothing but what was changed is wrong with it."""
    pins = [decode(record) for record in take.records]
    data = encode_segment(take.records, dict(enumerate(take.tables)))
    changes: dict[str, bytes | None] = {
        "0000/01.pins": data,
        "0000/01.idx": encode_idx(pins, take.records, data),
    }
    if take.source is not None:
        changes["0000/01.from"] = take.source
    before = site.ada.git("log", "-1", "--format=%B", take.base)
    message = FoldMessage(
        pins=len(pins), first_segment=1, last_segment=1,
        first=min(pin.time for pin in pins), last=max(pin.time for pin in pins),
        chain=next_chain(trailer(before, "Chain"), [Digest.of(data)]), taken=1,
    )  # fmt: skip
    tree = changed_tree(site.ada, f"{take.base}^{{tree}}", changes)
    return commit(site.ada, tree, message.encode(), *take.parents)


def push(site: Site, take: Take) -> Done:
    return site.push(f"{written(site, take)}:{ledger(site.ada)}")


def test_what_is_whole_passes_and_then_the_ref_may_go(site: Site, eve: str) -> None:
    done = push(site, whole(site, eve))
    assert done.code == 0, done.err
    assert site.push(f":{eve}").code == 0
    assert eve not in site.refs()


# --- attacks ----------------------------------------------------------------------------------


def leave_one_out(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    return push(site, replace(take, records=take.records[:1]))


def slip_one_in(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    more = take.records[0].replace(b'"e1"', b'"e9"')
    return push(site, replace(take, records=(*take.records, more)))


def change_one(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    changed = take.records[0].replace(b'"e1"', b'"e9"')
    return push(site, replace(take, records=(changed, take.records[1])))


def describe_a_prompt_otherwise(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    table = take.tables[0].replace(b"rule = 1", b"rule = 2")
    assert table != take.tables[0]
    return push(site, replace(take, tables=(table,)))


def merge_without_saying_so(site: Site, eve: str) -> Done:
    return push(site, replace(whole(site, eve), source=None))


def say_so_without_the_parent(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    return push(site, replace(take, parents=take.parents[:1]))


def name_another_commit(site: Site, eve: str) -> Done:
    take = whole(site, eve)
    source = f"{'a' * 32} {site.ada.git('rev-parse', 'main')}\n".encode()
    return push(site, replace(take, source=source))


def put_ours_behind_theirs(site: Site, eve: str) -> Done:
    """What is there becomes the ledger that was taken, so that git sees a fast-forward."""
    own, theirs = whole(site, eve).parents
    records, tables = split_segment(segment(site.ada, "pins"))
    source = f"{ledger(site.ada).rpartition('/')[2]} {own}\n".encode()
    return push(site, Take(records, tables, (theirs, own), source, theirs))


def delete_what_nobody_took(site: Site, eve: str) -> Done:
    return site.push(f":{eve}")


def take_and_delete_in_one_push(site: Site, eve: str) -> Done:
    """The two could be torn apart, and the chain would be without a ref."""
    made = written(site, whole(site, eve))
    return site.push(f"{made}:{ledger(site.ada)}", f":{eve}")


def delete_one_of_two_at_the_same_commit(site: Site, eve: str) -> Done:
    other = f"refs/pvc/pins/{'b' * 32}"
    assert site.push(f"{whole(site, eve).parents[1]}:{other}").code == 0
    return site.push(f":{eve}", f":{other}")


def delete_a_tree_that_another_holds(site: Site, _: str) -> Done:
    return site.push(":refs/pvc/trees/agent")


ATTACKS: list[tuple[Callable[[Site, str], Done], str]] = [
    (leave_one_out, "1 left out"),
    (slip_one_in, "1 that they do not have"),
    (change_one, "1 left out, 1 that they do not have"),
    (describe_a_prompt_otherwise, "describes a prompt in another way"),
    (merge_without_saying_so, "has other parents than it says"),
    (say_so_without_the_parent, "has other parents than it says"),
    (name_another_commit, "has other parents than it says"),
    (put_ours_behind_theirs, "would no longer be in the chain"),
    (delete_what_nobody_took, "would be deleted"),
    (take_and_delete_in_one_push, "would be deleted"),
    (delete_one_of_two_at_the_same_commit, "would be deleted"),
    (delete_a_tree_that_another_holds, "would be deleted"),
]


@pytest.mark.parametrize(
    ("attack", "message"), ATTACKS, ids=[a.__name__.replace("_", "-") for a, _ in ATTACKS]
)
def test_what_is_not_whole_is_refused(
    site: Site, eve: str, attack: Callable[[Site, str], Done], message: str
) -> None:
    before = site.refs()
    done = attack(site, eve)
    assert done.code != 0, "the server took it"
    assert message in done.err
    assert set(before.split("\n")) <= set(site.refs().split("\n"))
