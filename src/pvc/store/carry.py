"""One writer id, two clones: what a disk that was copied whole, or set back, does to a ledger.

    refs/pvc/pins/<old>   ours, base … ours       the remote has base … theirs
    refs/pvc/pins/<new>   what theirs lacks       pushed as any ledger

The machine and the inode are all that an id is tied to, and the copy of a disk keeps both. So it
shows at the remote: there is a fold under this clone's id that this clone did not write.

Rule 1: then this clone goes on under a new id. What the remote lacks of its old ledger is put into
the new one, record by record, in a fold like any other: receipts stay.
Rule 2: the records are on the disk under the new id before the old ledger ends where both parted.
Whoever is killed in between is finished by the next sync.
Rule 3: what somebody else wrote does not become this clone's own where the two tell two stories; a
ledger that is only behind is brought forward, where its folds hold up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, NotFoundError, PvcError
from pvc.launch import writer
from pvc.launch.refs import PINS, REMOTES
from pvc.model.names import CommitId
from pvc.store.bodies import BODIES
from pvc.store.codec import FROM
from pvc.store.fold import Fold, locked
from pvc.store.index import refresh
from pvc.store.repo import Kind
from pvc.store.take import Merge, renders_nothing
from pvc.store.taken import Contents, contents_of, decode_taken, segments_of

if TYPE_CHECKING:
    from pvc.model.names import ObjectId
    from pvc.store.repo import Repository
    from pvc.store.take import Judge

    Segments = dict[str, dict[str, ObjectId]]


class Carried(NamedTuple):
    """A ledger that another clone writes too, the one that this clone goes on with, and how."""

    ledger: str
    to: str
    pins: int
    """How many pins were put into the other one."""

    def to_json(self) -> dict[str, object]:
        """Keys of a ledger that was carried over, in `pvc.sync/1`."""
        return {"ref": self.ledger, "to": self.to, "pins": self.pins}


def own_ledgers(repo: Repository) -> tuple[tuple[str, CommitId], ...]:
    """Give the ledgers that this clone writes or wrote: a server's repository holds others' too."""
    ledgers = repo.refs(PINS)
    if not repo.is_bare:
        return ledgers
    ids = writer.ids(f"{repo.common_dir}/pvc")
    return tuple(row for row in ledgers if row[0].removeprefix(PINS) in ids)


def part(
    repo: Repository, ledger: str, theirs: CommitId | None, judge: Judge | None = None
) -> Carried | None:
    """Part with the other clone that writes this ledger; null where there is none.

    `theirs` is where the remote has it; null where it is there as no chain that goes on from what
    was seen: then the whole chain goes on under the new id.
    """
    home = f"{repo.common_dir}/pvc"
    with locked(home):
        ours = repo.ref(ledger)
        if ours is None or (theirs and repo.is_ancestor(theirs, ours)):
            return None
        is_current = ledger == PINS + writer.read(home)
        is_behind = theirs is not None and repo.is_ancestor(ours, theirs)
        if not is_current and (is_behind or theirs is None):
            return None
        if is_current:
            _take_new_id(repo, home, ledger, chain=ours if theirs is None else None)
        to = PINS + writer.ensure(home)
        writer.retire(home, ledger.removeprefix(PINS))
        if theirs is None:
            refresh(repo)
            return Carried(ledger, to, 0)
        if is_behind:
            _bring_forward(repo, home, ledger, ours, theirs, judge)
            return Carried(ledger, to, 0)
        return Carried(ledger, to, _carry(repo, home, ledger, ours, theirs))


def _take_new_id(repo: Repository, home: str, ledger: str, *, chain: CommitId | None) -> None:
    """Take a new id. All bodies go with it, as one chain, so that those of both are kept."""
    old, new = ledger.removeprefix(PINS), os.urandom(16).hex()
    bodies = repo.ref(BODIES + old)
    if bodies and repo.kind(bodies) is Kind.COMMIT:
        repo.move_ref(BODIES + new, None, bodies)
    if chain:
        repo.move_ref(PINS + new, None, chain)
    writer.renew(home, old, new)


def _bring_forward(
    repo: Repository,
    home: str,
    ledger: str,
    ours: CommitId,
    theirs: CommitId,
    judge: Judge | None,
) -> None:
    """Bring a ledger forward, unless it would stand against a launch that is under way here."""
    if judge is None or any(len(path.name) == 32 for path in Path(home, "spool").glob("*")):
        return
    try:
        for line in repo.git.output("rev-list", theirs, f"^{ours}").decode().split("\n")[:-1]:
            judge(repo.commit(CommitId(line)))
    except PvcError:
        return  # it stays another's, as it was fetched: whoever reads it says what is wrong
    repo.move_ref(ledger, ours, theirs)
    refresh(repo)


def _carry(repo: Repository, home: str, ledger: str, ours: CommitId, theirs: CommitId) -> int:
    """Put what the remote lacks into this clone's ledger, then end the old one where both part."""
    base = _merge_base(repo, ours, theirs)
    before = segments_of(repo, base) if base else {}
    folder = Fold(repo, home, renders_nothing)
    known = Contents(set(), set(), set())
    _add_contents(repo, theirs, before, known)
    tip = repo.ref(folder.ref)
    if tip:  # of a run that was killed
        _add_contents(repo, tip, {}, known)
    merge = Merge(repo, known)
    for stem, files in segments_of(repo, ours).items():
        at = f"{ours}:{stem}"
        if stem not in before and not _is_held_elsewhere(repo, files, at):
            merge.add(at, files)
    parts = list(merge.segments())
    if parts:
        folder.append_taken(parts, merge.pins, merge.times, ())
    refresh(repo)
    if base:
        repo.move_ref(ledger, ours, base)
    else:
        repo.delete_ref(ledger, ours)
    refresh(repo)
    return merge.pins


def _merge_base(repo: Repository, ours: CommitId, theirs: CommitId) -> CommitId | None:
    done = repo.git.run("merge-base", ours, theirs)
    return CommitId(done.out.decode().split("\n")[0]) if done.code == 0 else None


def _add_contents(repo: Repository, tip: CommitId, before: Segments, known: Contents) -> None:
    """Add what a ledger holds beyond some segments; what is in no form holds nothing."""
    try:
        rows = [row for row in segments_of(repo, tip).items() if row[0] not in before]
    except (CorruptError, NotFoundError):
        return
    for row in rows:
        try:
            held = contents_of(repo, [row])
        except (CorruptError, NotFoundError):
            continue
        for into, found in ((known.records, held.records), (known.tables, held.tables)):
            into.update(found)
        known.tombstones.update(held.tombstones)


def _is_held_elsewhere(repo: Repository, files: dict[str, ObjectId], at: str) -> bool:
    """Tell whether a segment was taken from ledgers that were seen at a remote, all of them."""
    if FROM not in files:
        return False
    tips = {ledger.tip for ledger in decode_taken(repo.blob(files[FROM]), at)}
    words = ("for-each-ref", "--count=1", "--format=%(refname)")
    return all(repo.git.run(*words, f"--contains={tip}", REMOTES).out for tip in tips)
