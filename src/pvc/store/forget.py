"""Let go of bodies: what the tombstones of this clone's ledgers cover, and nothing else.

    tombstones ──► who needs what ──► bodies refs rewritten ──► git prunes
    (on record)    (every record)     (compare-and-swap)        (`git gc --prune=now`)

The same road for whoever forgets and for whoever hears of it at a sync.

Rule 1: a body goes when some tombstone covers it and no pin needs it that none covers. Pins are
read after the fold has taken the spool's bodies, so that a launch between body and record sees its
body gone and writes it again (`launch.spool`, rule 3).
Rule 2: the tombstone is on record before the first body goes. So whoever was killed in between
finds it at the next run, and goes on from there; a second run finds nothing to do.
Rule 3: nothing is taken from a spool: what is there was put there after the fold by a launch that
is under way.
Rule 4: refs of remotes in this clone hold bodies too. They are rewritten here, and it is noted what
the remote has in truth, so that the next sync neither fetches it again nor forgets to replace it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, NotFoundError, UsageError
from pvc.launch import disk, writer
from pvc.launch.record import unquote
from pvc.launch.refs import REMOTES
from pvc.model.digest import Digest
from pvc.store.bodies import BODIES, bodies_at, body_tips, without_bodies
from pvc.store.codec import split_segment, to_micros
from pvc.store.fold import locked
from pvc.store.index import stretches
from pvc.store.repo import WRITER
from pvc.store.tombstones import read_tombstones, tombstone_blobs
from pvc.store.withheld import Withheld

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pvc.model.names import CommitId
    from pvc.model.tombstone import Tombstone
    from pvc.store.repo import Repository

HEEDED = "heeded"
_MAGIC = b"pvc.heeded/1 "
_DIGESTS = re.compile(
    rb'^(prompt|environment|tools|entry|context)\.digest = "(b3:[0-9a-f]{64})"$', re.MULTILINE
)
_FIELDS = re.compile(rb'^(session|time|writer) = (".*")$', re.MULTILINE)


class Use(NamedTuple):
    """One record, and the bodies that it may need."""

    session: str
    time: int
    writer: str
    receipt: Digest
    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What of the bodies that are here may go, and what stays although a tombstone covers it."""

    gone: frozenset[Digest]
    kept: Mapping[Digest, str]
    """Each with a session that needs it."""


@dataclass(frozen=True, slots=True)
class LetGo:
    """What was let go of: the bodies, and the refs that were rewritten."""

    reckoning: Reckoning
    refs: tuple[str, ...] = ()
    damage: tuple[CorruptError, ...] = ()
    """Refs that are not bodies: whatever they hold is not let go of."""


# --- who needs what ---------------------------------------------------------------------------


def uses(repo: Repository, here: frozenset[Digest]) -> Iterator[Use]:
    """Give every record that names one of these bodies: the spool's, then the ledgers'."""
    for path in sorted(Path(f"{repo.common_dir}/pvc/spool").glob("*")):
        data = disk.read(str(path)) if len(path.name) == 32 else None
        yield from _uses(data or b"", here)
    for stretch in stretches(repo)[0]:
        try:
            records, _ = split_segment(repo.blob(stretch.oid), stretch.oid)
        except CorruptError:
            if stretch.is_local:
                raise
            continue  # no pin of this clone's can be there
        for record in records:
            yield from _uses(record, here)


def _uses(record: bytes, here: frozenset[Digest]) -> Iterator[Use]:
    named = {Digest(text.decode()) for _, text in _DIGESTS.findall(record)}
    if named.isdisjoint(here):
        return
    try:
        fields = {name: unquote(text.decode()) for name, text in _FIELDS.findall(record)}
        session, moment = fields[b"session"], to_micros(fields[b"time"])
        writer = fields[b"writer"]
    except (KeyError, ValueError):
        return  # not a record that pvc wrote, so not one that needs anything
    yield Use(session, moment, writer, Digest.of(record), tuple(named & here))


class Covers:
    """Tombstones, by what they cover."""

    def __init__(self, tombstones: Iterable[Tombstone]) -> None:
        self._by_time: list[Tombstone] = []
        self._pins: dict[Digest, set[Digest]] = {}
        for each in tombstones:
            if each.digest is None:
                self._by_time.append(each)
            else:
                self._pins.setdefault(each.digest, set()).update(each.pins)

    @property
    def digests(self) -> frozenset[Digest]:
        """The bodies that are named by themselves."""
        return frozenset(self._pins)

    def cover(self, use: Use, digest: Digest) -> bool:
        """Whether a pin no longer needs a body."""
        if use.receipt in self._pins.get(digest, ()):
            return True
        return any(
            each.covers(digest, receipt=use.receipt, time=use.time, writer=use.writer)
            for each in self._by_time
        )


def reckon(repo: Repository, tombstones: Iterable[Tombstone], here: frozenset[Digest]) -> Reckoning:
    """Find out what may go of the bodies that are here."""
    covers = Covers(tombstones)
    covered = set(covers.digests & here)
    needed: dict[Digest, str] = {}
    for use in uses(repo, here):
        for digest in use.digests:
            if covers.cover(use, digest):
                covered.add(digest)
            else:
                needed.setdefault(digest, use.session)
    kept = {digest: needed[digest] for digest in sorted(covered & needed.keys())}
    return Reckoning(frozenset(covered - needed.keys()), kept)


# --- letting go -------------------------------------------------------------------------------


