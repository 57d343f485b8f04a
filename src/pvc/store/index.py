"""The index of the ledgers, written: one sorted run for what is new, merged as runs grow in number.

How a run is laid out and read is `launch.index`. Here it is made from the segments themselves:
their `.idx` blobs say where records stand, the records say which receipts they have.

Rule 1: everything here is derived. What does not verify is made again from the ledgers.
Rule 2: a run is on the disk before `tips` names it, and `tips` is replaced whole; a reader that
finds a run gone starts again at `tips`.
Rule 3: a run is merged with its neighbour before it once it is half as large, so that there are
few runs, and each row is written a few times only.
Rule 4: what another clone's ledger holds in no form is left out, and whoever lists pins says so;
damage of somebody else's must not stop anything here. Damage of this clone's own is an error.
"""

from __future__ import annotations

from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, NotFoundError
from pvc.launch import disk, refs, writer
from pvc.launch.index import (
    BLOCK_ROWS,
    BY_SESSION,
    COMMIT_BYTES,
    RUN_MAGIC,
    SEGMENTS,
    SIZES,
    DamagedIndexError,
    Run,
    Runs,
    Tips,
    read_tips,
    segment_number,
)
from pvc.launch.place import Place
from pvc.launch.refs import PINS
from pvc.store.codec import FROM, IDX_ROW_SIZE
from pvc.store.entries import shown
from pvc.store.objects import trusted, trusted_commit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pvc.launch.index import Row
    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Entry, Repository

_KEY_SIZE = 56
"""How much of a segment's row says which segment it is; the times follow."""
_SEGMENT = Struct(">32s16x4xHHQQ")
_HEX = frozenset("0123456789abcdef")
_COMMIT = b'\ncommit = "'


class Segment(NamedTuple):
    """One segment of a ledger: where it stands and its two blobs."""

    writer: str
    number: int
    pins: ObjectId
    idx: ObjectId
    is_local: bool
    """Whether a launch here was answered with its pins: not those taken from another ledger."""

    def key(self) -> bytes:
        """Write what a segment's row in a run begins with: which segment it is."""
        oid = bytes.fromhex(self.pins)
        return (
            oid.ljust(32, b"\0")
            + bytes.fromhex(self.writer)
            + self.number.to_bytes(4, "big")
            + len(oid).to_bytes(2, "big")
            + (b"\0\1" if self.is_local else b"\0\0")
        )


class Stretch(NamedTuple):
    """A segment that the index holds, and the times of its first and last pin."""

    oid: ObjectId
    is_local: bool
    first: int
    last: int


def ledgers(repo: Repository) -> dict[str, CommitId]:
    """Read the tips of all ledgers, this clone's and those that a sync brought."""
    tips = refs.ledgers(Place(str(repo.git_dir), str(repo.common_dir)))
    return {
        name: trusted_commit(oid)
        for name, oid in sorted(tips.items())
        if _is_writer(name.rpartition("/")[2])
    }


def refresh(repo: Repository, *, from_nothing: bool = False) -> Tips:
    """Bring the index up to date with the ledgers and give its `tips`."""
    home = f"{repo.common_dir}/pvc"
    tips = None if from_nothing else read_tips(home)
    current = ledgers(repo)
    if tips is not None and tips.covers(current):
        return tips
    if tips is None and not current:
        if from_nothing:
            Path(f"{home}/index/tips").unlink(missing_ok=True)
        return Tips([], {})
    writer.make_folders(home)
    with disk.Locked(home + "/index"):
        tips = None if from_nothing else read_tips(home)
        try:
            return _extended(repo, home, tips or Tips([], {}), ledgers(repo))
        except DamagedIndexError:
            return _extended(repo, home, Tips([], {}), ledgers(repo))


def open_index(repo: Repository) -> Runs:
    """Open the index, brought up to date, and made again where a run is gone or cut."""
    home = f"{repo.common_dir}/pvc"
    tips = refresh(repo)
    try:
        return Runs(home, tips.runs)
    except DamagedIndexError:
        newer = read_tips(home)  # runs are merged at any time
        if newer is None or newer.runs == tips.runs:
            newer = refresh(repo, from_nothing=True)
        return Runs(home, newer.runs)


def look_up(repo: Repository, parts: Sequence[int], low: bytes, high: bytes) -> list[Row]:
    """Find rows with a key in `[low, high]`; makes the index again where it is damaged."""
    try:
        return _looked_up(repo, parts, low, high)
    except DamagedIndexError:
        refresh(repo, from_nothing=True)
        return _looked_up(repo, parts, low, high)


def _looked_up(repo: Repository, parts: Sequence[int], low: bytes, high: bytes) -> list[Row]:
    with open_index(repo) as runs:
        return [row for part in parts for row in runs.find(part, low, high)]


