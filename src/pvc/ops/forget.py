"""Forget sessions, or all that is older than a date: the bodies go, the records stay.

    choose pins ──► tombstones ──► let go
    (by session,    (on record)    (`store.forget`)
     by time)

Rule 1: a dry run and a run choose and reckon with the same code; a dry run does not fold.
Rule 2: what is forgotten is said body by body, and so is what stays because another session needs
it: nobody should believe that something is gone which is not.
Rule 3: by time a tombstone is one line, however many pins it covers; the date lies in the past, for
what is pinned from now on is not meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError, UsageError
from pvc.launch import writer
from pvc.launch.prompt import EMPTY
from pvc.model.digest import Digest
from pvc.model.tombstone import Tombstone
from pvc.ops import secrets
from pvc.ops.asked import micros_of, now_us
from pvc.ops.fold import facts_of
from pvc.ops.told import Teller
from pvc.store.bodies import is_body_name
from pvc.store.codec import from_micros
from pvc.store.fold import FOLD_PINS, Fold, locked
from pvc.store.forget import Covers, Holdings, LetGo, Use, apply, heeded_tombstones, reckon, who
from pvc.store.ledger import Ledger
from pvc.store.tombstones import read_tombstones, segments_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.model.pin import Pin
    from pvc.store.repo import Repository

DEFAULT_REASON = "no reason given"
_SPOKEN = 20
"""How many bodies are named one by one, to a person."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be forgotten: sessions, or all pins before a date (of one writer, or of all)."""

    sessions: tuple[str, ...] = ()
    before: str | None = None
    of: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a run forgot, or would forget. `parts` says what each body was, where that is known."""

    wanted: Wanted
    before: int | None
    is_dry: bool
    pins: int
    gone: tuple[Digest, ...]
    kept: tuple[tuple[Digest, str], ...]
    """Each with a session that needs it."""
    parts: dict[Digest, str]
    refs: tuple[str, ...] = ()
    tombstones: int = 0
    unread: tuple[CorruptError, ...] = ()
    """Refs that are not bodies: whatever they hold stays."""
    notes: tuple[str, ...] = ()

    @property
    def has_findings(self) -> bool:
        """Whether something could not be read, so that nobody can say that it is gone."""
        return bool(self.unread)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.forget/1`."""
        return {
            "schema": "pvc.forget/1",
            "sessions": list(self.wanted.sessions),
            "before": None if self.before is None else from_micros(self.before),
            "reason": self.wanted.reason,
            "dry_run": self.is_dry,
            "pins": self.pins,
            "forgotten": [{"digest": d, "part": self.parts.get(d)} for d in self.gone],
            "kept": [{"digest": d, "part": self.parts.get(d), "session": s} for d, s in self.kept],
            "refs": list(self.refs),
            "tombstones": self.tombstones,
            "unread": unread_json(self.unread),
        }

    def to_lines(self) -> Iterator[str]:
        """Say it to a person."""
        verb = "Would forget" if self.is_dry else "Forgot"
        bodies = "1 body" if len(self.gone) == 1 else f"{len(self.gone)} bodies"
        yield f"{verb} {bodies}." if self.gone else "Nothing to let go of."
        for digest in self.gone[:_SPOKEN]:
            yield f"  {digest.short}  {self.parts.get(digest, 'body')}"
        if len(self.gone) > _SPOKEN:
            yield f"  and {len(self.gone) - _SPOKEN} more"
        for digest, session in self.kept[:_SPOKEN]:
            part = self.parts.get(digest, "body")
            yield f"kept {digest.short}  {part}: session {session} needs it"
        if len(self.kept) > _SPOKEN:
            yield f"kept {len(self.kept) - _SPOKEN} more that other sessions need"
        if self.refs:
            yield "The bytes leave this disk with `git gc --prune=now`, other clones at their sync."
        yield from unread_lines(self.unread)


def unread_json(unread: Sequence[CorruptError]) -> list[dict[str, str]]:
    """Keys of the refs that could not be read."""
    return [{"ref": each.at, "reason": each.message, "hint": each.hint} for each in unread]


def unread_lines(unread: Sequence[CorruptError]) -> Iterator[str]:
    """Say which refs could not be read, so that what they hold stays."""
    for each in unread:
        yield f"not read: {each.at}: {each.message}"
        yield f"hint: {each.hint}"


