"""Named bytes in a fixed order: what a dialect reads.

Paths are relative to the version's root, use `/`, and are compared by their UTF-8 bytes, so the
order is the same in every locale.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its path in the version and its bytes."""

    path: str
    data: bytes

    def position(self, offset: int) -> str:
        """`path:line:column` of a byte offset; both count from 1, the column in bytes."""
        line = self.data.count(b"\n", 0, offset) + 1
        column = offset - (self.data.rfind(b"\n", 0, offset) + 1) + 1
        return f"{self.path}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Sources:
    """Files in byte order of their paths; build with `Sources.of`."""

    files: tuple[Source, ...]

    @classmethod
    def of(cls, files: Iterable[Source]) -> Sources:
        """Sort by path bytes. Raises `ValueError` on a path that stands twice."""
        ordered = tuple(sorted(files, key=lambda source: source.path.encode()))
        for a, b in pairwise(ordered):
            if a.path == b.path:
                raise ValueError(f"path stands twice: {a.path}")
        return cls(ordered)

    def __iter__(self) -> Iterator[Source]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def get(self, path: str) -> Source | None:
        """Find the file at `path`; null where there is none."""
        key = path.encode()
        at = bisect_right(self.files, key, key=lambda source: source.path.encode()) - 1
        return self.files[at] if at >= 0 and self.files[at].path == path else None

    def under(self, folder: str) -> Sources:
        """Choose the files below `folder` (which ends in `/`), paths unchanged."""
        return Sources(tuple(s for s in self.files if s.path.startswith(folder)))
