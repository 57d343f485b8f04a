"""Two prompts or requests compared unit by unit: a section, a tool, a block, a message.

Rule 1: units are paired by region and name, those of one name in their order; what one side lacks
was added or removed, and what stands in another order was moved.
Rule 2: inside a unit the comparison is that of blame (`core.diff`), so that both speak of the same
words.
Rule 3: a cache loses all from the first byte that differs on, whatever is the same after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pvc.core.diff import edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pvc.core.diff import Edit

Status = Literal["same", "changed", "added", "removed", "moved"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One named part of a prompt or a request. `plane` is empty where none is known."""

    region: str
    name: str
    data: bytes
    plane: str = ""


@dataclass(frozen=True, slots=True)
class UnitDiff:
    """A unit on both sides, null where it is not; `edits` are over their bytes."""

    old: Unit | None
    new: Unit | None
    status: Status
    edits: tuple[Edit, ...] = ()

    @property
    def unit(self) -> Unit:
        """The unit as it is now, else as it was."""
        unit = self.new or self.old
        assert unit is not None  # noqa: S101  # a pair has at least one side
        return unit

    @property
    def removed_bytes(self) -> int:
        """Bytes of the old side that are gone."""
        if self.new is None:
            return len(self.unit.data)
        return sum(edit.old_end - edit.old_start for edit in self.edits)

    @property
    def added_bytes(self) -> int:
        """Bytes of the new side that were not there."""
        if self.old is None:
            return len(self.unit.data)
        return sum(edit.new_end - edit.new_start for edit in self.edits)

    def to_json(self) -> dict[str, object]:
        """Write one entry of `units` in `pvc.diff/1`."""
        old = self.old.data if self.old else b""
        new = self.new.data if self.new else b""
        return {
            "region": self.unit.region,
            "name": self.unit.name,
            "plane": self.unit.plane or None,
            "status": self.status,
            "old_bytes": len(old) if self.old else None,
            "new_bytes": len(new) if self.new else None,
            "removed_bytes": self.removed_bytes,
            "added_bytes": self.added_bytes,
            "edits": [
                {
                    "old_start": edit.old_start,
                    "new_start": edit.new_start,
                    "old": old[edit.old_start : edit.old_end].decode("utf-8", "replace"),
                    "new": new[edit.new_start : edit.new_end].decode("utf-8", "replace"),
                }
                for edit in self.edits
            ],
        }


def diff_units(old: Sequence[Unit], new: Sequence[Unit]) -> tuple[UnitDiff, ...]:
    """Compare two lists of units: in the order of the new, each removed one where it stood."""
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, unit in enumerate(old):
        waiting[unit.region, unit.name].append(index)
    pairs = [_first(waiting[unit.region, unit.name]) for unit in new]
    kept = _in_order([index for index in pairs if index is not None])
    gone = [index for indexes in waiting.values() for index in indexes]
    found: list[UnitDiff] = []
    for unit, pair in zip(new, pairs, strict=True):
        if pair is None:
            found.append(UnitDiff(None, unit, "added"))
            continue
        while gone and min(gone) < pair:
            gone.remove(first := min(gone))
            found.append(UnitDiff(old[first], None, "removed"))
        found.append(_pair(old[pair], unit, moved=pair not in kept))
    found += [UnitDiff(old[index], None, "removed") for index in sorted(gone)]
    return tuple(found)


def _first(indexes: list[int]) -> int | None:
    return indexes.pop(0) if indexes else None


def _pair(old: Unit, new: Unit, *, moved: bool) -> UnitDiff:
    if old.data != new.data:
        return UnitDiff(old, new, "changed", edits(old.data, new.data))
    return UnitDiff(old, new, "moved" if moved else "same")


def _in_order(indexes: list[int]) -> set[int]:
    """Give a longest run of indexes that rise: the units that stayed while others moved."""
    ends: list[int] = []  # the lowest index that ends a run of each length
    before: dict[int, int | None] = {}
    for index in indexes:
        at = bisect_left(ends, index)
        before[index] = ends[at - 1] if at else None
        ends[at : at + 1] = [index]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept
