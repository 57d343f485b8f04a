"""Dates, times and numbers in running text, found and read in the usual notations.

    find("Tuesday 14 July 2026, 09:41:07 CEST", 23)
      → the text of the moment around character 23, and its Reading

Rule 1: a reading holds only what the text says. Two readings are the same moment when nothing that
both say differs, time compared in one zone when both name theirs. Fractions of a second count.
Rule 2: version numbers, ratios and `file:line:column` are no moments: bounds on hours, months and
days, and what may stand before a match, keep them out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_MONTHS = (
    "jan january januar janv janvier enero ene janeiro gennaio januari styczeń stycznia января",
    "feb february februar févr février fevrier febrero fevereiro febbraio februari lutego февраля",
    "mar march märz marz mars marzo março maart mrz marca марта",
    "apr april avr avril abr abril aprile kwietnia апреля",
    "may mai mayo maio maggio mei maj maja мая",
    "jun june juni juin junio junho giugno czerwca июня",
    "jul july juli juil juillet julio julho luglio lipca июля",
    "aug august août aout agosto augustus augusti sierpnia августа",
    "sep sept september septembre septiembre setembro settembre września сентября",
    "oct okt october oktober octobre octubre outubro ottobre października октября",
    "nov november novembre noviembre novembro listopada ноября",
    "dec dez december dezember déc décembre decembre diciembre dezembro dicembre grudnia декабря",
)
_DAYS = (
    "mon monday montag lundi lunes segunda-feira lunedì maandag måndag poniedziałek понедельник",
    "tue tues tuesday dienstag mardi martes terça-feira martedì dinsdag tisdag wtorek вторник",
    "wed wednesday mittwoch mercredi miércoles quarta-feira mercoledì woensdag onsdag środa среда",
    "thu thurs thursday donnerstag jeudi jueves quinta-feira giovedì donderdag torsdag четверг",
    "fri friday freitag vendredi viernes sexta-feira venerdì vrijdag fredag piątek пятница",
    "sat saturday samstag sonnabend samedi sábado sabato zaterdag lördag sobota суббота",
    "sun sunday sonntag dimanche domingo domenica zondag söndag niedziela воскресенье",
)
_ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "bst": 60, "cet": 60, "mez": 60, "cest": 120,
    "mesz": 120, "eet": 120, "eest": 180, "msk": 180, "ist": 330, "jst": 540, "kst": 540,
    "aest": 600, "aedt": 660, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420,
    "mdt": -360, "pst": -480, "pdt": -420,
}  # fmt: skip
_MONTH_OF = {word: i + 1 for i, words in enumerate(_MONTHS) for word in words.split()}
_DAY_OF = {word: i for i, words in enumerate(_DAYS) for word in words.split()}


def _either(words: dict[str, int]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_MONTH = rf"(?:{_either(_MONTH_OF)})(?!\w)\.?"
_CLOCK = (
    r"(?P<hour>[01]?\d|2[0-3])(?:[:h]|\.(?=\d\d\s?(?:Uhr|[AaPp]\.?[Mm]\b)))(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\b\.?)?(?:\s?(?P<uhr>Uhr)\b)?"
    rf"(?:\s?\(?(?P<zone>[+-]\d\d:?\d\d\b|Z\b|(?:{_either(_ZONES)})\b)\)?)?"
)
_COMPACT = (
    r"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)"
    r"(?:(?P<second>[0-5]\d)(?:[.,](?P<fraction>\d+))?)?(?P<zone>Z)?"
)
_TO_31 = r"0?[1-9]|[12]\d|3[01]"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH_NUMBER = r"(?P<month>0?[1-9]|1[0-2])"
_DAY_NUMBER = rf"(?P<day>{_TO_31})"
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_PATTERNS = tuple(
    re.compile(rf"(?<![\w.]){pattern}(?![\w])", re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}(?P<sep>[-/.]){_MONTH_NUMBER}(?P=sep){_DAY_NUMBER}(?:[T ]{_CLOCK})?",
        rf"(?P<one>{_TO_31})(?P<sep>[-/.])(?P<two>{_TO_31})(?P=sep){_YEAR}",
        rf"(?P<one>{_TO_31})/(?P<two>{_TO_31})/(?P<short>\d\d)",
        rf"{_DAY_NUMBER}{_ORDINAL}\s+(?:de\s+)?(?P<name>{_MONTH})(?:,?\s+(?:de\s+)?{_YEAR})?",
        rf"(?P<name>{_MONTH})\s+{_DAY_NUMBER}{_ORDINAL}(?:,?\s+{_YEAR})?",
        rf"(?P<name>{_MONTH}),?\s+{_YEAR}",
        rf"{_YEAR}年(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})日",
        rf"{_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?:[T_-]?{_COMPACT})?",
        r"(?P<year>20\d\d)-?W(?P<week>[0-5]\d)(?:-[1-7])?",
        rf"day \d{{1,3}} of (?:the year|{_YEAR})",
        rf"(?:Q[1-4]|week \d{{1,2}}|KW \d{{1,2}})(?:[ ,/]+{_YEAR})?",
        _CLOCK,
        rf"(?P<weekday>{_either(_DAY_OF)})",
        r"(?:mo|di|mi|do|fr|sa|so|lun|mar|mer|mié|jeu|jue|gio|ven|vie|sam|sáb|dim|dom)\.,?(?=\s+\d)",
        rf"(?P<alone>{_either({word: 0 for word in _MONTH_OF if len(word) > 3})})",
        r"(?P<epoch>1[4-9]\d{8}(?:\d{3}|\d{6}|\d{9})?)(?:\.\d+)?",
        r"\d+(?:\.\d+)?\s?(?:s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|months?) ago",
        r"just now|yesterday|tomorrow|good (?:morning|afternoon|evening|night)",
    )
)
_NEAR = 120
_TOUCHING = re.compile(
    r"[\s,;]{0,3}(?:\b(?:at|um|à|kl\.?|o'clock|on|of|the)\b\s*|[T(]\s*)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says about a moment; null is not said. `dates` are the ways to read the date."""

    dates: frozenset[tuple[int | None, int, int]] = frozenset()
    minutes: int | None = None
    seconds: float | None = None
    zone: int | None = None
    weekday: int | None = None


def find(line: str, at: int) -> tuple[int, int] | None:
    """Give the range of the moment that holds or touches character `at` of a line."""
    near = _ranges(line, max(0, at - _NEAR), min(len(line), at + _NEAR))
    return next(((first, last) for first, last in near if first <= at <= last), None)


def first(line: str) -> tuple[int, int] | None:
    """Give the range of the first moment near the start of a line."""
    return next(iter(_ranges(line, 0, min(len(line), 2 * _NEAR))), None)


def every(line: str) -> list[tuple[int, int]]:
    """Give the ranges of all moments of a line."""
    return _ranges(line, 0, len(line))


def _ranges(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """Give the ranges of moments, those that stand next to each other joined."""
    spans = sorted(m.span() for pattern in _PATTERNS for m in pattern.finditer(line, start, end))
    ranges: list[tuple[int, int]] = []
    for opens, closes in spans:
        last = ranges[-1] if ranges else None
        if last and (opens <= last[1] or _TOUCHING.fullmatch(line, last[1], opens)):
            ranges[-1] = (last[0], max(last[1], closes))
        else:
            ranges.append((opens, closes))
    return ranges


def mask(line: str) -> str:
    """Replace every date and time of a line by one sign."""
    for pattern in _PATTERNS:
        line = pattern.sub("\0", line)
    return re.sub(r"[\0\s,]+", "\0", line)


def read(text: str) -> Reading:
    """Read what a range that `find` gave says."""
    made = Reading()
    for pattern in _PATTERNS:
        match = pattern.search(text)
        if match:
            made = _joined(made, _reading({k: v for k, v in match.groupdict().items() if v}))
    return made


def is_weekday(text: str) -> bool:
    """Tell whether a range says the day of the week and nothing else."""
    reading = read(text)
    return reading.weekday is not None and reading.minutes is None and not reading.dates


def same_moment(old: Reading, new: Reading) -> bool:
    """Tell whether two readings say something in common and nothing that differs."""
    shared = False
    if old.dates and new.dates:
        if not any(_same_date(one, other) for one in old.dates for other in new.dates):
            return _zones_apart(old, new) and old.minutes is not None
        shared = True
    if old.weekday is not None and new.weekday is not None:
        if old.weekday != new.weekday:
            return False
        shared = True
    if old.minutes is not None and new.minutes is not None:
        return _same_time(old, new)
    return shared


def days_apart(old: str, new: str) -> int | None:
    """Count the days between two dates, as near as they can be read; null without two dates.

    Of a month without a day any day may be meant, so the nearest counts.
    """
    apart = [
        _days(one, other)
        for one in read(old).dates
        for other in read(new).dates
        if _is_date(one[1], one[2] or 1) and _is_date(other[1], other[2] or 1)
    ]
    return min(apart, default=None)


def _days(one: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> int:
    """Count the days between two dates; a day of 0 is any of its month."""
    year = one[0] or other[0] or 2000
    first = date(year, one[1], one[2] or 1)
    second = date(other[0] or year, other[1], other[2] or 1)
    return max(0, abs((first - second).days) - (0 if one[2] and other[2] else 31))


def _is_date(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 28 + 2 * (month != 2) + (month in _LONG_MONTHS)


_LONG_MONTHS = (1, 3, 5, 7, 8, 10, 12)


def hours_apart(old: str, new: str) -> bool:
    """Tell whether two times are a round number of half hours apart, as two zones tell one time."""
    one, other = read(old), read(new)
    if one.minutes is None or other.minutes is None or one.seconds != other.seconds:
        return False
    return one.minutes != other.minutes and (one.minutes - other.minutes) % 30 == 0


def _same_date(one: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> bool:
    return one[1:] == other[1:] and (None in (one[0], other[0]) or one[0] == other[0])


def _same_time(old: Reading, new: Reading) -> bool:
    if None not in (old.seconds, new.seconds) and old.seconds != new.seconds:
        return False
    if old.minutes == new.minutes and (old.zone == new.zone or None in (old.zone, new.zone)):
        return True
    return _zones_apart(old, new)


def _zones_apart(old: Reading, new: Reading) -> bool:
    """Tell whether two times are one, told in two zones."""
    if old.zone is None or new.zone is None or old.minutes is None or new.minutes is None:
        return False
    apart = (old.minutes - old.zone) - (new.minutes - new.zone)
    return old.zone != new.zone and apart % 1440 == 0


def _joined(one: Reading, other: Reading) -> Reading:
    return Reading(
        one.dates or other.dates,
        one.minutes if one.minutes is not None else other.minutes,
        one.seconds if one.seconds is not None else other.seconds,
        one.zone if one.zone is not None else other.zone,
        one.weekday if one.weekday is not None else other.weekday,
    )


def _reading(parts: dict[str, str]) -> Reading:
    year = int(parts["year"]) if "year" in parts else None
    dates: set[tuple[int | None, int, int]] = set()
    if "one" in parts:
        one, two = int(parts["one"]), int(parts["two"])
        year = year if year is not None else 2000 + int(parts["short"])
        dates = {(year, m, d) for m, d in ((one, two), (two, one)) if m <= 12}
    elif "day" in parts:
        name = parts.get("name", "").rstrip(".").lower()
        dates = {(year, _MONTH_OF[name] if name else int(parts["month"]), int(parts["day"]))}
    elif "name" in parts:
        dates = {(year, _MONTH_OF[parts["name"].rstrip(".").lower()], 0)}
    elif "alone" in parts:
        dates = {(None, _MONTH_OF[parts["alone"].lower()], 0)}
    minutes = zone = None
    seconds = None
    if "hour" in parts:
        minutes = int(parts["hour"]) * 60 + int(parts.get("minute", "0"))
        if "half" in parts:
            minutes = minutes % 720 + (720 if parts["half"] in "Pp" else 0)
        fraction = parts.get("fraction", "0")
        seconds = float(f"{parts['second']}.{fraction}") if "second" in parts else None
        zone = _zone(parts.get("zone", "").lower())
    weekday = _DAY_OF[parts["weekday"].lower()] if "weekday" in parts else None
    return Reading(frozenset(dates), minutes, seconds, zone, weekday)


def _zone(name: str) -> int | None:
    if name[:1] in ("+", "-"):
        digits = name[1:].replace(":", "")
        return (-1 if name[0] == "-" else 1) * (int(digits[:2]) * 60 + int(digits[2:]))
    return _ZONES.get(name)


# --- numbers ----------------------------------------------------------------------------------

GROUP = "'’ \u00a0\u202f_"


def number_values(text: str) -> set[str]:
    """Give the decimal values that a number may have in the usual notations, as plain digits."""
    text = text.strip().rstrip("%€$£ ").lstrip("€$£ ")
    found: set[str] = set()
    for groups, point in ((",", "."), (".", ","), (GROUP, ","), (GROUP, ".")):
        grouped = rf"\d{{1,3}}(?:[{groups}]\d{{2,3}})*[{groups}]\d{{3}}"
        pattern = rf"([+-]?)({grouped}|\d+)(?:[{point}](\d+))?"
        match = re.fullmatch(pattern, text)
        if match:
            whole = re.sub(r"\D", "", match[2])
            found.add(f"{match[1]}{whole}.{match[3] or ''}")
    return found
