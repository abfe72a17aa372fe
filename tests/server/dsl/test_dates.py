"""Dates of queries."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.dsl.searching import NOW

from hitherto.server.dsl.dates import read_date, stored_millis, written
from hitherto.server.dsl.errors import ShardError

_DAY = 86_400_000
_FEB_3 = 1_706_918_400_000  # 2024-02-03T00:00:00Z


def _at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("value", "format", "zone", "first", "last"),
    [
        ("2024-02-03T23:04:15.554370024Z", None, None, _FEB_3 + 83_055_554, _FEB_3 + 83_055_554),
        ("2024-02-03T23:04:15.5+01:00", None, None, _FEB_3 + 79_455_500, _FEB_3 + 79_455_500),
        ("2024-02-03T23:04:15.000-0130", None, None, _FEB_3 + 88_455_000, _FEB_3 + 88_455_000),
        (_FEB_3, None, None, _FEB_3, _FEB_3),
        (float(_FEB_3), None, None, _FEB_3, _FEB_3),
        (str(_FEB_3), None, None, _FEB_3, _FEB_3),
        ("-5", None, None, -5, -5),
        ("2024-02-03", None, None, _FEB_3, _FEB_3 + _DAY - 1),
        ("2024-02-03T01", None, None, _FEB_3 + 3_600_000, _FEB_3 + 7_200_000 - 1),
        ("2024-02-03", "yyyy-MM-dd", "+02:00", _FEB_3 - 7_200_000, _FEB_3 + _DAY - 7_200_000 - 1),
        ("2024-02-03", "yyyy-MM-dd", "Europe/Berlin", _FEB_3 - 3_600_000, _FEB_3 + _DAY - 3_600_000 - 1),
        ("20240203", "basic_date", None, _FEB_3, _FEB_3 + _DAY - 1),
        ("03.02.2024 10:20", "dd.MM.yyyy HH:mm", None, _FEB_3 + 37_200_000, _FEB_3 + 37_260_000 - 1),
        ("2024", "strict_year", None, _at("2024-01-01T00:00:00+00:00"), _at("2025-01-01T00:00:00+00:00") - 1),
        ("2024-02", "yyyy-MM", None, _at("2024-02-01T00:00:00+00:00"), _at("2024-03-01T00:00:00+00:00") - 1),
        (_FEB_3 // 1000, "epoch_second", None, _FEB_3, _FEB_3 + 999),
        ("2024-02-03", "epoch_millis||yyyy-MM-dd", None, _FEB_3, _FEB_3 + _DAY - 1),
        ("2024-02-03'T'10", "yyyy-MM-dd''\\'T''HH", None, None, None),
        ("2024-02-03T10", "yyyy-MM-dd'T'HH", None, _FEB_3 + 36_000_000, _FEB_3 + 39_600_000 - 1),
    ],
)
def test_dates_are_read(
    value: object, format: str | None, zone: str | None, first: int | None, last: int | None
) -> None:
    """A date is read by its format and zone, and what it leaves open reaches to the end of its unit."""
    if first is None:
        with pytest.raises(ShardError):
            read_date(value, now=NOW, format=format, time_zone=zone)
        return
    moment = read_date(value, now=NOW, format=format, time_zone=zone)
    assert (moment.first, moment.last) == (first, last)


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        ("now", "2024-02-10T12:30:00+00:00", None),
        ("now-1h", "2024-02-10T11:30:00+00:00", None),
        ("now+1h+30m-10s", "2024-02-10T13:59:50+00:00", None),
        ("now/d", "2024-02-10T00:00:00+00:00", "2024-02-11T00:00:00+00:00"),
        ("now-1d/d", "2024-02-09T00:00:00+00:00", "2024-02-10T00:00:00+00:00"),
        ("now/w", "2024-02-05T00:00:00+00:00", "2024-02-12T00:00:00+00:00"),
        ("now/M", "2024-02-01T00:00:00+00:00", "2024-03-01T00:00:00+00:00"),
        ("now/y", "2024-01-01T00:00:00+00:00", "2025-01-01T00:00:00+00:00"),
        ("now/h", "2024-02-10T12:00:00+00:00", "2024-02-10T13:00:00+00:00"),
        ("now/m", "2024-02-10T12:30:00+00:00", "2024-02-10T12:31:00+00:00"),
        ("now/d-1M", "2024-01-10T00:00:00+00:00", "2024-01-11T00:00:00+00:00"),
        ("2024-01-31T00:00:00.000Z||+1M", "2024-02-29T00:00:00+00:00", None),
        ("2024-02-29T00:00:00.000Z||+1y/M", "2025-02-01T00:00:00+00:00", "2025-03-01T00:00:00+00:00"),
    ],
)
def test_date_math(value: str, first: str, last: str | None) -> None:
    """Steps are taken in order, and rounding goes to the start or the end of a unit."""
    moment = read_date(value, now=NOW)
    assert moment.first == _at(first)
    assert moment.last == (_at(last) - 1 if last else moment.first)


@pytest.mark.parametrize(
    "value",
    [
        "abc", "", "now-", "now-1x", "now/2d", "now1d", "2024-02-30", "2024-13-01", "2024-02-03||foo", True, None,
        "now+99999999999999999999y", "now+999999999d", "9999-12-31||+1y", "12345678901234567890",
        "2024-02-03T25:00:00.000Z", [], 1e300,
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused(value: object) -> None:
    """A value that is no date is refused by name, whatever is wrong with it."""
    with pytest.raises(ShardError) as caught:
        read_date(value, now=NOW)
    assert caught.value.root_cause_type == "parse_exception"


@pytest.mark.parametrize(
    ("format", "zone"), [("qqq", None), ("yyyy-yyyy", None), (None, "Mars/Base"), (None, "../x")]
)
def test_unknown_formats_and_zones_are_refused(format: str | None, zone: str | None) -> None:
    """A format or zone that nobody knows is refused."""
    with pytest.raises(ShardError):
        read_date("2024", now=NOW, format=format, time_zone=zone)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (None, "2024-02-03T23:04:15.554Z"),
        ("strict_date_time||epoch_millis", "2024-02-03T23:04:15.554Z"),
        ("date_optional_time", "2024-02-03T23:04:15.554Z"),
        ("epoch_millis", "1707001455554"),
        ("epoch_second", "1707001455"),
        ("yyyy/MM/dd HH:mm:ss", "2024/02/03 23:04:15"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2024-02-03T23:04:15.554+00:00"),
        ("basic_date", "20240203"),
        ("yy q", "24 q"),
    ],
)
def test_dates_are_written(format: str | None, text: str) -> None:
    """A date is written in the first of the formats that are asked for."""
    assert written(1_707_001_455_554, format) == text


def test_dates_beyond_the_calendar_are_written_as_numbers() -> None:
    """A number that no calendar reaches stays a number."""
    assert written(10**18) == str(10**18)


@pytest.mark.parametrize("value", [None, "x", "now", True, {"a": 1}])
def test_what_is_stored_wrongly_is_no_date(value: object) -> None:
    """A stored value that is no date counts as missing."""
    assert stored_millis(value) is None


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1)))
def test_written_dates_are_read_again(moment: datetime) -> None:
    """What is written means the same when it is read, to the millisecond."""
    millis = (moment.replace(tzinfo=timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(
        milliseconds=1
    )
    assert stored_millis(written(millis)) == millis
