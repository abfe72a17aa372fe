"""Times to live resolve as recorded, except that parts of a day count and only numbers are numbers."""

from __future__ import annotations

import ast
import re
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.reference.backends import empty_client
from tests.reference.calls import Raised, cases, differences, outcome

from hitherto import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.lifetime import check_retention
from hitherto.notset import NOT_SET
from hitherto.testing.reference import ReferenceStore

pytestmark = pytest.mark.usefixtures("backend")

NOW = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
CONFIGS: dict[str, dict[str, int]] = {
    "none": {},
    "def30": {"default_ttl_days": 30},
    "max10": {"max_ttl_days": 10},
    "def5max10": {"default_ttl_days": 5, "max_ttl_days": 10},
}


def stored(config: dict[str, Any] | None = None) -> ReferenceStore:
    """Return a store whose clock stands still."""
    return ReferenceStore(memory_retention_config=MemoryRetentionConfig(**config or {}), clock=lambda: NOW)


def days_to_live(store: ReferenceStore, record_id: str) -> float | None:
    """Return in how many days a record expires."""
    end = store.record_expiration("fact", record_id)
    return None if end is None else (end - NOW) / timedelta(days=1)


def test_configurations_are_accepted_and_refused_as_recorded(reference_data: Path) -> None:
    """A store takes and refuses each recorded configuration, but for parts of a day, which count."""
    compared = []
    for case in cases(reference_data, "E_retention"):
        name = case["id"].partition("/")[2]
        if not case["id"].startswith("store_config/") or name in {"none", "dict"}:
            continue
        made = MemoryRetentionConfig(**ast.literal_eval(name))
        ours = outcome(lambda made=made: check_retention(made))
        if not isinstance(ours, Raised):
            ours = [ours.default_ttl_days, ours.max_ttl_days]
        compared.append((case, ours))
    assert len(compared) > 12
    assert differences(compared) == {"store_config/{'default_ttl_days': 1.5}": "returned"}


def test_a_configuration_itself_checks_nothing(reference_data: Path) -> None:
    """As recorded, values are kept as given until a store checks them."""
    for case in cases(reference_data, "E_retention_config"):
        given = re.fullmatch(r"MemoryRetentionConfig\((\{.*\})\)", case["call"])
        if given is None:
            continue
        made = MemoryRetentionConfig(**ast.literal_eval(given[1]))
        wanted = [NOT_SET if value == "<NOT_SET>" else value for value in case["returns"]]
        assert [made.default_ttl_days, made.max_ttl_days] == wanted


def test_times_to_live_resolve_as_recorded(reference_data: Path) -> None:
    """Default, maximum and what is given resolve as recorded for two records, with the recorded warning."""
    compared = 0
    for case in cases(reference_data, "E_retention"):
        if not case["id"].startswith("resolve/"):
            continue
        _, config, name = case["id"].split("/")
        text = case["call"].split("ttl_days=")[1]
        given = NOT_SET if text == "<NOT_SET>" else ast.literal_eval(text)
        if name in {"ttl_s", "ttl_b", "ttl_flt", "ttl_big"}:
            continue
        store = stored(CONFIGS[config])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = outcome(lambda store=store, given=given: store.add(["x", "y"], "fact", ttl_days=given))
        if "raises" in case:
            assert isinstance(made, Raised), case
            assert isinstance(made.error, ValueError), case
        else:
            # Zero days: it is gone, so no expiry is to be had any more.
            wanted = [None if days == 0 else days for days in case["returns"]]
            assert [days_to_live(store, record_id) for record_id in made] == wanted, case
        assert bool(caught) == bool(case.get("warnings")), case
        compared += 1
    assert compared == 36


@pytest.mark.parametrize("days", ["5", True, float("nan"), float("inf"), -0.5])
def test_only_numbers_are_numbers_of_days(days: Any) -> None:
    """Text, booleans and what is not finite are refused, where the recording turned them into numbers."""
    with pytest.raises(ValueError, match="ttl_days"):
        stored().add(["x"], "fact", ttl_days=days)


def test_parts_of_a_day_count() -> None:
    """Half a day is twelve hours, where the recording cut it to none."""
    store = stored()
    assert days_to_live(store, store.add(["x"], "fact", ttl_days=1.5)[0]) == 1.5


def test_the_anchor_timestamp_reads_what_was_recorded(reference_data: Path) -> None:
    """Each recorded form of a timestamp gives the recorded end, or is refused."""
    compared = 0
    for case in cases(reference_data, "E_retention"):
        if not case["id"].startswith("ts_anchor/"):
            continue
        timestamp = ast.literal_eval(case["id"].partition("/")[2])
        long_ago = ReferenceStore(clock=lambda: datetime(2024, 5, 1, tzinfo=timezone.utc))
        made = outcome(
            lambda timestamp=timestamp, store=long_ago: store.add(
                ["x"], "fact", timestamps=timestamp, ttl_days=2, ttl_anchor=TimeToLiveAnchor.TIMESTAMP
            )
        )
        if "raises" in case:
            assert isinstance(made, Raised), case
            assert isinstance(made.error, ValueError), case
        else:
            assert long_ago.record_expiration("fact", made[0]) == datetime.fromisoformat(case["returns"]), (
                case
            )
        compared += 1
    assert compared > 12


def test_a_change_of_content_keeps_the_expiry() -> None:
    """An update drops no time to live, at client and thread."""
    with empty_client() as memory:
        thread = memory.create_thread()
        name = thread.add_memory("x", memory_type="fact", ttl_days=3)
        (said,) = thread.add_messages([{"role": "user", "content": "x"}], ttl_days=3)
        ends = [memory.store.record_expiration(*key) for key in (("fact", name), ("message", said))]
        memory.update_memory(name, "y")
        thread.update_message(said, "y")
        assert None not in ends
        assert [memory.store.record_expiration(*key) for key in (("fact", name), ("message", said))] == ends
