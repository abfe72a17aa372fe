"""What a client and its threads share: the store, the language model, the queue, and whether they are still open."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from hitherto.errors import ArgumentTypeError, ClosedError, InvalidArgumentError, ModelError, shown
from hitherto.extraction.captions import CAPTION, run_caption_job
from hitherto.extraction.config import ExtractionSettings, settings_from_payload
from hitherto.extraction.learning import Learner
from hitherto.extraction.queue import JobQueue
from hitherto.extraction.reconcile import link_one
from hitherto.extraction.shortening import Shortening
from hitherto.images import ImageLimits
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET
from hitherto.records import ThreadRecord
from hitherto.scope import SearchScope
from hitherto.search.config import MemorySearchConfig
from hitherto.store.jobs import Job, JobState
from hitherto.thread_settings import ThreadSettings, stored_settings

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto")

DEFAULT_TIMEOUT_S = 300.0


class Session:
    """An open client.

    Args:
        store: The store.
        search_config: How searches go on after retrieval, by default.
        owns_store: Whether closing the client closes the store.
        llm: What extracts and summarises, or None.
        extraction: What is extracted, by default.
        image_limits: How large images may be.
        pruner: What prunes where a stored configuration wants it, or None.
    """

    def __init__(
        self,
        store: MemoryStore,
        search_config: MemorySearchConfig,
        *,
        owns_store: bool,
        llm: LLM | None = None,
        extraction: ExtractionSettings | None = None,
        image_limits: ImageLimits | None = None,
        pruner: LLM | None = None,
    ) -> None:
        self._store = store
        self._owns_store = owns_store
        self._closed = threading.Event()
        self._models: dict[str, LLM] = {}
        self.search_config = search_config
        self.llm = llm
        self.pruner = pruner
        self.extraction = ExtractionSettings() if extraction is None else extraction
        self.image_limits = ImageLimits() if image_limits is None else image_limits
        self.queue = JobQueue(store, self._run)
        if llm is None:
            log.info(
                "no language model is configured: messages are stored and found, memories are not extracted from them"
            )
        elif store.read_jobs(lambda table: table.count(states=[JobState.WAITING, JobState.RUNNING])):
            self.queue.notify()

    @property
    def store(self) -> MemoryStore:
        """The store.

        Raises:
            ClosedError: If the client was closed.
        """
        self.check_open()
        return self._store

    def check_open(self) -> None:
        """Refuse to go on after the client was closed.

        Raises:
            ClosedError: If it was.
        """
        if self._closed.is_set():
            raise ClosedError("this AgentMemory was closed; open a new one")

    def close(self, *, timeout_s: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Close the client; calling it again does nothing.

        Args:
            timeout_s: Seconds to wait for work in the background; None for no bound.
        """
        if not self._closed.is_set():
            self._closed.set()
            self.queue.close(timeout_s=timeout_s)
            if self._owns_store:
                self._store.close()

    def wait(self, thread_ids: list[str] | None, timeout: object) -> None:
        """Wait until nothing is left to extract that this client can extract.

        Args:
            thread_ids: From these threads, or None for all.
            timeout: Seconds to wait at most; None for no bound.

        Raises:
            ArgumentTypeError: If timeout is no number.
            InvalidArgumentError: If timeout is not above 0.
            TimeoutError: If something is left then.
        """
        self.check_open()
        if thread_ids is not None:
            check_timeout(timeout)
        if (self.llm is not None or self._models) and self.queue.has_work(thread_ids):
            self.queue.wait(thread_ids, timeout_s=check_timeout(timeout))

    def use_model(self, thread_id: str, llm: LLM | None) -> None:
        """Remember the language model of a thread that has its own."""
        if llm is not None and llm is not self.llm:
            self._models[thread_id] = llm

    def learner(
        self, thread: ThreadRecord, llm: LLM, extraction: ExtractionSettings, settings: ThreadSettings
    ) -> Learner:
        """Return what extracts from a thread's messages.

        Args:
            thread: The thread.
            llm: The language model.
            extraction: What is extracted.
            settings: The thread's numbers.
        """
        shortening = Shortening(
            settings.max_message_token_length, settings.message_shortening_input_token_limit
        )
        return Learner(
            self._store,
            thread,
            llm,
            extraction,
            shortening,
            settings.context_card_token_limit,
            self.image_limits,
        )

    def link_new_memory(
        self,
        memory_id: str,
        memory_type: str,
        wanted: bool,
        *,
        llm: LLM | None,
        extraction: ExtractionSettings,
        exact_thread: bool,
    ) -> None:
        """Let the language model find links of a memory that was added; a failure is logged, the memory stays.

        Args:
            memory_id: The memory.
            memory_type: Its type.
            wanted: Whether it is to, where there is a model.
            llm: The model, or None.
            extraction: Instructions and bounds.
            exact_thread: Whether only memories of the same thread are looked at.
        """
        if llm is None or not wanted:
            return
        try:
            link_one(self._store, llm, memory_id, memory_type, extraction, exact_thread=exact_thread)
        except Exception as error:  # links are not worth losing a memory
            log.warning("memory %s: links were not found: %s", memory_id, type(error).__name__)

    def _run(self, job: Job) -> None:
        if job.kind == CAPTION:
            run_caption_job(self._store, self._model(job.thread_id), job, self.image_limits)
            return
        thread = self._store.get_thread_record(job.thread_id)
        if thread is None:
            self._store.transact_jobs(lambda table: table.remove(job.id))
            return
        llm = self._model(thread.id)
        extraction = settings_from_payload(job.payload.get("settings"), self.extraction)
        self.learner(thread, llm, extraction, stored_settings(thread.runtime_config)).run(job)

    def _model(self, thread_id: str) -> LLM:
        llm = self._models.get(thread_id, self.llm)
        if llm is None:
            raise ModelError("there is no language model to extract with")
        return llm


def check_timeout(value: object) -> float | None:
    """Return a timeout in seconds, None meaning no bound.

    Raises:
        ArgumentTypeError: If it is no number.
        InvalidArgumentError: If it is not above 0.
    """
    if value is None:
        return None
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            f"timeout must be a number of seconds or None, got {shown(value)}", argument="timeout"
        )
    if value <= 0:
        raise InvalidArgumentError(f"timeout must be above 0 seconds, got {value}", argument="timeout")
    # In this order NaN, which is not refused either, is the longest wait and not one that threads fail on.
    return min(threading.TIMEOUT_MAX, value)


def read_scope(scope: object, **given: Any) -> SearchScope:
    """Return the scope that the arguments of a search ask for.

    Args:
        scope: A SearchScope, or NOT_SET or None.
        **given: The ids and exact flags that were given as keywords.

    Raises:
        ArgumentTypeError: If scope is no SearchScope.
        InvalidArgumentError: If both are given.
    """
    if scope is NOT_SET or scope is None:
        return SearchScope(**given)
    if not isinstance(scope, SearchScope):
        raise ArgumentTypeError(f"scope must be a SearchScope, got {shown(scope)}", argument="scope")
    named = [name for name, value in given.items() if value is not NOT_SET]
    if named:
        raise InvalidArgumentError(
            f"scope must be given without {', '.join(named)}, or these without scope", argument="scope"
        )
    return scope
