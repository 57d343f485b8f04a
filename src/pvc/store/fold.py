"""Fold the spool into the ledger: many small files become segments in one commit.

    bodies ref, ledger ref ──► read back ──► index ──► unlink
    (one pack, synced)         (a new git)  (synced)

Rule 1: one fold at a time (`flock`, which ends with its holder). Rule 2: an interrupted fold is
finished before anything new is committed: what the ledger holds already is unlinked, not folded
again. Rule 3: nothing is unlinked before it is in the ledger, read back from the disk
(`store.landing`), and in the index, in this order; so a reader that looks into the spool and then
into the index misses nothing.
Rule 4: a spool file whose session, chain and number this writer's ledger holds with another record
was never acknowledged (`launch.known`) and goes. A ledger under an id that this clone had before
may hold another clone's records (`store.carry`), and overrules nothing.
Rule 5: each distinct prompt is rendered again from git's objects; what comes out differently, or
not at all because an input is damaged, is folded all the same, marked, and reported: evidence is
not thrown away, and one bad pin does not keep the others in the spool.
Rule 6: a ref of this clone's own that names what is not here stops no fold: it goes on from the
newest commit that is whole, and says so (`store.mend`).
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, DecodeError, NotFoundError, UsageError, WriteError
from pvc.launch import disk, writer
from pvc.launch.index import BY_SESSION, DamagedIndexError, session_key
from pvc.launch.refs import PINS, REMOTES
from pvc.model.digest import Digest
from pvc.store.bodies import BODIES, fresh_bodies, is_body_name, write_bodies
from pvc.store.codec import (
    Unrendered,
    decode,
    decode_named,
    encode_idx,
    encode_prompt,
    encode_segment,
)
from pvc.store.fold_message import FoldMessage, next_chain, trailer, witnesses
from pvc.store.index import open_index, refresh
from pvc.store.landing import release_dead, release_imports
from pvc.store.mend import mend_bodies, mend_ledger
from pvc.store.repo import MODE_FILE, MODE_TREE, WRITER, Entry, RefMove
from pvc.store.tombstones import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pvc.launch.index import Runs
    from pvc.model.names import CommitId, ObjectId
    from pvc.model.pin import Pin, PromptFacts
    from pvc.store.repo import Repository

    Render = Callable[[Pin], PromptFacts | None]

SEGMENT_PINS = 256
FOLD_PINS = 65_536
"""Most pins of one commit; what is left waits for the next fold."""
GROUP_BYTES = 1 << 26
"""Bodies that are held in memory at once."""
LITTER_AGE_S = 3600
_DIGITS = b"[0-9a-f]"
NO_DELTAS = b"".join(
    b"%s/%s.%s -delta\n" % (4 * _DIGITS, 2 * _DIGITS, suffix) for suffix in (b"pins", b"idx")
)
SIGN_FOLDS, WHEN_POSSIBLE = "pvc.signFolds", "when-possible"
_CANNOT_SIGN = (
    "nobody is asked for a passphrase here: `ssh-add` the key that `user.signingKey` names,"
    f" or `git config {SIGN_FOLDS} {WHEN_POSSIBLE}`"
)


@dataclass(frozen=True, slots=True)
class FoldResult:
    """What a fold did. `flagged` are pins whose prompt did not come out as it was pinned."""

    pins: int = 0
    segments: int = 0
    commit: CommitId | None = None
    flagged: tuple[Pin, ...] = ()
    damaged: tuple[str, ...] = ()
    """Spool files that are no records; they are left where they are."""
    unsigned: str = ""
    """Why the fold has no signature, where `pvc.signFolds` asks for one when possible."""
    mended: tuple[str, ...] = ()
    """Refs of this clone's own that named what is not here, and where they go on from."""


class _Spooled(NamedTuple):
    """A record in the spool."""

    pin: Pin
    data: bytes
    path: str


def fold(repo: Repository, *, render: Render, wait: bool = True) -> FoldResult:
    """Fold what the spool holds. Without `wait` nothing is done while another fold runs."""
    home = f"{repo.common_dir}/pvc"
    if not Path(home, "spool").is_dir():
        return FoldResult()
    try:
        with locked(home, wait=wait):
            return Fold(repo, home, render).run()
    except BlockingIOError:
        return FoldResult()


