"""Why an input is not here: never recorded, forgotten, kept elsewhere; or gone, which is a finding.

Rule 1: what a record says was not kept (`privacy`), nobody misses.
Rule 2: what was forgotten has a tombstone in some ledger here, which covers this very pin.
Rule 3: what this clone itself pinned is here, or one of the two holds. Anything else was dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError
from pvc.launch import writer
from pvc.store.codec import from_micros
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.model.tombstone import Tombstone
    from pvc.store.repo import Repository


class AbsentError(Exception):
    """An input is not here, and may be; says why."""


class DroppedError(Exception):
    """An input is not here, and should be; says which."""


@dataclass
class Absences:
    """Tells why bodies of a repository are absent; reads tombstones once, and only if asked."""

    repo: Repository

    @cached_property
    def _own(self) -> str:
        return writer.read(f"{self.repo.common_dir}/pvc")

    @cached_property
    def _tombstones(self) -> tuple[dict[Digest | None, list[Tombstone]], list[Tombstone]]:
        """Those of single bodies, by digest, and those that go by time."""
        by_digest: dict[Digest | None, list[Tombstone]] = {}
        by_time = []
        try:
            found = read_tombstones(self.repo)
        except (CorruptError, NotFoundError):
            found = ()  # the fold that holds it is a finding; it has forgotten nothing
        for each in found:
            if each.before is None:
                by_digest.setdefault(each.digest, []).append(each)
            else:
                by_time.append(each)
        return by_digest, by_time

    def explain(self, pin: Pin, digest: Digest, what: str) -> Exception:
        """Make the error of a body that is not here; `what` is in the plural."""
        if not pin.privacy.keeps_inputs:
            return AbsentError(f"{what} were not kept (privacy `{pin.privacy}`)")
        tombstone = self._covering(pin, digest)
        if tombstone is not None:
            said = f"{from_micros(tombstone.time)[:10]}, {tombstone.who}: {tombstone.reason}"
            return AbsentError(f"{what} were forgotten, {said}")
        if pin.writer == self._own:
            return DroppedError(f"{what} are gone, and no tombstone says that they were forgotten")
        return AbsentError(f"{what} are not in this clone")

    def _covering(self, pin: Pin, digest: Digest) -> Tombstone | None:
        by_digest, by_time = self._tombstones
        candidates: list[Tombstone] = [*by_digest.get(digest, []), *by_time]
        for each in candidates:
            if each.covers(digest, receipt=pin.receipt, time=pin.time, writer=pin.writer):
                return each
        return None
