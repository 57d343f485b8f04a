"""Histories for tests: written out as whole trees, or generated from a seed with known truth."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.core.blame import Change, Step
from pvc.model.names import CommitId, ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def blob_id(data: bytes) -> ObjectId:
    """git's own id of a blob."""
    head = b"blob %d\0" % len(data)
    return ObjectId(hashlib.sha1(head + data, usedforsecurity=False).hexdigest())


def commit_id(version: int, salt: str = "") -> CommitId:
    return CommitId(hashlib.sha1(f"{salt}{version}".encode(), usedforsecurity=False).hexdigest())


@dataclass
class FakeHistory:
    """A first-parent chain in a dict; `reads` counts the contents asked for."""

    blobs: dict[ObjectId, bytes] = field(default_factory=dict)
    taken: list[Step] = field(default_factory=list)
    reads: int = 0

    @classmethod
    def of(cls, trees: Sequence[Mapping[str, bytes]], salt: str = "") -> FakeHistory:
        """One commit per whole tree."""
        out = cls()
        before: Mapping[str, bytes] = {}
        for version, tree in enumerate(trees):
            changes = tuple(
                Change(path, out._put(before.get(path)), out._put(tree.get(path)))
                for path in sorted({*before, *tree})
                if before.get(path) != tree.get(path)
            )
            out.taken.append(Step(commit_id(version, salt), changes))
            before = tree
        return out

    def _put(self, data: bytes | None) -> ObjectId | None:
        if data is None:
            return None
        oid = blob_id(data)
        self.blobs[oid] = data
        return oid

    def steps(self) -> Iterable[Step]:
        return iter(self.taken)

    def blob(self, oid: ObjectId) -> bytes:
        self.reads += 1
        return self.blobs[oid]

    def part(self, start: int, end: int | None = None) -> FakeHistory:
        """The same contents, and only the steps from `start` to `end`."""
        return FakeHistory(self.blobs, self.taken[start:end])

    def numbers(self) -> dict[CommitId, int]:
        """Which version each commit is."""
        return {step.commit: version for version, step in enumerate(self.taken)}
