"""What adding messages leaves to be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from hitherto.extraction.config import ExtractionSettings
from hitherto.extraction.intake import Intake
from hitherto.extraction.queue import JobQueue
from hitherto.records import ThreadRecord
from hitherto.store.jobs import PENDING, JobTable, MemoryJobs


@pytest.mark.parametrize(
    "note",
    [
        lambda intake, table: intake.note_added(table, ["m"]),
        lambda intake, table: intake.note_changed(table, "m"),
    ],
    ids=["added", "changed"],
)
def test_a_transaction_that_is_run_again_leaves_only_its_own_jobs(
    note: Callable[[Intake, JobTable], None],
) -> None:
    """Where a store undoes a transaction and runs it again, nothing is due that is not stored."""
    settings = ExtractionSettings(extract_memories=True)
    intake, table = Intake(ThreadRecord(id="t"), settings, cast(JobQueue, None)), MemoryJobs()
    note(intake, MemoryJobs())
    note(intake, table)
    assert len(intake.due) == 1
    assert table.find(states=PENDING) == intake.due
