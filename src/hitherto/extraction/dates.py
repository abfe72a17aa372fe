"""Times that a language model names: dates as they are, "last Tuesday" counted from the message."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from hitherto.lifetime import parse_time

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
}
_SIMPLE: Final = {
    "now": 0,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "yesterday": -1,
    "last night": -1,
    "yesterday evening": -1,
    "the day before yesterday": -2,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_COUNTED: Final = re.compile(r"(?:(in) )?(\w+) (day|week|month|year)s?(?: (ago|from now|later))?")
_WEEKDAY: Final = re.compile(rf"(?:(last|this|next|on) )?({'|'.join(_DAYS)})")
_PERIOD: Final = re.compile(r"(last|this|next) (week|month|year)")
_YEAR_OR_MONTH: Final = re.compile(r"(\d{4})(?:-(\d{2}))?")


def resolve_time(text: str | None, *, spoken_at: str | None) -> str | None:
    """Return a time that a model named, as ISO 8601.

    Args:
        text: An ISO date or time, or an expression such as "yesterday", "last Tuesday", "two weeks ago" or "next
            month"; anything else names no time. A year or a month stands for its first day.
        spoken_at: The message's own time, from which expressions count; without one they name no time.

    Returns:
        The time, or None. A weekday without a word before it is the last one that was.

    Examples:
        >>> resolve_time("last Tuesday", spoken_at="2024-05-02T10:00:00Z")
        '2024-04-30'
        >>> resolve_time("2024-03", spoken_at=None), resolve_time("soon", spoken_at="2024-05-02")
        ('2024-03-01', None)
    """
    if text is None or not text.strip():
        return None
    named = text.strip()
    if found := _YEAR_OR_MONTH.fullmatch(named):
        month = found[2] or "01"
        return f"{found[1]}-{month}-01" if "01" <= month <= "12" else None
    if parse_time(named) is not None:
        return named
    moment = None if spoken_at is None else parse_time(spoken_at)
    if moment is None:
        return None
    found_day = _relative(" ".join(named.lower().split()).rstrip("."), moment)
    return None if found_day is None else found_day.date().isoformat()


def _relative(text: str, moment: datetime) -> datetime | None:
    try:
        if text in _SIMPLE:
            return moment + timedelta(days=_SIMPLE[text])
        if found := _WEEKDAY.fullmatch(text):
            return _weekday(found[1], _DAYS.index(found[2]), moment)
        if found := _PERIOD.fullmatch(text):
            return _shifted(moment, {"last": -1, "this": 0, "next": 1}[found[1]], found[2])
        if found := _COUNTED.fullmatch(text):
            return _counted(found, moment)
    except (OverflowError, ValueError):
        pass
    return None


def _weekday(word: str | None, day: int, moment: datetime) -> datetime:
    today = moment.weekday()
    if word == "next":
        return moment + timedelta(days=(day - today - 1) % 7 + 1)
    if word == "this":
        return moment + timedelta(days=(day - today) % 7)
    return moment - timedelta(days=(today - day - 1) % 7 + 1)


def _counted(found: re.Match[str], moment: datetime) -> datetime | None:
    ahead, word, unit, after = found.groups()
    count = int(word) if word.isdecimal() else _NUMBERS.get(word)
    if count is None or (ahead is None) == (after is None):
        return None
    return _shifted(moment, -count if after == "ago" else count, unit)


def _shifted(moment: datetime, count: int, unit: str) -> datetime:
    if unit in ("day", "week"):
        return moment + timedelta(days=count * (7 if unit == "week" else 1))
    months = moment.year * 12 + moment.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=year, month=month + 1, day=min(moment.day, 28))
