"""Messages on their way in: stored first, and in the same transaction noted for extraction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hitherto.extraction.config import BackgroundExtractionQueueFullBehavior, ExtractionSettings
from hitherto.extraction.learning import EXTRACT, SUMMARISE
from hitherto.extraction.queue import JobQueue
from hitherto.extraction.triggers import Gathered, due_extractions
from hitherto.lifetime import utc_now
from hitherto.records import ThreadRecord
from hitherto.store.jobs import Job, JobState, JobTable

log = logging.getLogger("hitherto.extraction")

QUEUE_FULL = "the queue was full"


@dataclass(slots=True)
class Intake:
    """What adding messages to a thread leaves to be done.

    Attributes:
        thread: The thread.
        settings: Its settings.
        queue: Where jobs run.
        full: Whether there was no room for more.
        due: The jobs that were put, once the messages are stored.
    """

    thread: ThreadRecord
    settings: ExtractionSettings
    queue: JobQueue
    full: bool = False
    due: list[Job] = field(default_factory=list)

    def look_for_room(self) -> None:
        """See whether the queue takes more; wait for it if the settings say so."""
        if not self.settings.in_background:
            return
        behaviour = self.settings.background_extraction_queue_full_behavior
        waits = behaviour is not BackgroundExtractionQueueFullBehavior.DROP
        timeout = self.settings.background_extraction_queue_put_timeout_seconds if waits else 0.0
        self.full = not self.queue.has_room(self.thread.id, timeout_s=timeout)

    def note_added(self, table: JobTable, message_ids: Sequence[str]) -> None:
        """Note that messages were added.

        Args:
            table: The jobs, in the transaction that stores the messages.
            message_ids: The messages, in order.
        """
        # A transaction that was undone is run again, with jobs of its own.
        self.due = []
        if not self.settings.extract_memories:
            if not table.find(states=[JobState.WAITING], thread_id=self.thread.id, kind=SUMMARISE):
                self._put(table, SUMMARISE, {})
            return
        found = table.find(states=[JobState.GATHERING], thread_id=self.thread.id, kind=EXTRACT)
        gathering = found[0] if found else None
        before = Gathered()
        if gathering is not None:
            before = Gathered(tuple(gathering.payload["message_ids"]), gathering.payload["count"])
        due, rest = due_extractions(before, message_ids, self.settings)
        for ids in due:
            self._put(table, EXTRACT, {"message_ids": list(ids)})
        if rest.message_ids:
            payload = {"message_ids": list(rest.message_ids), "count": rest.count}
            table.put(self._job(EXTRACT, payload, JobState.GATHERING, gathering))
        elif gathering is not None:
            table.remove(gathering.id)

    def note_changed(self, table: JobTable, message_id: str) -> None:
        """Note that a message says something else now."""
        self.due = []
        self._put(table, EXTRACT, {"message_ids": [message_id], "summary": False})

    def _put(self, table: JobTable, kind: str, payload: dict[str, Any]) -> None:
        job = self._job(kind, payload, JobState.FAILED if self.full else JobState.WAITING)
        if self.full:
            job = replace(job, error=QUEUE_FULL)
        table.put(job)
        self.due.append(job)

    def _job(self, kind: str, payload: dict[str, Any], state: JobState, old: Job | None = None) -> Job:
        now = utc_now()
        whole = {**payload, "settings": self.settings.to_payload()}
        if old is not None:
            return replace(old, payload=whole, updated_at=now)
        return Job(kind, self.thread.id, self.thread.user_id, whole, now, now, state)

    def settle(self) -> None:
        """Run what is due, or let it run; to be called once the messages are stored.

        Raises:
            TimeoutError: If the queue was full and the settings say so; the extraction is kept as failed.
            Exception: Whatever an extraction raises that is waited for; it is kept as failed.
        """
        if not self.due:
            return
        if self.full:
            self._tell_full()
        elif self.settings.in_background:
            self.queue.notify()
        else:
            self._run_now()

    def _tell_full(self) -> None:
        behaviour = self.settings.background_extraction_queue_full_behavior
        if behaviour is BackgroundExtractionQueueFullBehavior.WAIT_THEN_RAISE:
            raise TimeoutError(
                f"the messages are stored, but {QUEUE_FULL}: their extraction is kept and can be retried"
            )
        for job in self.due:
            log.warning("thread %s: extraction %s was put off: %s", self.thread.id, job.id, QUEUE_FULL)

    def _run_now(self) -> None:
        problems: list[Exception] = []
        for job in self.due:
            try:
                self.queue.run_now(job.id)
            except Exception as error:  # the others must not wait for it
                if job.kind == EXTRACT:
                    problems.append(error)
                else:
                    log.warning("thread %s: no summary was made: %s", self.thread.id, type(error).__name__)
        if problems:
            raise problems[0]
