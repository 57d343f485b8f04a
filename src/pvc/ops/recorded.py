"""A session's pins as positioned entries: what a log of the form `panto` would hold.

Rule 1: a pin of a version is its blocks: appended at the session's beginning, and a re-seed (one
replace, then appends) where the session was re-pinned. They are configuration's.
Rule 2: the blocks of a form with layers are its files, before any wire touched them; those of the
other forms are the rendered blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.core.reconcile import fresh, reseed
from pvc.model.manifest import Form
from pvc.model.session import SystemEntry

if TYPE_CHECKING:
    from pvc.model.pin import Pin
    from pvc.ops.told import Teller


class Row(NamedTuple):
    """One entry and the pin that it came with."""

    pin: Pin
    entry: SystemEntry


def recorded(teller: Teller, newest: Pin) -> list[Row]:
    """Give all entries of a session up to a pin, oldest first."""
    rows: list[Row] = []
    for pin in teller.chain(newest):
        if pin.entry is not None:
            entry = SystemEntry(teller.text(pin), pin.entry.mode, pin.entry.author)
            rows.append(Row(pin, entry))
        else:
            blocks = seed_blocks(teller, pin)
            seeded = reseed(blocks) if rows else fresh(blocks)
            rows += [Row(pin, entry) for entry in seeded]
    return rows


def seed_blocks(teller: Teller, pin: Pin) -> list[bytes]:
    """Give the blocks that a version's pin began the prompt with."""
    if not pin.observed:
        pack = teller.pack(pin)
        if pack.form == Form.PANTO:
            return [part.template for part in pack.sections if not part.fragment]
    rendered = teller.rendered(pin)
    starts = (0, *rendered.block_ends)
    return [rendered.data[a:b] for a, b in zip(starts, rendered.block_ends, strict=False)]
