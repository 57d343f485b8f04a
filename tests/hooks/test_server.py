"""The guard of a server: attacks that it refuses, and honest work that passes, with real git."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pvc.ops.hook_shims import shim

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Clone, Done
    from hooks.conftest import Site

TREE = "refs/pvc/trees/agent"
PRODUCTION = "refs/pvc/channels/agent/production"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
VERSION = """\
Evil

Pvc-{kind}: {name}
Pvc-Version: {number}
Pvc-Format: 1
"""


# --- making what pvc would not make -----------------------------------------------------------


def changed_tree(clone: Clone, base: str, changes: dict[str, bytes | None], mode: str = "") -> str:
    """Write a git tree that differs from `base` in some files."""
    index = str(clone.path / ".git/evil-index")

    def git(*words: str) -> str:
        done = clone.run(["git", *words], GIT_INDEX_FILE=index)
        assert done.code == 0, done.err
        return done.text.strip()

    git("read-tree", base)
    for path, data in changes.items():
        if data is None:
            git("update-index", "--force-remove", path)
            continue
        (clone.path / ".git/evil").write_bytes(data)
        oid = git("hash-object", "-w", "--no-filters", ".git/evil")
        git("update-index", "--add", "--cacheinfo", f"{mode or '100644'},{oid},{path}")
    return git("write-tree")


def commit(clone: Clone, tree: str, message: str, *parents: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return clone.git("commit-tree", tree, *words, "-m", message)


def version(
    clone: Clone,
    number: int,
    *parents: str,
    changes: dict[str, bytes | None] | None = None,
    mode: str = "",
    name: str = "agent",
) -> str:
    """Write a commit that says it is a version."""
    tree = changed_tree(clone, f"{TREE}^{{tree}}", changes or {"1.md": b"Evil.\n"}, mode)
    return commit(clone, tree, VERSION.format(kind="Tree", name=name, number=number), *parents)


def move(clone: Clone, to: str, *before: str, tree: str = "") -> str:
    """Write the record of a channel's move."""
    message = "Ready\n\nPvc-Channel: production\n"
    return commit(clone, tree or f"{to}^{{tree}}", message, *before, to)


def ledger(clone: Clone) -> str:
    return clone.git("for-each-ref", "--format=%(refname)", "refs/pvc/pins/")


def fold(clone: Clone, changes: dict[str, bytes | None], message: str = "") -> str:
    """Write a commit that goes on from the ledger, with other files."""
    ref = ledger(clone)
    tree = changed_tree(clone, f"{ref}^{{tree}}", changes)
    said = message or "fold 2 pins\n\nPins: 2\nSegments: 1..1\nChain: b3:" + "0" * 64 + "\n"
    return commit(clone, tree, said, ref)


def segment(clone: Clone, kind: str) -> bytes:
    return clone.run(["git", "cat-file", "blob", f"{ledger(clone)}:0000/00.{kind}"]).out


# --- attacks ----------------------------------------------------------------------------------


def rewind(site: Site) -> Done:
    return site.push(f"{TREE}~1:{TREE}", force=True)


def delete(site: Site) -> Done:
    return site.push(f":{TREE}")


def replace_chain(site: Site) -> Done:
    return site.push(f"{version(site.ada, 1)}:{TREE}", force=True)


def insert(site: Site) -> Done:
    first = site.ada.git("rev-parse", f"{TREE}~1")
    middle = version(site.ada, 2, first)
    last = commit(
        site.ada, f"{TREE}^{{tree}}", VERSION.format(kind="Tree", name="agent", number=3), middle
    )
    return site.push(f"{last}:{TREE}", force=True)


def slip_in_from_the_side(site: Site) -> Done:
    """What is there becomes a second parent, so that git sees a fast-forward."""
    first = site.ada.git("rev-parse", f"{TREE}~1")
    return site.push(f"{version(site.ada, 2, first, TREE)}:{TREE}")


def skip_a_number(site: Site) -> Done:
    return site.push(f"{version(site.ada, 9, TREE)}:{TREE}")


def repeat_a_number(site: Site) -> Done:
    return site.push(f"{version(site.ada, 2, TREE)}:{TREE}")


