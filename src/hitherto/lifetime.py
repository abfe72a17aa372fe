"""Times and lifetime: how times are written, when a record expires, and whether it is visible now."""

from __future__ import annotations

import enum
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final

from hitherto.errors import InvalidArgumentError, shown
from hitherto.notset import NOT_SET, NotSetType

Clock = Callable[[], datetime]
"""Returns the present time, aware; replaced in tests."""

END_OF_TIME: Final = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc)


class TimeToLiveAnchor(enum.Enum):
    """From when a time to live counts."""

    CREATED_AT = "created_at"
    TIMESTAMP = "timestamp"


@dataclass
class MemoryRetentionConfig:
    """How long a store keeps records that do not say so themselves.

    Attributes:
        default_ttl_days: Days to live where none are given; None for no end.
        max_ttl_days: The most days that may be given; None for no bound.

    Examples:
        >>> MemoryRetentionConfig(default_ttl_days=30, max_ttl_days=365).max_ttl_days
        365
    """

    default_ttl_days: float | None | NotSetType = NOT_SET
    max_ttl_days: float | None | NotSetType = NOT_SET


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(timezone.utc)


def format_time(moment: datetime) -> str:
    """Return a time as it is stored: UTC, ISO 8601, always with microseconds, so that text order is time order.

    Args:
        moment: An aware time, or a naive one, which is read as UTC.

    Examples:
        >>> format_time(datetime(2026, 5, 1, 12))
        '2026-05-01T12:00:00.000000+00:00'
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return moment.astimezone(timezone.utc).isoformat(timespec="microseconds")


def parse_time(value: str) -> datetime | None:
    """Read an ISO 8601 time in any of its usual forms, or return None.

    Args:
        value: A date, or a date and time, in extended or basic form; a zone is ``Z`` or an offset, and a time
            without one is UTC.

    Returns:
        The time in UTC, or None if the text is not such a time.

    Examples:
        >>> parse_time("2026-05-01T14:00:00+02:00") == parse_time("20260501T120000Z")
        True
        >>> parse_time("last Tuesday") is None
        True
    """
    text = value.strip()
    moment = _parse_iso(text)
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        return None


_ISO: Final = re.compile(
    r"(\d{4})(-?)(\d\d)\2(\d\d)"
    r"(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?\s*(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?)?",
    re.ASCII,
)


def _parse_iso(text: str) -> datetime | None:
    # datetime.fromisoformat reads other forms in each version of Python: this way all of them read the same.
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, _, month, day, hour, minute, second, fraction, utc, sign, *offset = match.groups()
    zone = timezone.utc if utc else None
    if sign:
        ahead = timedelta(hours=int(offset[0]), minutes=int(offset[1] or 0))
        if ahead >= timedelta(days=1):
            return None
        zone = timezone(ahead if sign == "+" else -ahead)
    clock = (int(hour or 0), int(minute or 0), int(second or 0), int((fraction or "0")[:6].ljust(6, "0")))
    try:
        return datetime(int(year), int(month), int(day), *clock, tzinfo=zone)
    except ValueError:
        return None


def check_retention(config: MemoryRetentionConfig | None) -> MemoryRetentionConfig:
    """Return a retention configuration whose values are legal.

    Args:
        config: The configuration, or None for no limits.

    Raises:
        InvalidArgumentError: If it is no MemoryRetentionConfig, a value is no number of days >= 0, or the default
            is above the maximum.

    Examples:
        >>> check_retention(None)
        MemoryRetentionConfig(default_ttl_days=None, max_ttl_days=None)
    """
    if config is None:
        return MemoryRetentionConfig(None, None)
    if not isinstance(config, MemoryRetentionConfig):
        raise InvalidArgumentError(
            f"memory_retention_config must be a MemoryRetentionConfig, got {shown(config)}",
            argument="memory_retention_config",
        )
    checked: dict[str, float | None] = {}
    for name in ("default_ttl_days", "max_ttl_days"):
        days = getattr(config, name)
        checked[name] = None if days is NOT_SET else check_ttl_days(days, argument=name)
    default, most = checked["default_ttl_days"], checked["max_ttl_days"]
    if default is not None and most is not None and default > most:
        raise InvalidArgumentError(
            f"default_ttl_days must be at most max_ttl_days ({most}), got {default}",
            argument="default_ttl_days",
        )
    return MemoryRetentionConfig(default, most)


def check_ttl_days(value: object, *, argument: str = "ttl_days") -> float | None:
    """Return a time to live if it is legal.

    Args:
        value: Days, whole or in part (0.5 is twelve hours), or None for no end.
        argument: The argument's name, for the message.

    Raises:
        InvalidArgumentError: If it is neither None nor a finite number >= 0; bools and text are refused.

    Examples:
        >>> check_ttl_days(0.5)
        0.5
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InvalidArgumentError(
            f"{argument} must be a number of days >= 0, or None, got {shown(value)}", argument=argument
        )
    return value


