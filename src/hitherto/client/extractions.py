"""A client's verbs on what is still to be extracted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.lifetime import utc_now
from hitherto.notset import NOT_SET, NotSetType
from hitherto.scope import check_id
from hitherto.session import DEFAULT_TIMEOUT_S
from hitherto.store import jobs
from hitherto.store.jobs import Job, JobState, JobTable


@dataclass(frozen=True, slots=True)
class Extraction:
    """Something that is still to be done for a thread's messages, or could not be done.

    Attributes:
        id: Its id.
        kind: "extract", "summarise" or "caption".
        state: Where it stands.
        thread_id: The thread.
        user_id: The thread's user, or None.
        message_ids: The messages that it is about.
        attempts: How often it was begun.
        error: Why it failed, or None.
        created_at: When it came up, UTC.
        updated_at: When its state changed last, UTC.
    """

    id: str
    kind: str
    state: JobState
    thread_id: str
    user_id: str | None
    message_ids: tuple[str, ...]
    attempts: int
    error: str | None
    created_at: datetime
    updated_at: datetime


class _Change(Protocol):
    def __call__(self, table: JobTable, jobs: Iterable[Job], /, *, now: datetime) -> int: ...


class ExtractionVerbs(ClientVerbs):
    """What is still to be extracted, in all threads."""

    def list_extractions(
        self,
        *,
        thread_id: str | NotSetType = NOT_SET,
        user_id: str | NotSetType = NOT_SET,
        states: Iterable[JobState | str] | NotSetType = NOT_SET,
    ) -> list[Extraction]:
        """Return what is still to be extracted, or could not be, in its order. What is done is not among it.

        Args:
            thread_id: Only of this thread.
            user_id: Only of this user.
            states: Only in these states: "gathering", "waiting", "running", "failed", "cancelled".

        Raises:
            InvalidArgumentError: If a state is unknown.

        Examples:
            >>> from hitherto import AgentMemory
            >>> with AgentMemory(":memory:", embedder=None) as memory:
            ...     memory.list_extractions(states=["failed"])
            []
        """
        wanted = _states(states)
        _check_ids(thread_id=thread_id, user_id=user_id)
        found = self.store.read_jobs(lambda table: _find(table, wanted, thread_id, user_id))
        return [_shown(job) for job in found]

    list_extractions_async = awaitable(list_extractions)

    def retry_extractions(
        self,
        extraction_ids: Iterable[str] | NotSetType = NOT_SET,
        *,
        thread_id: str | NotSetType = NOT_SET,
        user_id: str | NotSetType = NOT_SET,
    ) -> int:
        """Let extractions that failed or were cancelled run again, in the background.

        Args:
            extraction_ids: Only these; by default all that failed, but not those that were cancelled.
            thread_id: Only of this thread.
            user_id: Only of this user.

        Returns:
            How many will run again; with a language model they begin at once.

        Raises:
            ArgumentTypeError: If extraction_ids is a single id, or none at all.
        """
        count = self._change(extraction_ids, thread_id, user_id, (JobState.FAILED,), jobs.retry)
        if count and self._session.llm is not None:
            self._session.queue.notify()
        return count

    retry_extractions_async = awaitable(retry_extractions)

    def cancel_extractions(
        self,
        extraction_ids: Iterable[str] | NotSetType = NOT_SET,
        *,
        thread_id: str | NotSetType = NOT_SET,
        user_id: str | NotSetType = NOT_SET,
    ) -> int:
        """Cancel extractions that are still to come; one that runs stores nothing any more.

        Args:
            extraction_ids: Only these; by default all.
            thread_id: Only of this thread.
            user_id: Only of this user.

        Returns:
            How many were cancelled.

        Raises:
            ArgumentTypeError: If extraction_ids is a single id, or none at all.
        """
        return self._change(extraction_ids, thread_id, user_id, jobs.PENDING, jobs.cancel)

    cancel_extractions_async = awaitable(cancel_extractions)

    def wait_for_memory_extraction(self, timeout: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Wait until nothing is left to extract; what failed counts as done, see :meth:`list_extractions`.

        Args:
            timeout: Seconds to wait at most; None for no bound.

        Raises:
            ArgumentTypeError: If timeout is no number.
            InvalidArgumentError: If timeout is not above 0.
            TimeoutError: If something is left then.
        """
        self._session.wait(None, timeout)

    wait_for_memory_extraction_async = awaitable(wait_for_memory_extraction, limiter_name="models")

    def _change(
        self,
        extraction_ids: Iterable[str] | NotSetType,
        thread_id: str | NotSetType,
        user_id: str | NotSetType,
        states: Iterable[JobState],
        change: _Change,
    ) -> int:
        ids = None if extraction_ids is NOT_SET else _ids(extraction_ids)
        wanted = tuple(JobState) if ids is not None else tuple(states)
        _check_ids(thread_id=thread_id, user_id=user_id)

        def step(table: JobTable) -> int:
            found = _find(table, wanted, thread_id, user_id)
            return change(table, [job for job in found if ids is None or job.id in ids], now=utc_now())

        return self.store.transact_jobs(step)


def _ids(given: Iterable[str]) -> set[str]:
    # The letters of a single id would be ids of nothing.
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"extraction_ids must be several ids, such as a list of them, got {shown(given)}",
            argument="extraction_ids",
        )
    return set(given)


def _check_ids(**ids: object) -> None:
    for name, value in ids.items():
        if value is not NOT_SET and value is not None:
            check_id(value, argument=name)


def _states(states: Iterable[JobState | str] | NotSetType) -> tuple[JobState, ...]:
    if states is NOT_SET:
        return tuple(JobState)
    if not isinstance(states, Iterable):
        raise ArgumentTypeError(f"states must be several states, got {shown(states)}", argument="states")
    known = {state.value: state for state in JobState}
    chosen = []
    for state in [states] if isinstance(states, str) else states:
        found = known.get(str(state.value if isinstance(state, JobState) else state))
        if found is None:
            raise InvalidArgumentError(
                f"states must be among {', '.join(known)}, got {shown(state)}", argument="states"
            )
        chosen.append(found)
    return tuple(chosen)


def _find(
    table: JobTable,
    states: tuple[JobState, ...],
    thread_id: str | NotSetType,
    user_id: str | NotSetType,
) -> list[Job]:
    return table.find(
        states=states,
        thread_id=None if thread_id is NOT_SET else thread_id,
        user_id=None if user_id is NOT_SET else user_id,
    )


def _shown(job: Job) -> Extraction:
    return Extraction(
        job.id,
        job.kind,
        job.state,
        job.thread_id,
        job.user_id,
        tuple(job.payload.get("message_ids", ())),
        job.attempts,
        job.error,
        job.created_at,
        job.updated_at,
    )