def name_another_tree(site: Site) -> Done:
    return site.push(f"{TREE}:refs/pvc/trees/other")


def ordinary_commit(site: Site) -> Done:
    return site.push(f"{commit(site.ada, f'{TREE}^{{tree}}', 'Work', TREE)}:{TREE}")


def trailers_that_contradict(site: Site) -> Done:
    message = VERSION.format(kind="Tree", name="agent", number=3) + "Pvc-Pack: agent\n"
    return site.push(f"{commit(site.ada, f'{TREE}^{{tree}}', message, TREE)}:{TREE}")


def symbolic_link(site: Site) -> Done:
    made = version(site.ada, 3, TREE, changes={"2.md": b"/etc/passwd"}, mode="120000")
    return site.push(f"{made}:{TREE}")


def no_lock(site: Site) -> Done:
    return site.push(f"{version(site.ada, 3, TREE, changes={'.pvc/lock.toml': None})}:{TREE}")


def no_manifest(site: Site) -> Done:
    return site.push(f"{version(site.ada, 3, TREE, changes={'pvc.toml': None})}:{TREE}")


def not_in_its_form(site: Site) -> Done:
    changes: dict[str, bytes | None] = {"1.md": b"\xff"}
    return site.push(f"{version(site.ada, 3, TREE, changes=changes)}:{TREE}")


def path_that_a_disk_folds(site: Site) -> Done:
    changes: dict[str, bytes | None] = {"1.MD": b"x\n"}
    return site.push(f"{version(site.ada, 3, TREE, changes=changes)}:{TREE}")


def blob_as_a_version(site: Site) -> Done:
    blob = site.ada.git("rev-parse", f"{TREE}:1.md")
    return site.push(f"{blob}:{TREE}", force=True)


def evil_between_good(site: Site) -> Done:
    """Only the commit before the tip is evil."""
    evil = version(site.ada, 3, TREE, changes={"1.md": b"\xff"})
    good = version(site.ada, 4, evil, changes={"1.md": b"Fine.\n"})
    return site.push(f"{good}:{TREE}")


def drop_pins(site: Site) -> Done:
    changes: dict[str, bytes | None] = {"0000/00.pins": None, "0000/00.idx": None}
    return site.push(f"{fold(site.ada, changes)}:{ledger(site.ada)}")


def change_a_record(site: Site) -> Done:
    data = segment(site.ada, "pins").replace(b'"s1"', b'"s9"')
    return site.push(f"{fold(site.ada, {'0000/00.pins': data})}:{ledger(site.ada)}")


def rewrite_the_ledger(site: Site) -> Done:
    made = commit(site.ada, f"{ledger(site.ada)}^{{tree}}", "fold 2 pins")
    return site.push(f"{made}:{ledger(site.ada)}", force=True)


def delete_the_ledger(site: Site) -> Done:
    return site.push(f":{ledger(site.ada)}")


def segment_without_index(site: Site) -> Done:
    changes: dict[str, bytes | None] = {"0000/01.pins": segment(site.ada, "pins")}
    return site.push(f"{fold(site.ada, changes)}:{ledger(site.ada)}")


def index_of_another(site: Site) -> Done:
    changes: dict[str, bytes | None] = {
        "0000/01.pins": segment(site.ada, "pins"),
        "0000/01.idx": b"\0" * 32,
    }
    return site.push(f"{fold(site.ada, changes)}:{ledger(site.ada)}")


def gap_in_the_segments(site: Site) -> Done:
    changes: dict[str, bytes | None] = {
        "0000/02.pins": segment(site.ada, "pins"),
        "0000/02.idx": segment(site.ada, "idx"),
    }
    return site.push(f"{fold(site.ada, changes)}:{ledger(site.ada)}")


def broken_digest_chain(site: Site) -> Done:
    changes: dict[str, bytes | None] = {
        "0000/01.pins": segment(site.ada, "pins"),
        "0000/01.idx": segment(site.ada, "idx"),
    }
    return site.push(f"{fold(site.ada, changes)}:{ledger(site.ada)}")


def promote_without_a_record(site: Site) -> Done:
    return site.push(f"{TREE}:{PRODUCTION}")


