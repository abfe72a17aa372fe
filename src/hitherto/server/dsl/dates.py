"""Dates as they are stored and asked for: ISO 8601, milliseconds, named and spelt formats, and date math.

Stored dates and those of a query without ``format`` follow ``strict_date_time||epoch_millis``; what a query leaves
away (``2024-02-03``) is accepted too. Rounding (``now/d``) goes down for ``gte`` and ``lt``, and to the last
millisecond of the unit for ``gt`` and ``lte``; a date of a day counts as its whole day in the same way.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hitherto.server.dsl.errors import ShardError

DEFAULT_FORMAT: Final = "strict_date_time||epoch_millis"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ISO: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:T(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<fraction>\d{1,9}))?)?)?)?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?)?)?\Z"
)
_MATH: Final = re.compile(r"([+\-/])(\d*)([yMwdhHms])")
_UNITS: Final = ("year", "month", "day", "hour", "minute", "second")
_STEP: Final = {"w": "weeks", "d": "days", "h": "hours", "H": "hours", "m": "minutes", "s": "seconds"}
_NAMED: Final = {
    "basic_date": "yyyyMMdd",
    "basic_date_time": "yyyyMMdd'T'HHmmss.SSSXXX",
    "basic_date_time_no_millis": "yyyyMMdd'T'HHmmssXXX",
    "date": "yyyy-MM-dd",
    "date_hour_minute": "yyyy-MM-dd'T'HH:mm",
    "date_hour_minute_second": "yyyy-MM-dd'T'HH:mm:ss",
    "date_time": "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    "date_time_no_millis": "yyyy-MM-dd'T'HH:mm:ssXXX",
    "year": "yyyy",
    "year_month": "yyyy-MM",
    "year_month_day": "yyyy-MM-dd",
}
_LENIENT: Final = frozenset({"date_optional_time", "date_time", "rfc3339_lenient", "iso8601"})
_LETTERS: Final = {
    "y": ("year", r"\d{4}"),
    "u": ("year", r"\d{4}"),
    "M": ("month", r"\d{1,2}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "m": ("minute", r"\d{1,2}"),
    "s": ("second", r"\d{1,2}"),
    "S": ("fraction", r"\d{1,9}"),
    "X": ("zone", r"Z|[+-]\d{2}:?\d{2}|[+-]\d{2}"),
    "x": ("zone", r"[+-]\d{2}:?\d{2}|[+-]\d{2}"),
    "Z": ("zone", r"Z|[+-]\d{2}:?\d{2}"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A date that was read, and the last millisecond that it can mean.

    Attributes:
        first: Milliseconds since 1970.
        last: The same, or the end of the year, month, day, hour, minute or second that was named.
    """

    first: int
    last: int


