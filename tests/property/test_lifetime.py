"""Times and lifetimes, for any time and any number of days."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from hitherto.lifetime import (
    END_OF_TIME,
    MemoryRetentionConfig,
    check_retention,
    expiry,
    format_time,
    is_expired,
    parse_time,
)
from hitherto.notset import NOT_SET

OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=OFFSETS)


@given(moment=MOMENTS)
def test_a_written_time_is_read_as_itself(moment: datetime) -> None:
    """What format_time writes and what isoformat writes mean the same moment."""
    assert parse_time(format_time(moment)) == moment
    assert parse_time(moment.isoformat()) == moment


@given(left=MOMENTS, right=MOMENTS)
def test_text_order_is_time_order(left: datetime, right: datetime) -> None:
    """Written times compare as texts like the moments that they are."""
    assert (format_time(left) < format_time(right)) == (left < right)


@given(text=st.text(max_size=40))
def test_any_text_is_a_time_or_none(text: str) -> None:
    """No text makes reading a time fail; what is read is in UTC."""
    found = parse_time(text)
    assert found is None or found.utcoffset() == timedelta(0)


@given(
    days=st.just(NOT_SET) | st.none() | st.floats(0, 1e300),
    default=st.none() | st.floats(0, 50),
    more=st.none() | st.floats(0, 50),
    created=MOMENTS,
)
def test_no_record_outlives_the_maximum(days: float, default: float, more: float, created: datetime) -> None:
    """Whatever is asked for, a record is visible when made unless its days are none, and gone after the maximum."""
    most = None if more is None else (default or 0) + more
    retention = check_retention(MemoryRetentionConfig(default, most))
    if most is not None and isinstance(days, float):
        days = min(days, most)
    end = expiry(ttl_days=days, anchor=NOT_SET, timestamp=None, created_at=created, retention=retention)
    assert end is None or created <= end or end == END_OF_TIME
    if most is not None:
        assert end is not None
        assert is_expired(end, created + timedelta(days=most))
