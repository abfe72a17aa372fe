"""Times and lifetimes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from hitherto.errors import InvalidArgumentError
from hitherto.lifetime import (
    END_OF_TIME,
    MemoryRetentionConfig,
    TimeToLiveAnchor,
    check_retention,
    check_ttl_days,
    expiry,
    format_time,
    is_expired,
    parse_time,
    utc_now,
)
from hitherto.notset import NOT_SET

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def ends(ttl_days: Any = NOT_SET, anchor: Any = NOT_SET, timestamp: Any = None, **config: Any) -> Any:
    """Return when a record that is stored at noon expires."""
    return expiry(
        ttl_days=ttl_days,
        anchor=anchor,
        timestamp=timestamp,
        created_at=NOON,
        retention=check_retention(MemoryRetentionConfig(**config)),
    )


def days(**arguments: Any) -> float | None:
    """Return the days to live of a record that is stored at noon."""
    end = ends(**arguments)
    return None if end is None else (end - NOON) / timedelta(days=1)


def test_times_are_written_in_one_form() -> None:
    """UTC with microseconds, whatever the zone that came; a time without one is UTC."""
    assert format_time(NOON) == "2026-05-01T12:00:00.000000+00:00"
    assert format_time(NOON.replace(tzinfo=None)) == format_time(NOON)
    assert format_time(NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))) == format_time(NOON)
    assert utc_now().tzinfo is timezone.utc


def test_written_times_sort_as_text() -> None:
    """Order of text is order of time, also around a whole second."""
    moments = [NOON + timedelta(microseconds=step) for step in (0, 1, 10, 999_999, 1_000_000)]
    texts = [format_time(moment) for moment in moments]
    assert sorted(texts) == texts
    assert [parse_time(text) for text in texts] == moments


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-01T12:00:00Z",
        "2026-05-01T12:00:00+00:00",
        "2026-05-01T12:00:00",
        " 2026-05-01 12:00 ",
        "2026-05-01T12",
        "20260501T120000Z",
        "20260501T1200",
        "2026-05-01T14:00:00+02:00",
        "2026-05-01T14:00:00 +0200",
        "2026-05-01T06:30-05:30",
        "2026-05-01T12:00:00.000000000Z",
        "2026-05-01T12:00:00,0",
    ],
)
def test_the_usual_forms_are_read(text: str) -> None:
    """Extended and basic forms, with any number of decimals and any offset, in every version of Python."""
    assert parse_time(text) == NOON


def test_decimals_beyond_microseconds_are_cut() -> None:
    """Nanoseconds, as other languages write them, are read."""
    assert parse_time("2026-05-01T12:00:00.123456789Z") == NOON + timedelta(microseconds=123456)
    assert parse_time("2026-05-01T12:00:00.5") == NOON + timedelta(microseconds=500_000)
    assert parse_time("2026-05-01") == NOON - timedelta(hours=12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "last Tuesday",
        "1714557600",
        "2026-13-01",
        "2026-02-30",
        "2026-05-01T25:00",
        "2026-05-01T12:00:00z",
        "2026-5-1",
        "26-05-01",
        "2026-W18-5",
        "2026-0501",
        "2026-05-01T12:00+24:00",
        "٢٠٢٦-05-01",
        "0001-01-01T00:00:00+05:00",
        "2026-05-01T12:00:00Z x",
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    """What is not such a form, or names no moment, is None and never an exception."""
    assert parse_time(text) is None


@pytest.mark.parametrize(
    ("config", "most", "default"),
    [
        ({}, None, None),
        ({"default_ttl_days": 30}, None, 30),
        ({"max_ttl_days": 90}, 90, 90),
        ({"default_ttl_days": 5, "max_ttl_days": 10}, 10, 5),
        ({"default_ttl_days": None, "max_ttl_days": 10}, 10, 10),
        ({"default_ttl_days": 0, "max_ttl_days": 0}, 0, 0),
    ],
)
def test_omitted_is_the_default_and_none_the_maximum(
    config: dict[str, Any], most: float | None, default: float | None
) -> None:
    """Without a time to live the default holds, which is the maximum where only that is set; None is the maximum."""
    assert days(**config) == default
    assert days(ttl_days=None, **config) == most


def test_more_than_the_maximum_is_cut_with_a_warning() -> None:
    """The maximum holds, and the caller is told."""
    with pytest.warns(UserWarning, match=r"ttl_days 50 .*max_ttl_days 10"):
        assert days(ttl_days=50, max_ttl_days=10) == 10
    assert days(ttl_days=10, max_ttl_days=10) == 10
    assert days(ttl_days=0.25) == 0.25


@pytest.mark.parametrize("bad", [-1, -0.5, "5", True, float("nan"), float("inf"), [1]])
def test_illegal_days_are_refused(bad: Any) -> None:
    """Days are a finite number from 0 on, in a record as in a configuration."""
    with pytest.raises(InvalidArgumentError, match="ttl_days"):
        check_ttl_days(bad)
    for name in ("default_ttl_days", "max_ttl_days"):
        with pytest.raises(InvalidArgumentError, match=name):
            check_retention(MemoryRetentionConfig(**{name: bad}))


def test_a_configuration_must_fit_together() -> None:
    """The default is at most the maximum; something else is no configuration; none is no limit."""
    with pytest.raises(InvalidArgumentError, match="default_ttl_days must be at most"):
        check_retention(MemoryRetentionConfig(90, 30))
    with pytest.raises(InvalidArgumentError, match="memory_retention_config"):
        check_retention({})  # type: ignore[arg-type]
    assert check_retention(None) == MemoryRetentionConfig(None, None)
    assert check_retention(MemoryRetentionConfig(0, 0)) == MemoryRetentionConfig(0, 0)


def test_an_anchor_in_the_records_own_time() -> None:
    """Days count from the record's own time where that is the anchor, else from when it was stored."""
    own = TimeToLiveAnchor.TIMESTAMP
    assert ends(2, own, "2024-05-01") == datetime(2024, 5, 3, tzinfo=timezone.utc)
    assert ends(2, TimeToLiveAnchor.CREATED_AT, "2024-05-01") == NOON + timedelta(days=2)
    for timestamp in (None, "", "last week", 5):
        with pytest.raises(InvalidArgumentError, match="timestamp"):
            ends(2, own, timestamp)
    assert ends(None, own, None) is None


@pytest.mark.parametrize("bad", ["timestamp", None])
def test_an_anchor_is_the_enum(bad: Any) -> None:
    """The anchor's text is not the anchor."""
    with pytest.raises(InvalidArgumentError, match="ttl_anchor"):
        ends(2, bad)
    assert TimeToLiveAnchor.TIMESTAMP != "timestamp"


def test_a_life_longer_than_the_calendar_ends_with_it() -> None:
    """Ten million days are no overflow."""
    assert ends(10_000_000) == END_OF_TIME
    assert ends(1e308) == END_OF_TIME


def test_the_moment_of_expiry_is_expired() -> None:
    """A record is gone from the very moment of its expiry on."""
    assert is_expired(NOON, NOON)
    assert not is_expired(NOON + timedelta(microseconds=1), NOON)
    assert not is_expired(None, NOON)
    assert ends(0) == NOON
