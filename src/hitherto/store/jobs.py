"""Jobs: what is still to be done for what was stored, kept beside it so that it survives a crash.

A job goes from *gathering* (it collects messages until it is due) to *waiting*, *running* and then is gone; or it
ends as *failed* or *cancelled*, stays to be seen, and may be retried. Who runs it holds a lease and renews it; a job
whose lease ran out was left behind by a process that died, and is run again. The jobs of one thread run one after
another, in their order.

A backend gives a :class:`JobTable`: rows within a transaction. The rules are here, once.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hitherto.enums import TextEnum
from hitherto.errors import ConflictError
from hitherto.lifetime import parse_time

LEASE: Final = timedelta(seconds=60)
"""How long a running job counts as alive after its last sign of life."""


class JobState(TextEnum):
    """Where a job stands."""

    GATHERING = "gathering"
    WAITING = "waiting"
    RUNNING = "running"
    FAILED = "failed"
    CANCELLED = "cancelled"


PENDING: Final = (JobState.GATHERING, JobState.WAITING, JobState.RUNNING)
"""The states of what is still to come."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done for a thread.

    Attributes:
        kind: What is to be done, such as "extract".
        thread_id: For which thread.
        user_id: The thread's user, or None.
        payload: What it is about: a JSON object.
        created_at: When it was put, UTC.
        updated_at: When its state changed last, or its runner last gave a sign of life, UTC.
        state: Where it stands.
        attempts: How often it was begun.
        error: Why it failed, or None.
        owner: Who runs it, or None.
        id: Its id.
    """

    kind: str
    thread_id: str
    user_id: str | None
    payload: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    state: JobState = JobState.WAITING
    attempts: int = 0
    error: str | None = None
    owner: str | None = None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


class JobTable(ABC):
    """The jobs of a store within one transaction."""

    @abstractmethod
    def get(self, job_id: str) -> Job | None:
        """Return a job, or None."""

    @abstractmethod
    def put(self, job: Job) -> None:
        """Store a job, behind all others if it is new, in its old place if it is known."""

    @abstractmethod
    def remove(self, job_id: str) -> None:
        """Delete a job, if it is there."""

    @abstractmethod
    def find(
        self,
        *,
        states: Sequence[JobState],
        thread_id: str | None = None,
        user_id: str | None = None,
        kind: str | None = None,
    ) -> list[Job]:
        """Return jobs in their order.

        Args:
            states: Their states.
            thread_id: Only this thread's, or None for all.
            user_id: Only this user's, or None for all.
            kind: Only of this kind, or None for all.
        """

    @abstractmethod
    def count(self, *, states: Sequence[JobState], thread_id: str | None = None) -> int:
        """Return how many jobs there are."""

    @abstractmethod
    def first_waiting(self, *, busy: Sequence[str]) -> Job | None:
        """Return the first waiting job of a thread that is not busy, or None.

        Args:
            busy: The threads with a job that runs.
        """


JobStep: TypeAlias = Callable[[JobTable], None]
"""What is done to jobs in the transaction of a write."""


class MemoryJobs(JobTable):
    """Jobs in memory, for stores that keep none: they end with the process."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.RLock()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[JobTable]:
        """Give the table to one caller at a time; an error undoes what was done."""
        with self._lock:
            before = dict(self._jobs)
            try:
                yield self
            except BaseException:
                self._jobs = before
                raise

    def get(self, job_id: str) -> Job | None:
        """Return a job, or None."""
        return self._jobs.get(job_id)

    def put(self, job: Job) -> None:
        """Store a job."""
        self._jobs[job.id] = job

    def remove(self, job_id: str) -> None:
        """Delete a job."""
        self._jobs.pop(job_id, None)

    def find(
        self,
        *,
        states: Sequence[JobState],
        thread_id: str | None = None,
        user_id: str | None = None,
        kind: str | None = None,
    ) -> list[Job]:
        """Return jobs in their order."""
        return [
            job
            for job in self._jobs.values()
            if job.state in states
            and thread_id in (None, job.thread_id)
            and user_id in (None, job.user_id)
            and kind in (None, job.kind)
        ]

    def count(self, *, states: Sequence[JobState], thread_id: str | None = None) -> int:
        """Return how many jobs there are."""
        return len(self.find(states=states, thread_id=thread_id))

    def first_waiting(self, *, busy: Sequence[str]) -> Job | None:
        """Return the first waiting job of a thread that is not busy."""
        waiting = self.find(states=[JobState.WAITING])
        return next((job for job in waiting if job.thread_id not in busy), None)

    def drop(self, *, thread_id: str | None = None, user_id: str | None = None) -> None:
        """Forget the jobs of a thread or of a user that was deleted."""
        with self._lock:
            self._jobs = {
                key: job
                for key, job in self._jobs.items()
                if job.thread_id != thread_id and (user_id is None or job.user_id != user_id)
            }