def stretches(repo: Repository) -> tuple[Iterator[Stretch], tuple[tuple[str, str], ...]]:
    """Give all segments, the one with the newest pin first, and what is no segment (ref, why)."""
    try:
        tips, rows = _segment_rows(repo)
    except DamagedIndexError:
        refresh(repo, from_nothing=True)
        tips, rows = _segment_rows(repo)
    ordered = sorted(_SEGMENT.iter_unpack(rows), key=itemgetter(4), reverse=True)
    found = (  # one at a time: a list needs few of them
        Stretch(trusted(oid[:width].hex()), is_local != 0, first, last)
        for oid, width, is_local, first, last in ordered
    )
    return found, tips.damage


def _segment_rows(repo: Repository) -> tuple[Tips, bytes]:
    tips = refresh(repo)
    with Runs(f"{repo.common_dir}/pvc", tips.runs) as runs:
        rows = runs.segments()
    if not all(width in (20, 32) for _, width, *_ in _SEGMENT.iter_unpack(rows)):
        raise DamagedIndexError("a run of the index is damaged", at=f"{repo.common_dir}/pvc/index")
    return tips, rows


def _extended(repo: Repository, home: str, tips: Tips, current: dict[str, CommitId]) -> Tips:
    known = _known_segments(home, tips)
    fresh: dict[bytes, tuple[str, Segment]] = {}
    hurt = {ref for ref, _ in tips.damage}
    damage = [(ref, why) for ref, why in tips.damage if tips.refs.get(ref) == current.get(ref)]
    for name, tip in current.items():
        if tips.refs.get(name) != tip:
            old = None if name in hurt else tips.refs.get(name)  # it may have been mended
            errors: list[CorruptError] = []
            for segment in new_segments(repo, name, old, tip, damage=errors):
                if segment.key() not in known and _other_side(segment) not in known:
                    fresh.setdefault(segment.key(), (name, segment))
            damage += [(name, error.message) for error in errors]
    runs = list(tips.runs)
    segments, rows = _read_segments(repo, fresh, damage)
    if segments:
        runs.append(write_run(home, segments, rows))
    made = Tips(runs, dict(current), tuple(damage))
    disk.replace(home + "/index/tips", made.dump())
    return _merged(home, made)


def _read_segments(
    repo: Repository, fresh: dict[bytes, tuple[str, Segment]], damage: list[tuple[str, str]]
) -> tuple[list[bytes], list[bytes]]:
    """Give the rows of the segments that can be read, and the rows of all their pins."""
    segments: list[bytes] = []
    rows: list[bytes] = []
    for key, (name, segment) in fresh.items():
        if _other_side(segment) in fresh:
            continue
        try:
            own = list(_rows(repo, segment, len(segments)))
        except CorruptError as error:
            if segment.is_local:
                raise
            damage.append((name, f"{error.message}: {segment.pins}"))
        else:
            times = [row[24:32] for row in own] or [bytes(8)]
            segments.append(key + min(times) + max(times))
            rows += own
    return segments, rows


def _known_segments(home: str, tips: Tips) -> set[bytes]:
    known: set[bytes] = set()
    for name, size, digest in tips.runs:
        run = Run(home + "/index", name, size, digest)
        try:
            known.update(row[:_KEY_SIZE] for row in run.items(SEGMENTS))
        finally:
            run.close()
    return known


def _other_side(segment: Segment) -> bytes:
    """Give the key that the same segment has as this clone's own; empty when this is the one.

    A remote gives this clone's ledger back after a push: that is nothing new.
    """
    return b"" if segment.is_local else segment._replace(is_local=True).key()


def new_segments(
    repo: Repository,
    name: str,
    old: str | None,
    tip: CommitId,
    *,
    damage: list[CorruptError] | None = None,
) -> Iterator[Segment]:
    """Give the segments of a ledger that `old`, an earlier commit of it, did not have.

    What is no segment raises `CorruptError`; with `damage` another clone's is added to that.
    """
    if damage is None or name.startswith(PINS):
        yield from _segments(repo, name, old, tip, None)
        return
    try:
        yield from _segments(repo, name, old, tip, damage)
    except CorruptError as error:
        damage.append(CorruptError(error.message, at=name))


def _segments(
    repo: Repository,
    name: str,
    old: str | None,
    tip: CommitId,
    damage: list[CorruptError] | None,
) -> Iterator[Segment]:
    before = _folders(repo, old)
    for folder, oid in _folders(repo, tip, must_be_one=True).items():
        if before.get(folder) == oid:
            continue
        entries = {entry.name: entry for entry in repo.tree(oid)}
        there = {e.name for e in repo.tree(before[folder])} if folder in before else set()
        for file in sorted(entries.keys() - there):
            if file.endswith(".pins"):
                try:
                    yield _segment(name, folder, file.removesuffix(".pins"), entries)
                except CorruptError as error:
                    if damage is None:
                        raise
                    damage.append(error)


def _segment(name: str, folder: str, stem: str, entries: Mapping[str, Entry]) -> Segment:
    number, idx = _number(folder, stem), entries.get(f"{stem}.idx")
    if number is None or idx is None or not (idx.is_file and entries[f"{stem}.pins"].is_file):
        raise CorruptError(f"`{shown(folder)}/{shown(stem)}` is no segment", at=name)
    return Segment(
        writer=name.rpartition("/")[2],
        number=number,
        pins=entries[f"{stem}.pins"].oid,
        idx=idx.oid,
        is_local=name.startswith(PINS) and f"{stem}{FROM}" not in entries,
    )


