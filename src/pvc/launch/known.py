"""What is already pinned under a session: the spool first, then the index.

Rule 1: a record moves from the spool to the index and never back, and a fold syncs the index before
it unlinks. So whoever finds nothing in the spool and then nothing in the index knows that there
was nothing when it began.
Rule 2: a local ledger's record beats a spool file of the same name: that file was linked when the
record was in the index already, by a process that had not looked yet, and was never acknowledged.
A record that a sync brought in beats nothing: both stay, and readers say so.
Rule 3: an index that does not cover the local ledgers is brought up to date before it is believed.
Rule 4: `tips` is replaced whenever the index changes. Who finds the same `tips` again need not look
into the index again.
"""

import time

from pvc.errors import CorruptError
from pvc.launch import index, record
from pvc.launch.refs import PINS, below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.index import Row
    from pvc.launch.place import Place
    from pvc.launch.record import Record
    from pvc.launch.spool import Spool

PATIENCE_S = 0.5
"""How long a fold may stand between moving its ref and writing the index before we help."""


class Known:
    """A record that is already there."""

    __slots__ = ("data", "is_disputed", "is_local", "record")

    def __init__(self, values: "Record", data: bytes, *, is_local: bool) -> None:
        self.is_disputed = False  # by another clone's record of the same number
        self.record = values
        self.data = data
        self.is_local = is_local

    @property
    def n(self) -> int:
        """Its number in the chain."""
        return int(self.record["n"])

    @property
    def receipt(self) -> str:
        """The digest of its bytes."""
        return record.receipt(self.data)

    def text(self, name: str) -> str:
        """Give a value of the record, or the empty text."""
        return str(self.record.get(name, ""))


class OpenIndex:
    """The index as one `tips` names it, its runs held open until another stands there."""

    __slots__ = ("data", "runs", "tips")

    def __init__(self, home: str, data: bytes | None) -> None:
        self.data = data
        self.tips = index.parse_tips(data)
        self.runs = index.Runs(home, self.tips.runs if self.tips else ())

    def __del__(self) -> None:
        if hasattr(self, "runs"):
            self.runs.close()


def newest(place: "Place", spool: "Spool", session: str, chain: str) -> Known | None:
    """Find a session's newest pin, or null."""
    found = all_of(place, spool, session, chain, {})
    return found[max(found)] if found else None


def all_of(
    place: "Place", spool: "Spool", session: str, chain: str, found: dict[int, Known]
) -> dict[int, Known]:
    """Add a session's pins by number to `found`, which may hold some already: none changes."""
    n, seen = 0, None
    while n in found:
        n += 1
    while True:
        spooled = spool.read(session, chain, n)
        tips = index.tips_bytes(place.home)
        if tips != seen or seen is None:
            seen = tips
            for known in folded(place, session, chain):
                other = found.get(known.n)
                if other is not None and other.data != known.data:
                    known.is_disputed = other.is_disputed = True
                if known.is_local or other is None:
                    found[known.n] = known
        if spooled is not None and n not in found:
            found[n] = Known(*spooled, is_local=True)
        if n not in found:
            return found
        while n in found:
            n += 1


def is_session(place: "Place", spool: "Spool", word: str) -> bool:
    """Return True if anything may be pinned under a word, in any chain."""
    line = f"session = {record.quote(word)}\n".encode()
    return spool.holds(line) or bool(_rows(place, index.session_key(word)))


def folded(place: "Place", session: str, chain: str) -> list[Known]:
    """Find a session's pins in the ledgers."""
    key = index.session_key(session)
    rows = _rows(place, key)
    found = []
    segments: dict[str, bytes] = {}
    for row in rows:
        try:
            if row.oid not in segments:
                segments[row.oid] = _segment(place, row.oid)
            known = _record(segments[row.oid], row)
        except CorruptError:
            if row.is_local:
                raise
            continue  # another clone's damage must not stop a launch here
        if known.text("session") == session and known.text("chain") == chain:
            found.append(known)
    return found


def _rows(place: "Place", key: bytes) -> "list[Row]":
    deadline = time.monotonic() + PATIENCE_S
    while True:
        ledgers = below(place, PINS)
        data = index.tips_bytes(place.home)
        try:
            if place.index is None or place.index.data != data:
                place.index = OpenIndex(place.home, data)
            tips = place.index.tips
            if tips is None and not ledgers:
                return []
            if tips is not None and tips.covers(ledgers):
                return place.index.runs.find(index.BY_SESSION, key, key)
        except index.DamagedIndexError:
            place.index = None  # damaged, or merged into others while we looked
        if time.monotonic() > deadline:
            return _made_again(place, key)
        time.sleep(0.002)


def _made_again(place: "Place", key: bytes) -> "list[Row]":
    from pvc.store.index import look_up
    from pvc.store.open import open_repository

    return look_up(open_repository(place.git_dir, offline=True), (index.BY_SESSION,), key, key)


def _segment(place: "Place", oid: str) -> bytes:
    segment = place.git("cat-file", "blob", oid)
    if segment is None:
        raise CorruptError("a segment of the ledger is not here", at=oid, hint="`pvc sync`")
    return segment


def _record(segment: bytes, row: "Row") -> Known:
    data = segment[row.offset : row.offset + row.length]
    return Known(record.read(data, f"{row.oid}:{row.offset}"), data, is_local=row.is_local)
