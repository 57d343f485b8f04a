"""Why a body is not here: never kept, forgotten, or kept elsewhere. Each has another way on.

Rule 1: what the pin's own record says comes first, then what a ledger says was forgotten; only what
neither knows may be in another clone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.errors import NotFoundError
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.model.tombstone import Tombstone
    from pvc.store.repo import Repository

PROVE = "whoever has them can prove them: `pvc show {session} --env FILE`"


def absent(repo: Repository, digest: Digest, what: str, pin: Pin | None = None) -> NotFoundError:
    """Make the error that says why a body cannot be had."""
    if pin is not None and not pin.privacy.keeps_inputs:
        return NotFoundError(
            f"{what} were not kept: it was pinned with privacy `{pin.privacy}`",
            hint=PROVE.format(session=pin.session),
        )
    tombstone = tombstone_of(read_tombstones(repo), digest, pin)
    if tombstone is not None:
        hint = PROVE.format(session=pin.session) if pin else ""
        return NotFoundError(f"{what} were {forgotten(tombstone)}", hint=hint)
    return NotFoundError(
        f"{what} are not in this clone",
        hint="where it was pinned, `git config pvc.pushBodies true` and `pvc sync` share them",
    )


def tombstone_of(
    tombstones: Iterable[Tombstone], digest: Digest, pin: Pin | None
) -> Tombstone | None:
    """Choose what says that a body was forgotten: for this pin, else for any."""
    named = [each for each in tombstones if each.digest == digest]
    if pin is None:
        return named[-1] if named else None
    for each in tombstones:
        if each.covers(digest, receipt=pin.receipt, time=pin.time, writer=pin.writer):
            return each
    return named[-1] if named else None


def forgotten(tombstone: Tombstone) -> str:
    """Say when, by whom and why something was forgotten."""
    from pvc.store.codec import from_micros

    when, who = from_micros(tombstone.time)[:10], tombstone.who.partition(" <")[0]
    return f"forgotten on {when} by {who}: {tombstone.reason}"
