"""What was forgotten, when, by whom and why: the one thing that a ledger says of missing bodies.

    by digest   digest, pins      this body, as far as these pins needed it
    by time     before, of        the bodies of all pins before a moment, of one writer or of all

Rule 1: a tombstone covers pins. A body goes only where every pin that names it is covered by some
tombstone: whoever pins the same values again, needs them again.
Rule 2: a pin that a tombstone names by its receipt is that pin for ever; so what a tombstone takes
does not hang on clocks, except where it was asked for by time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pvc.model.digest import Digest


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Bodies that were forgotten: one, or those of a time. Times are microseconds since 1970."""

    time: int
    writer: str
    who: str
    reason: str
    digest: Digest | None = None
    pins: tuple[Digest, ...] = ()
    before: int | None = None
    of: str = ""

    def covers(self, digest: Digest, *, receipt: Digest, time: int, writer: str) -> bool:
        """Say whether a pin, by what is given of it, no longer needs a body that it names."""
        if self.before is not None:
            return time < self.before and self.of in ("", writer)
        return digest == self.digest and receipt in self.pins
