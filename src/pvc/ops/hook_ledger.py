"""One fold of a ledger, held against the one before it: old segments stay, new ones are complete.

Rule 1: a segment is a pair: `.pins`, which is records and the tables of their prompts, and `.idx`,
which follows from the records to the byte; or it is one file of tombstones, `.forgotten`.
Rule 2: numbers go on without a gap, so that a segment that is missing is seen.
Rule 3: the fold's own trailers are made again from its bytes: count, numbers, and the digest chain
that runs through all folds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, RefusedError
from pvc.model.digest import Digest
from pvc.store.codec import decode, decode_prompt, encode_idx, split_segment
from pvc.store.fold import SEGMENT_PINS
from pvc.store.tombstones import MOST_TABLES, SUFFIX
from pvc.store.tombstones import decode as decode_tombstones
from pvc.store.versions import walk

if TYPE_CHECKING:
    from pvc.model.names import ObjectId
    from pvc.store.repo import Commit, Repository

_FILE = re.compile(r"([0-9a-f]{4})/([0-9a-f]{2})\.(pins|idx|forgotten)")


def check_fold(repo: Repository, commit: Commit) -> None:
    """Read what a fold adds. Raises `RefusedError` or `CorruptError`, naming the segment."""
    if len(commit.parents) > 1:
        raise RefusedError(f"fold `{commit.id.short}` has {len(commit.parents)} parents")
    parent = repo.commit(commit.parents[0]) if commit.parents else None
    before = _files(repo, parent.tree) if parent else {}
    after = _files(repo, commit.tree)
    for path, oid in before.items():
        if after.get(path) != oid:
            how = "is gone" if path not in after else "has other bytes"
            raise RefusedError(f"segment `{path}` {how}", hint="a ledger is only added to")
    numbers = _numbers(before, after)
    digests, count = [], 0
    for number in numbers:
        data, pins = _segment(repo, after, number)
        digests.append(Digest.of(data))
        count += pins
    _trailers(commit, parent, numbers, digests, count)


def _files(repo: Repository, tree: ObjectId) -> dict[str, ObjectId]:
    files = {}
    for path, entry in walk(repo, tree):
        if not entry.is_file or not _FILE.fullmatch(path):
            raise RefusedError(f"`{path}` is no part of a ledger")
        files[path] = entry.oid
    return files


def _numbers(before: dict[str, ObjectId], after: dict[str, ObjectId]) -> list[int]:
    """Give the numbers of the new segments; they go on where the old ones end."""
    fresh = {_number(path) for path in after if path not in before}
    first = 1 + max((_number(path) for path in before), default=-1)
    numbers = sorted(fresh)
    if not numbers or numbers != list(range(first, first + len(numbers))):
        raise RefusedError(f"segments {numbers} do not go on from {first}")
    return numbers


def _number(path: str) -> int:
    return int(path[:4], 16) * 256 + int(path[5:7], 16)


def _segment(repo: Repository, files: dict[str, ObjectId], number: int) -> tuple[bytes, int]:
    stem = f"{number // 256:04x}/{number % 256:02x}"
    if f"{stem}{SUFFIX}" in files:
        return _tombstones(repo, files, stem), 0
    pair = [files.get(f"{stem}.{kind}") for kind in ("pins", "idx")]
    if pair[0] is None or pair[1] is None:
        missing = "pins" if pair[0] is None else "idx"
        raise RefusedError(f"segment `{stem}` is not complete: no `.{missing}`")
    data, idx = repo.blob(pair[0]), repo.blob(pair[1])
    records, tables = split_segment(data, stem)
    pins = [decode(record, stem) for record in records]
    if not 0 < len(pins) <= SEGMENT_PINS:
        raise RefusedError(f"segment `{stem}` has {len(pins)} pins")
    if encode_idx(pins, records) != idx:
        raise RefusedError(f"the index of segment `{stem}` is not that of its records")
    for table in tables:
        decode_prompt(table, stem)
    if len(tables) != len({pin.prompt for pin in pins}):
        raise RefusedError(f"segment `{stem}` has not one table for each of its prompts")
    return data, len(pins)


def _tombstones(repo: Repository, files: dict[str, ObjectId], stem: str) -> bytes:
    data = repo.blob(files[f"{stem}{SUFFIX}"])
    if f"{stem}.pins" in files or f"{stem}.idx" in files:
        raise RefusedError(f"segment `{stem}` holds pins and tombstones")
    if len(decode_tombstones(data, stem)) > MOST_TABLES:
        raise RefusedError(f"segment `{stem}` has more than {MOST_TABLES} tombstones")
    return data


def _trailers(
    commit: Commit,
    parent: Commit | None,
    numbers: list[int],
    digests: list[Digest],
    count: int,
) -> None:
    before = _trailer(parent.message, "Chain") if parent else ""
    chained = b"".join(bytes.fromhex(Digest(text).hex) for text in (before, *digests) if text)
    wanted = {
        "Pins": str(count),
        "Segments": f"{numbers[0]}..{numbers[-1]}",
        "Chain": str(Digest.of(chained)),
    }
    for name, value in wanted.items():
        if _trailer(commit.message, name) != value:
            raise RefusedError(f"fold `{commit.id.short}` says another `{name}` than its segments")


def _trailer(message: str, name: str) -> str:
    for line in message.split("\n"):
        if line.startswith(f"{name}: "):
            return line.removeprefix(f"{name}: ")
    raise CorruptError(f"a fold without `{name}`")