@dataclass
class Holdings:
    """The bodies that are in this clone, by the ref that holds them."""

    repo: Repository
    refs: dict[str, frozenset[Digest]] = field(init=False)
    tips: dict[str, CommitId] = field(init=False)
    damage: list[CorruptError] = field(init=False, default_factory=list)
    """What is not bodies stops nobody; it is named, for what it holds cannot be let go of."""

    def __post_init__(self) -> None:
        self.tips, self.refs = {}, {}
        for name, tip in body_tips(self.repo):
            try:
                self.refs[name] = bodies_at(self.repo, tip)
            except (CorruptError, NotFoundError) as error:
                words = (
                    f"it is not a chain of bodies, and nothing in it is forgotten: {error.message}"
                )
                self.damage.append(CorruptError(words, at=name, hint=_way_out(name)))
            else:
                self.tips[name] = tip

    @property
    def all(self) -> frozenset[Digest]:
        """Every body that a ref holds."""
        return frozenset().union(*self.refs.values())

    def let_go(self, digests: frozenset[Digest], only: str = "") -> tuple[str, ...]:
        """Rewrite the refs, or the one ref, that hold some of these; gives their names."""
        moved = []
        for name, held in self.refs.items():
            if only in ("", name) and not held.isdisjoint(digests):
                self._rewrite(name, held & digests)
                moved.append(name)
        for name in self.tips:
            self._drop_reflog(name)
        return tuple(moved)

    def _rewrite(self, name: str, digests: Iterable[Digest]) -> None:
        tip = self.tips[name]
        new = without_bodies(self.repo, tip, digests, WRITER, int(time.time()))
        if name.startswith(REMOTES):
            Withheld(self.repo).note(name, tip, new)
        self.repo.move_ref(name, tip, new)

    def _drop_reflog(self, name: str) -> None:
        """Drop what a reflog, where the user keeps one of every ref, would keep alive."""
        if self.repo.git.run("reflog", "exists", name).code == 0:
            words = ("--expire=now", "--expire-unreachable=now", "--rewrite")
            self.repo.git.output("reflog", "expire", *words, name)


def _way_out(name: str) -> str:
    """Say how to be rid of a ref that is not bodies."""
    here = f"`git update-ref -d {name}` removes it here"
    if not name.startswith(REMOTES):
        return here
    remote, _, rest = name.removeprefix(REMOTES).partition("/bodies/")
    return f"`git push {remote} :{BODIES}{rest}` removes it there, {here}"


def apply(repo: Repository) -> LetGo:
    """Let go of all that the tombstones cover. The caller holds the lock of folds."""
    holdings = Holdings(repo)
    tombstones = heeded_tombstones(repo)
    reckoning = reckon(repo, tombstones, holdings.all)
    refs = holdings.let_go(reckoning.gone)
    _sweep(repo, Covers(tombstones).digests)
    disk.replace(_stamp_path(repo), _stamp(repo))
    return LetGo(reckoning, refs, tuple(holdings.damage))


def heed(repo: Repository) -> LetGo:
    """Let go of what was forgotten elsewhere, or here by a run that was killed; once."""
    if tombstone_blobs(repo):
        home = f"{repo.common_dir}/pvc"
        writer.make_folders(home)
        with locked(home):
            if disk.read(_stamp_path(repo)) != _stamp(repo):
                return apply(repo)
    return LetGo(Reckoning(frozenset(), {}))


def heeded_tombstones(repo: Repository) -> tuple[Tombstone, ...]:
    """Read the tombstones that count here: all, or with `pvc.heedForgotten false` one's own."""
    found = read_tombstones(repo)
    if repo.config_flag("pvc.heedForgotten", default=True):
        return found
    mine = writer.read(f"{repo.common_dir}/pvc")
    return tuple(each for each in found if each.writer == mine)


def who(repo: Repository) -> str:
    """Ask git who forgets: `Name <email>`."""
    done = repo.git.run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    name, close, _ = done.out.decode(errors="replace").rpartition("> ")
    if done.code != 0 or not close:
        raise UsageError(
            "git does not know who you are, and a tombstone says who forgot",
            hint='git config --global user.name "Your Name"\n'
            "git config --global user.email you@example.com",
        )
    return f"{name}>"


def _sweep(repo: Repository, forgotten: frozenset[Digest]) -> None:
    """Remove what is no whole body: half-written, or damaged and named by a tombstone.

    A live launch writes its own again; a damaged file serves nobody, and may hold much of the body.
    """
    for path in Path(f"{repo.common_dir}/pvc/spool/b").iterdir():
        is_damaged = f"b3:{path.name}" in forgotten and Digest.of(
            disk.read(str(path)) or b""
        ) != Digest(f"b3:{path.name}")
        if is_damaged or path.name.startswith(disk.TEMPORARY):
            path.unlink(missing_ok=True)


def _stamp_path(repo: Repository) -> str:
    return f"{repo.common_dir}/pvc/{HEEDED}"


def _stamp(repo: Repository) -> bytes:
    """Say what the last letting go looked at: all tombstones, and what remotes hold here."""
    rows = [row for row in body_tips(repo) if not row[0].startswith(BODIES)]
    lines = [*sorted(tombstone_blobs(repo)), *(f"{name} {tip}" for name, tip in rows)]
    flag = repo.config_flag("pvc.heedForgotten", default=True)
    return _MAGIC + Digest.of("\n".join([str(flag), *lines]).encode()).hex.encode() + b"\n"