@contextmanager
def locked(home: str, *, wait: bool = True) -> Iterator[None]:
    """Keep folds out; `BlockingIOError` without `wait` while one runs."""
    handle = os.open(home + "/fold.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


class Fold:
    """One fold, under its lock."""

    def __init__(self, repo: Repository, home: str, render: Render) -> None:
        self.repo = repo
        self.home = home
        self.render = render
        self.writer = writer.ensure(home)
        self.ref = PINS + self.writer
        self.facts: dict[tuple[Digest, str | None, Digest | None], PromptFacts | Unrendered] = {}
        self.flagged: list[Pin] = []
        self.damaged: list[str] = []
        self.unsigned = ""
        self.mended: list[str] = []

    def run(self) -> FoldResult:
        """Fold what the spool holds now."""
        self._mend()
        try:
            spooled = self._new(self._read_spool())[:FOLD_PINS]
        except (DamagedIndexError, NotFoundError):
            refresh(self.repo, from_nothing=True)
            spooled = self._new(self._read_spool())[:FOLD_PINS]
        bodies = self._read_bodies()
        if spooled or bodies:
            self._say_no_deltas()
        moves = self._write_bodies(bodies)
        commit, segments = None, 0
        if spooled:
            commit, segments = self._commit_segments(spooled, moves)
            refresh(self.repo)
        elif moves:
            self.repo.move_refs(moves)
        for item in spooled:
            Path(item.path).unlink(missing_ok=True)
        for path in bodies.values():
            Path(path).unlink(missing_ok=True)
        self._sweep()
        return FoldResult(
            len(spooled),
            segments,
            commit,
            tuple(self.flagged),
            tuple(self.damaged),
            self.unsigned,
            tuple(self.mended),
        )

    def _mend(self) -> None:
        """Go on from what is whole where a ref of this clone's own names what is not here."""
        found = (mend_ledger(self.repo, self.ref), mend_bodies(self.repo, BODIES + self.writer))
        self.mended += [words for words in found if words]
        if self.mended:
            refresh(self.repo, from_nothing=True)  # it may have rows of what is gone

    # --- the spool --------------------------------------------------------------------------

    def _read_spool(self) -> list[_Spooled]:
        """Read the records; those that cannot be read stay, and are named."""
        spooled = []
        for name in _names(self.home + "/spool"):
            path = f"{self.home}/spool/{name}"
            data = None if name == "b" or name[0] == "." else disk.read(path)
            if data is None:
                continue
            try:
                pin = decode_named(data, name, path)
            except CorruptError:
                self.damaged.append(path)
                continue
            spooled.append(_Spooled(pin, data, path))
        return sorted(spooled, key=lambda item: (item.pin.time, item.path))

    def _new(self, spooled: Sequence[_Spooled]) -> list[_Spooled]:
        """Unlink what the ledger holds already, or what it overrules; give the rest."""
        keys = {item.pin.session: session_key(item.pin.session) for item in spooled}
        folded = set()
        with open_index(self.repo) as runs:
            for item in sorted(spooled, key=lambda item: keys[item.pin.session]):
                if self._is_folded(runs, item.pin, keys[item.pin.session]):
                    folded.add(item.path)
                    Path(item.path).unlink(missing_ok=True)
        return [item for item in spooled if item.path not in folded]

    def _is_folded(self, runs: Runs, pin: Pin, key: bytes) -> bool:
        for row in runs.find(BY_SESSION, key, key):
            if row.is_local:
                segment = self.repo.blob(_oid(row.oid))
                other = decode(segment[row.offset : row.offset + row.length], row.oid)
                is_one = (other.session, other.chain, other.n) == (pin.session, pin.chain, pin.n)
                if is_one and (row.writer == self.writer or other.receipt == pin.receipt):
                    return True
        return False

    def _read_bodies(self) -> dict[Digest, str]:
        """Find the bodies in the spool; a name that is no digest is litter."""
        folder = self.home + "/spool/b"
        names = [name for name in _names(folder) if is_body_name(name)]
        return {Digest("b3:" + name): f"{folder}/{name}" for name in sorted(names)}

    # --- commits ----------------------------------------------------------------------------

    def _write_bodies(self, paths: dict[Digest, str]) -> list[RefMove]:
        """Write what the chain of bodies lacks; gives the move that is left to be made, if any."""
        ref = BODIES + self.writer
        fresh = fresh_bodies(self.repo, self.repo.ref(ref), paths)
        moves: list[RefMove] = []
        for bodies in self._read_in_groups(fresh, paths):
            if moves:
                self.repo.move_refs(moves)
            tip = self.repo.ref(ref)
            new = write_bodies(self.repo, tip, bodies, WRITER, int(time.time()))
            moves = [RefMove(ref, tip, new)]
        return moves

    def _read_in_groups(
        self, digests: Iterable[Digest], paths: dict[Digest, str]
    ) -> Iterator[dict[Digest, bytes]]:
        """Read bodies, some at a time; one that is damaged is named and stays where it is."""
        group: dict[Digest, bytes] = {}
        size = 0
        for digest in digests:
            data = Path(paths[digest]).read_bytes()
            if Digest.of(data) != digest:
                self.damaged.append(paths.pop(digest))
                continue
            if group and size + len(data) > GROUP_BYTES:
                yield group
                group, size = {}, 0
            group[digest] = data
            size += len(data)
        if group:
            yield group

    def _commit_segments(
        self, spooled: Sequence[_Spooled], moves: Sequence[RefMove]
    ) -> tuple[CommitId, int]:
        chunks = [spooled[i : i + SEGMENT_PINS] for i in range(0, len(spooled), SEGMENT_PINS)]
        parts = [dict(zip((".pins", ".idx"), self._segment(c), strict=True)) for c in chunks]
        times = [item.pin.time for item in spooled]
        return self._append(parts, len(spooled), times, also=moves), len(chunks)

    def append_tombstones(self, segments: Sequence[bytes], times: Sequence[int]) -> CommitId:
        """Put on record what was forgotten, in a commit of its own."""
        return self._append([{SUFFIX: data} for data in segments], 0, times)

    def append_taken(
        self,
        segments: Sequence[dict[str, bytes]],
        pins: int,
        times: Sequence[int],
        taken: Sequence[CommitId],
    ) -> CommitId:
        """Add segments of other ledgers, whose tips become parents (`store.take`)."""
        return self._append(segments, pins, times, taken)

    def _append(
        self,
        segments: Sequence[dict[str, bytes]],
        pins: int,
        times: Sequence[int],
        taken: Sequence[CommitId] = (),
        *,
        also: Sequence[RefMove] = (),
    ) -> CommitId:
        """Add segments to the ledger, each as its files by suffix; the first file is chained."""
        tip = self.repo.ref(self.ref)
        folders = {e.name: e for e in self.repo.tree(tip) if e.is_tree} if tip else {}
        first = self._next_number(folders)
        files: dict[str, dict[str, Entry]] = {}
        for number, parts in enumerate(segments, first):
            folder, stem = f"{number // 256:04x}", f"{number % 256:02x}"
            if folder not in files:
                there = self.repo.tree(folders[folder].oid) if folder in folders else ()
                files[folder] = {entry.name: entry for entry in there}
            for suffix, data in parts.items():
                name = stem + suffix
                files[folder][name] = Entry(name, MODE_FILE, self.repo.write_blob(data))
        digests = [Digest.of(next(iter(parts.values()))) for parts in segments]
        for folder, entries in files.items():
            tree = self.repo.write_tree(tuple(entries.values()))
            folders[folder] = Entry(folder, MODE_TREE, tree)
        root = self.repo.write_tree(tuple(folders.values()))
        numbers = range(first, first + len(segments))
        message = self._message(tip, pins, times, numbers, digests, len(taken))
        commit = self._fold_commit(root, (*((tip,) if tip else ()), *taken), message)
        self.repo.move_refs([*also, RefMove(self.ref, tip, commit)])
        return commit

    def _fold_commit(self, root: ObjectId, parents: tuple[CommitId, ...], message: str) -> CommitId:
        """Write the commit, signed where that is asked for (docs/decisions/0012)."""
        may_fail = (self.repo.config(SIGN_FOLDS) or "").lower() == WHEN_POSSIBLE
        if may_fail or self.repo.config_flag(SIGN_FOLDS):
            try:
                return self.repo.write_commit(root, parents, message, identity=WRITER, sign=True)
            except WriteError as error:
                if not may_fail:
                    words = f"the fold cannot be signed, so pins stay in the spool: {error.message}"
                    raise WriteError(words, hint=_CANNOT_SIGN) from None
                self.unsigned = error.message
        return self.repo.write_commit(root, parents, message, identity=WRITER)

    def _segment(self, chunk: Sequence[_Spooled]) -> tuple[bytes, bytes]:
        pins, records = [item.pin for item in chunk], [item.data for item in chunk]
        first = {pin.prompt: at for at, pin in reversed([*enumerate(pins)])}
        tables = {at: encode_prompt(pins[at], self._facts(pins[at])) for at in first.values()}
        segment = encode_segment(records, tables)
        return segment, encode_idx(pins, records, segment)

    def _facts(self, pin: Pin) -> PromptFacts | Unrendered:
        key = (pin.prompt, pin.commit, pin.environment)
        if key not in self.facts:
            try:
                facts = self.render(pin)
            except (CorruptError, DecodeError, UsageError):
                self.facts[key] = Unrendered()
                self.flagged.append(pin)
                return self.facts[key]
            if facts is None:
                self.facts[key] = Unrendered()
            elif facts.digest != pin.prompt:
                self.facts[key] = Unrendered(facts.digest)
                self.flagged.append(pin)
            else:
                self.facts[key] = facts
        return self.facts[key]

    def _next_number(self, folders: dict[str, Entry]) -> int:
        if not folders:
            return 0
        last = max(folders)
        stems = [entry.name[:2] for entry in self.repo.tree(folders[last].oid)]
        return int(last, 16) * 256 + int(max(stems), 16) + 1

    def _message(
        self,
        tip: CommitId | None,
        count: int,
        times: Sequence[int],
        numbers: range,
        digests: Sequence[Digest],
        taken: int,
    ) -> str:
        before = trailer(self.repo.commit(tip).message, "Chain") if tip else ""
        return FoldMessage(
            pins=count,
            first_segment=numbers[0],
            last_segment=numbers[-1],
            first=min(times),
            last=max(times),
            chain=next_chain(before, digests),
            witnesses=tuple(witnesses(self.repo.refs(REMOTES), self.writer)),
            taken=taken,
        ).encode()

    def _say_no_deltas(self) -> None:
        """Tell git in this clone that segments are no deltas of each other.

        It would try for most of the time of a push or a `git gc`, and save nothing.
        """
        folder = Path(self.repo.common_dir, "info")
        folder.mkdir(exist_ok=True)
        there = disk.read(f"{folder}/attributes") or b""
        if NO_DELTAS not in there:
            line_end = b"\n" if there and not there.endswith(b"\n") else b""
            disk.replace(f"{folder}/attributes", there + line_end + NO_DELTAS)

    # --- litter -----------------------------------------------------------------------------

    def _sweep(self) -> None:
        for folder in ("spool", "spool/b", "index", "cache/v1"):
            for path in Path(self.home, folder).glob(f"{disk.TEMPORARY}*"):
                if _is_older(path, LITTER_AGE_S):
                    path.unlink(missing_ok=True)
        release_dead(str(self.repo.common_dir / "objects"))
        release_imports(self.repo)


def _names(folder: str) -> list[str]:
    """List a folder of the spool; one that somebody removed holds nothing."""
    try:
        return [path.name for path in Path(folder).iterdir()]
    except FileNotFoundError:
        return []


def _is_older(path: Path, age_s: int) -> bool:
    try:
        return time.time() - path.stat().st_mtime > age_s
    except FileNotFoundError:
        return False


def _oid(text: str) -> CommitId:
    from pvc.model.names import CommitId

    return CommitId(text)