def stored_millis(value: object) -> int | None:
    """Return the milliseconds of a stored date, or None if it holds none.

    Args:
        value: A text or a number.

    Examples:
        >>> stored_millis("2024-02-03T23:04:15.554370024Z")
        1707001455554
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return _read(str(value), DEFAULT_FORMAT, timezone.utc).first if value is not None else None
    except ShardError:
        return None


def read_date(
    value: object, *, now: datetime, format: str | None = None, time_zone: str | None = None
) -> Moment:
    """Read a date of a query.

    Args:
        value: A text or a number; ``now`` and ``<date>||`` may be followed by date math.
        now: The present moment.
        format: The formats to try, joined by ``||``; None for the field's.
        time_zone: What a date without a zone means; None for UTC.

    Returns:
        The moment.

    Raises:
        ShardError: If the value is no date, or the format or zone is unknown.

    Examples:
        >>> read_date("now-1d/d", now=datetime(2024, 2, 3, 12, tzinfo=timezone.utc)).first
        1706832000000
    """
    zone = _zone(time_zone)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _unreadable(value, format)
    text = str(value) if not isinstance(value, float) or not value.is_integer() else str(int(value))
    try:
        if text.startswith("now"):
            return _calculated(now.astimezone(zone), text[3:], text, zone)
        base, bars, math = text.partition("||")
        moment = _read(base, format or DEFAULT_FORMAT, zone)
        if not bars:
            return moment
        return _calculated(_EPOCH.astimezone(zone) + timedelta(milliseconds=moment.first), math, text, zone)
    except (OverflowError, ValueError) as error:
        if isinstance(error, ShardError):
            raise
        raise _unreadable(value, format) from error


def written(millis: int, format: str | None = None) -> str:
    """Write a date as hits show it.

    Args:
        millis: Milliseconds since 1970.
        format: The format; None for the field's. Of several, the first counts.

    Returns:
        The date; in a format that is not known, as ISO 8601.

    Examples:
        >>> written(1707001455554), written(1707001455554, "yyyy/MM/dd"), written(5, "epoch_millis")
        ('2024-02-03T23:04:15.554Z', '2024/02/03', '5')
    """
    name = (format or "strict_date_time").split("||")[0].removeprefix("strict_")
    if name in {"epoch_millis", "epoch_second"}:
        return str(millis if name == "epoch_millis" else millis // 1000)
    try:
        moment = _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return str(millis)
    return "".join(_part(letters, moment) for letters in _split(_NAMED.get(name, _pattern_or(name))))


def _pattern_or(name: str) -> str:
    return _NAMED["date_time"] if name in _LENIENT else name


def _part(letters: str, moment: datetime) -> str:
    if letters[0] == "'":
        return letters[1:-1] or "'"
    name, _ = _LETTERS.get(letters[0], (None, ""))
    if name is None:
        return letters
    if name == "zone":
        return "Z" if letters[0] == "X" else "+00:00"
    if name == "fraction":
        return f"{moment.microsecond:06}"[: len(letters)].ljust(len(letters), "0")
    return f"{getattr(moment, name):0{len(letters)}}"[-len(letters) :]


def _zone(name: str | None) -> tzinfo:
    if name is None or name in {"Z", "UTC"}:
        return timezone.utc
    if re.fullmatch(r"[+-]\d{2}:?\d{2}|[+-]\d{2}", name):
        return _offset(name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ShardError(f"Unknown time-zone ID: {name}", type="zone_rules_exception") from error


def _offset(text: str | None) -> tzinfo:
    if text in {"Z", None}:
        return timezone.utc
    digits = text.replace(":", "")[1:].ljust(4, "0")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-size if text[0] == "-" else size)


def _read(text: str, formats: str, zone: tzinfo) -> Moment:
    for format in formats.split("||"):
        name = format.removeprefix("strict_")
        if name in {"epoch_millis", "epoch_second"}:
            found = re.fullmatch(r"-?\d{1,16}", text)
            scale = 1 if name == "epoch_millis" else 1000
            if found:
                return Moment(int(text) * scale, int(text) * scale + scale - 1)
            continue
        parts = (_ISO if name in _LENIENT else _pattern(_NAMED.get(name, format))).match(text)
        if parts is not None:
            try:
                return _moment(parts.groupdict(), zone)
            except (ValueError, OverflowError):
                continue
    raise _unreadable(text, formats)


def _moment(parts: dict[str, str | None], zone: tzinfo) -> Moment:
    given = [int(parts.get(unit) or 0) or (unit in {"month", "day"}) for unit in _UNITS]
    named = [unit for unit in _UNITS if parts.get(unit)]
    micros = int((parts.get("fraction") or "").ljust(9, "0")[:6])
    where = _offset(parts["zone"]) if parts.get("zone") else zone
    start = datetime(given[0] or 1970, *map(int, given[1:]), micros, tzinfo=where)  # type: ignore[misc, arg-type]  # six numbers
    if parts.get("fraction") or not named:
        return Moment(_millis(start), _millis(start))
    return Moment(_millis(start), _millis(_later(start, named[-1])) - 1)


def _later(start: datetime, unit: str) -> datetime:
    if unit == "year":
        return _months(start, 12)
    if unit == "month":
        return _months(start, 1)
    return start + timedelta(**{f"{unit}s": 1})


def _months(start: datetime, count: int) -> datetime:
    year, month = divmod(start.year * 12 + start.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"year {year} is out of range")
    return start.replace(
        year=year, month=month + 1, day=min(start.day, calendar.monthrange(year, month + 1)[1])
    )


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _calculated(moment: datetime, math: str, text: str, zone: tzinfo) -> Moment:
    last: datetime | None = None
    at = 0
    while at < len(math):
        step = _MATH.match(math, at)
        if step is None or (step[1] == "/" and step[2]):
            raise ShardError(
                f"failed to parse date field [{text}]: operator not supported for date math [{math}]",
                type="parse_exception",
            )
        at = step.end()
        sign, unit = step[1], step[3]
        if sign == "/":
            moment = _floor(moment, unit)
            last = _stepped(moment, unit, 1) - timedelta(milliseconds=1)
        else:
            size = int(step[2] or 1) * (-1 if sign == "-" else 1)
            moment = _stepped(moment, unit, size)
            last = _stepped(last, unit, size) if last is not None else None
    return Moment(_millis(moment), _millis(last if last is not None else moment))


def _stepped(moment: datetime, unit: str, count: int) -> datetime:
    if unit == "y":
        return _months(moment, 12 * count)
    if unit == "M":
        return _months(moment, count)
    if len(str(abs(count))) > 12:
        raise OverflowError(f"{count}{unit} is out of range")
    return moment + timedelta(**{_STEP[unit]: count})


def _floor(moment: datetime, unit: str) -> datetime:
    if unit == "w":
        moment -= timedelta(days=moment.weekday())
    kept = {"y": 1, "M": 2, "w": 3, "d": 3, "h": 4, "H": 4, "m": 5, "s": 6}[unit]
    lowest = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
    return moment.replace(microsecond=0, **{name: lowest[name] for name in _UNITS[kept:]})  # type: ignore[arg-type]  # only numbers


@lru_cache(maxsize=128)
def _pattern(format: str) -> re.Pattern[str]:
    written, seen = "", set()
    for letters in _split(format):
        if letters[0] == "'":
            written += re.escape(letters[1:-1] or "'")
        elif letters[0].isalpha():
            name, digits = _LETTERS.get(letters[0], (None, ""))
            if name is None or name in seen:
                raise ShardError(f"Invalid format: [{format}]: Unknown pattern letter: {letters[0]}")
            seen.add(name)
            written += f"(?P<{name}>{_digits(letters, digits)})"
        else:
            written += re.escape(letters)
    return re.compile(rf"{written}\Z")


def _digits(letters: str, digits: str) -> str:
    # "yyyyMMdd" has nothing between its numbers: then each has as many digits as letters.
    return rf"\d{{{len(letters)}}}" if letters[0] in "yuMdHms" and len(letters) > 1 else digits


def _split(format: str) -> list[str]:
    return [found[0] for found in re.finditer(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']+", format)]


def _unreadable(value: object, format: str | None) -> ShardError:
    return ShardError(
        f"failed to parse date field [{value}] with format [{format or DEFAULT_FORMAT}]",
        type="parse_exception",
    )
