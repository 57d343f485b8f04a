"""A set of very many keys, of which each takes 16 to 32 bytes, however long it is.

Keys are kept as 64 bits of a BLAKE3 that is keyed anew in each run: two of a million collide once
in forty million runs, and nobody can prepare keys that do.
"""

from __future__ import annotations

import os
from array import array

_FIRST_SLOTS = 1024


class Seen:
    """A set that only grows; it can say `new` of a key, and `there` of one that was added."""

    def __init__(self) -> None:
        from blake3 import blake3

        self._hash, self._key = blake3, os.urandom(32)
        self._slots = array("Q", bytes(8 * _FIRST_SLOTS))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: bytes) -> bool:
        return self._slots[self._place(self._mark(key))] != 0

    def add(self, key: bytes) -> bool:
        """Add a key; true when it is new."""
        if 2 * self._count >= len(self._slots):
            self._grow()
        mark = self._mark(key)
        place = self._place(mark)
        if self._slots[place]:
            return False
        self._slots[place] = mark
        self._count += 1
        return True

    def _mark(self, key: bytes) -> int:
        return int.from_bytes(self._hash(key, key=self._key).digest(8), "big") or 1

    def _place(self, mark: int) -> int:
        """Find the slot that holds a mark, or the free one where it belongs."""
        slots = self._slots
        mask = len(slots) - 1
        at = mark & mask
        while slots[at] and slots[at] != mark:
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(2 * old.itemsize * len(old)))
        for mark in old:
            if mark:
                self._slots[self._place(mark)] = mark