def move_to_other_bytes(site: Site) -> Done:
    made = move(site.ada, TREE, tree=f"{TREE}~1^{{tree}}")
    return site.push(f"{made}:{PRODUCTION}")


def rewind_a_channel(site: Site) -> Done:
    first = move(site.ada, f"{TREE}~1")
    second = move(site.ada, TREE, first)
    assert site.push(f"{second}:{PRODUCTION}").code == 0
    return site.push(f"{first}:{PRODUCTION}", force=True)


def start_a_channel_anew(site: Site) -> Done:
    """The old record becomes a parent that no walk comes by."""
    first = move(site.ada, f"{TREE}~1")
    assert site.push(f"{first}:{PRODUCTION}").code == 0
    return site.push(f"{move(site.ada, TREE)}:{PRODUCTION}", force=True)


def slip_a_channel_in_from_the_side(site: Site) -> Done:
    """What is there becomes the side that a move resolves, so that git sees a fast-forward."""
    there = move(site.ada, f"{TREE}~1")
    assert site.push(f"{there}:{PRODUCTION}").code == 0
    evil = move(site.ada, TREE)
    return site.push(f"{move(site.ada, TREE, evil, there)}:{PRODUCTION}")


def resolve_a_move_of_another_channel(site: Site) -> Done:
    message = "Ready\n\nPvc-Channel: beta\n"
    other = commit(site.ada, f"{TREE}^{{tree}}", message, TREE)
    return site.push(f"{move(site.ada, TREE, move(site.ada, TREE), other)}:{PRODUCTION}")


def promote_an_evil_version(site: Site) -> Done:
    """No tree's ref is pushed with it, so no other check would see it."""
    evil = version(site.ada, 3, TREE, changes={"1.md": b"\xff"})
    return site.push(f"{move(site.ada, evil)}:{PRODUCTION}")


def promote_by_another(site: Site) -> Done:
    site.hub.git("config", "pvc.promoter", "keeper@example.org")
    return site.push(f"{move(site.ada, TREE)}:{PRODUCTION}")


def unsigned_where_signed_is_required(site: Site) -> Done:
    site.hub.git("config", "pvc.requireSigned", "true")
    return site.push(f"{version(site.ada, 3, TREE)}:{TREE}")


def unknown_kind(site: Site) -> Done:
    return site.push("main:refs/pvc/evil/x")


def odd_name(site: Site) -> Done:
    return site.push(f"{TREE}:refs/pvc/trees/Agent")


def body_of_another_name(site: Site) -> Done:
    (site.ada.path / ".git/evil").write_bytes(b"{}")
    tree = changed_tree(
        site.ada, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", {"a/b/c/d/" + "0" * 60: b"x"}
    )
    made = commit(site.ada, tree, "fold 1 bodies")
    return site.push(f"{made}:refs/pvc/bodies/{'a' * 32}")


ATTACKS: list[tuple[Callable[[Site], Done], str]] = [
    (rewind, "would be rewritten"),
    (delete, "would be deleted"),
    (replace_chain, "would be rewritten"),
    (insert, "would be rewritten"),
    (slip_in_from_the_side, "would no longer be in the chain"),
    (skip_a_number, "`agent@9` follows `agent@2`"),
    (repeat_a_number, "`agent@2` follows `agent@2`"),
    (name_another_tree, "no version of `other`"),
    (ordinary_commit, "is no version"),
    (trailers_that_contradict, "trailers contradict each other"),
    (symbolic_link, "is no plain file"),
    (no_lock, "has no `.pvc/lock.toml`"),
    (no_manifest, "has no `pvc.toml`"),
    (not_in_its_form, "not UTF-8"),
    (path_that_a_disk_folds, "are one name on some file systems"),
    (blob_as_a_version, "what is no commit"),
    (evil_between_good, "not UTF-8"),
    (drop_pins, "is gone"),
    (change_a_record, "has other bytes"),
    (rewrite_the_ledger, "would be rewritten"),
    (delete_the_ledger, "would be deleted"),
    (segment_without_index, "is not complete: no `.idx`"),
    (index_of_another, "is not that of its records"),
    (gap_in_the_segments, "do not go on from 1"),
    (broken_digest_chain, "says another `Chain`"),
    (promote_without_a_record, "is no record of a move"),
    (move_to_other_bytes, "holds other bytes than the version"),
    (rewind_a_channel, "would be rewritten"),
    (start_a_channel_anew, "would be rewritten"),
    (slip_a_channel_in_from_the_side, "would no longer be in the chain"),
    (resolve_a_move_of_another_channel, "the move before is no move"),
    (promote_an_evil_version, "not UTF-8"),
    (promote_by_another, "may not move `agent@production`"),
    (unsigned_where_signed_is_required, "has no signature"),
    (unknown_kind, "nothing called `evil`"),
    (odd_name, "`Agent` is no tree name"),
    (body_of_another_name, "is not what its name says"),
]


