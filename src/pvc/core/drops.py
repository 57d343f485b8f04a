"""Calls in a row, and where the cache read back less than the call before had left.

    call    read + written      next call reads      drop
    msg_1   0 + 31,000          31,000               0
    msg_2   31,000 + 500        2,000                29,500     ← listed, worst first

Rule 1: a call is compared with the one before it in its own chain, never with the line before it.
Rule 2: a record that is repeated (one line for each block, a forked file) counts once, by its id.
Rule 3: memory is bounded by the number of chains, days and heads, by `top` drops, and a hash of
each call's id; records themselves are not kept.
Rule 4: the kind is a guess from usage and time alone, unless the provider said why or the records
hold instructions that differ; where nothing tells, it is `unknown`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

from pvc.model.body import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.model.call import Call

UNKNOWN = "unknown"
_START = datetime(1970, 1, 1, tzinfo=UTC)
LEAST_TOKENS = 1024
LEAST_SHARE = 0.05
_SHRUNK = 0.7
_REASONS = {
    "model_changed": Kind.MODEL,
    "tools_changed": Kind.TOOL_SET,
    "system_changed": Kind.PROMPT_TEXT_EDIT,
    "messages_changed": Kind.HISTORY_REWRITTEN,
    "context_compacted": Kind.HISTORY_REWRITTEN,
    "text_format_changed": Kind.SETTING,
    "reasoning_effort_changed": Kind.SETTING,
    "verbosity_changed": Kind.SETTING,
    "service_tier_changed": Kind.SETTING,
}


@dataclass(frozen=True, slots=True)
class Drop:
    """A call that read back `lost` tokens less than expected."""

    call: Call
    lost: int
    expected: int
    kind: str
    gap_seconds: float | None
    evidence: str = ""
    """What was seen, where the records hold more than usage and time."""

    def to_json(self) -> dict[str, object]:
        """Write one entry of `drops` in `pvc.misses/1`."""
        call = self.call
        return {
            "time": moment(call.time),
            "session": call.session,
            "chain": call.chain,
            "model": call.model,
            "call": call.id,
            "lost_tokens": self.lost,
            "expected_tokens": self.expected,
            "read_tokens": call.read,
            "kind": self.kind,
            "reason": call.reason,
            "gap_seconds": self.gap_seconds,
            "evidence": self.evidence,
            "source": call.source,
            "line": call.line,
        }


@dataclass(slots=True)
class Day:
    """Sums of one day, in UTC."""

    calls: int = 0
    total: int = 0
    read: int = 0
    drops: int = 0
    lost: int = 0

    @property
    def share(self) -> float:
        """The part of the input that was read back."""
        return self.read / self.total if self.total else 0.0


@dataclass(slots=True)
class Drops:
    """Takes calls as they come; `finish` settles the last of each chain."""

    top: int
    since: float | None = None
    explain: Callable[[str, str], tuple[str, str]] | None = None
    """Names the kind of a change of instructions, and what was seen."""
    calls: int = 0
    repeated: int = 0
    drop_count: int = 0
    lost: int = 0
    days: dict[str, Day] = field(default_factory=dict)
    heads: dict[str, Call] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    chain_count: int = 0
    _chains: dict[str, tuple[Call | None, Call]] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)
    _worst: list[tuple[int, int, Drop]] = field(default_factory=list)

    def take(self, call: Call) -> None:
        """Take one record."""
        before, current = self._chains.get(call.chain, (None, None))
        if current is not None and current.id == call.id:
            self._chains[call.chain] = (before, _merged(current, call))
            return
        if hash(call.id) in self._seen:
            self.repeated += 1
            return
        self._seen.add(hash(call.id))
        if current is not None:
            self._settle(before, current)
        self._chains[call.chain] = (current, call)

    def finish(self) -> tuple[Drop, ...]:
        """Settle what is left; gives the worst drops, the worst first."""
        for before, current in self._chains.values():
            self._settle(before, current)
        self.chain_count = len(self._chains)
        self._chains.clear()
        return tuple(drop for *_, drop in sorted(self._worst, key=lambda row: (-row[0], -row[1])))

    def _settle(self, before: Call | None, call: Call) -> None:
        if self.since is not None and (call.time is None or call.time < self.since):
            return
        self.calls += 1
        day = self.days.setdefault(moment(call.time)[:10], Day())
        day.calls, day.total, day.read = (
            day.calls + 1,
            day.total + call.total,
            day.read + call.read,
        )
        if call.head:
            self.heads.setdefault(call.head, replace(call, instructions=None))
        drop = self._drop(before, call) if before else None
        if drop is None:
            return
        self.drop_count, self.lost = self.drop_count + 1, self.lost + drop.lost
        day.drops, day.lost = day.drops + 1, day.lost + drop.lost
        self.kinds[drop.kind] = self.kinds.get(drop.kind, 0) + drop.lost
        row = (drop.lost, -self.drop_count, drop)
        if len(self._worst) < self.top:
            heappush(self._worst, row)
        elif self._worst:
            heappushpop(self._worst, row)

    def _drop(self, before: Call, call: Call) -> Drop | None:
        lost = before.expected - call.read
        if lost < max(LEAST_TOKENS, LEAST_SHARE * before.expected):
            return None
        known = before.time is not None and call.time is not None
        gap = (call.time or 0.0) - (before.time or 0.0) if known else None
        kind, evidence = _kind(before, call, gap), ""
        texts = before.instructions, call.instructions
        if self.explain and texts[0] and texts[1] and texts[0] != texts[1]:
            changed, evidence = self.explain(texts[0], texts[1])
            kind = changed if call.reason not in _REASONS else kind
        return Drop(replace(call, instructions=None), lost, before.expected, kind, gap, evidence)


def _merged(a: Call, b: Call) -> Call:
    """Join two records of one call: the larger counts, and a reason if either has one."""
    larger = b if (b.total, b.read) >= (a.total, a.read) else a
    return replace(larger, reason=b.reason or a.reason, line=a.line)


def _kind(before: Call, call: Call, gap: float | None) -> str:
    if call.reason in _REASONS:
        return str(_REASONS[call.reason])
    if call.model != before.model:
        return str(Kind.MODEL)
    if gap is not None and before.lifetime_seconds is not None and gap > before.lifetime_seconds:
        return str(Kind.TTL_EXPIRED)
    if call.total < _SHRUNK * before.total:
        return str(Kind.HISTORY_REWRITTEN)
    return UNKNOWN


def moment(time: float | None) -> str:
    """Write a time in UTC to the second; a time that is not known is a dash."""
    if time is None:
        return "-"
    return (_START + timedelta(seconds=int(time))).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text: str) -> float | None:
    """Read an ISO time or day as seconds since 1970; null when it is none. No zone means UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
