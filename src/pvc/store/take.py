"""Take ledgers that nobody writes any more into this clone's own: a hub then keeps few refs.

Rule 1: a take is an append like a fold, under the same lock; what was here stays as it is.
Rule 2: records are taken byte for byte, so receipts stay. Large segments are taken as they are, the
records of small ones are put together: a writer of one pin then costs what a pin costs.
Rule 3: a ledger that does not hold up is left where it is, and said. Who judges is `judge`.
Rule 4: time only says what is idle. A writer that was taken too early pushes its chain again, and
the next take goes on from where this one stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, NotFoundError, RefusedError, UsageError
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.store.codec import (
    FROM,
    Unrendered,
    decode,
    decode_prompt,
    encode_idx,
    encode_segment,
    split_segment,
    table_digest,
)
from pvc.store.fold import SEGMENT_PINS, Fold, locked
from pvc.store.index import refresh
from pvc.store.taken import MOST_TAKEN, Contents, Taken, encode_taken, fresh_segments
from pvc.store.tombstones import SUFFIX
from pvc.store.tombstones import decode as decode_tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pvc.model.names import ObjectId
    from pvc.model.pin import Pin
    from pvc.store.repo import Commit, Repository

    Judge = Callable[[Commit], None]

CARRIED_PINS = SEGMENT_PINS // 2
"""From so many pins on a segment is taken as it is: nothing new is stored for it."""


class TakeResult(NamedTuple):
    """What a take did. `refused` are ledgers that do not hold up, with what is wrong."""

    pins: int = 0
    ledgers: tuple[Taken, ...] = ()
    refused: tuple[tuple[Taken, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        """Keys of what was taken in `pvc.sync/1`."""
        ledgers = [{"writer": ledger.writer, "commit": ledger.tip} for ledger in self.ledgers]
        return {"pins": self.pins, "ledgers": ledgers}


def take(repo: Repository, ledgers: Iterable[Taken], *, judge: Judge) -> TakeResult:
    """Take these ledgers into this clone's own; those that it holds already are no work."""
    home = f"{repo.common_dir}/pvc"
    with locked(home):
        return _Take(repo, home, judge).run(tuple(ledgers))


class _Take:
    """One take, under the lock of folds."""

    def __init__(self, repo: Repository, home: str, judge: Judge) -> None:
        self.repo = repo
        self.judge = judge
        self.fold = Fold(repo, home, renders_nothing)
        self.refused: list[tuple[Taken, str]] = []

    @property
    def own(self) -> CommitId | None:
        return self.repo.ref(self.fold.ref)

    def run(self, ledgers: Sequence[Taken]) -> TakeResult:
        wanted = [ledger for ledger in self._apart(ledgers) if self._holds_up(ledger)]
        pins = 0
        for at in range(0, len(wanted), MOST_TAKEN):
            pins += self._take(wanted[at : at + MOST_TAKEN])
            refresh(self.repo)
        return TakeResult(pins, tuple(wanted), tuple(self.refused))

    def _apart(self, ledgers: Sequence[Taken]) -> list[Taken]:
        """Leave out what this clone's ledger reaches, or another one of these."""
        if not ledgers:
            return []
        tips = {ledger.tip: ledger for ledger in ledgers}  # copies of a clone may share one
        own = self.own
        words = ("merge-base", "--independent", *tips, *((own,) if own else ()))
        alone = frozenset(self.repo.git.output(*words).decode().split("\n"))
        return [ledger for tip, ledger in tips.items() if tip in alone and tip != own]

    def _holds_up(self, ledger: Taken) -> bool:
        """See that each fold of a ledger is what a guard would let in."""
        own = self.own
        words = ("rev-list", ledger.tip, *((f"^{own}",) if own else ()))
        try:
            for line in self.repo.git.output(*words).decode().split("\n")[:-1]:
                self.judge(self.repo.commit(CommitId(line)))
        except (CorruptError, NotFoundError, RefusedError) as error:
            self.refused.append((ledger, error.message))
            return False
        return True

    def _take(self, ledgers: Sequence[Taken]) -> int:
        """Write one commit that takes these; gives how many pins it holds."""
        merge = Merge(self.repo)
        for at, files in fresh_segments(self.repo, self.own, ledgers):
            merge.add(at, files)
        source = encode_taken(ledgers)
        parts = [{**files, FROM: source} for files in merge.segments()]
        self.fold.append_taken(parts, merge.pins, merge.times, [ledger.tip for ledger in ledgers])
        return merge.pins