def _number(folder: str, stem: str) -> int | None:
    """Put a segment's number together; null when the two names are not how it is split."""
    if len(folder) != 4 or len(stem) != 2 or not _HEX.issuperset(folder + stem):
        return None
    return int(folder + stem, 16)


def _folders(
    repo: Repository, commit: str | None, *, must_be_one: bool = False
) -> dict[str, ObjectId]:
    from pvc.model.names import CommitId

    if commit is None:
        return {}
    try:
        return {entry.name: entry.oid for entry in repo.tree(CommitId(commit)) if entry.is_tree}
    except NotFoundError:
        return {}  # a ledger that was cut off or rewritten: all of it is read again
    except CorruptError:
        if must_be_one:
            raise
        return {}  # it was no ledger then, so all that it is now is new


def _rows(repo: Repository, segment: Segment, number: int) -> Iterator[bytes]:
    """Give the rows of a segment; what its `.idx` says is checked against the records."""
    from blake3 import blake3

    idx, data = repo.blob(segment.idx), repo.blob(segment.pins)
    for at in range(0, len(idx), IDX_ROW_SIZE):
        row = idx[at : at + IDX_ROW_SIZE]
        start, length = int.from_bytes(row[24:28], "big"), int.from_bytes(row[28:32], "big")
        if len(row) < IDX_ROW_SIZE or start + length > len(data):
            raise CorruptError("a segment's index is damaged", at=segment.idx)
        record = data[start : start + length]
        receipt = blake3(record).digest()[:8]
        place = number.to_bytes(4, "big") + row[24:32]
        yield row[:16] + receipt + row[16:24] + place + _version_of(record)


def _version_of(record: bytes) -> bytes:
    """Give the first bytes of a record's commit; zeros where it has none in its form."""
    at = record.find(_COMMIT)
    text = record[at + len(_COMMIT) :][: 2 * COMMIT_BYTES].decode("latin-1") if at >= 0 else ""
    is_whole = len(text) == 2 * COMMIT_BYTES and _HEX.issuperset(text)
    return bytes.fromhex(text) if is_whole else bytes(COMMIT_BYTES)


# --- runs -----------------------------------------------------------------------------------


def write_run(home: str, segments: Sequence[bytes], rows: Sequence[bytes]) -> tuple[str, int, str]:
    """Write a run, synced; gives what `tips` says of it: name, size of the body, tail's digest."""
    from blake3 import blake3

    ordered = sorted(rows)
    numbers = [number.to_bytes(4, "big") for number in range(len(ordered))]
    prompts = sorted(row[8:16] + number for row, number in zip(ordered, numbers, strict=True))
    receipts = sorted(row[16:24] + number for row, number in zip(ordered, numbers, strict=True))
    parts, fences = [], []
    for items, size in zip((segments, ordered, prompts, receipts), SIZES, strict=True):
        data = b"".join(items)
        parts.append(data)
        for start in range(0, len(data), BLOCK_ROWS * size):
            block = data[start : start + BLOCK_ROWS * size]
            fences.append(block[:8] + blake3(block).digest()[:16])
    body = b"".join(parts)
    tail = b"%s %d %d\n" % (RUN_MAGIC, len(segments), len(rows)) + b"".join(fences)
    name = f"{blake3(tail).hexdigest()[:16]}.run"
    disk.replace(f"{home}/index/{name}", body + tail)
    return name, len(body), blake3(tail).hexdigest()


def _merged(home: str, tips: Tips) -> Tips:
    """Merge runs from the newest on while one is at least half of its neighbour; drop litter."""
    runs = list(tips.runs)
    while len(runs) > 1 and 2 * _row_bytes(runs[-1]) >= _row_bytes(runs[-2]):
        runs[-2:] = [_merge(home, runs[-2:])]
    if runs != tips.runs:
        tips = Tips(runs, tips.refs)
        disk.replace(home + "/index/tips", tips.dump())
    named = {name for name, _, _ in runs}
    for path in Path(home, "index").glob("*.run"):
        if path.name not in named:
            path.unlink()
    return tips


def _row_bytes(run: tuple[str, int, str]) -> int:
    return run[1]


def _merge(home: str, named: Sequence[tuple[str, int, str]]) -> tuple[str, int, str]:
    segments: list[bytes] = []
    rows: list[bytes] = []
    with ExitStack() as stack:
        for name, size, digest in named:
            run = Run(home + "/index", name, size, digest)
            stack.callback(run.close)
            first = len(segments)
            segments += run.items(SEGMENTS)
            rows += [
                row[:32] + (first + segment_number(row)).to_bytes(4, "big") + row[36:]
                for row in run.items(BY_SESSION)
            ]
    return write_run(home, segments, rows)


def _is_writer(name: str) -> bool:
    return len(name) == 32 and _HEX.issuperset(name)
