"""Why a body is not here: never kept, forgotten, or kept elsewhere. Each has another way on.

Rule 1: what the pin's own record says comes first, then what a ledger says was forgotten; only what
neither knows may be in another clone.
Rule 2: a body that is here and is damaged is not absent: that is an error of its own, which
`store.bodies` raises, and nothing stands in for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError
from pvc.launch import writer
from pvc.store.tombstones import read_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.model.digest import Digest
    from pvc.model.pin import Pin
    from pvc.model.tombstone import Tombstone
    from pvc.store.repo import Repository

PROVE = "whoever has them can prove them: `pvc show {session} --env FILE`"


class Why(StrEnum):
    """Why a body is not here."""

    NOT_KEPT = "not_kept"
    FORGOTTEN = "forgotten"
    ELSEWHERE = "elsewhere"
    GONE = "gone"
    """This clone pinned it, and nothing says that it was forgotten: `pvc verify` finds it too."""


class NotHereError(NotFoundError):
    """A body that this clone does not have."""

    def __init__(self, message: str, *, digest: Digest, why: Why, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.digest = digest
        self.why = why


@dataclass(frozen=True, slots=True)
class Absence:
    """Something of a pin that placeholders stand for: `values`, `tools` or `entry N`."""

    what: str
    session: str
    digest: Digest
    why: Why
    message: str
    hint: str = ""

    @classmethod
    def of(cls, what: str, pin: Pin, error: NotHereError) -> Absence:
        """Take what an error says."""
        message, hint = error.message, error.hint
        return cls(what, str(pin.session), error.digest, error.why, message, hint)

    def in_words(self) -> str:
        """Say it in a line."""
        return f"{self.message} ({self.digest.short}); placeholders stand in"

    def to_json(self) -> dict[str, object]:
        """One entry of `absent`."""
        return {
            "what": self.what,
            "session": self.session,
            "digest": self.digest,
            "why": str(self.why),
            "message": self.message,
        }


def absent_json(absent: Iterable[Absence]) -> dict[str, object]:
    """Give the keys that a result has where placeholders stand in; none where nothing is absent."""
    rows = [each.to_json() for each in dict.fromkeys(absent)]
    return {"about": True, "absent": rows} if rows else {}


def absent(
    repo: Repository,
    digest: Digest,
    what: str,
    pin: Pin | None = None,
    tombstones: Iterable[Tombstone] | None = None,
) -> NotHereError:
    """Make the error that says why a body cannot be had; `tombstones` where they are read."""
    if pin is not None and not pin.privacy.keeps_inputs:
        return NotHereError(
            f"{what} were not kept: it was pinned with privacy `{pin.privacy}`",
            digest=digest,
            why=Why.NOT_KEPT,
            hint=PROVE.format(session=pin.session),
        )
    known = read_tombstones(repo) if tombstones is None else tombstones
    tombstone = tombstone_of(known, digest, pin)
    if tombstone is not None:
        hint = PROVE.format(session=pin.session) if pin else ""
        said = f"{what} were {forgotten(tombstone)}"
        return NotHereError(said, digest=digest, why=Why.FORGOTTEN, hint=hint)
    if pin is not None and pin.writer == writer.read(f"{repo.common_dir}/pvc"):
        return NotHereError(
            f"{what} are gone, and no tombstone says that they were forgotten",
            digest=digest,
            why=Why.GONE,
            hint="pvc verify; where they were pushed, pvc sync brings them back",
        )
    return NotHereError(
        f"{what} are not in this clone",
        digest=digest,
        why=Why.ELSEWHERE,
        hint="where it was pinned, `git config pvc.pushBodies true` and `pvc sync` share them",
    )


def tombstone_of(
    tombstones: Iterable[Tombstone], digest: Digest, pin: Pin | None
) -> Tombstone | None:
    """Choose what says that a body was forgotten: for this pin, else for any."""
    tombstones = tuple(tombstones)
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
