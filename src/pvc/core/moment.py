"""Dates and ages as people write them, taken strictly: what is deleted hangs on them.

git takes any word for a date, a slip of the pen for now. Here a date is `2026-09-01`, with or
without a time, in UTC unless it says otherwise; an age is `90.days`, with or without `.ago`.

Rule 1: what is neither is refused. Rule 2: the time of now is handed in.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pvc.errors import UsageError

MICROS = 1_000_000
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,  # of 30 days
    "year": 31_536_000,  # of 365 days
}
_AGE = re.compile(r"(\d{1,9})[. ]?(second|minute|hour|day|week|month|year)s?(?:[. ]ago)?")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)


def age_of(text: str, at: str) -> int:
    """Read an age, in microseconds."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(f"`{text}` is no age", at=at, hint="such as 90.days")
    return int(found[1]) * SECONDS[found[2]] * MICROS


def moment_of(text: str, now: int, at: str) -> int:
    """Read a date or an age as microseconds since 1970."""
    if _AGE.fullmatch(text.strip().lower()):
        return now - age_of(text, at)
    try:
        moment = datetime.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None:
        raise UsageError(
            f"`{text}` is no date", at=at, hint="2026-09-01, 2026-09-01T12:00Z or 90.days.ago"
        )
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * MICROS)
