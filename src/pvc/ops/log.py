"""The list of pins; versions and pins as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.model.times import END_OF_TIME

if TYPE_CHECKING:
    from pvc.model.pin import Pin
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

MICROS = 1_000_000


@dataclass(frozen=True, slots=True)
class PinsLog:
    """Pins, newest first; `damage` names in words what could not be read."""

    pins: tuple[Pin, ...]
    damage: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.pins/1`."""
        return {
            "schema": "pvc.pins/1",
            "pins": [pin_json(pin) for pin in self.pins],
            "damage": list(self.damage),
        }


def pins_log(
    repo: Repository,
    tree: str | None,
    limit: int,
    *,
    session: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> PinsLog:
    """List the newest pins: of one tree, one session, between two dates, to the second.

    Raises `NotFoundError` for an unknown tree, `UsageError` for a word that is not a date.
    """
    from pvc.ops.asked import micros_of
    from pvc.ops.select import select_version
    from pvc.store.ledger import Ledger

    ledger = Ledger(repo)
    low, last = micros_of(since, "--since") or 0, micros_of(until, "--until")
    high = END_OF_TIME
    if last is not None:  # the second that it falls into counts
        high = min(high, last - last % MICROS + MICROS)
    pins = ledger.newest(limit, tree, session=session, since=low, until=high)
    if tree is not None and not pins:
        select_version(repo, tree)  # raises, with the near name, where there is no such tree
    return PinsLog(pins, tuple(str(error) for error in ledger.damage))


def version_json(version: VersionInfo) -> dict[str, object]:
    """Write a version as JSON."""
    return {
        "kind": version.kind.removesuffix("s"),
        "name": version.name,
        "version": version.number,
        "commit": version.id,
        "author": str(version.author),
        "time": version.time.seconds,
        "reason": version.reason,
        "source": version.source,
        "source_path": version.source_path,
        "source_state": version.source_state,
        "reverts": version.reverts,
        "resolves": version.parents[1] if len(version.parents) > 1 else None,
    }


def pin_json(pin: Pin) -> dict[str, object]:
    """Write a pin as JSON, absent fields as null."""
    return {
        "session": pin.session,
        "chain": pin.chain,
        "n": pin.n,
        "time": pin.time,
        "writer": pin.writer,
        "tree": pin.tree,
        "version": pin.version,
        "commit": pin.commit,
        "prompt_digest": pin.prompt,
        "environment_digest": pin.environment,
        "tools_digest": pin.tools,
        "head_digest": pin.head,
        "provider": pin.provider,
        "model": pin.model,
        "observed": pin.observed,
        "supersedes": pin.supersedes,
        "reason": pin.reason,
        "privacy": str(pin.privacy),
        "key": pin.key,
        "receipt": pin.receipt,
    }