class Merge:
    """Segments of several ledgers, put together; what is `known` to be elsewhere is left out."""

    def __init__(self, repo: Repository, known: Contents | None = None) -> None:
        self.repo = repo
        self._known = known or Contents(set(), set(), set())
        self._times: list[int] = []
        self._times_of_tombstones: list[int] = []
        self._carried = 0
        self._whole: dict[ObjectId, dict[str, bytes]] = {}
        self._small: dict[Digest, tuple[Pin, bytes]] = {}
        self._tables: dict[Digest, bytes] = {}

    @property
    def pins(self) -> int:
        """How many pins the new segments hold."""
        return self._carried + len(self._small)

    @property
    def times(self) -> list[int]:
        """When its pins were made; of tombstones alone, when something was forgotten."""
        return self._times or self._times_of_tombstones

    def add(self, at: str, files: dict[str, ObjectId]) -> None:
        """Take in a segment, once."""
        if SUFFIX not in files and not {".pins", ".idx"} <= files.keys():
            raise CorruptError("it is not a segment", at=at)
        blob = files.get(SUFFIX) or files[".pins"]
        if blob in self._whole or blob in self._known.tombstones:
            return
        data = self.repo.blob(blob)
        if SUFFIX in files:
            self._whole[blob] = {SUFFIX: data}
            self._times_of_tombstones += [each.time for each in decode_tombstones(data, at)]
            return
        every, tables = split_segment(data, at)
        records = [record for record in every if record not in self._known.records]
        pins = [decode(record, at) for record in records]
        self._times += [pin.time for pin in pins]
        if len(pins) >= CARRIED_PINS and len(records) == len(every):
            self._whole[blob] = {".pins": data, ".idx": self.repo.blob(files[".idx"])}
            self._carried += len(pins)
            return
        self._small.update(
            (pin.receipt, (pin, record)) for pin, record in zip(pins, records, strict=True)
        )
        for table in tables:
            self._describe(table, at)

    def _describe(self, table: bytes, at: str) -> None:
        """Keep one table a prompt: a ledger whose fold could render it knows more."""
        try:
            digest = Digest(table_digest(table))
        except UsageError:
            raise CorruptError("a prompt's table is damaged", at=at) from None
        known = self._tables.get(digest)
        if known is None or isinstance(decode_prompt(known, at), Unrendered):
            self._tables[digest] = table

    def segments(self) -> Iterator[dict[str, bytes]]:
        """Give the new segments, each as its files by suffix."""
        yield from self._whole.values()
        rows = sorted(self._small.values(), key=_order)
        for start in range(0, len(rows), SEGMENT_PINS):
            pins = [pin for pin, _ in rows[start : start + SEGMENT_PINS]]
            records = [record for _, record in rows[start : start + SEGMENT_PINS]]
            first = {pin.prompt: at for at, pin in reversed([*enumerate(pins)])}
            tables = {at: self._tables[digest] for digest, at in first.items()}
            segment = encode_segment(records, tables)
            yield {".pins": segment, ".idx": encode_idx(pins, records, segment)}


def _order(row: tuple[Pin, bytes]) -> tuple[int, str]:
    return row[0].time, row[0].receipt


def renders_nothing(_: Pin) -> None:
    """Stand where a fold renders: what is taken was described by who folded it."""
