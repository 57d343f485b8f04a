"""Attacks on what pvc keeps, and who finds them: the tamper table of `docs/verify.md`.

    PYTHONPATH=src:tests python tests/attack/tamper.py        prints the table

Three people share a hub that has no guard. Ada pins and promotes; Bob has synced, and his folds
witness what he saw; Carol clones when all is over. An attack is done by somebody who owns Ada's
machine, or the hub, and who knows how pvc writes: chains, indexes and trailers are made right
where that is possible.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.conftest import Clone
from pvc.launch import cache, record
from pvc.model.digest import Digest
from pvc.ops.hook_ledger import read_fold
from pvc.store.codec import Unrendered, decode, encode_idx, encode_prompt, encode_segment
from pvc.store.fold_message import FoldMessage, next_chain
from pvc.store.open import open_repository
from pvc.store.repo import MODE_FILE, MODE_TREE, WRITER, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pvc.model.names import CommitId
    from pvc.store.repo import Repository

TREE = "refs/pvc/trees/agent"
PRODUCTION = "refs/pvc/channels/agent/production"
MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'
VERSION = "Evil\n\nPvc-Tree: agent\nPvc-Version: {number}\nPvc-Format: 1\n"


@dataclass(frozen=True)
class World:
    """A hub without a guard, and its clones."""

    path: Path

    @property
    def hub(self) -> Clone:
        return Clone(self.path / "hub.git", "Hub Keeper")

    @property
    def ada(self) -> Clone:
        return Clone(self.path / "ada")

    @property
    def bob(self) -> Clone:
        return Clone(self.path / "bob", "Bob Lindqvist")

    def carol(self) -> Clone:
        """A fresh clone of the hub, as it is now."""
        Clone(self.path).git("clone", "-q", "hub.git", "carol")
        return Clone(self.path / "carol", "Carol Reyes")

    @property
    def ledger(self) -> str:
        """The ref of Ada's ledger."""
        return self.ada.git("for-each-ref", "--format=%(refname)", "refs/pvc/pins/")

    def push(self, ref: str) -> None:
        """Give the hub what Ada's machine has, past every guard."""
        self.ada.git("push", "-q", "--no-verify", "--force", "origin", f"{ref}:{ref}")


def make_world(folder: Path) -> World:
    """Two versions, a channel that moved twice, three sessions in two folds; all of it shared."""
    Clone(folder).git("init", "-q", "--bare", "-b", "main", "hub.git")
    world = World(folder)
    ada = _cloned(world, "ada")
    ada.git("checkout", "-q", "-b", "main")
    adopt(ada, "You mend ships in {cwd}.\n", "First")
    ada.pvc("pin", "agent", "--session", "s1", "--set", "cwd=/srv")
    ada.pvc("sync")
    adopt(ada, "You mend boats in {cwd}.\n", "Second")
    for number in (1, 2):
        ada.pvc("promote", f"agent@{number}", "production", "-m", "Ready")
    ada.pvc("pin", "agent", "--session", "s2", "--set", "cwd=/srv")
    ada.pvc("pin", "agent", "--session", "s1", "--set", "cwd=/", "--repin", "Moved")
    ada.git("push", "-q", "origin", "main")
    ada.pvc("sync")
    bob = _cloned(world, "bob")
    bob.pvc("sync")
    bob.pvc("pin", "agent", "--session", "b1", "--set", "cwd=/home/bob")
    bob.pvc("sync")
    ada.pvc("sync")
    return world


def copy_world(world: World, folder: Path) -> World:
    """Copy a world, so that an attack spoils nothing for the next."""
    shutil.copytree(world.path, folder, symlinks=True)
    made = World(folder)
    for clone in (made.ada, made.bob):
        clone.git("remote", "set-url", "origin", str(folder / "hub.git"))
        home = clone.path / ".git/pvc"  # or it would take a writer's id of its own, as copies do
        words = (home / "writer").read_text().split()
        (home / "writer").write_text(f"{words[0]} {words[1]} {home.stat().st_ino}\n")
    return made


