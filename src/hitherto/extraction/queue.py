"""Running jobs: at once, or in the background by a few threads that end when there is nothing left to do."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hitherto.errors import ConflictError, HithertoError
from hitherto.extraction.learning import explain_failure
from hitherto.lifetime import utc_now
from hitherto.store import jobs
from hitherto.store.jobs import Job, JobState

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto.extraction")

WORKERS: Final = 4
WAITING_PER_THREAD: Final = 16
WAITING_IN_ALL: Final = 128
_SIGN_OF_LIFE: Final = timedelta(seconds=15)
_POLL_S: Final = 0.05
_MOST_POLL_S: Final = 1.0
_CLAIM_S: Final = 10.0
"""How long a transaction that claims a job is waited for, in seconds."""

Runner = Callable[[Job], object]
"""Does a job and ends it."""


class JobQueue:
    """The jobs of a store, and the threads of this client that run them.

    Args:
        store: The store.
        run: Does a job that was begun, and ends it in the transaction that stores what came of it.
        workers: How many threads run jobs.
    """

    def __init__(self, store: MemoryStore, run: Runner, *, workers: int = WORKERS) -> None:
        self._store = store
        self._run = run
        self._most_workers = workers
        self._lock = threading.Condition()
        self._workers = 0
        self._wakes = 0
        self._closed = False
        self._claiming = 0
        self._owner = jobs.this_process()
        self._held: dict[str, Job] = {}

    def notify(self) -> None:
        """Tell the background that there may be something to do."""
        with self._lock:
            if self._closed:
                return
            self._wakes += 1
            self._lock.notify_all()
            if self._workers < self._most_workers:
                self._workers += 1
                name = f"hitherto-extract-{self._workers}"
                # Whoever listens to events where the work began hears of what comes of it.
                target = contextvars.copy_context().run
                threading.Thread(target=target, args=(self._work,), name=name, daemon=True).start()

    def run_now(self, job_id: str) -> None:
        """Do one job in this thread, after those of its thread that came before it.

        Args:
            job_id: The job.

        Raises:
            Exception: Whatever doing it raises; the job is then kept as failed.
        """
        while True:
            job = self._store.transact_jobs(
                lambda table: jobs.claim_one(table, job_id, owner=self._owner, now=utc_now())
            )
            if job is not None:
                self._do(job)
                return
            if self._store.read_jobs(lambda table: table.get(job_id)) is None:
                return  # another process was faster
            time.sleep(_POLL_S)

    def has_room(self, thread_id: str, *, timeout_s: float) -> bool:
        """Return whether one more job may wait, if necessary after some time.

        Args:
            thread_id: The thread that it is for.
            timeout_s: How long to wait for room, in seconds.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            of_thread, in_all = self._store.read_jobs(
                lambda table: (
                    table.count(states=[JobState.WAITING], thread_id=thread_id),
                    table.count(states=[JobState.WAITING]),
                )
            )
            if of_thread < WAITING_PER_THREAD and in_all < WAITING_IN_ALL:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(min(_POLL_S, max(0.0, deadline - time.monotonic())))

    def wait(self, thread_ids: Sequence[str] | None, *, timeout_s: float | None) -> None:
        """Wait until nothing is left that waits or runs.

        Args:
            thread_ids: Of these threads, or None for all.
            timeout_s: Seconds to wait at most, or None.

        Raises:
            TimeoutError: If there is still something left then.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        pause = _POLL_S / 5
        while left := self._left(thread_ids):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"{left} extractions are not done after {timeout_s} seconds")
            self.notify()
            time.sleep(pause)
            pause = min(pause * 1.5, _MOST_POLL_S if deadline is None else _POLL_S)

    def has_work(self, thread_ids: Sequence[str] | None) -> bool:
        """Return whether something waits or runs.

        Args:
            thread_ids: Of these threads, or None for all.
        """
        return self._left(thread_ids) > 0

    def _left(self, thread_ids: Sequence[str] | None) -> int:
        states = [JobState.WAITING, JobState.RUNNING]
        if thread_ids is None:
            return self._store.read_jobs(lambda table: table.count(states=states))
        return self._store.read_jobs(
            lambda table: sum(table.count(states=states, thread_id=thread) for thread in thread_ids)
        )

    def close(self, *, timeout_s: float | None) -> None:
        """Wait for what runs and waits, then stop the threads; what is left runs when the store is opened again.

        Args:
            timeout_s: Seconds to wait at most, or None.
        """
        try:
            if self._workers:
                self.wait(None, timeout_s=timeout_s)
        except TimeoutError as error:
            log.warning("%s; they go on when the store is opened again", error)
        except HithertoError:
            log.debug("the store was closed before its queue", exc_info=True)
        with self._lock:
            self._closed = True
            # A job that is being claimed is not held yet, and who claims it may meet a store that is closed.
            self._lock.wait_for(lambda: not self._claiming, _CLAIM_S)
            held = list(self._held.values())
        for job in held:
            self._hand_back(job)
        with self._lock:
            self._lock.notify_all()
            deadline = time.monotonic() + (0.5 if timeout_s is None else min(timeout_s, 0.5))
            while self._workers and time.monotonic() < deadline:
                self._lock.wait(0.05)

    def _hand_back(self, job: Job) -> None:
        # What still runs finds out when storing that it is not its own any more, and stores nothing.
        with contextlib.suppress(HithertoError):
            self._store.transact_jobs(lambda table: jobs.hand_back(table, job, now=utc_now()))

    def _work(self) -> None:
        try:
            while True:
                with self._lock:
                    seen = self._wakes
                    if self._closed:
                        return
                    self._claiming += 1
                job = None
                try:
                    job = self._store.transact_jobs(
                        lambda table: jobs.claim(table, owner=self._owner, now=utc_now())
                    )
                finally:
                    with self._lock:
                        self._claiming -= 1
                        if job is not None:
                            self._held[job.id] = job
                        self._lock.notify_all()
                if job is not None:
                    self._do_in_background(job)
                    continue
                with self._lock:
                    if seen == self._wakes or self._closed:
                        return
        except Exception:
            log.warning("a background thread ended with an error", exc_info=True)
        finally:
            with self._lock:
                self._workers -= 1
                self._lock.notify_all()

    def _do_in_background(self, job: Job) -> None:
        try:
            self._do(job)
        except Exception as error:  # it is stored with the job; nobody waits for it here
            log.warning("thread %s: extraction failed: %s", job.thread_id, explain_failure(error))
        self.notify()

    def _do(self, job: Job) -> None:
        with self._lock:
            closed = self._closed
            self._held[job.id] = job
        if closed:
            self._hand_back(job)  # close() has done so, unless it came before the job was held
            return
        stop = threading.Event()
        keeper = threading.Thread(target=self._stay_alive, args=(job, stop), daemon=True)
        keeper.start()
        try:
            self._run(job)
        except BaseException as error:
            why = explain_failure(error) if isinstance(error, Exception) else type(error).__name__
            self._store.transact_jobs(lambda table: jobs.fail(table, job, why, now=utc_now()))
            raise
        finally:
            stop.set()
            with self._lock:
                self._held.pop(job.id, None)

    def _stay_alive(self, job: Job, stop: threading.Event) -> None:
        while not stop.wait(_SIGN_OF_LIFE.total_seconds()):
            try:
                self._store.transact_jobs(lambda table: jobs.renew(table, job, now=utc_now()))
            except (ConflictError, HithertoError):
                return
