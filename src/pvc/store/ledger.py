"""All pins of this clone: the union of its own ledger, those that a sync brought, and the spool.

Rule 1: a record is found in the spool or in a ledger, wherever it is at the moment: the spool is
read first, for records move from there into the ledger and never back.
Rule 2: equal records are one pin (a ledger comes back from a remote; a copied clone keeps its
spool). Pins of one session that differ are all given: nothing is ever hidden.
Rule 3: time orders lists and decides nothing. In a chain the number counts.
Rule 4: what cannot be read, in the spool or in another clone's ledger, hides no other pin. It is
kept in `damage`, so that a list can say what it lacks. Damage of the own ledger is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, UsageError
from pvc.launch import disk
from pvc.launch.index import BY_PROMPT, BY_RECEIPT, BY_SESSION, session_key
from pvc.launch.record import quote
from pvc.model.digest import KEYED_TAG, TAG
from pvc.model.times import END_OF_TIME
from pvc.store.codec import decode, decode_named, from_micros, split_segment, to_micros
from pvc.store.counts import Standing, sessions_on, version_key
from pvc.store.index import look_up, stretches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pvc.launch.index import Row
    from pvc.model.names import CommitId
    from pvc.model.pin import Pin
    from pvc.store.index import Stretch
    from pvc.store.repo import Repository

MAIN = "main"
MIN_PREFIX = 4
"""Hex digits that a digest's prefix needs; fewer name half of everything."""
_HEX = frozenset("0123456789abcdef")
_CACHED_SEGMENTS = 8
_FIRST_TIME = to_micros("0001-01-01T00:00:00.000000Z")
"""Records of a clock before 1970 were acknowledged once, so lists without a bound show them."""


