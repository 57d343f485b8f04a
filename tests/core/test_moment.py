"""Dates and ages: strictly, for what is deleted hangs on them."""

from __future__ import annotations

import pytest

from pvc.core.moment import MICROS, age_of, moment_of
from pvc.errors import UsageError
from pvc.model.times import END_OF_TIME

NOW = 1_796_000_000 * MICROS
DAY = 86_400 * MICROS


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-02", DAY),
        ("1970-01-02T00:00Z", DAY),
        ("1970-01-02 00:00:00", DAY),
        ("1970-01-02T01:00:00+01:00", DAY),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1.day", NOW - DAY),
        ("2 weeks ago", NOW - 14 * DAY),
        ("90.days.ago", NOW - 90 * DAY),
        ("0.seconds", NOW),
        ("30d", NOW - 30 * DAY),
        ("24h", NOW - DAY),
        ("now", NOW),
        ("today", NOW - NOW % DAY),
        ("Yesterday", NOW - NOW % DAY - DAY),
        ("@86400", DAY),
        ("1970-01-02 01:00:00 +0100", DAY),
        ("1970-01-01T23:00-01", DAY),
        ("1900-01-01", 0),
        ("9999999.years.ago", 0),
        ("9999-12-31T23:59:59-12:00", END_OF_TIME),
        ("@999999999999999999", END_OF_TIME),
    ],
)
def test_a_date_or_an_age_is_a_moment(text: str, moment: int) -> None:
    assert moment_of(text, NOW, "--before") == moment


@pytest.mark.parametrize(
    "text",
    ["", " ", "@", "@-1", "noon", "last week", "tomorrow", "99999-01-01", "garbage",
     "someday", "2026", "2026-13-01", "2026-02-30", "01/02/2026",
     "2026-09-01T25:00", "90", "90.dayz", "-1.day", "1.day.later",
     "2026-09-01x", "٩٠.days", "٢٠٢٦-٠٩-٠١", "2026-09-01T24:00", "1.day.2.hours",
     "9999999999.days"],
)  # fmt: skip
def test_a_slip_of_the_pen_is_not_taken_for_now(text: str) -> None:
    with pytest.raises(UsageError):
        moment_of(text, NOW, "--before")


def test_an_age_is_no_date() -> None:
    assert age_of("3.months", "pvc.keepBodies") == 90 * DAY
    with pytest.raises(UsageError):
        age_of("2026-09-01", "pvc.keepBodies")
