"""Lists: versions of one chain, all chains, pins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pvc.model.pin import Pin
    from pvc.ops.moves import Move
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

MICROS = 1_000_000


@dataclass(frozen=True, slots=True)
class VersionsLog:
    """Versions, newest first, and for those of a tree what moved; else `moves` is empty."""

    versions: tuple[VersionInfo, ...]
    moves: tuple[tuple[Move, ...], ...] = ()

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.log/1`."""
        rows = [version_json(version) for version in self.versions]
        for row, moves in zip_longest(rows, self.moves):
            row["moves"] = None if moves is None else [move.to_json() for move in moves]
        return {"schema": "pvc.log/1", "versions": rows}


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


def versions_log(repo: Repository, name: str | None, limit: int) -> VersionsLog:
    """List the versions of `name`; without a name the newest version of each tree and pack."""
    from pvc.ops.moves import moves_of
    from pvc.ops.select import KINDS, select_version
    from pvc.store.versions import chain, names, tip

    if name is None:
        tips = [tip(repo, kind, each) for kind in KINDS for each in names(repo, kind)]
        return VersionsLog(tuple(version for version in tips if version)[:limit])
    newest = select_version(repo, name)
    versions = tuple(islice(chain(repo, newest.kind, newest.name), limit + 1))
    if newest.kind != "trees":
        return VersionsLog(versions[:limit])
    return VersionsLog(versions[:limit], moves_of(repo, versions)[:limit])


def pins_log(
    repo: Repository,
    tree: str | None,
    limit: int,
    *,
    session: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> PinsLog:
    """List the newest pins: of one tree, one session, between two dates of git's, to the second.

    Raises `NotFoundError` for an unknown tree.
    """
    from pvc.ops.asked import seconds_of
    from pvc.ops.select import select_version
    from pvc.store.ledger import END_OF_TIME, Ledger

    ledger = Ledger(repo)
    low = (seconds_of(repo, since) or 0) * MICROS
    high = END_OF_TIME
    if until is not None:
        high = min(high, ((seconds_of(repo, until) or 0) + 1) * MICROS)
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
        "receipt": pin.receipt,
    }