# --- what an attacker makes by hand; both hooks give the same verdict --------------------------


def object_of(clone: Clone, kind: str, data: bytes) -> str:
    """Store an object whatever is in it."""
    (clone.path / ".git/evil").write_bytes(data)
    return clone.git("hash-object", "-w", "--literally", "-t", kind, ".git/evil")


def folder_of(clone: Clone, rows: str) -> str:
    """Store a folder whose rows are those of `git ls-tree`."""
    (clone.path / ".git/rows").write_text(rows)
    done = clone.run(["sh", "-c", "git mktree < .git/rows"])
    assert done.code == 0, done.err
    return done.text.strip()


def raw_commit(clone: Clone, old: bytes, new: bytes) -> str:
    """Write the next version with one place of its commit's bytes changed."""
    made = version(clone, 3, TREE)
    data = clone.run(["git", "cat-file", "commit", made]).out
    assert old in data
    return object_of(clone, "commit", data.replace(old, new, 1))


def move_a_channel_to_a_fork(site: Site) -> Done:
    site.ada.pvc("promote", "agent", "production", "-m", "Ready")
    site.ada.pvc("sync", "origin")
    fork = version(site.ada, 1)
    return site.push(f"{move(site.ada, fork, PRODUCTION)}:{PRODUCTION}")


def lock_of_another_format(site: Site) -> Done:
    lock = b'format = 2\nform = "plain"\nrule = 1\n'
    return site.push(f"{version(site.ada, 3, TREE, changes={'.pvc/lock.toml': lock})}:{TREE}")


def lock_with_another_key(site: Site) -> Done:
    lock = b'format = 1\nform = "plain"\nrule = 1\nevil = "x"\n'
    return site.push(f"{version(site.ada, 3, TREE, changes={'.pvc/lock.toml': lock})}:{TREE}")


def file_beside_the_lock(site: Site) -> Done:
    return site.push(f"{version(site.ada, 3, TREE, changes={'.pvc/payload': b'x'})}:{TREE}")


def file_beside_the_packs(site: Site) -> Done:
    return site.push(f"{version(site.ada, 3, TREE, changes={'.pvc/packs/x': b'x'})}:{TREE}")


def commit_without_an_author(site: Site) -> Done:
    return site.push(f"{raw_commit(site.ada, b'author ', b'auth0r ')}:{TREE}")


def commit_with_a_zero_byte(site: Site) -> Done:
    return site.push(f"{raw_commit(site.ada, b'Evil', b'Ev' + bytes(1))}:{TREE}")


def commit_with_a_date_of_400_digits(site: Site) -> Done:
    return site.push(f"{raw_commit(site.ada, b' +', b'9' * 400 + b' +')}:{TREE}")


def path_that_stands_twice(site: Site) -> Done:
    width = len(site.ada.git("rev-parse", TREE)) // 2
    data = site.ada.run(["git", "cat-file", "tree", f"{TREE}^{{tree}}"]).out
    at = data.index(b"100644 1.md\0")
    row = data[at : at + len(b"100644 1.md\0") + width]
    tree = object_of(site.ada, "tree", data[:at] + row + data[at:])
    message = VERSION.format(kind="Tree", name="agent", number=3)
    return site.push(f"{commit(site.ada, tree, message, TREE)}:{TREE}")