class Ledger:
    """Look-ups over all pins of a repository."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._home = f"{repo.common_dir}/pvc"
        self._segments: dict[str, bytes] = {}
        self._damage: dict[str, CorruptError] = {}

    @property
    def damage(self) -> tuple[CorruptError, ...]:
        """What the look-ups so far met and could not read."""
        return tuple(self._damage.values())

    def spool_damage(self) -> tuple[CorruptError, ...]:
        """Read the spool, and give what of it could not be read."""
        list(self._spooled())
        return self.damage

    def _note(self, error: CorruptError) -> None:
        self._damage[str(error)] = error

    def session(self, session: str, chain: str | None = None) -> tuple[Pin, ...]:
        """Give a session's pins, each chain newest first; the chain `main` comes first."""
        key = session_key(session)
        lines = [f"session = {quote(session)}\n".encode()]
        lines += [f"chain = {quote(chain)}\n".encode()] if chain is not None else []
        pins = [
            pin
            for pin in self._found((BY_SESSION,), key, key, lines)
            if pin.session == session and chain in (None, pin.chain)
        ]
        pins.sort(key=lambda pin: (pin.n, *pin.order), reverse=True)
        return tuple(sorted(pins, key=lambda pin: (pin.chain != MAIN, pin.chain)))

    def digest(self, prefix: str) -> tuple[Pin, ...]:
        """Give the pins whose prompt or receipt begins with `prefix`, newest first."""
        digits = prefix.removeprefix(TAG).removeprefix(KEYED_TAG)
        if not MIN_PREFIX <= len(digits) <= 64 or not _HEX.issuperset(digits):
            raise UsageError(
                f"`{prefix}` begins no digest", hint=f"`{TAG}` and {MIN_PREFIX} to 64 hex digits"
            )
        low = bytes.fromhex(digits[:16].ljust(16, "0"))
        high = bytes.fromhex(digits[:16].ljust(16, "f"))
        found = self._found((BY_PROMPT, BY_RECEIPT), low, high)
        pins = {
            pin.receipt: pin
            for pin in found
            if pin.prompt.hex.startswith(digits) or pin.receipt.hex.startswith(digits)
        }
        return _newest_first(pins.values())

    def newest(
        self,
        limit: int | None,
        tree: str | None = None,
        *,
        session: str | None = None,
        since: int = 0,
        until: int = END_OF_TIME,
    ) -> tuple[Pin, ...]:
        """Give the newest pins, of one tree or of all; without a limit every one.

        `since` and `until` bound their times in microseconds: since <= time < until. Of a segment
        only those records are decoded that may be among them.
        """
        wanted = _Wanted(tree, since, until)
        if session is not None:
            return _newest_first(filter(wanted.takes, self.session(session)))[:limit]
        pins = {pin.receipt: pin for pin in self._spooled() if wanted.takes(pin)}
        segments, damage = stretches(self._repo)
        for ref, why in damage:
            self._note(CorruptError(why, at=ref))
        floor = wanted.since
        for segment in segments:
            if limit is not None and len(pins) >= limit:
                times = sorted((pin.time for pin in pins.values()), reverse=True)
                floor = max(floor, times[limit - 1] if limit else segment.last + 1)
            if segment.last < floor:
                break
            if segment.first < wanted.until:
                pins.update((pin.receipt, pin) for pin in self._newest_of(segment, wanted, limit))
        return _newest_first(pins.values())[:limit]

    def sessions_on(self, commits: Iterable[CommitId]) -> dict[CommitId, int]:
        """Count the sessions that stand on each of these versions; see `store.counts`."""
        spooled = [
            Standing(session_key(pin.session), pin.time, version_key(pin.commit))
            for pin in self._spooled()
            if pin.commit is not None
        ]
        return sessions_on(self._repo, commits, spooled)

    # --- where pins are ---------------------------------------------------------------------

    def _found(
        self, parts: Sequence[int], low: bytes, high: bytes, lines: Iterable[bytes] = ()
    ) -> list[Pin]:
        """Give what may match: the record decides. In the spool it must hold all `lines`."""
        pins = {pin.receipt: pin for pin in self._spooled(lines)}
        for row in look_up(self._repo, parts, low, high):
            try:
                pin = self._read(row)
            except CorruptError as error:
                if row.is_local:
                    raise
                self._note(error)
            else:
                pins[pin.receipt] = pin
        return list(pins.values())

    def _spooled(self, lines: Iterable[bytes] = ()) -> Iterator[Pin]:
        folder = self._home + "/spool"
        try:
            names = [path.name for path in Path(folder).iterdir()]
        except FileNotFoundError:
            return
        for name in names:
            data = None if name == "b" or name[0] == "." else disk.read(f"{folder}/{name}")
            # without data a fold took it a moment ago: it is in the index
            if data is not None and all(line in data for line in lines):
                try:
                    yield decode_named(data, name, f"{folder}/{name}")
                except CorruptError as error:
                    self._note(error)

    def _read(self, row: Row) -> Pin:
        data = self._segment(row.oid)[row.offset : row.offset + row.length]
        return decode(data, f"{row.oid}:{row.offset}")

    def _segment(self, oid: str) -> bytes:
        from pvc.model.names import ObjectId

        if oid not in self._segments:
            while len(self._segments) >= _CACHED_SEGMENTS:
                self._segments.pop(next(iter(self._segments)))
            self._segments[oid] = self._repo.blob(ObjectId(oid))
        return self._segments[oid]

    def _newest_of(self, segment: Stretch, wanted: _Wanted, limit: int | None) -> list[Pin]:
        """Read the newest records of a segment that are wanted."""
        try:
            records, _ = split_segment(self._segment(segment.oid), segment.oid)
            chosen = sorted(filter(wanted.may_take, records), key=_time_of, reverse=True)[:limit]
            return [decode(data, segment.oid) for data in chosen]
        except CorruptError as error:
            if segment.is_local:
                raise
            self._note(error)
        return []


class _Wanted:
    """Which pins a list is asked for."""

    def __init__(self, tree: str | None, since: int, until: int) -> None:
        self.tree = tree
        self.since = since if since > 0 else _FIRST_TIME
        self.until = min(until, END_OF_TIME)
        self._line = b"" if tree is None else f"\ntree = {quote(tree)}\n".encode()
        self._low, self._high = from_micros(self.since), from_micros(self.until)

    def takes(self, pin: Pin) -> bool:
        """Tell whether a pin is one of them."""
        return self.tree in (None, pin.tree) and self.since <= pin.time < self.until

    def may_take(self, record: bytes) -> bool:
        """Tell the same of a record that is not decoded."""
        return self._line in record and self._low <= _time_of(record) < self._high


def _time_of(record: bytes) -> str:
    """Find a record's time as it is written, which sorts as time does."""
    at = record.find(b'\ntime = "') + 9
    return record[at : at + 27].decode("ascii", "replace")


def _newest_first(pins: Iterable[Pin]) -> tuple[Pin, ...]:
    return tuple(sorted(pins, key=lambda pin: pin.order, reverse=True))