def expiry(
    *,
    ttl_days: float | None | NotSetType,
    anchor: TimeToLiveAnchor | NotSetType,
    timestamp: str | None,
    created_at: datetime,
    retention: MemoryRetentionConfig,
) -> datetime | None:
    """Return when a record expires.

    Args:
        ttl_days: Days to live; omitted for the configured default, None for no end.
        anchor: From when the days count; omitted for CREATED_AT.
        timestamp: The record's own time, which the anchor TIMESTAMP needs.
        created_at: When the record was stored.
        retention: A checked configuration. The default is the maximum where only that is set; None means the
            maximum where one is set; more than the maximum is cut to it, with a warning.

    Returns:
        The first moment at which the record is no longer visible, or None for never.

    Raises:
        InvalidArgumentError: If the anchor is no TimeToLiveAnchor, ttl_days is illegal, or the anchor needs an
            ISO 8601 timestamp and there is none.

    Examples:
        >>> expiry(
        ...     ttl_days=1,
        ...     anchor=NOT_SET,
        ...     timestamp=None,
        ...     created_at=datetime(2026, 5, 1, tzinfo=timezone.utc),
        ...     retention=check_retention(None),
        ... ).isoformat()
        '2026-05-02T00:00:00+00:00'
    """
    if anchor is NOT_SET:
        anchor = TimeToLiveAnchor.CREATED_AT
    elif not isinstance(anchor, TimeToLiveAnchor):
        raise InvalidArgumentError(
            f"ttl_anchor must be a TimeToLiveAnchor, got {shown(anchor)}", argument="ttl_anchor"
        )
    days = _bounded_days(ttl_days, retention)
    if days is None:
        return None
    start = created_at
    if anchor is TimeToLiveAnchor.TIMESTAMP:
        parsed = parse_time(timestamp) if isinstance(timestamp, str) else None
        if parsed is None:
            raise InvalidArgumentError(
                f"ttl_anchor TIMESTAMP needs an ISO 8601 timestamp, got {shown(timestamp)}",
                argument="timestamp",
            )
        start = parsed
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return END_OF_TIME


def _bounded_days(ttl_days: float | None | NotSetType, retention: MemoryRetentionConfig) -> float | None:
    default, most = retention.default_ttl_days, retention.max_ttl_days
    assert default is not NOT_SET and most is not NOT_SET  # noqa: S101  check_retention resolves both
    if ttl_days is NOT_SET:
        return most if default is None else default
    days = check_ttl_days(ttl_days)
    if days is None or most is None:
        return most if days is None else days
    if days > most:
        warnings.warn(f"ttl_days {days} is above max_ttl_days {most} and was cut to it", stacklevel=2)
        return most
    return days


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a record with this expiry is no longer visible: from the very moment of its expiry on."""
    return expires_at is not None and expires_at <= now