def tree_bomb(site: Site) -> Done:
    oid, kind = object_of(site.ada, "blob", b"x"), "100644 blob"
    for _ in range(10):
        rows = "".join(f"{kind} {oid}\tf{n}\n" for n in range(10))
        oid = folder_of(site.ada, rows)
        kind = "040000 tree"
    message = VERSION.format(kind="Tree", name="agent", number=3)
    return site.push(f"{commit(site.ada, oid, message, TREE)}:{TREE}")


def file_of_400_mb(site: Site) -> Done:
    with (site.ada.path / ".git/evil").open("wb") as file:
        file.truncate(400 << 20)
    oid = site.ada.git("hash-object", "-w", "--no-filters", ".git/evil")
    rows = site.ada.git("ls-tree", f"{TREE}^{{tree}}") + f"\n100644 blob {oid}\tbig.md\n"
    tree = folder_of(site.ada, rows)
    message = VERSION.format(kind="Tree", name="agent", number=3)
    return site.push(f"{commit(site.ada, tree, message, TREE)}:{TREE}")


def bodies_over_anything(site: Site) -> Done:
    """A chain of bodies whose tip is empty and whose parent holds a program."""
    oid = object_of(site.ada, "blob", b"x")
    evil = commit(site.ada, folder_of(site.ada, f"100755 blob {oid}\tevil.exe\n"), "x")
    return site.push(
        f"{commit(site.ada, folder_of(site.ada, ''), 'x', evil)}:refs/pvc/bodies/{'e' * 32}"
    )


def name_in_other_letters(site: Site) -> Done:
    return site.push(f"{version(site.ada, 9, TREE)}:refs/PVC/trees/agent")


def name_with_an_unseen_character(site: Site) -> Done:
    return site.push(f"{version(site.ada, 9, TREE)}:refs/pv\u200cc/trees/agent")


MADE_BY_HAND = [
    (move_a_channel_to_a_fork, "is not in the chain of `agent`"),
    (lock_of_another_format, "is of format `2`"),
    (lock_with_another_key, "has the unknown key `evil`"),
    (file_beside_the_lock, "holds `.pvc/payload`, which is not a part of a version"),
    (file_beside_the_packs, "holds `.pvc/packs/x`, which is not a part of a version"),
    (commit_without_an_author, "missingAuthor"),
    (commit_with_a_zero_byte, "nulInCommit"),
    (commit_with_a_date_of_400_digits, "badDateOverflow"),
    (path_that_stands_twice, "names `1.md` twice"),
    (tree_bomb, "spells more than 100000 files and folders"),
    (file_of_400_mb, "has 419430400 bytes, the bound is 16777216"),
    (bodies_over_anything, "`evil.exe` is not a body"),
    (name_in_other_letters, "some file systems take it for a ref below `refs/pvc`"),
    (name_with_an_unseen_character, "some file systems take it for a ref below `refs/pvc`"),
]


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
@pytest.mark.parametrize(
    ("attack", "message"), MADE_BY_HAND, ids=[attack.__name__ for attack, _ in MADE_BY_HAND]
)
def test_what_is_made_by_hand_is_refused_in_one_line(
    site: Site, attack: Callable[[Site], Done], message: str, hook: str
) -> None:
    site.hub.pvc("hook", "uninstall")
    site.hub.pvc("hook", "install", hook)
    done = attack(site)
    assert done.code != 0, "the server took it"
    assert message in done.err
    assert "Traceback" not in done.err
    assert site.ada.git("rev-parse", TREE) == site.hub.git("rev-parse", TREE)


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_guard_that_is_not_on_the_path_refuses(site: Site, hook: str) -> None:
    """A hook that was placed by hand says `pvc`, which the server may not have."""
    site.hub.pvc("hook", "uninstall")
    (site.hub.path / f"hooks/{hook}").write_text(shim(hook))
    (site.hub.path / f"hooks/{hook}").chmod(0o755)
    done = site.ada.run(
        ["git", "push", site.url, f"{version(site.ada, 3, TREE)}:{TREE}"], PATH="/usr/bin:/bin"
    )
    assert done.code != 0
    assert "the guard of this repository was not found" in done.err


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_guard_that_breaks_down_refuses(site: Site, hook: str) -> None:
    site.hub.pvc("hook", "uninstall")
    folder = site.path / "broken"
    folder.mkdir()
    (folder / "pvc").write_text("#!/bin/sh\nkill -9 $$\n")
    (folder / "pvc").chmod(0o755)
    (site.hub.path / f"hooks/{hook}").write_text(shim(hook))
    (site.hub.path / f"hooks/{hook}").chmod(0o755)
    words = ["git", "push", site.url, f"{version(site.ada, 3, TREE)}:{TREE}"]
    assert site.ada.run(words, PATH=f"{folder}:/usr/bin:/bin").code != 0
    assert site.push("main:refs/heads/other").code == 0


