"""Jobs in the table of that name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, func, insert, select, update

from hitherto.lifetime import format_time
from hitherto.store.jobs import Job, JobState, JobTable, from_row, to_payload
from hitherto.store.sql.tables import jobs

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

_ORDER: Final = jobs.c.job_no


class SqlJobs(JobTable):
    """The jobs of a database within one transaction.

    Args:
        conn: A connection in a transaction; a write transaction, if something is changed.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def get(self, job_id: str) -> Job | None:
        """Return a job, or None."""
        return self._first(select(jobs).where(jobs.c.id == job_id))

    def put(self, job: Job) -> None:
        """Store a job."""
        values = {
            "kind": job.kind,
            "thread_id": job.thread_id,
            "user_id": job.user_id,
            "payload": json.dumps(to_payload(job), ensure_ascii=False),
            "state": job.state.value,
            "attempts": job.attempts,
            "error": job.error,
            "created_at": format_time(job.created_at),
            "updated_at": format_time(job.updated_at),
        }
        changed = self._conn.execute(update(jobs).where(jobs.c.id == job.id).values(values))
        if not changed.rowcount:
            self._conn.execute(insert(jobs).values(id=job.id, **values))

    def remove(self, job_id: str) -> None:
        """Delete a job."""
        self._conn.execute(delete(jobs).where(jobs.c.id == job_id))

    def find(
        self,
        *,
        states: Sequence[JobState],
        thread_id: str | None = None,
        user_id: str | None = None,
        kind: str | None = None,
    ) -> list[Job]:
        """Return jobs in their order."""
        wanted = _conditions(states, thread_id=thread_id, user_id=user_id, kind=kind)
        rows = self._conn.execute(select(jobs).where(*wanted).order_by(_ORDER)).all()
        return [_job(row) for row in rows]

    def count(self, *, states: Sequence[JobState], thread_id: str | None = None) -> int:
        """Return how many jobs there are."""
        wanted = _conditions(states, thread_id=thread_id)
        return self._conn.execute(select(func.count()).select_from(jobs).where(*wanted)).scalar_one()

    def first_waiting(self, *, busy: Sequence[str]) -> Job | None:
        """Return the first waiting job of a thread that is not busy."""
        wanted = [*_conditions([JobState.WAITING]), jobs.c.thread_id.not_in(busy)]
        return self._first(select(jobs).where(*wanted).order_by(_ORDER).limit(1))

    def _first(self, statement: Any) -> Job | None:
        row = self._conn.execute(statement).first()
        return None if row is None else _job(row)


def _conditions(states: Sequence[JobState], **equal: str | None) -> list[ColumnElement[bool]]:
    named = [jobs.c[name] == value for name, value in equal.items() if value is not None]
    return [jobs.c.state.in_([state.value for state in states]), *named]


def _job(row: Any) -> Job:
    return from_row(row, json.loads(row.payload))
