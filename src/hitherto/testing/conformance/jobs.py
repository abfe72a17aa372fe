"""Jobs: kept beside the records, in one transaction with them, in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hitherto.store.base import MemoryStore, PendingRecordBatch
from hitherto.store.jobs import PENDING, Job, JobState
from hitherto.testing.conformance.base import ConformanceBase, ManualClock, ids


def _job(clock: ManualClock, job_id: str, thread_id: str = "t1", **fields: Any) -> Job:
    given: dict[str, Any] = {"user_id": "u1", "payload": {"n": [1, "ü"]}, "kind": "extract", **fields}
    return Job(thread_id=thread_id, id=job_id, created_at=clock(), updated_at=clock(), **given)


def _put(store: MemoryStore, *jobs: Job) -> None:
    def step(table: Any) -> None:
        for job in jobs:
            table.put(job)

    store.transact_jobs(step)


def _found(store: MemoryStore, **wanted: Any) -> list[str]:
    found = store.transact_jobs(lambda table: table.find(**{"states": PENDING, **wanted}))
    return [job.id for job in found]


class JobConformance(ConformanceBase):
    """Jobs."""

    def test_a_job_comes_back_as_it_was_put(self, store: MemoryStore, clock: ManualClock) -> None:
        """All fields come back; putting it again changes it; a removed one is gone."""
        job = _job(clock, "j1", owner="me", attempts=2, error="why", state=JobState.RUNNING)
        _put(store, job)
        assert store.transact_jobs(lambda table: table.get("j1")) == job
        job = replace(job, state=JobState.FAILED, updated_at=job.updated_at + timedelta(seconds=5))
        _put(store, job)
        assert store.transact_jobs(lambda table: table.get("j1")) == job
        store.transact_jobs(lambda table: table.remove("j1"))
        assert store.transact_jobs(lambda table: table.get("j1")) is None

    def test_jobs_are_found_in_order_by_what_is_asked(self, store: MemoryStore, clock: ManualClock) -> None:
        """State, thread, user and kind narrow; the order is that in which they were put, whatever changes later."""
        first, second = _job(clock, "b"), _job(clock, "a", "t2", user_id="u2", kind="caption")
        _put(store, first, second, _job(clock, "c", state=JobState.FAILED))
        _put(store, replace(first, attempts=1))
        assert _found(store) == ["b", "a"]
        assert (
            _found(store, thread_id="t2")
            == _found(store, user_id="u2")
            == _found(store, kind="caption")
            == ["a"]
        )
        assert _found(store, states=[JobState.FAILED]) == ["c"]
        assert store.transact_jobs(lambda table: table.count(states=PENDING, thread_id="t1")) == 1

    def test_the_first_waiting_job_of_a_free_thread_is_next(
        self, store: MemoryStore, clock: ManualClock
    ) -> None:
        """Jobs of busy threads and jobs that do not wait are passed over."""
        _put(store, _job(clock, "a", state=JobState.RUNNING), _job(clock, "b"), _job(clock, "c", "t2"))

        def first(*busy: str) -> str | None:
            job = store.transact_jobs(lambda table: table.first_waiting(busy=busy))
            return None if job is None else job.id

        assert (first(), first("t1"), first("t1", "t2")) == ("b", "c", None)

    def test_what_raises_leaves_the_jobs_as_they_were(self, store: MemoryStore, clock: ManualClock) -> None:
        """A step is done as a whole or not at all."""
        _put(store, _job(clock, "a"))

        def step(table: Any) -> None:
            table.remove("a")
            table.put(_job(clock, "b"))
            raise LookupError("stop")

        with pytest.raises(LookupError, match="stop"):
            store.transact_jobs(step)
        assert _found(store) == ["a"]

    def test_looking_sees_what_was_put(self, store: MemoryStore, clock: ManualClock) -> None:
        """A look finds what a step has put, and what it returns comes back."""
        job = _job(clock, "a")
        _put(store, job)
        assert store.read_jobs(lambda table: table.get("a")) == job
        assert store.read_jobs(lambda table: table.count(states=PENDING)) == 1

    def test_records_and_their_job_are_stored_together(self, store: MemoryStore, clock: ManualClock) -> None:
        """A job that goes with records is there with them, and is not there without them."""
        batch = PendingRecordBatch(contents=["one"], record_type="fact", record_ids="f1")
        store.add_batches([batch], also=lambda table: table.put(_job(clock, "a")))
        assert (ids(store.list("fact")), _found(store)) == (["f1"], ["a"])
        with pytest.raises(ValueError, match="f1"):
            store.add_batches([batch], also=lambda table: table.put(_job(clock, "b")))
        assert _found(store) == ["a"]
        assert store.update("fact", "f1", content="two", also=lambda table: table.put(_job(clock, "c"))) == 1
        assert store.update("fact", "f2", content="two", also=lambda table: table.put(_job(clock, "d"))) == 0
        assert _found(store) == ["a", "c"]

    def test_steps_of_many_threads_do_not_overwrite_each_other(
        self, store: MemoryStore, clock: ManualClock
    ) -> None:
        """8 threads that count a job up 10 times each leave 80."""
        _put(store, _job(clock, "a", payload={"n": 0}))

        def step(table: Any) -> None:
            job = table.get("a")
            table.put(replace(job, payload={"n": job.payload["n"] + 1}))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: [store.transact_jobs(step) for _ in range(10)], range(8)))
        job = store.transact_jobs(lambda table: table.get("a"))
        assert job is not None
        assert job.payload == {"n": 80}

    @pytest.mark.usefixtures("kept")
    def test_jobs_are_there_when_the_store_is_opened_again(self, tmp_path: Path, clock: ManualClock) -> None:
        """What was put in one store is found in the next."""
        job = _job(clock, "a")
        with self.make_store(tmp_path, clock=clock) as store:
            _put(store, job)
        with self.make_store(tmp_path, clock=clock) as store:
            assert store.transact_jobs(lambda table: table.get("a")) == job
