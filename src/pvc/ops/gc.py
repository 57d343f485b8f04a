"""Collect what nobody needs any more: bodies past their time, orphans, litter, old caches.

    orphans of the spool ──► fold ──► retention ──► orphans of the chain ──► files
    (no record, old)                  (a tombstone)  (no record, old)        (litter, caches)

Rule 1: retention forgets, as `pvc forget` does, and says so in the ledger; but only of this clone's
own pins: how long others keep theirs is their setting.
Rule 2: an orphan is a body that no record names, and old: a launch writes its body first and its
record a moment later. Should one be that slow, it finds its body gone and writes it again.
Rule 3: of pvc's own files only those go that nothing reads: temporary ones of killed processes,
runs that the index does not name, caches of formats that this pvc does not know.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.core.moment import MICROS, age_of
from pvc.core.owners import MAGIC as OWNERS_MAGIC
from pvc.launch import cache, disk, writer
from pvc.launch.index import read_tips
from pvc.model.digest import Digest
from pvc.model.tombstone import Tombstone
from pvc.ops.forget import fold_all, unread_json, unread_lines
from pvc.store import records
from pvc.store.bodies import BODIES, bodies_at, is_body_name
from pvc.store.codec import from_micros
from pvc.store.fold import LITTER_AGE_S, locked
from pvc.store.forget import Holdings, apply, heeded_tombstones, reckon, uses, who
from pvc.store.tombstones import read_tombstones, segments_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pvc.errors import CorruptError
    from pvc.store.repo import Repository

KEEP_BODIES, KEEP_ORPHANS = "pvc.keepBodies", "pvc.keepOrphans"
ORPHANS_DEFAULT = "1.day"
CACHES = {"v1": cache.HEADER, "blame": records.MAGIC, "owners": OWNERS_MAGIC}
"""What lies below `pvc/cache`, and how each file of it begins."""


@dataclass(frozen=True, slots=True)
class Swept:
    """A file that nothing reads; `why` is `litter`, `index` or `cache`."""

    path: str
    size_bytes: int
    why: str


@dataclass
class Collected:
    """What a run collected, or would collect."""

    is_dry: bool
    folded: int = 0
    before: int | None = None
    """Bodies of this clone's pins before then are past their time; null without a setting."""
    forgotten: tuple[Digest, ...] = ()
    orphans: tuple[Digest, ...] = ()
    swept: list[Swept] = field(default_factory=list)
    unread: tuple[CorruptError, ...] = ()
    """Refs that are not bodies: whatever they hold stays."""

    @property
    def has_findings(self) -> bool:
        """Whether something could not be read."""
        return bool(self.unread)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.gc/1`."""
        return {
            "schema": "pvc.gc/1",
            "dry_run": self.is_dry,
            "folded": self.folded,
            "before": None if self.before is None else from_micros(self.before),
            "forgotten": list(self.forgotten),
            "orphans": list(self.orphans),
            "swept": [{"path": s.path, "bytes": s.size_bytes, "why": s.why} for s in self.swept],
            "unread": unread_json(self.unread),
        }

    def to_lines(self) -> Iterator[str]:
        """Say it to a person."""
        would = "would be " if self.is_dry else ""
        if not self.is_dry:
            yield f"folded {self.folded} pins" if self.folded != 1 else "folded 1 pin"
        if self.before is not None:
            day = from_micros(self.before)[:10]
            yield f"{len(self.forgotten)} bodies of pins before {day} {would}forgotten"
        yield f"{len(self.orphans)} bodies that no record names {would}removed"
        size = sum(each.size_bytes for each in self.swept)
        yield f"{len(self.swept)} files that nothing reads {would}removed, {size} bytes"
        if self.forgotten or self.orphans:
            yield "The bytes leave this disk with `git gc --prune=now`."
        yield from unread_lines(self.unread)


def run(repo: Repository, *, dry_run: bool = False) -> Collected:
    """Collect. Raises `UsageError` on a setting that is no age."""
    collector = _Collector(repo, Collected(dry_run), time.time_ns() // 1000)
    home = f"{repo.common_dir}/pvc"
    if dry_run:
        collector.plan()
    else:
        writer.make_folders(home)
        with locked(home):
            collector.collect()
    collector.sweep()
    return collector.result


class _Collector:
    """One run."""

    def __init__(self, repo: Repository, result: Collected, now: int) -> None:
        self.repo = repo
        self.result = result
        self.now = now
        self.home = repo.common_dir / "pvc"
        self.writer = writer.read(str(self.home))
        keep = repo.config(KEEP_BODIES)
        result.before = None if keep is None else now - age_of(keep, KEEP_BODIES)
        self.keep = keep
        orphans = repo.config(KEEP_ORPHANS)
        age = age_of(ORPHANS_DEFAULT if orphans is None else orphans, KEEP_ORPHANS)
        self.orphans_before = now - age

    def plan(self) -> None:
        """Say what would go; the spool stays as it is."""
        if not self.home.is_dir():
            return
        holdings = Holdings(self.repo)
        self.result.unread = tuple(holdings.damage)
        spooled = self._spooled()
        known = heeded_tombstones(self.repo)
        more = self._past_their_time()
        reckoning = reckon(self.repo, (*known, *more), holdings.all | spooled.keys())
        self.result.forgotten = tuple(sorted(reckoning.gone))
        orphans = self._orphans(frozenset(self._old(spooled))) | self._old_of_chain(holdings)
        self.result.orphans = tuple(sorted(orphans))

    def collect(self) -> None:
        """Let go of what is past its time, and of orphans. The caller holds the lock of folds."""
        spooled = self._spooled()
        orphans = self._orphans(frozenset(self._old(spooled)))
        for digest in orphans:
            spooled[digest].unlink(missing_ok=True)
        waiting = sum(len(path.name) == 32 for path in (self.home / "spool").iterdir())
        folder = fold_all(self.repo, str(self.home))
        self.writer = folder.writer
        self.result.folded = waiting
        more = self._past_their_time()
        if more and self._would_go(more[0]):
            folder.append_tombstones(segments_of(more), [self.now])
        self.result.forgotten = tuple(sorted(apply(self.repo).reckoning.gone))
        holdings = Holdings(self.repo)
        self.result.unread = tuple(holdings.damage)
        stale = self._old_of_chain(holdings)
        if stale:
            holdings.let_go(stale, only=BODIES + self.writer)
        self.result.orphans = tuple(sorted(orphans | stale))

    # --- retention ----------------------------------------------------------------------------

    def _past_their_time(self) -> tuple[Tombstone, ...]:
        """Make the tombstone of `pvc.keepBodies`; none where nothing is set."""
        if self.result.before is None:
            return ()
        reason = f"{KEEP_BODIES} is {self.keep}"
        return (
            Tombstone(
                self.now, self.writer, who(self.repo), reason,
                before=self.result.before, of=self.writer,
            ),
        )  # fmt: skip

    def _would_go(self, tombstone: Tombstone) -> bool:
        """Whether it would take anything: a tombstone for nothing says nothing."""
        here = Holdings(self.repo).all
        known = read_tombstones(self.repo)
        before = reckon(self.repo, known, here).gone
        return reckon(self.repo, (*known, tombstone), here).gone > before

    # --- orphans ------------------------------------------------------------------------------

    def _spooled(self) -> dict[Digest, Path]:
        folder = self.home / "spool/b"
        paths = folder.iterdir() if folder.is_dir() else ()
        return {Digest(f"b3:{path.name}"): path for path in paths if is_body_name(path.name)}

    def _old(self, spooled: dict[Digest, Path]) -> Iterator[Digest]:
        for digest, path in spooled.items():
            if _changed(path) * MICROS < self.orphans_before:
                yield digest

    def _old_of_chain(self, holdings: Holdings) -> frozenset[Digest]:
        """Give the orphans that this clone's chain held already when they were young enough."""
        ref = BODIES + self.writer
        tip = holdings.tips.get(ref)
        if tip is None:
            return frozenset()
        for commit in self.repo.first_parents(tip):
            if commit.time.seconds * MICROS < self.orphans_before:
                return self._orphans(bodies_at(self.repo, commit.id) & holdings.refs[ref])
        return frozenset()

    def _orphans(self, bodies: frozenset[Digest]) -> frozenset[Digest]:
        """Give those of some bodies that no record names."""
        if not bodies:
            return bodies
        return bodies.difference(*(use.digests for use in uses(self.repo, bodies)))

    # --- files --------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Remove files that nothing reads, or only name them."""
        for path, why in sorted(self._unread()):
            self.result.swept.append(
                Swept(str(path.relative_to(self.repo.common_dir)), path.stat().st_size, why)
            )
            if not self.result.is_dry:
                path.unlink(missing_ok=True)

    def _unread(self) -> Iterator[tuple[Path, str]]:
        if not self.home.is_dir():
            return
        tips = read_tips(str(self.home))
        named = {name for name, _, _ in tips.runs} if tips else set()
        for path in self.home.rglob("*"):
            is_run = path.suffix == ".run" and path.name not in named
            is_unread = is_run or path.name.startswith(disk.TEMPORARY)
            if is_unread and time.time() - _changed(path) > LITTER_AGE_S:
                yield path, "index" if is_run else "litter"
        for path in (self.home / "cache").rglob("*"):
            if path.is_file() and not path.name.startswith(disk.TEMPORARY):
                begins = CACHES.get(path.relative_to(self.home / "cache").parts[0])
                if begins is None or not _begins_with(path, begins):
                    yield path, "cache"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _begins_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