def this_process() -> str:
    """Return a name of this process that no other has at the same time: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def is_abandoned(job: Job, *, now: datetime) -> bool:
    """Return whether a running job's runner is gone: its lease ran out, or its process on this host is no more.

    Args:
        job: A running job.
        now: The present time, UTC.
    """
    if now - job.updated_at > LEASE:
        return True
    host, _, number = (job.owner or "").rpartition(":")
    return host == socket.gethostname() and number.isdigit() and not _lives(int(number))


def _lives(process_id: int) -> bool:
    if os.name == "nt":  # there os.kill ends the process; the lease has to do
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def claim(table: JobTable, *, owner: str, now: datetime) -> Job | None:
    """Take the first job that may run, and mark it as running.

    Args:
        table: The jobs.
        owner: Who takes it.
        now: The present time, UTC.

    Returns:
        The job, or None if there is none to run.
    """
    running = table.find(states=[JobState.RUNNING])
    for job in running:
        if is_abandoned(job, now=now):
            return _begin(table, job, owner=owner, now=now)
    waiting = table.first_waiting(busy=[item.thread_id for item in running])
    return None if waiting is None else _begin(table, waiting, owner=owner, now=now)


def claim_one(table: JobTable, job_id: str, *, owner: str, now: datetime) -> Job | None:
    """Take one job, unless another runs it or its thread; return it, or None.

    Args:
        table: The jobs.
        job_id: The job.
        owner: Who takes it.
        now: The present time, UTC.
    """
    job = table.get(job_id)
    if job is None or job.state not in (JobState.WAITING, JobState.RUNNING):
        return None
    running = table.find(states=[JobState.RUNNING], thread_id=job.thread_id)
    if any(not is_abandoned(item, now=now) for item in running):
        return None
    return _begin(table, job, owner=owner, now=now)


def _begin(table: JobTable, job: Job, *, owner: str, now: datetime) -> Job:
    begun = replace(
        job,
        state=JobState.RUNNING,
        owner=owner,
        attempts=job.attempts + 1,
        error=None,
        updated_at=now,
    )
    table.put(begun)
    return begun


def check_owned(table: JobTable, job: Job) -> None:
    """Refuse to go on with a job that another has taken over or cancelled.

    Args:
        table: The jobs.
        job: The job as it was begun.

    Raises:
        ConflictError: If it is not this runner's any more.
    """
    now = table.get(job.id)
    if now is None or (now.state, now.owner, now.attempts) != (JobState.RUNNING, job.owner, job.attempts):
        raise ConflictError(f"job {job.id} was taken over or cancelled")


def renew(table: JobTable, job: Job, *, now: datetime) -> None:
    """Give a sign of life for a running job.

    Raises:
        ConflictError: If it is not this runner's any more.
    """
    check_owned(table, job)
    table.put(replace(job, updated_at=now))


def finish(table: JobTable, job: Job) -> None:
    """Remove a job that is done.

    Raises:
        ConflictError: If it is not this runner's any more.
    """
    check_owned(table, job)
    table.remove(job.id)


def hand_back(table: JobTable, job: Job, *, now: datetime) -> None:
    """Let a running job wait again, for another to take it.

    Raises:
        ConflictError: If it is not this runner's any more.
    """
    check_owned(table, job)
    table.put(replace(job, state=JobState.WAITING, owner=None, updated_at=now))


def fail(table: JobTable, job: Job, error: str, *, now: datetime) -> None:
    """Keep a job that failed, with the reason.

    Args:
        table: The jobs.
        job: The job as it was begun.
        error: Why.
        now: The present time, UTC.
    """
    stored = table.get(job.id)
    if stored is not None and (stored.owner, stored.attempts) == (job.owner, job.attempts):
        table.put(replace(stored, state=JobState.FAILED, owner=None, error=error, updated_at=now))


def retry(table: JobTable, jobs: Iterable[Job], *, now: datetime) -> int:
    """Let jobs that failed or were cancelled wait again; return how many."""
    again = [job for job in jobs if job.state in (JobState.FAILED, JobState.CANCELLED)]
    for job in again:
        table.put(replace(job, state=JobState.WAITING, owner=None, updated_at=now))
    return len(again)


def cancel(table: JobTable, jobs: Iterable[Job], *, now: datetime) -> int:
    """Cancel jobs that are still to come, those that run too; return how many."""
    stopped = [job for job in jobs if job.state in PENDING]
    for job in stopped:
        table.put(replace(job, state=JobState.CANCELLED, owner=None, updated_at=now))
    return len(stopped)


def to_payload(job: Job) -> dict[str, Any]:
    """Return what a table with a column for the payload stores in it: the payload and the owner."""
    return {"owner": job.owner, "job": job.payload}


def from_row(row: Any, payload: dict[str, Any]) -> Job:
    """Return a job from a row.

    Args:
        row: With the columns of the table ``jobs``.
        payload: Its payload, as :func:`to_payload` made it.
    """
    return Job(
        kind=row.kind,
        thread_id=row.thread_id,
        user_id=row.user_id,
        payload=payload["job"],
        created_at=_stored_time(row.created_at),
        updated_at=_stored_time(row.updated_at),
        state=JobState(row.state),
        attempts=row.attempts,
        error=row.error,
        owner=payload["owner"],
        id=row.id,
    )


def _stored_time(text: str) -> datetime:
    moment = parse_time(text)
    assert moment is not None  # noqa: S101  what is stored was written by format_time
    return moment