def _cloned(world: World, name: str) -> Clone:
    Clone(world.path).git("clone", "-q", "hub.git", name)
    clone = Clone(world.path / name, {"ada": "Ada Osei", "bob": "Bob Lindqvist"}[name])
    clone.git("config", "pvc.pushBodies", "true")
    return clone


def adopt(clone: Clone, text: str, reason: str) -> None:
    """Make the next version of the tree `agent`."""
    clone.write("agent/pvc.toml", MANIFEST)
    clone.write("agent/1.md", text)
    clone.commit(reason)
    clone.pvc("supersede", "agent", "-m", reason)


def _commit(clone: Clone, tree: str, message: str, *parents: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return clone.git("commit-tree", tree, *words, "-m", message)


def _move(clone: Clone, to: str, *before: str) -> str:
    return _commit(clone, f"{to}^{{tree}}", "Ready\n\nPvc-Channel: production\n", *before, to)


# --- ledgers made anew --------------------------------------------------------------------------


def fold_of(repo: Repository, parent: CommitId | None, records: Sequence[bytes]) -> CommitId:
    """Write a fold as pvc would, over records of any content, after `parent` or as the first."""
    before = repo.commit(parent) if parent else None
    number = FoldMessage.decode(before.message, "").last_segment + 1 if before else 0
    pins = [decode(data) for data in records]
    first = {pin.prompt: at for at, pin in reversed([*enumerate(pins)])}
    tables = {at: encode_prompt(pins[at], Unrendered()) for at in first.values()}
    segment = encode_segment(records, tables)
    files = {row.name: row for row in repo.tree(repo.tree(parent)[0].oid)} if parent else {}
    for kind, data in (("pins", segment), ("idx", encode_idx(pins, records, segment))):
        name = f"{number:02x}.{kind}"
        files[name] = Entry(name, MODE_FILE, repo.write_blob(data))
    root = repo.write_tree([Entry("0000", MODE_TREE, repo.write_tree([*files.values()]))])
    times = [pin.time for pin in pins]
    chain = next_chain(
        FoldMessage.decode(before.message, "").chain if before else "", [Digest.of(segment)]
    )
    message = FoldMessage(len(pins), number, number, min(times), max(times), chain).encode()
    return repo.write_commit(root, [parent] if parent else [], message, identity=WRITER)


def records_of(repo: Repository, ledger: str) -> list[list[bytes]]:
    """Read the records of each fold, oldest first."""
    tip = repo.ref(ledger)
    assert tip is not None
    folds = [read_fold(repo, commit) for commit in repo.first_parents(tip)][::-1]
    return [[_record(repo, tip, placed) for placed in fold.pins] for fold in folds]


def _record(repo: Repository, tip: CommitId, placed: Any) -> bytes:
    oid = repo.rev_parse(f"{tip}:{placed.path}")
    assert oid is not None
    data = repo.blob(oid)[placed.byte :]
    return data[: data.index(b"\n\n") + 2]


def changed(data: bytes, **values: str) -> bytes:
    """Write a record with other values, in its form."""
    return record.write({**record.read(data), **values})


def refold(world: World, folds: Sequence[Sequence[bytes]]) -> None:
    """Put a ledger of Ada's that holds these records in the place of hers, here and on the hub."""
    repo = open_repository(world.ada.path)
    at: CommitId | None = None
    for records in folds:
        at = fold_of(repo, at, records)
    assert at is not None
    repo.move_ref(world.ledger, repo.ref(world.ledger), at)
    repo.close()
    world.push(world.ledger)


def add_fold(world: World, records: Sequence[bytes]) -> None:
    """Go on from Ada's ledger with a fold of these records."""
    repo = open_repository(world.ada.path)
    tip = repo.ref(world.ledger)
    repo.move_ref(world.ledger, tip, fold_of(repo, tip, records))
    repo.close()
    world.push(world.ledger)


def ada_records(world: World) -> list[list[bytes]]:
    repo = open_repository(world.ada.path)
    try:
        return records_of(repo, world.ledger)
    finally:
        repo.close()


def edited_tree(clone: Clone, base: str, changes: dict[str, bytes | None]) -> str:
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
        else:
            (clone.path / ".git/evil").write_bytes(data)
            oid = git("hash-object", "-w", "--no-filters", ".git/evil")
            git("update-index", "--add", "--cacheinfo", f"100644,{oid},{path}")
    return git("write-tree")


# --- attacks on ledgers -------------------------------------------------------------------------


def rewritten_ledger(world: World) -> None:
    first, second = ada_records(world)
    refold(world, [[changed(first[0], session="s9")], second])


def record_dropped(world: World) -> None:
    first, second = ada_records(world)
    kept = [data for data in second if b'"s2"' not in data]
    refold(world, [first, kept])


def superseded_record_dropped(world: World) -> None:
    _, second = ada_records(world)
    refold(world, [second])


def segment_dropped(world: World) -> None:
    ledger = world.ledger
    tree = edited_tree(world.ada, f"{ledger}^{{tree}}", {"0000/00.pins": None, "0000/00.idx": None})
    message = world.ada.git("log", "-1", "--format=%B", ledger)
    world.ada.git("update-ref", ledger, _commit(world.ada, tree, message, ledger))
    world.push(ledger)


def record_changed(world: World) -> None:
    ledger = world.ledger
    data = world.ada.run(["git", "cat-file", "blob", f"{ledger}:0000/00.pins"]).out
    tree = edited_tree(
        world.ada, f"{ledger}^{{tree}}", {"0000/00.pins": data.replace(b'"s1"', b'"s9"')}
    )
    message = world.ada.git("log", "-1", "--format=%B", ledger)
    world.ada.git("update-ref", ledger, _commit(world.ada, tree, message, ledger))
    world.push(ledger)


def record_damaged(world: World) -> None:
    """A segment that is no segment, in a fold of its own."""
    ledger = world.ledger
    data = b'[[pin]]\nformat = 1\nsession = "s9"\n\n'
    tree = edited_tree(
        world.ada, f"{ledger}^{{tree}}", {"0000/02.pins": data, "0000/02.idx": bytes(32)}
    )
    message = world.ada.git("log", "-1", "--format=%B", ledger)
    world.ada.git("update-ref", ledger, _commit(world.ada, tree, message, ledger))
    world.push(ledger)


def digest_chain_broken(world: World) -> None:
    """A fold of right segments whose `Chain` does not go on from the one before it."""
    first, _ = ada_records(world)
    add_fold(world, [changed(first[0], session="s9")])
    ledger, ada = world.ledger, world.ada
    message = ada.git("log", "-1", "--format=%B", ledger)
    forged = re.sub("Chain: b3:.{64}", f"Chain: {Digest.of(b'another')}", message)
    made = _commit(ada, f"{ledger}^{{tree}}", forged, f"{ledger}~1")
    ada.git("update-ref", ledger, made)
    world.push(ledger)


def signature_forged(world: World) -> None:
    """A signed fold made anew with its old signature; everybody knows whose key it is."""
    key, ada = world.path / "key", world.ada
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    (world.path / "signers").write_text(f"pvc@localhost {public}\n")
    signers = ["gpg.ssh.allowedSignersFile", str(world.path / "signers")]
    subprocess.run(["git", "config", "--global", *signers], check=True)
    for name, value in (
        ("gpg.format", "ssh"), ("user.signingKey", str(key)), ("pvc.signFolds", "true"),
    ):  # fmt: skip
        ada.git("config", name, value)
    ada.pvc("pin", "agent", "--session", "s6", "--set", "cwd=/srv")
    ada.pvc("sync")
    signed = ada.run(["git", "cat-file", "commit", world.ledger]).out
    ada.write(".git/evil", signed.replace(b"author pvc", b"author Pvc"))
    made = ada.git("hash-object", "-w", "-t", "commit", ".git/evil")
    for ref in (world.ledger, world.ledger.replace("pvc/", "pvc/remotes/origin/")):
        ada.git("update-ref", ref, made)
    shutil.rmtree(ada.path / ".git/pvc/index")
    world.push(world.ledger)


def record_forged(world: World) -> None:
    """A record in its form, in a fold in its form: a session that never was."""
    first, _ = ada_records(world)
    forged = changed(first[0], session="s9", **{"prompt.digest": str(Digest.of(b"Obey me.\n"))})
    add_fold(world, [forged])


def session_pinned_again(world: World) -> None:
    """A second record under a session that has one."""
    _, second = ada_records(world)
    data = next(data for data in second if b'"s2"' in data)
    add_fold(world, [changed(data, time="2026-11-30T00:00:00.000000Z")])


def version_of_a_pin_taken_out(world: World) -> None:
    """The tree goes on from version 1 as if version 2 had never been."""
    first = world.ada.git("rev-parse", f"{TREE}~1")
    tree = edited_tree(world.ada, f"{first}^{{tree}}", {"1.md": b"You sink ships in {cwd}.\n"})
    made = _commit(world.ada, tree, VERSION.format(number=2), first)
    world.ada.git("update-ref", TREE, made)
    world.push(TREE)


def ledger_replayed(world: World) -> None:
    world.hub.git("update-ref", world.ledger, f"{world.ledger}~1")


def ledger_deleted(world: World) -> None:
    world.hub.git("update-ref", "-d", world.ledger)


def ledger_rewound_at_home(world: World) -> None:
    """Unshared folds are taken back; nobody else has seen them, but this clone's index has."""
    world.ada.pvc("pin", "agent", "--session", "s4", "--set", "cwd=/srv")
    world.ada.git("remote", "rename", "origin", "away")
    world.ada.git("config", "--unset", "remote.away.fetch")
    fold = "from pvc.ops.fold import run; from pvc.store.open import open_repository as o"
    done = world.ada.run([sys.executable, "-c", f"{fold}; run(o('.'))"])
    assert done.code == 0, done.err
    world.ada.git("update-ref", world.ledger, f"{world.ledger}~1")
    world.ada.git("remote", "rename", "away", "origin")


def memory_rewound(world: World) -> None:
    """What Bob's clone remembers of Ada's ledger is set back; his own folds contradict that."""
    seen = world.ledger.replace("refs/pvc/", "refs/pvc/remotes/origin/")
    world.bob.git("update-ref", seen, f"{seen}~1")
    shutil.rmtree(world.bob.path / ".git/pvc/index")
    world.hub.git("update-ref", world.ledger, f"{world.ledger}~1")


# --- attacks on versions and channels -----------------------------------------------------------


def tree_replayed(world: World) -> None:
    world.hub.git("update-ref", TREE, f"{TREE}~1")


def channel_replayed(world: World) -> None:
    world.hub.git("update-ref", PRODUCTION, f"{PRODUCTION}~1")


def version_forged_in_the_middle(world: World) -> None:
    """Another version 1, and version 2 on top of it as it was."""
    tree = edited_tree(world.ada, f"{TREE}~1^{{tree}}", {"1.md": b"You sink ships in {cwd}.\n"})
    first = _commit(world.ada, tree, VERSION.format(number=1))
    second = _commit(world.ada, f"{TREE}^{{tree}}", VERSION.format(number=2), first)
    world.ada.git("update-ref", TREE, second)
    world.push(TREE)


def version_malformed(world: World) -> None:
    """What a push around the guard lets through: a number is skipped."""
    made = _commit(world.ada, f"{TREE}^{{tree}}", VERSION.format(number=9), TREE)
    world.ada.git("update-ref", TREE, made)
    world.push(TREE)


def lock_forged(world: World) -> None:
    lock = b'format = 1\nform = "loom"\nrule = 1\n'
    tree = edited_tree(world.ada, f"{TREE}^{{tree}}", {".pvc/lock.toml": lock})
    world.ada.git("update-ref", TREE, _commit(world.ada, tree, VERSION.format(number=3), TREE))
    world.push(TREE)


def channel_moved_without_record(world: World) -> None:
    made = _commit(world.ada, f"{TREE}~1^{{tree}}", "Work", PRODUCTION, f"{TREE}~1")
    world.ada.git("update-ref", PRODUCTION, made)
    world.push(PRODUCTION)


def channel_set_to_a_version(world: World) -> None:
    world.ada.git("update-ref", PRODUCTION, TREE)
    world.push(PRODUCTION)


def channel_moved_off_the_chain(world: World) -> None:
    """A record in its form, of a move to a version that its tree's chain does not hold."""
    tree = edited_tree(world.ada, f"{TREE}^{{tree}}", {"1.md": b"You sink ships in {cwd}.\n"})
    version = _commit(world.ada, tree, VERSION.format(number=3), TREE)
    world.ada.git("update-ref", PRODUCTION, _move(world.ada, version, PRODUCTION))
    world.push(PRODUCTION)


# --- attacks on what a clone keeps --------------------------------------------------------------


def body_changed(world: World) -> None:
    ref = world.ada.git("for-each-ref", "--format=%(refname)", "refs/pvc/bodies/")
    path = world.ada.git("ls-tree", "-r", "--name-only", ref).split("\n")[0]
    tree = edited_tree(world.ada, f"{ref}^{{tree}}", {path: b'{"cwd":"/evil"}'})
    world.ada.git("update-ref", ref, _commit(world.ada, tree, "fold 1 bodies"))
    world.push(ref)


def bodies_dropped(world: World) -> None:
    """What sessions were filled with goes from Ada's clone and from the hub."""
    for ref in world.ada.git("for-each-ref", "--format=%(refname)", "refs/pvc").split("\n"):
        if "/bodies/" in ref:
            world.ada.git("update-ref", "-d", ref)
    for ref in world.hub.git("for-each-ref", "--format=%(refname)", "refs/pvc/bodies").split("\n"):
        world.hub.git("update-ref", "-d", ref)


def commit_replaced(world: World) -> None:
    world.ada.git("replace", world.ada.git("rev-parse", TREE), f"{TREE}~1")


def commit_grafted(world: World) -> None:
    world.ada.write(".git/info/grafts", world.ada.git("rev-parse", TREE) + "\n")


def cache_poisoned(world: World) -> None:
    common, tip = str(world.ada.path / ".git"), world.ada.git("rev-parse", TREE)
    entry = cache.read(common, tip)
    assert entry is not None
    block = (("lit", b"Obey me.\n", "1.md", "1.md", 0),)
    program = (*entry[3][:3], ((("section", "1.md", False, block),),))
    cache.write(common, tip, (*entry[:3], program))


def session_told_from_a_poisoned_cache(world: World) -> None:
    cache_poisoned(world)
    world.ada.pvc("pin", "agent", "--session", "s9", "--set", "cwd=/srv")
    world.ada.pvc("sync", code=1)
    shutil.rmtree(world.ada.path / ".git/pvc/cache")


def spool_file_changed(world: World) -> None:
    """The digest in a record that is not folded yet."""
    file = _spooled(world)
    told = {"prompt.digest": str(Digest.of(b"Obey me.\n"))}
    file.write_bytes(changed(file.read_bytes(), **told))


def spool_file_cut(world: World) -> None:
    file = _spooled(world)
    file.write_bytes(file.read_bytes()[:-9])


def spool_file_retold(world: World) -> None:
    """Another record that is right in itself: only who kept the receipt can tell."""
    file = _spooled(world)
    file.write_bytes(changed(file.read_bytes(), time="2026-11-30T00:00:00.000000Z"))


def spool_file_removed(world: World) -> None:
    _spooled(world).unlink()


def _spooled(world: World) -> Path:
    """Pin a session and give its file; its receipt is kept beside the clone, as a log would."""
    answer = world.ada.pvc("pin", "agent", "--session", "s5", "--set", "cwd=/srv", "--json").json
    (world.path / "receipt").write_text(answer["receipt"])
    folder = world.ada.path / ".git/pvc/spool"
    return next(path for path in folder.iterdir() if len(path.name) == 32)


# --- the table ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """One attack and what finds it, on three clones.

    `here` is where it was done (Ada's clone, or the hub, or Bob's clone), `synced` is Bob's after
    his next sync, `fresh` is Carol's. Each is a code of `pvc verify`, or `sync` (refused by
    `pvc sync`), `remote` (a code with `--remote`), `receipt`, or `—`: it is not there to be found.
    """

    words: str
    do: Callable[[World], None]
    where: str
    here: str
    synced: str
    fresh: str


ATTACKS = (
    Attack("ledger rewritten, chain and index made anew", rewritten_ledger, "ada",
           "diverged", "sync", "rollback"),
    Attack("record dropped, the ledger made anew", record_dropped, "ada",
           "diverged", "sync", "rollback"),
    Attack("record that another supersedes dropped", superseded_record_dropped, "ada",
           "diverged", "sync", "gap"),
    Attack("segment dropped", segment_dropped, "ada", "fold", "fold", "fold"),
    Attack("record changed in an old segment", record_changed, "ada", "fold", "fold", "fold"),
    Attack("record damaged", record_damaged, "ada", "record", "record", "record"),
    Attack("digest chain broken, git's own whole", digest_chain_broken, "ada",
           "fold", "fold", "fold"),
    Attack("signed fold made anew under its old signature", signature_forged, "ada",
           "signature", "signature", "signature"),
    Attack("record forged, of a prompt that no version gives", record_forged, "ada",
           "prompt", "prompt", "prompt"),
    Attack("session recorded a second time", session_pinned_again, "ada",
           "duplicate", "duplicate", "duplicate"),
    Attack("ledger replayed on the hub: an old tip", ledger_replayed, "hub",
           "rollback", "remote", "rollback"),
    Attack("ledger deleted on the hub", ledger_deleted, "hub", "rollback", "remote", "rollback"),
    Attack("unshared folds taken back", ledger_rewound_at_home, "ada", "rollback", "—", "—"),
    Attack("replayed, and what a clone remembers set back too", memory_rewound, "bob",
           "rollback", "rollback", "rollback"),
    Attack("tree replayed on the hub", tree_replayed, "hub", "rollback", "remote", "rollback"),
    Attack("channel replayed on the hub", channel_replayed, "hub",
           "rollback", "remote", "rollback"),
    Attack("version forged in the middle of a chain", version_forged_in_the_middle, "ada",
           "diverged", "sync", "rollback"),
    Attack("version that a session was told taken out", version_of_a_pin_taken_out, "ada",
           "diverged", "sync", "rollback"),
    Attack("version malformed, pushed with `--no-verify`", version_malformed, "ada",
           "version", "version", "version"),
    Attack("lock of a version forged", lock_forged, "ada", "version", "version", "version"),
    Attack("channel moved without a record", channel_moved_without_record, "ada",
           "move", "move", "move"),
    Attack("channel set to a version", channel_set_to_a_version, "ada", "move", "sync", "move"),
    Attack("channel moved to a version outside of the chain", channel_moved_off_the_chain, "ada",
           "move", "move", "move"),
    Attack("body changed", body_changed, "ada", "body", "body", "body"),
    Attack("bodies dropped, not forgotten", bodies_dropped, "ada", "body", "—", "—"),
    Attack("commit replaced (`refs/replace`)", commit_replaced, "ada", "replaced", "—", "—"),
    Attack("commit grafted (`info/grafts`)", commit_grafted, "ada", "replaced", "—", "—"),
    Attack("program cache poisoned", cache_poisoned, "ada", "cache", "—", "—"),
    Attack("session told from a poisoned cache", session_told_from_a_poisoned_cache, "ada",
           "prompt", "prompt", "prompt"),
    Attack("spool file changed: its digest", spool_file_changed, "ada", "prompt", "—", "—"),
    Attack("spool file cut", spool_file_cut, "ada", "spool", "—", "—"),
    Attack("spool file changed to another that is right in itself", spool_file_retold, "ada",
           "receipt", "—", "—"),
    Attack("spool file removed", spool_file_removed, "ada", "receipt", "—", "—"),
)  # fmt: skip

PLACES = {"ada": "the writer's clone", "hub": "the hub", "bob": "a reader's clone"}
WORDS = {
    "sync": "`pvc sync` is refused",
    "remote": "`pvc verify --remote origin`: `rollback`",
    "receipt": "`pvc verify --receipt b3:…`: `receipt`",
    "—": "—",
}


def table() -> str:
    """Write the table as it stands in the documents."""
    rows = [
        "| attack | done on | there | a clone that had synced | a fresh clone |",
        "|---|---|---|---|---|",
    ]
    for attack in ATTACKS:
        found = [
            WORDS.get(code, f"`pvc verify`: `{code}`")
            for code in (attack.here, attack.synced, attack.fresh)
        ]
        rows.append(f"| {' | '.join([attack.words, PLACES[attack.where], *found])} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
