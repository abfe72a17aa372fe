"""Lifetime: expiry, retention and times."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ManualClock, ids


class LifetimeConformance(ConformanceBase):
    """Expiry and retention."""

    def test_an_expired_record_is_gone_at_once(self, store: MemoryStore, clock: ManualClock) -> None:
        """From the moment of its expiry on, no read shows a record and no update touches it."""
        store.add(["tea"], "fact", record_ids="x", user_ids="u", ttl_days=1)
        clock.advance(days=1, microseconds=-1)
        assert ids(store.search("tea", 1)) == ["x"]
        clock.advance(microseconds=1)
        assert store.get("fact", "x") is None
        assert store.list("fact") == []
        assert store.search("tea", 1) == []
        assert store.update("fact", "x", content="new") == 0
        assert store.delete("fact", "x") == 0

    def test_expiry_is_applied_before_the_cut(self, store: MemoryStore, clock: ManualClock) -> None:
        """Expired records take no place among the k hits."""
        store.add(["exactly tea"] * 20, "fact", ttl_days=1)
        lasting = store.add(["tea"] * 3, "fact")
        clock.advance(days=2)
        assert sorted(ids(store.search("exactly tea", 3))) == sorted(lasting)

    def test_a_part_of_a_day_is_enough(self, store: MemoryStore, clock: ManualClock) -> None:
        """Expiry can be finer than a day."""
        store.add(["tea"], "fact", record_ids="x", ttl_days=1 / 24)
        clock.advance(minutes=59)
        assert store.get("fact", "x") is not None
        clock.advance(minutes=1)
        assert store.get("fact", "x") is None

    def test_anchors(self, store: MemoryStore, clock: ManualClock) -> None:
        """Days count from creation, or from the record's own time, which may lie in the past."""
        store.add(["a"], "fact", record_ids="created", ttl_days=2, timestamps="2020-01-01")
        own = TimeToLiveAnchor.TIMESTAMP
        store.add(
            ["b"],
            "fact",
            record_ids="own",
            ttl_days=2,
            ttl_anchor=own,
            timestamps="2026-01-05T00:00:00+02:00",
        )
        store.add(["c"], "fact", record_ids="past", ttl_days=2, ttl_anchor=own, timestamps="2020-01-01")
        assert store.record_expiration("fact", "created") == clock() + timedelta(days=2)
        assert store.record_expiration("fact", "own") == datetime(2026, 1, 6, 22, tzinfo=timezone.utc)
        assert store.get("fact", "past") is None

    def test_the_default_and_the_maximum_hold(self, tmp_path: Path, clock: ManualClock) -> None:
        """Without a time to live the default holds; more than the maximum is cut, with a warning."""
        retention = MemoryRetentionConfig(default_ttl_days=3, max_ttl_days=10)
        with self.make_store(tmp_path, clock=clock, memory_retention_config=retention) as store:
            store.add(["a"], "fact", record_ids="default")
            store.add(["a"], "fact", record_ids="none", ttl_days=None)
            with pytest.warns(UserWarning, match="max_ttl_days"):
                store.add(["a"], "fact", record_ids="long", ttl_days=99)
            assert store.record_expiration("fact", "default") == clock() + timedelta(days=3)
            assert store.record_expiration("fact", "none") == clock() + timedelta(days=10)
            assert store.record_expiration("fact", "long") == clock() + timedelta(days=10)

    @pytest.mark.parametrize("bad", [-1, "5", True, float("nan"), float("inf")])
    def test_a_bad_time_to_live_is_refused(self, store: MemoryStore, bad: Any) -> None:
        """Days are a finite number from 0 on."""
        with pytest.raises((InvalidArgumentError, ArgumentTypeError)):
            store.add(["a"], "fact", ttl_days=bad)
        assert store.list("fact") == []

    def test_an_anchor_needs_its_time(self, store: MemoryStore) -> None:
        """The anchor TIMESTAMP needs an ISO 8601 time."""
        for time in (None, "yesterday"):
            with pytest.raises(InvalidArgumentError, match="timestamp"):
                store.add(["a"], "fact", ttl_days=1, ttl_anchor=TimeToLiveAnchor.TIMESTAMP, timestamps=time)

    def test_an_update_renews_only_what_it_names(self, store: MemoryStore, clock: ManualClock) -> None:
        """A new time to live counts from creation again; None takes the end away."""
        store.add(["a"], "fact", record_ids="x", ttl_days=1)
        store.update("fact", "x", metadata={"k": 1})
        assert store.record_expiration("fact", "x") == clock() + timedelta(days=1)
        store.update("fact", "x", ttl_days=5)
        assert store.record_expiration("fact", "x") == clock() + timedelta(days=5)
        store.update("fact", "x", ttl_days=None)
        assert store.record_expiration("fact", "x") is None

    def test_purging_deletes_what_has_expired(self, store: MemoryStore, clock: ManualClock) -> None:
        """A purge counts what it deletes and touches nothing else."""
        store.add(["a"] * 3, "fact", ttl_days=1)
        lasting = store.add(["a"], "fact")
        clock.advance(days=1)
        assert store.purge_expired() == 3
        assert store.purge_expired() == 0
        assert ids(store.list("fact")) == lasting

    def test_an_expired_id_can_be_used_again(self, store: MemoryStore, clock: ManualClock) -> None:
        """What has expired does not exist, so its id is free."""
        store.add(["old"], "fact", record_ids="x", ttl_days=1)
        clock.advance(days=1)
        store.add(["new"], "fact", record_ids="x")
        found = store.get("fact", "x")
        assert found is not None
        assert found.content == "new"

    def test_times_do_not_depend_on_the_zone_of_the_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Naive and aware times mix, and mean UTC, wherever the program runs."""
        import time

        monkeypatch.setenv("TZ", "America/Los_Angeles")
        if hasattr(time, "tzset"):
            time.tzset()
        try:
            with self.make_store(tmp_path) as store:
                own = TimeToLiveAnchor.TIMESTAMP
                for name, moment in (
                    ("naive", "2999-01-01T00:00:00"),
                    ("aware", "2999-01-01T02:00:00+02:00"),
                ):
                    store.add(["a"], "fact", record_ids=name, ttl_days=1, ttl_anchor=own, timestamps=moment)
                ends = {store.record_expiration("fact", name) for name in ("naive", "aware")}
                assert ends == {datetime(2999, 1, 2, tzinfo=timezone.utc)}
                assert len(store.list("fact")) == 2
        finally:
            monkeypatch.undo()
            if hasattr(time, "tzset"):
                time.tzset()
