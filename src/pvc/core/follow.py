"""Where a byte went: followed forward through a history until a commit takes it out.

Blame answers for bytes that are there. A miss may begin where bytes are gone: then its owner is the
commit that removed them, which no blame of the later text can name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.diff import edits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.core.blame import History, Step
    from pvc.model.names import CommitId


@dataclass(frozen=True, slots=True)
class Followed:
    """`commit` took the byte out, or is null and the byte stands at `offset` of `path`."""

    commit: CommitId | None
    path: str
    offset: int


def follow(history: History, steps: Iterable[Step], path: str, offset: int) -> Followed:
    """Follow byte `offset` of `path` through `steps`, the commits after the one it stands in.

    A file that is renamed without a change is followed; one that is removed takes the byte along.
    """
    for step in steps:
        change = next((change for change in step.changes if change.path == path), None)
        if change is None or change.old is None:
            continue
        if change.new is None:
            renamed = next((c.path for c in step.changes if c.new == change.old), None)
            if renamed is None:
                return Followed(step.commit, path, offset)
            path = renamed
            continue
        moved = _through(history.blob(change.old), history.blob(change.new), offset)
        if moved is None:
            return Followed(step.commit, path, offset)
        offset = moved
    return Followed(None, path, offset)


def _through(old: bytes, new: bytes, offset: int) -> int | None:
    """Where byte `offset` of `old` stands in `new`; null when an edit replaced it."""
    shift = 0
    for edit in edits(old, new):
        if edit.old_end <= offset:
            shift = edit.new_end - edit.old_end
        elif edit.old_start <= offset:
            return None
        else:
            break
    return offset + shift