def test_a_server_with_a_ref_that_leads_past_the_guard_is_said(site: Site) -> None:
    site.hub.git("symbolic-ref", "refs/heads/alias", TREE)
    done = site.hub.pvc("hook", "install", code=1)
    assert f"`refs/heads/alias` leads to `{TREE}`" in done.err


def _named(attack: Callable[[Site], Done]) -> str:
    return attack.__name__.replace("_", "-")


@pytest.mark.parametrize(
    ("attack", "message"), ATTACKS, ids=[_named(attack) for attack, _ in ATTACKS]
)
def test_an_attack_is_refused_with_a_clear_message(
    reached: Site, attack: Callable[[Site], Done], message: str
) -> None:
    site = reached
    moves = attack in (rewind_a_channel, start_a_channel_anew, slip_a_channel_in_from_the_side)
    before = site.refs()
    done = attack(site)
    assert done.code != 0, "the server took it"
    assert re.search(r"^remote: pvc: refused refs/pvc/", done.err, re.MULTILINE), done.err
    assert message in done.err
    assert len(site.refs().split("\n")) == len(before.split("\n")) + moves
    assert TREE in site.refs()


@pytest.mark.parametrize("attack", [rewind, delete, skip_a_number, drop_pins])
def test_the_hook_update_keeps_the_same_rules(site: Site, attack: Callable[[Site], Done]) -> None:
    site.hub.pvc("hook", "uninstall")
    site.hub.pvc("hook", "install", "update")
    before = site.refs()
    assert attack(site).code != 0
    assert site.refs() == before


def test_one_bad_ref_keeps_the_whole_push_out(site: Site) -> None:
    before = site.refs()
    bad = version(site.ada, 9, TREE)
    assert site.push("main:refs/heads/other", f"{bad}:{TREE}").code != 0
    assert site.refs() == before


def test_a_server_without_pvc_refuses(site: Site) -> None:
    hook = site.hub.path / "hooks/pre-receive"
    text = re.sub(r"^run_pvc.*$", "run_pvc() { /gone; }", hook.read_text(), flags=re.MULTILINE)
    hook.write_text(text)
    assert site.push(f"{version(site.ada, 3, TREE)}:{TREE}").code != 0
    assert site.push("main:refs/heads/other").code == 0


# --- honest work ------------------------------------------------------------------------------


def adopt(clone: Clone, text: str) -> None:
    clone.write("agent/1.md", text + " {cwd}\n")
    clone.commit(text)
    clone.pvc("supersede", "agent", "-m", text)


