"""A session that is resumed after its configuration may have moved: what has to be recorded.

    recorded   append S · append A · append X(ext)      config now   S' · A
    window     S · A                                    record       replace S' · append A

Rule 1: what is compared is the *window*: the blocks that configuration wrote, from its latest
re-seed on. Comparing from the first block on would re-seed on every resume after the first
difference.
Rule 2: equal in number, order and bytes means that nothing is recorded, so a second resume is
free.
Rule 3: an entry that somebody else is known to have written is no part of the window, and a
`replace` of theirs does not open one. So an extension's text alone never re-seeds a session. Where
no author was recorded every entry counts, as in the logs of older tools
(docs/decisions/0009-panto-readings.md).
Rule 4: a difference re-seeds as a whole, one replace and then appends; what others had added since
is told in `discarded`, because nobody should lose text without being told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.model.session import CONFIG, Mode, SystemEntry, surviving

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a resume found: positions of the window, entries to record, positions to be lost."""

    window: tuple[int, ...]
    record: tuple[SystemEntry, ...]
    discarded: tuple[int, ...]
    """Foreign entries of the present prompt that recording would take out."""


def window(entries: Sequence[SystemEntry]) -> tuple[int, ...]:
    """Find the blocks that configuration is compared with; see rules 1 and 3."""
    own = [i for i, entry in enumerate(entries) if not entry.is_foreign]
    start = next((i for i in reversed(own) if entries[i].mode is Mode.REPLACE), 0)
    return tuple(i for i in own if i >= start)


def fresh(blocks: Sequence[bytes], author: str = CONFIG) -> tuple[SystemEntry, ...]:
    """Begin a session: every block is appended, for nothing stands before the first."""
    return tuple(SystemEntry(block, Mode.APPEND, author) for block in blocks)


def reseed(blocks: Sequence[bytes], author: str = CONFIG) -> tuple[SystemEntry, ...]:
    """Begin anew within a session: the first block replaces, the others follow."""
    first = (SystemEntry(blocks[0], Mode.REPLACE, author),) if blocks else ()
    return (*first, *fresh(blocks[1:], author))


def reconcile(entries: Sequence[SystemEntry], config: Sequence[bytes]) -> Reconciliation:
    """Compare recorded entries with the blocks that configuration gives now."""
    found = window(entries)
    if [entries[i].data for i in found] == list(config):
        return Reconciliation(found, (), ())
    lost = tuple(i for i in surviving(entries) if entries[i].is_foreign)
    return Reconciliation(found, reseed(config), lost)
