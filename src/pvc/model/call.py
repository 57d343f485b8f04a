"""One call of a model as transcripts and traces record it: usage and place, seldom the prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """What a record says. `chain` names the calls that follow each other in one conversation.

    `expected` is how many tokens the next call of the chain should read back. `lifetime_seconds`
    is that of what was written, null when it is not known; `reason` is the provider's own
    diagnosis; `head` is a digest of the front of the request and `instructions` the system text,
    where the record holds them.
    """

    id: str
    chain: str
    session: str
    model: str
    time: float | None
    total: int
    read: int
    expected: int
    source: str
    line: int
    lifetime_seconds: int | None = None
    reason: str | None = None
    head: str | None = None
    instructions: str | None = None
