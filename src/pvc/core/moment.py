"""Dates and ages as people write them: the one reader, for every option and setting.

git takes any word for a date, and a typing error for now. Here a date is one of

    2026-09-01    2026-09-01T12:00    2026-09-01 12:00:00 +0200    2026-09-01T12:00:00Z
    @1788220800   90.days.ago         2 weeks ago    30d           now    today    yesterday

Rule 1: anything else is refused: a list that is empty because of a typing error looks like an
answer, and `--before` deletes.
Rule 2: without a zone a time is in UTC, and a day is its first moment, so one command means the
same on every machine.
Rule 3: the time of now is handed in.
Rule 4: a moment that no record can have is the nearest one that a record can.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pvc.errors import UsageError
from pvc.model.times import END_OF_TIME

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
EXAMPLES = "2026-09-01, 2026-09-01T12:00Z, yesterday, 90.days.ago or @1788220800"
_SHORT = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"}
_AGE = re.compile(
    r"([0-9]{1,9})(?:[. ]?(second|minute|hour|day|week|month|year)s?(?:[. ]ago)?|([smhdwy]))"
)
_DATE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[t ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r" ?(z|utc|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_EPOCH = re.compile(r"@([0-9]{1,18})")
_START = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = SECONDS["day"] * MICROS


def age_of(text: str, at: str) -> int:
    """Read an age, in microseconds."""
    micros = _age(text.strip().lower())
    if micros is None:
        raise UsageError(f"`{text}` is not an age", at=at, hint="such as 90.days")
    return micros


def moment_of(text: str, now: int, at: str) -> int:
    """Read a date or an age as microseconds since 1970; `at` names the option."""
    word = text.strip().lower()
    micros = _named(word, now)
    if micros is None:
        age = _age(word)
        micros = _date(word) if age is None else now - age
    if micros is None:
        raise UsageError(f"`{text}` is not a date", at=at, hint=EXAMPLES)
    return min(max(micros, 0), END_OF_TIME)


def _named(word: str, now: int) -> int | None:
    """Read a word, or seconds since 1970."""
    if found := _EPOCH.fullmatch(word):
        return int(found[1]) * MICROS
    today = now - now % _DAY
    return {"now": now, "today": today, "yesterday": today - _DAY}.get(word)


def _age(word: str) -> int | None:
    found = _AGE.fullmatch(word)
    if found is None:
        return None
    return int(found[1]) * SECONDS[found[2] or _SHORT[found[3]]] * MICROS


def _date(word: str) -> int | None:
    found = _DATE.fullmatch(word)
    if found is None:
        return None
    day, clock, zone = found.groups()
    zone = "+00:00" if zone in (None, "z", "utc") else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{zone}")
    except ValueError:  # the thirtieth of February
        return None
    return (moment - _START) // timedelta(microseconds=1)
