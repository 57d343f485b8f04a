"""One fold of a ledger, held against the one before it: old segments stay, new ones are complete.

A server's guard stops at the first problem; `pvc verify` reports all of them.

Rule 1: a segment is a pair: `.pins`, which is records and the tables of their prompts, and `.idx`,
which follows from the records to the byte; or it is one file of tombstones, `.forgotten`.
Rule 2: numbers go on without a gap, so that a segment that is missing is seen.
Rule 3: the fold's own trailers are made again from its bytes: count, numbers, times, and the digest
chain that runs through all folds.
Rule 4: a fold may take other ledgers in (`store.taken`): then its new segments hold what they held,
and nothing else. Their own folds are for whoever walks all parents.
Rule 5: only what differs from the fold before is read, so that a ledger of any length costs as much
as its segments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, NotFoundError, PvcError, RefusedError
from pvc.model.digest import Digest
from pvc.store.codec import (
    FROM,
    PROMPT_TABLE,
    decode,
    decode_prompt,
    encode_idx,
    encode_segment,
    split_segment,
    table_digest,
)
from pvc.store.fold import SEGMENT_PINS
from pvc.store.fold_message import FoldMessage, next_chain, trailer
from pvc.store.taken import contents_of, fresh_segments, parts_of
from pvc.store.tombstones import MOST_TABLES, SUFFIX
from pvc.store.tombstones import decode as decode_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId, ObjectId
    from pvc.model.pin import Pin, PromptFacts
    from pvc.model.tombstone import Tombstone
    from pvc.store.codec import Unrendered
    from pvc.store.repo import Commit, Entry, Repository
    from pvc.store.taken import Taken

_FILE = re.compile(r"([0-9a-f]{4})/([0-9a-f]{2})\.(pins|idx|from|forgotten)")
_NEXT = "a ledger is only added to"
_COMPARED = ("Pins", "Segments", "Chain", "First", "Last")


class Problem(NamedTuple):
    """What is wrong with a fold: where in it, down to the byte where one can be named."""

    message: str
    path: str = ""
    byte: int | None = None
    hint: str = ""
    is_damage: bool = False
    """Bytes in no form, rather than a fold that must not be."""
    is_missing: bool = False
    """An object that is not in this repository."""


class Placed(NamedTuple):
    """A pin and where its record stands in its segment."""

    pin: Pin
    path: str
    byte: int


@dataclass(frozen=True, slots=True)
class Fold:
    """What a fold added, as far as it can be read, and what is wrong with it."""

    pins: tuple[Placed, ...]
    prompts: dict[str, PromptFacts | Unrendered]
    """What its tables say of each prompt, by digest."""
    forgotten: tuple[Tombstone, ...]
    is_take: bool
    """Whether its pins are those of ledgers that it took, which have them too."""
    problems: tuple[Problem, ...]


def check_fold(repo: Repository, commit: Commit) -> None:
    """Read what a fold adds. Raises `RefusedError` or `CorruptError`, naming the segment."""
    for problem in read_fold(repo, commit).problems:
        if problem.is_damage:
            raise CorruptError(problem.message, at=problem.path, hint=problem.hint)
        raise RefusedError(problem.message, hint=problem.hint)


def read_fold(
    repo: Repository, commit: Commit, *, contents: bool = True, is_cut: bool = False
) -> Fold:
    """Read what a fold adds. Without `contents` only that nothing before it changed.

    Where a shallow clone is cut off (`is_cut`), a fold holds all segments up to it, and there is
    nothing to hold its message against.
    """
    reader = _Reader(repo, replace(commit, parents=()) if is_cut else commit)
    try:
        reader.read(contents=contents, is_cut=is_cut)
    except PvcError as error:
        reader.take(error, error.at)
    return Fold(
        tuple(reader.pins),
        reader.prompts,
        tuple(reader.forgotten),
        reader.is_take,
        tuple(reader.problems),
    )


class _Reader:
    """One fold."""

    def __init__(self, repo: Repository, commit: Commit) -> None:
        self._repo = repo
        self._commit = commit
        self._digests: list[Digest] = []
        self.forgotten: list[Tombstone] = []
        self.pins: list[Placed] = []
        self.prompts: dict[str, PromptFacts | Unrendered] = {}
        self.is_take = False
        self.problems: list[Problem] = []

    def read(self, *, contents: bool, is_cut: bool) -> None:
        own, taken = (None, ()) if is_cut else parts_of(self._repo, self._commit)
        self.is_take = bool(taken)
        parent = self._repo.commit(own) if own else None
        files = self._new_files(parent)
        if not contents:
            return
        numbers = self._numbers(files, parent)
        for number in numbers:
            self._segment(files, number)
        if not self.problems and not is_cut:
            self._taken(files, numbers, own, taken)
            self._trailers(parent, numbers)

    def take(self, error: PvcError, path: str) -> None:
        """Take in what stopped the reading of a part."""
        damage, missing = (isinstance(error, kind) for kind in (CorruptError, NotFoundError))
        self.problems.append(Problem(error.message, path, None, error.hint, damage, missing))

    def _say(
        self, message: str, path: str = "", byte: int | None = None, *, damage: bool = False
    ) -> None:
        hint = _NEXT if message.endswith(("is gone", "other bytes")) else ""
        self.problems.append(Problem(message, path, byte, hint, damage))

    # --- what it adds -------------------------------------------------------------------------

    def _new_files(self, parent: Commit | None) -> dict[str, ObjectId]:
        """Give the files that are new; whatever else differs is a problem."""
        files = {}
        for path, before, after in _changes(self._repo, parent, self._commit):
            if before is not None:
                how = "is gone" if after is None else "has other bytes"
                self._say(f"segment `{path}` {how}", path)
            elif after is None or not after.is_file or not _FILE.fullmatch(path):
                self._say(f"`{path}` is no part of a ledger", path)
            else:
                files[path] = after.oid
        return files

    def _numbers(self, files: dict[str, ObjectId], parent: Commit | None) -> list[int]:
        """Give the numbers of the new segments; they go on where the old ones end."""
        numbers = sorted({_number(path) for path in files})
        first = _next_number(self._repo, parent)
        if not numbers or numbers != list(range(first, first + len(numbers))):
            self._say(f"segments {numbers} do not go on from {first}")
        return numbers

    def _segment(self, files: dict[str, ObjectId], number: int) -> None:
        stem = _stem(number)
        if f"{stem}{SUFFIX}" in files:
            self._forgotten(files, stem)
            return
        pins_oid, idx_oid = files.get(f"{stem}.pins"), files.get(f"{stem}.idx")
        if pins_oid is None or idx_oid is None:
            missing = "pins" if pins_oid is None else "idx"
            self._say(f"segment `{stem}` is not complete: no `.{missing}`", stem)
            return
        try:
            data = self._repo.blob(pins_oid)
            self._digests.append(Digest.of(data))
            self._records(data, f"{stem}.pins", self._repo.blob(idx_oid))
        except NotFoundError as error:
            self.take(error, "")
        except PvcError as error:
            self._say(error.message, stem, damage=True)

    def _forgotten(self, files: dict[str, ObjectId], stem: str) -> None:
        """Read a segment of tombstones."""
        path = f"{stem}{SUFFIX}"
        if f"{stem}.pins" in files or f"{stem}.idx" in files:
            self._say(f"segment `{stem}` holds pins and tombstones", path)
            return
        data = self._repo.blob(files[path])
        self._digests.append(Digest.of(data))
        tombstones = decode_tombstones(data, stem)
        if len(tombstones) > MOST_TABLES:
            self._say(f"segment `{stem}` has more than {MOST_TABLES} tombstones", path)
        self.forgotten += tombstones

    def _records(self, data: bytes, path: str, idx: bytes) -> None:
        stem = path.partition(".")[0]
        records, tables = split_segment(data, stem)
        placed = self._decoded(records, path, data)
        if not 0 < len(records) <= SEGMENT_PINS:
            self._say(f"segment `{stem}` has {len(records)} pins", path)
        if len(placed) < len(records):
            return
        pins = [each.pin for each in placed]
        if encode_idx(pins, records, data) != idx:
            self._say(f"the index of segment `{stem}` is not that of its records", f"{stem}.idx")
        first: dict[str, int] = {}
        for at, pin in enumerate(pins):
            first.setdefault(str(pin.prompt), at)
        places = [first.get(table_digest(table), -1) for table in tables]
        if encode_segment(records, dict(zip(places, tables, strict=True))) != data or len(
            places
        ) != len(first):
            said = f"segment `{stem}` has not one table behind the first record of each prompt"
            self._say(said, path, data.find(PROMPT_TABLE))
        self.prompts |= {table_digest(table): decode_prompt(table, stem) for table in tables}

    def _decoded(self, records: tuple[bytes, ...], path: str, data: bytes) -> list[Placed]:
        """Decode the records that can be."""
        placed, at = [], 0
        for record in records:
            at = data.index(record, at)
            try:
                placed.append(Placed(decode(record, path), path, at))
            except CorruptError as error:
                self._say(error.message, path, at, damage=True)
            at += len(record)
        self.pins += placed
        return placed

    def _taken(
        self,
        files: dict[str, ObjectId],
        numbers: list[int],
        own: CommitId | None,
        taken: tuple[Taken, ...],
    ) -> None:
        """See that new segments hold what the taken ledgers held, no more and no less."""
        stems = [_stem(number) for number in numbers]
        said = {files.get(stem + FROM) for stem in stems}
        if len(said) != 1 or (said == {None}) == bool(taken):
            self._say("its segments do not agree on which ledgers they were taken from")
        if not taken or self.problems:
            return
        repo = self._repo
        try:
            theirs = contents_of(repo, fresh_segments(repo, own, taken))
        except NotFoundError:
            if repo.shallow():
                return  # they are cut off in this clone: what they held is not here
            raise
        rows = [(s, {k: files[s + k] for k in (".pins", SUFFIX) if s + k in files}) for s in stems]
        ours = contents_of(repo, rows)
        missing = len(theirs.records - ours.records) + len(theirs.tombstones - ours.tombstones)
        added = len(ours.records - theirs.records) + len(ours.tombstones - theirs.tombstones)
        if missing or added:
            words = f"{missing} left out, {added} that they do not have"
            self._say(f"its segments are not what the taken ledgers hold: {words}")
        elif not ours.tables <= theirs.tables:
            self._say("it describes a prompt in another way than the taken ledgers")

    def _trailers(self, parent: Commit | None, numbers: list[int]) -> None:
        commit = self._commit
        times = [placed.pin.time for placed in self.pins]
        times = times or [tombstone.time for tombstone in self.forgotten]
        wanted = FoldMessage(
            pins=len(self.pins),
            first_segment=numbers[0],
            last_segment=numbers[-1],
            first=min(times),
            last=max(times),
            chain=next_chain(trailer(parent.message, "Chain") if parent else "", self._digests),
        )
        for name in _COMPARED:
            if trailer(commit.message, name) != wanted.trailers[name]:
                self._say(f"fold `{commit.id.short}` says another `{name}` than its segments")
                return


def _changes(
    repo: Repository, old: Commit | None, new: Commit
) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Give the files below two folds' folders that differ; a folder that is equal is not read."""
    before = _rows(repo, old.tree) if old else {}
    after = _rows(repo, new.tree)
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        if a == b:
            continue
        if (a is None or a.is_tree) and (b is None or b.is_tree):
            inner_a = _rows(repo, a.oid) if a else {}
            inner_b = _rows(repo, b.oid) if b else {}
            for file in sorted(inner_a.keys() | inner_b.keys()):
                if inner_a.get(file) != inner_b.get(file):
                    yield f"{name}/{file}", inner_a.get(file), inner_b.get(file)
        else:
            yield name, a, b


def _rows(repo: Repository, tree: ObjectId) -> dict[str, Entry]:
    return {entry.name: entry for entry in repo.tree(tree)}


def _next_number(repo: Repository, parent: Commit | None) -> int:
    """Give the number that follows the last segment of the fold before."""
    folders = {row.name: row for row in repo.tree(parent.tree)} if parent else {}
    if not folders:
        return 0
    last = max(folders)
    paths = [f"{last}/{row.name}" for row in repo.tree(folders[last].oid)]
    return 1 + max((_number(path) for path in paths if _FILE.fullmatch(path)), default=-1)


def _stem(number: int) -> str:
    return f"{number // 256:04x}/{number % 256:02x}"


def _number(path: str) -> int:
    return int(path[:4], 16) * 256 + int(path[5:7], 16)
