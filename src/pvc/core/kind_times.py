"""Kinds of time and notation: a moment of the clock, or one value in two notations.

Rule 1: both sides are looked at. A date that became another date is a clock; one that became the
same date in other words is a locale; one that became a word is neither.
Rule 2: what was said and done in a conversation is full of times. There one counts only when the
rest of the line stayed: otherwise the history changed.
"""

from __future__ import annotations

import re

from pvc.core import moments
from pvc.core.change import Change, Match, became
from pvc.core.cues import cue, labelled
from pvc.model.body import Kind

_CLOCK_CUE = cue(
    r"year|month|week|day|date|time|now|clock|today|timestamp|updated|generated|as of|datetime"
    r"|uptime|time of day|(?:seconds|minutes|hours|days) (?:until|since|left|remaining|elapsed)"
)
_NOW = re.compile(
    r"^\W*$|\b(?:today|now|started|it(?: i|')s|current(?:ly)?|heute|aujourd'hui|hoy)\b",
    re.IGNORECASE,
)
_NOW_WORD = re.compile(
    r"^\W*(?:today|now|it(?: i|')s|it is now|current(?:ly)?|heute|jetzt|aujourd'hui|hoy|ahora)\b",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"\b(?:idle|elapsed|uptime|(?:up|open|active|running|connected) for|since|left|remaining|age"
    r"|session length|waited|spent|passed|(?:due|expires|ends|resets?|starts) in)\b[^.\n]{0,30}$",
    re.IGNORECASE,
)
_SIGNS = ("€", "$", "£", "¥")
_PARTS_OF_DAY = {"morning", "noon", "afternoon", "evening", "night"}
_DURATION = re.compile(
    r"\d+(?:[.,]\d+)?\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b"
)
_LOCALE_CUE = cue(
    r"locale|language|lang|lc_\w+|time ?zone|tz|region|country|currency|units|keyboard(?: layout)?"
    r"|number format|date format|decimal (?:separator|mark|point)|thousands separator"
    r"|week starts(?: on)?|first day of (?:the )?week"
)
_LOCALE_WORD = re.compile(
    r"[a-z]{2,3}[-_][A-Z]{2}(?:\.[\w-]+)?|(?:Europe|America|Asia|Africa|Australia|Atlantic|Pacific"
    r"|Indian|Etc)/[\w/+-]+|UTC|GMT"
)
_ZONE_NAME = re.compile(r"\b[A-Z][a-z]+/[A-Z]\w+\b|\b(?:UTC|GMT)(?:[+-]\d+)?|[+-]\d\d:\d\d\b")


def locale(change: Change) -> Match | None:
    """See one value in the notations of two languages, regions or time zones."""
    ranges = _moments(change)
    if ranges:
        old, new = ranges
        if old != new and moments.same_moment(moments.read(old), moments.read(new)):
            return Match(Kind.LOCALE, f"one moment, written in two ways: {became(old, new)}")
        zones = [set(_ZONE_NAME.findall(line)) for line in change.lines]
        if zones[0] and zones[1] and zones[0] != zones[1] and moments.hours_apart(old, new):
            return Match(Kind.LOCALE, f"one moment in two zones: {became(old, new)}")
    old, new = _numbers(change)
    digits = re.sub(r"\D", "", old)
    same_digits = len(digits) > 1 and digits == re.sub(r"\D", "", new) and old != new
    if same_digits and moments.number_values(old) & moments.number_values(new):
        return Match(Kind.LOCALE, f"one number, written in two ways: {became(old, new)}")
    old, new = change.tokens
    if _LOCALE_WORD.fullmatch(old) and _LOCALE_WORD.fullmatch(new):
        return Match(Kind.LOCALE, f"a locale or time zone: {became(old, new)}")
    if labelled(change, _LOCALE_CUE) and old and new:
        return Match(Kind.LOCALE, f"a locale setting: {became(old, new)}", sure=False)
    return None


def clock(change: Change) -> Match | None:
    """See a date or time of the moment."""
    ranges = _moments(change)
    if ranges and not _is_plan(change, ranges):
        return Match(Kind.CLOCK, f"a date or time: {became(*ranges)}")
    if not change.injected:
        return None
    added = change.only_side
    if added and len(added) <= 2:
        for line in added:
            found = moments.first(line)
            lead = line[: found[0]] if found else ""
            if _CLOCK_CUE.search(lead) or _NOW_WORD.search(lead):
                return Match(Kind.CLOCK, f"a line with a date or time: `{line.strip()[:60]}`")
    old, new = change.tokens
    spent = _SPENT.search(change.label) is not None
    if spent and all(_DURATION.match(line, len(change.label)) for line in change.lines):
        return Match(Kind.CLOCK, f"time that went by: {became(*change.middles)}")
    digits = any(map(str.isdigit, old)) and any(map(str.isdigit, new))
    if _CLOCK_CUE.search(change.label) and (digits or {old, new} <= _PARTS_OF_DAY):
        return Match(Kind.CLOCK, f"a value labelled as time: {became(old, new)}", sure=False)
    return None


def _is_plan(change: Change, ranges: tuple[str, str]) -> bool:
    """Tell whether a date went on by days although the requests are not days apart.

    A clock goes on with the time between the requests; a deadline in somebody's notes does not. The
    name of a day alone is the moment's only where the line says so, or says nothing else.
    """
    if _CLOCK_CUE.search(change.label):
        return False
    if all(map(moments.is_weekday, ranges)) and not _NOW.search(change.label):
        return True
    if change.seconds_between is None:
        return False
    apart = moments.days_apart(*ranges)
    return apart is not None and apart > change.seconds_between / 86_400 + 2


def _moments(change: Change) -> tuple[str, str] | None:
    """Give the moments that stand at the place on both sides."""
    at = len(change.before)
    old, new = change.lines
    ranges = moments.find(old, at), moments.find(new, at)
    if ranges[0] is None or ranges[1] is None:
        return None
    if ranges[0][1] <= at and ranges[1][1] <= at:
        return None
    texts = old[slice(*ranges[0])], new[slice(*ranges[1])]
    stays = moments.mask(old) == moments.mask(new)
    return texts if change.injected or stays else None


def _numbers(change: Change) -> tuple[str, str]:
    """Give the numbers that stand at the place, with the separators of any notation."""
    at = len(change.before)
    found = []
    for line in change.lines:
        matches = re.finditer(rf"\d[\d.,{moments.GROUP}]*(?<=\d)", line)
        sign = line[at : at + 1] in _SIGNS  # of a currency, in front of the number
        found.append(next((m[0] for m in matches if m.start() - sign <= at <= m.end()), ""))
    return found[0], found[1]