def test_honest_work_passes(reached: Site) -> None:
    here = reached
    ada, hub = here.ada, here.hub
    # 1, 2: the next version, and pins of another fold
    adopt(ada, "Third")
    ada.pvc("pin", "agent", "--session", "s3", "--set", "cwd=/srv")
    ada.pvc("sync", "origin")
    # 3: sync of nothing
    ada.pvc("sync", "origin")
    # 4: bodies, where the clone wants to share them
    ada.git("config", "pvc.pushBodies", "true")
    ada.pvc("pin", "agent", "--session", "s4", "--set", "cwd=/opt")
    ada.pvc("sync", "origin")
    # 5, 6: the first move of a channel, the next, and back
    for word in ("agent@1", "agent", "agent@2"):
        ada.pvc("promote", word, "production", "-m", f"To {word}")
        ada.pvc("sync", "origin")
    # 7: branches are nobody's business here
    assert here.push("main:refs/heads/topic").code == 0
    assert here.push("main~1:refs/heads/topic", force=True).code == 0
    assert here.push(":refs/heads/topic").code == 0
    # 8: a clone that resolves two versions of one number
    ada.run(["git", "clone", "-q", here.url, "../bob"])
    bob = type(ada)(here.path / "bob", "Bob Lindqvist")
    bob.pvc("sync", "origin")
    adopt(bob, "Fourth by Bob")
    adopt(ada, "Fourth by Ada")
    ada.pvc("sync", "origin")
    bob.pvc("sync", "origin", code=1)
    bob.pvc("supersede", "agent", "--resolve", "origin", "-m", "Both")
    bob.pvc("promote", "agent@1", "production", "-m", "Careful")
    ada.pvc("promote", "agent@3", "production", "-m", "Bold")
    ada.pvc("sync", "origin")
    bob.pvc("sync", "origin", code=1)
    bob.pvc("promote", "agent@3", "production", "--resolve", "origin", "-m", "Bold it is")
    bob.pvc("sync", "origin")
    assert hub.git("rev-parse", PRODUCTION) == bob.git("rev-parse", PRODUCTION)
    # 9: a machine that lives for a session, whose ledger is taken by another clone
    bob.git("config", "pvc.inbox", "true")
    bob.pvc("pin", "agent", "--session", "bobs", "--set", "cwd=/bob")
    bob.pvc("sync", "origin")
    took = ada.pvc("sync", "origin", "--consolidate", "--json").json
    assert [move["ref"].split("/")[2] for move in took["removed"]] == ["inbox"]
    assert "refs/pvc/inbox" not in here.refs()
    bob.pvc("sync", "origin")
    assert "refs/pvc/inbox" not in here.refs()
    # 10: housekeeping on the server and in the clone
    hub.git("gc", "-q", "--prune=now")
    hub.git("pack-refs", "--all")
    ada.git("fetch", "-q", "--prune", "origin")
    ada.git("gc", "-q")
    # 11: and on it goes
    ada.pvc("sync", "origin")
    adopt(ada, "Sixth")
    ada.pvc("sync", "origin")
    log = ada.pvc("log", "agent", "--json").json["versions"]
    assert [row["version"] for row in log] == [6, 5, 4, 3, 2, 1]
    assert hub.git("rev-parse", TREE) == ada.git("rev-parse", TREE)


def test_signed_versions_pass_where_signatures_are_required(site: Site) -> None:
    key = site.path / "key"
    assert site.ada.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]).code == 0
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    (site.path / "signers").write_text(f"ada@example.org {public}\n")
    site.hub.git("config", "gpg.ssh.allowedSignersFile", str(site.path / "signers"))
    site.hub.git("config", "pvc.requireSigned", "true")
    for name, value in (
        ("gpg.format", "ssh"), ("user.signingKey", str(key)), ("commit.gpgSign", "true"),
    ):  # fmt: skip
        site.ada.git("config", name, value)
    adopt(site.ada, "Signed")
    site.ada.pvc("sync", "origin")
    site.ada.git("config", "commit.gpgSign", "false")
    site.ada.pvc("promote", "agent@3", "production", "--sign", "-m", "Signed by hand")
    site.ada.pvc("sync", "origin")
    site.ada.pvc("promote", "agent@3", "beta", "-m", "Unsigned")
    adopt(site.ada, "Unsigned")
    assert "has no signature" in site.push(f"{TREE}:{TREE}").err
    beta = "refs/pvc/channels/agent/beta"
    assert "has no signature" in site.push(f"{beta}:{beta}").err


def test_a_prefix_of_the_server_is_guarded_in_place_of_ours(site: Site) -> None:
    prefix = "refs/heads/pvc"
    site.hub.git("config", "pvc.refPrefix", prefix)
    assert site.push(f"{TREE}:{prefix}/trees/agent").code == 0
    done = site.push(f"{TREE}~1:{prefix}/trees/agent", force=True)
    assert done.code != 0
    assert f"refused {prefix}/trees/agent" in done.err
