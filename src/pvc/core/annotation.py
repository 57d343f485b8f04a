"""Who wrote every byte of the files of a version: runs that tile each file.

Rule 1: a byte's origin is one number, `revision << 32 | offset`: which revision of which file
introduced it, and where it stood there. Bytes that were written together stay one piece while they
stay together, whatever moves them.
Rule 2: a dumped annotation holds only what is alive, numbered as it is met, so equal states have
equal bytes, however they were reached.
Rule 3: a record that is damaged, cut short or of another algorithm is refused, never guessed at.
Rule 4: reading a record needs nothing but the standard library: a warm answer must not wait for
imports.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from operator import add, rshift
from typing import TYPE_CHECKING, NamedTuple

from pvc.core.owners import ALGORITHM
from pvc.errors import CorruptError
from pvc.model.names import CommitId, ObjectId

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

OFFSET_BITS = 32
OFFSET_MASK = (1 << OFFSET_BITS) - 1
_MAGIC = b"pvc annotation\n"

Edit = tuple[int, int, int, int]
"""`(old_start, old_end, new_start, new_end)`, as `core.diff` has them."""


def path_order(path: str) -> bytes:
    """Sort paths by their bytes, those that are no UTF-8 too."""
    return path.encode("utf-8", "surrogateescape")


class Revision(NamedTuple):
    """A commit that introduced bytes into the file at `path`, whose content became `blob`.

    `passed` marks bytes that an ignored commit wrote and that count as the text they replaced:
    the origin's offset then says where that text stood, not where these bytes did.
    """

    commit: CommitId
    path: str
    blob: ObjectId
    passed: bool = False


class Run(NamedTuple):
    """Bytes `start` to `end` of the asked file, introduced by `commit`.

    They stood in `path`, with blob id `blob`, from byte `offset` on, unless `passed`.
    """

    start: int
    end: int
    commit: CommitId
    path: str
    blob: ObjectId
    offset: int
    passed: bool = False


@dataclass(slots=True)
class Pieces:
    """One file: its blob, and pieces that end at `ends` and come from `origins`."""

    blob: ObjectId
    ends: MutableSequence[int]
    origins: MutableSequence[int]

    def add(self, end: int, origin: int) -> None:
        """Append a piece, or let the last one grow when this is its continuation."""
        ends, origins = self.ends, self.origins
        start = ends[-1] if ends else 0
        if end <= start:
            return
        if ends and origins[-1] + start - (ends[-2] if len(ends) > 1 else 0) == origin:
            ends[-1] = end
        else:
            ends.append(end)
            origins.append(origin)

    def take(self, other: Pieces, start: int, end: int, to: int) -> None:
        """Append bytes `start` to `end` of another file; `to` is where they come to stand."""
        if start >= end:
            return
        theirs, by = other.ends, to - start
        first = bisect_right(theirs, start)
        last = bisect_left(theirs, end, first)
        origin = other.origins[first] + start - (theirs[first - 1] if first else 0)
        self.add(min(theirs[first], end) + by, origin)
        if last > first:
            between = theirs[first + 1 : last]
            self.ends += [e + by for e in between] if by else between
            self.origins += other.origins[first + 1 : last + 1]
            self.ends.append(end + by)

    def edited(
        self, blob: ObjectId, parts: Sequence[Edit], sizes: tuple[int, int], own: int
    ) -> Pieces:
        """Give the pieces of the text that edits make of this one; what they bring is `own`.

        `sizes` are those of both texts. This is `take` and `add` for every edit, written out, for
        a walk spends its time here.
        """
        ends, origins = self.ends, self.origins
        out_ends: list[int] = []
        out_origins: list[int] = []
        at = by = first = 0
        continued = -1  # the origin that goes on where text was only taken out
        for i1, i2, j1, j2 in (*parts, (sizes[0], sizes[0], sizes[1], sizes[1])):
            if at < i1:
                last = bisect_left(ends, i1, first)
                origin = origins[first] + at - (ends[first - 1] if first else 0)
                if origin == continued:
                    del out_ends[-1]
                else:
                    out_origins.append(origin)
                out_ends += [end + by for end in ends[first:last]] if by else ends[first:last]
                out_ends.append(j1)
                out_origins += origins[first + 1 : last + 1]
                first = last
                continued = origins[last] + i1 - (ends[last - 1] if last else 0)
            if j1 < j2:
                out_ends.append(j2)
                out_origins.append(own | j1)
                continued = -1
            at, by = i2, j2 - i2
            first = bisect_right(ends, i2, first)
        return Pieces(blob, out_ends, out_origins)


@dataclass(slots=True)
class Annotation:
    """The state after `commit`: for every live path, its blob and the origin of every byte."""

    commit: CommitId | None = None
    files: dict[str, Pieces] = field(default_factory=dict)
    revisions: list[Revision] = field(default_factory=list)

    @property
    def paths(self) -> tuple[str, ...]:
        """The live paths in byte order."""
        return tuple(sorted(self.files, key=path_order))

    def blob_of(self, path: str) -> ObjectId:
        """Give the blob id of a live path; raises `KeyError` on another."""
        return self.files[path].blob

    def runs(self, path: str) -> tuple[Run, ...]:
        """Give the runs that tile a live path; raises `KeyError` on another."""
        pieces = self.files[path]
        out = []
        start = 0
        for end, origin in zip(pieces.ends, pieces.origins, strict=True):
            revision = self.revisions[origin >> OFFSET_BITS]
            out.append(
                Run(
                    start,
                    end,
                    revision.commit,
                    revision.path,
                    revision.blob,
                    origin & OFFSET_MASK,
                    revision.passed,
                )
            )
            start = end
        return tuple(out)


def dump(annotation: Annotation) -> bytes:
    """Write an annotation as a record; equal states give equal bytes."""
    paths = annotation.paths
    files = [annotation.files[path] for path in paths]
    origins = list(chain.from_iterable(file.origins for file in files))
    found = list(map(rshift, origins, repeat(OFFSET_BITS)))
    live = dict.fromkeys(found)
    revisions = [annotation.revisions[old] for old in live]
    by = {old: new - old << OFFSET_BITS for new, old in enumerate(live)}
    renumbered = list(map(add, origins, map(by.__getitem__, found)))
    texts = [str(ALGORITHM), annotation.commit or ""]
    for path, pieces in zip(paths, files, strict=True):
        texts += [path, pieces.blob]
    for revision in revisions:
        texts += [revision.commit, revision.path, revision.blob, "+" if revision.passed else ""]
    names = "\0".join(texts).encode("utf-8", "surrogateescape")
    numbers = array("Q", [len(names), len(files), len(revisions)])
    numbers.extend(len(pieces.ends) for pieces in files)
    at = 0
    for pieces in files:
        numbers.extend(pieces.ends)
        numbers.extend(renumbered[at : at + len(pieces.ends)])
        at += len(pieces.ends)
    body = _little(numbers).tobytes() + names
    return _MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


def load(data: bytes) -> Annotation:
    """Read a record. Raises `CorruptError` when it is not, to the bit, what `dump` wrote."""
    body = memoryview(data)[len(_MAGIC) + 4 :]
    checksum = int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + 4], "little")
    if not data.startswith(_MAGIC) or len(body) < 24 or zlib.crc32(body) != checksum:
        raise _damaged()
    length, file_count, revision_count = _numbers(body[:24])
    split = len(body) - length
    if split < 24 + 8 * file_count or split % 8:
        raise _damaged()
    numbers = _numbers(body[24:split])
    texts = bytes(body[split:]).decode("utf-8", "surrogateescape").split("\0")
    if texts[0] != str(ALGORITHM):
        raise CorruptError(f"an annotation record has algorithm `{texts[0]}`, not `{ALGORITHM}`")
    sizes = len(texts), len(numbers)
    names, rest = texts[2 : 2 + 2 * file_count], texts[2 + 2 * file_count :]
    if sizes != (
        2 + 2 * file_count + 4 * revision_count,
        file_count + 2 * sum(numbers[:file_count]),
    ):
        raise _damaged()
    commit = CommitId(texts[1]) if texts[1] else None
    return Annotation(commit, _files(names, numbers, revision_count), _revisions(rest))


def _damaged() -> CorruptError:
    return CorruptError("an annotation record is damaged", hint="remove it; it is made again")


def _revisions(texts: list[str]) -> list[Revision]:
    """Build the revisions; the checksum vouches for their ids, so they are not parsed again."""
    commits = map(partial(str.__new__, CommitId), texts[::4])
    blobs = map(partial(str.__new__, ObjectId), texts[2::4])
    rows = zip(commits, texts[1::4], blobs, map(bool, texts[3::4]), strict=True)
    return list(map(partial(tuple.__new__, Revision), rows))


def _files(names: list[str], numbers: array[int], revision_count: int) -> dict[str, Pieces]:
    """Build the files; raises `CorruptError` when one names a revision that is not there."""
    out: dict[str, Pieces] = {}
    at = len(names) // 2
    for path, oid, count in zip(names[::2], names[1::2], numbers, strict=False):
        ends, origins = numbers[at : at + count], numbers[at + count : at + 2 * count]
        if origins and max(origins) >> OFFSET_BITS >= revision_count:
            raise _damaged()
        out[path] = Pieces(ObjectId(oid), ends, origins)
        at += 2 * count
    return out


def _numbers(part: memoryview) -> array[int]:
    numbers = array("Q")
    numbers.frombytes(part)
    return _little(numbers)


def _little(numbers: array[int]) -> array[int]:
    """Swap on machines that are not little-endian: a record means the same everywhere."""
    if sys.byteorder == "big":
        numbers = array("Q", numbers)
        numbers.byteswap()
    return numbers