def run(repo: Repository, wanted: Wanted, *, dry_run: bool = False) -> Forgotten:
    """Forget what is wanted. Raises `NotFoundError` for a session that is not pinned here."""
    now = now_us()
    before = None if wanted.before is None else micros_of(wanted.before, "--before")
    if before is not None and before > now:
        raise UsageError(
            f"`{wanted.before}` is in the future",
            at="--before",
            hint="what is not pinned yet cannot be forgotten",
        )
    notes = secrets.heed_words(repo, wanted.reason, "reason")
    asked = _Asked(repo, wanted, before, now, notes)
    if dry_run:
        pins, fresh = asked.choose()
        holdings = Holdings(repo)
        here = holdings.all | _spooled(repo)
        reckoning = reckon(repo, (*heeded_tombstones(repo), *fresh), here)
        unread = tuple(holdings.damage)
        return asked.result(pins, LetGo(reckoning, damage=unread), 0, is_dry=True)
    home = f"{repo.common_dir}/pvc"
    writer.make_folders(home)
    with locked(home):
        folder = fold_all(repo, home)
        pins, fresh = asked.choose()
        if fresh:
            folder.append_tombstones(segments_of(fresh), [now])
        return asked.result(pins, apply(repo), len(fresh))


def fold_all(repo: Repository, home: str) -> Fold:
    """Fold the whole spool; gives what can append to the ledger. The caller holds the lock."""
    teller = Teller(repo)
    folder = Fold(repo, home, lambda pin: facts_of(teller, pin))
    while folder.run().pins == FOLD_PINS:
        continue
    return folder


def _spooled(repo: Repository) -> frozenset[Digest]:
    """List the bodies that only the spool holds so far."""
    try:
        names = [path.name for path in (repo.common_dir / "pvc/spool/b").iterdir()]
    except FileNotFoundError:
        return frozenset()
    return frozenset(Digest(f"b3:{name}") for name in names if is_body_name(name))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call, with its moments."""

    repo: Repository
    wanted: Wanted
    before: int | None
    now: int
    notes: tuple[str, ...]

    def choose(self) -> tuple[tuple[Pin, ...], tuple[Tombstone, ...]]:
        """Give the pins of the sessions, and the tombstones that are not on record yet."""
        known = read_tombstones(self.repo)
        if self.before is not None:
            older = [t for t in known if t.of in ("", self.wanted.of) and t.before is not None]
            is_known = any((t.before or 0) >= self.before for t in older)
            return (), () if is_known else (self._tombstone(before=self.before, of=self.wanted.of),)
        pins = tuple(self._pins())
        covers, receipts = Covers(known), dict[Digest, set[Digest]]()
        for pin in pins:
            for _, digest in pin.bodies:
                use = Use(pin.session, pin.time, pin.writer, pin.receipt, (digest,))
                if digest != Digest.of(EMPTY) and not covers.cover(use, digest):
                    receipts.setdefault(digest, set()).add(pin.receipt)
        return pins, tuple(
            self._tombstone(digest=digest, pins=tuple(sorted(receipts[digest])))
            for digest in sorted(receipts)
        )

    def _pins(self) -> Iterator[Pin]:
        ledger = Ledger(self.repo)
        for session in self.wanted.sessions:
            pins = ledger.session(session)
            if not pins:
                raise NotFoundError(
                    f"session `{session}` is not pinned here",
                    hint="pvc log --pins lists sessions; pvc sync fetches others'",
                )
            yield from pins

    def _tombstone(
        self,
        *,
        digest: Digest | None = None,
        pins: tuple[Digest, ...] = (),
        before: int | None = None,
        of: str = "",
    ) -> Tombstone:
        mine = writer.read(f"{self.repo.common_dir}/pvc")
        reason = self.wanted.reason or DEFAULT_REASON
        return Tombstone(self.now, mine, who(self.repo), reason, digest, pins, before, of)

    def result(
        self, pins: Sequence[Pin], let_go: LetGo, tombstones: int, *, is_dry: bool = False
    ) -> Forgotten:
        """Say what went and what stayed."""
        parts = {digest: part for pin in pins for part, digest in pin.bodies}
        reckoning = let_go.reckoning
        meant = parts.keys() if self.wanted.sessions else reckoning.kept.keys()
        kept = tuple((d, session) for d, session in reckoning.kept.items() if d in meant)
        gone = tuple(sorted(reckoning.gone))
        return Forgotten(
            self.wanted,
            self.before,
            is_dry,
            len(pins),
            gone,
            kept,
            parts,
            let_go.refs,
            tombstones,
            let_go.damage,
            self.notes,
        )
