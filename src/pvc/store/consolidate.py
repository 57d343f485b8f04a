"""Keep a hub to few refs: ledgers that nobody writes go into this clone's own, then their refs go.

    take ──► push the own ledger ──► remove the refs that it holds now

Rule 1: in this order, and each step from what the one before reached: a run that was interrupted
anywhere is finished by the next one, and at no moment is a chain without a ref.
Rule 2: the inbox is taken whole, of `pins` what was not added to since a moment. Both are asked of
the remote just before; a writer that comes back between keeps its ref (the lease fails).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import UsageError
from pvc.launch import writer
from pvc.store.sync_result import Move, Refusal
from pvc.store.take import TakeResult, take
from pvc.store.taken import Taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId
    from pvc.store.sync import Exchange
    from pvc.store.take import Judge

IDLE_DAYS = 7


class Consolidated(NamedTuple):
    """What a consolidation did."""

    taken: TakeResult
    removed: tuple[Move, ...]


def consolidate(exchange: Exchange, *, before_seconds: int, judge: Judge) -> Consolidated:
    """Take the inbox, and the ledgers whose newest fold is older than that moment."""
    if exchange.repo.config_flag("pvc.inbox"):
        raise UsageError(
            "a clone whose own ledger goes to the inbox takes no others",
            hint="git config --unset pvc.inbox",
        )
    exchange.writer = writer.ensure(f"{exchange.repo.common_dir}/pvc")
    due = list(_due(exchange, before_seconds))
    ledgers = [Taken(seen.rpartition("/")[2], tip) for seen, tip in due]
    result = take(exchange.repo, ledgers, judge=judge)
    exchange.refused += [
        Refusal(f"{ledger.writer} at {ledger.tip.short}", why, _LEFT)
        for ledger, why in result.refused
    ]
    exchange.push()
    holder = exchange.holder()
    held = [row for row in due if holder and _holds(exchange, holder, row[1])]
    removed = exchange.remove(held, holder) if holder else []
    return Consolidated(result, tuple(removed))


def _due(exchange: Exchange, before_seconds: int) -> Iterator[tuple[str, CommitId]]:
    for seen, tip in exchange.ledgers():
        if "/inbox/" in seen or exchange.repo.commit(tip).time.seconds < before_seconds:
            yield seen, tip


def _holds(exchange: Exchange, holder: CommitId, tip: CommitId) -> bool:
    return tip != holder and exchange.repo.is_ancestor(tip, holder)


_LEFT = "it is left where it is"
