"""What a thread learns from its messages: one extraction from its job to the stored memories, step by step."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import ConflictError
from hitherto.extraction import extractor
from hitherto.extraction.captions import describe_images
from hitherto.extraction.config import (
    ExtractionSettings,
    MemoryExtractionImageContext,
    MemoryLinkExtractionMode,
)
from hitherto.extraction.extractor import Extracted, Reading
from hitherto.extraction.provenance import SOURCES_KEY, add_sources
from hitherto.extraction.reconcile import (
    NewMemory,
    link_by_model,
    related,
    scope_of,
    store_link,
    without_repeats,
)
from hitherto.extraction.shortening import Shortening, lines
from hitherto.extraction.summaries import Summariser, newest_summary
from hitherto.extraction.transcript import Line, chunks, estimate
from hitherto.extraction.triggers import history_length, summary_is_due
from hitherto.images import ImageLimits
from hitherto.models.base import LLM
from hitherto.records import MessageRecord, Record, ThreadRecord
from hitherto.search.render import OWN_METADATA
from hitherto.store.batches import PendingRecordBatch
from hitherto.store.jobs import Job, JobStep, finish

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto.extraction")

EXTRACT: Final = "extract"
SUMMARISE: Final = "summarise"
SEARCHES_AT_ONCE: Final = 8
_LEAST_READING: Final = 200
_TYPE_ORDER: Final = ("fact", "guideline", "memory", "preference")


@dataclass(frozen=True, slots=True)
class Learner:
    """Extracts memories from a thread's messages, and keeps its summary.

    Attributes:
        store: The store.
        thread: The thread.
        llm: The language model.
        settings: What is extracted, and how.
        shortening: How long messages are shortened.
        summary_tokens: The most tokens of a request for a summary.
        image_limits: How large images may be.
    """

    store: MemoryStore
    thread: ThreadRecord
    llm: LLM
    settings: ExtractionSettings
    shortening: Shortening
    summary_tokens: int
    image_limits: ImageLimits

    def run(self, job: Job) -> list[str]:
        """Do a job that was begun.

        Args:
            job: The job; it ends in the transaction that stores what was learnt.

        Returns:
            The ids of the new memories.

        Raises:
            ConflictError: If the job was taken over or cancelled meanwhile; nothing is stored then.
            Exception: Whatever the model raises; nothing is stored then, and the job can be run again.
        """
        if job.kind != EXTRACT:
            if self._summary_is_due():
                self.summariser().refresh()
            self.store.transact_jobs(lambda table: finish(table, job))
            return []
        ids = self.extract(job.payload["message_ids"], also=lambda table: finish(table, job))
        if job.payload.get("summary", True):
            self.refresh_summary_if_due()
        return ids

    def extract(self, message_ids: Sequence[str], *, also: JobStep | None = None) -> list[str]:
        """Extract memories from messages and store them.

        Args:
            message_ids: The messages; those that are no longer there are left out.
            also: What is done with the store's jobs in the transaction that stores the memories.

        Returns:
            The ids of the new memories.

        Raises:
            Exception: Whatever the model raises; nothing is stored then.
        """
        records = self._messages(message_ids)
        if describe_images(self.store, self.llm, records, self.image_limits):
            records = self._messages(message_ids)
        targets = self._lines(records)
        new = self._read(records, targets) if targets else []
        new, repeats = without_repeats(new)
        if self.settings.memory_link_extraction_mode is MemoryLinkExtractionMode.POST_EXTRACTION:
            for error in link_by_model(self.llm, new, self.settings):
                log.warning("thread %s: links were not found: %s", self.thread.id, type(error).__name__)
        self.store.add_batches(self._batches(new, records), also=also)
        for memory in new:
            for target, kind in memory.links:
                store_link(self.store, memory.id, memory.item.record_type, target, kind)
        for earlier, memory in repeats:
            add_sources(self.store, earlier, memory.message_ids)
        return [memory.id for memory in new]

    def refresh_summary_if_due(self) -> None:
        """Refresh the summary if enough messages came since; a failure is logged and tried again next time."""
        if not self._summary_is_due():
            return
        try:
            self.summariser().refresh()
        except Exception as error:  # memories are stored; a summary can be had later
            log.warning("thread %s: the summary was not refreshed: %s", self.thread.id, type(error).__name__)

    def _summary_is_due(self) -> bool:
        if not self.settings.summarises:
            return False
        covered = newest_summary(self.store, self.thread.id).covered
        uncovered = self.store.list_thread_messages(self.thread.id, range_start_seq_no=covered + 1)
        return summary_is_due(self.settings, len(uncovered))

    def summariser(self) -> Summariser:
        """Return what keeps the summary."""
        return Summariser(
            self.store,
            self.thread,
            self.llm,
            self.shortening,
            self.summary_tokens,
            self.settings.memory_extraction_image_context,
        )

    def _messages(self, message_ids: Sequence[str]) -> list[MessageRecord]:
        found = [self.store.get("message", one, include_bytes=self._with_bytes()) for one in message_ids]
        return [record for record in found if isinstance(record, MessageRecord)]

    def _with_bytes(self) -> bool:
        return self.settings.memory_extraction_image_context is MemoryExtractionImageContext.IMAGE

    def _lines(self, records: Sequence[MessageRecord]) -> list[Line]:
        return lines(
            records,
            llm=self.llm,
            shortening=self.shortening,
            image_context=self.settings.memory_extraction_image_context,
        )

    def _read(self, records: Sequence[MessageRecord], targets: Sequence[Line]) -> list[NewMemory]:
        summary = newest_summary(self.store, self.thread.id).text if self.settings.summarises else ""
        history = self._history(records)
        new: list[NewMemory] = []
        for run in chunks(targets, tokens=self._room()):
            query = "\n".join(line.xml for line in run)
            known = related(self.store, query, scope_of(self.thread, exact_thread=False))
            reading = self._fitted(Reading(tuple(run), tuple(history), tuple(known), summary or None))
            items = extractor.ask(self.llm, reading, self.settings)
            new += self._with_known(items, run, reading.known)
        return new

    def _history(self, records: Sequence[MessageRecord]) -> list[Line]:
        count = history_length(self.settings, len(records))
        if not count:
            return []
        before = self.store.list_thread_messages(
            self.thread.id,
            last_n=count,
            range_end_seq_no=records[0].seq_no,
            include_bytes=self._with_bytes(),
        )
        return self._lines(before)

    def _room(self) -> int | None:
        limit = self.settings.memory_extraction_token_limit
        if limit < 1:
            return None
        return max(_LEAST_READING, limit - extractor.fixed_tokens(self.settings))

    def _fitted(self, reading: Reading) -> Reading:
        # Messages to read come first; then what was said before, what is known, and the summary, while there is room.
        room = self._room()
        if room is None:
            return reading
        left = room - sum(line.tokens for line in reading.targets)
        history: list[Line] = []
        for line in reversed(reading.history):
            left -= line.tokens
            if left < 0:
                break
            history.insert(0, line)
        known: list[Record] = []
        for record in reading.known:
            left -= estimate(str(record.content)) + 12
            if left < 0:
                break
            known.append(record)
        summary = reading.summary
        if summary is not None and estimate(summary) + 10 > left:
            summary = None
        return Reading(reading.targets, tuple(history), tuple(known), summary)

    def _with_known(
        self, items: Sequence[Extracted], run: Sequence[Line], known: Sequence[Record]
    ) -> list[NewMemory]:
        sources = list(dict.fromkeys(line.record.id for line in run))
        records = list({line.record.id: line.record for line in run}.values())
        metadata = inherited_metadata(records, self.settings)
        spoken_at = next((record.timestamp for record in reversed(records)), None)
        made = [
            NewMemory(item, tuple(sources), dict(metadata), item.timestamp or spoken_at) for item in items
        ]
        if made:
            with ThreadPoolExecutor(min(SEARCHES_AT_ONCE, len(made)), "hitherto-related") as pool:
                texts = [memory.text for memory in made]
                scope = scope_of(self.thread, exact_thread=False)
                found = pool.map(lambda text: related(self.store, text, scope), texts)
                for memory, candidates in zip(made, found, strict=True):
                    memory.known = tuple(candidates)
        for memory in made:
            memory.links = [(known[place], kind) for place, kind in memory.item.links if place < len(known)]
        return made

    def _batches(
        self, new: Sequence[NewMemory], records: Sequence[MessageRecord]
    ) -> list[PendingRecordBatch]:
        prompt, _ = extractor.extraction_prompt(self.settings)
        expires_at = self._expiry(records)
        batches = []
        for kind in _TYPE_ORDER:
            some = [memory for memory in new if memory.item.record_type == kind]
            if not some:
                continue
            batch = PendingRecordBatch(
                contents=[memory.text for memory in some],
                record_type=kind,
                record_ids=[memory.id for memory in some],
                thread_ids=self.thread.id,
                user_ids=self.thread.user_id,
                agent_ids=self.thread.agent_id,
                timestamps=[memory.timestamp for memory in some],
                metadata=[
                    {
                        **memory.metadata,
                        OWN_METADATA: {
                            **memory.item.details,
                            SOURCES_KEY: list(memory.message_ids),
                            "prompt": f"{prompt.name}/{prompt.version}",
                        },
                    }
                    for memory in some
                ],
                _expires_at=[expires_at] * len(some),
            )
            batches.append(batch)
        return batches

    def _expiry(self, records: Sequence[MessageRecord]) -> datetime | None:
        # A memory lives no longer than the first of its messages to go.
        moments = [self.store.record_expiration("message", record.id) for record in records]
        return min((moment for moment in moments if moment is not None), default=None)


def inherited_metadata(records: Sequence[MessageRecord], settings: ExtractionSettings) -> dict[str, Any]:
    """Return what memories get of their messages' metadata: the keys on which all of them agree.

    Args:
        records: The messages.
        settings: The thread's settings.

    Examples:
        >>> one = MessageRecord("a", metadata={"app": "web", "n": 1}, content="x", role="user", seq_no=1)
        >>> two = MessageRecord("b", metadata={"app": "web", "n": 2}, content="x", role="user", seq_no=2)
        >>> inherited_metadata([one, two], ExtractionSettings())
        {'app': 'web'}
    """
    wanted = settings.memory_extraction_inherit_message_metadata
    if wanted is False or not records:
        return {}
    first, *others = [record.metadata or {} for record in records]
    return {
        key: value
        for key, value in first.items()
        if key != OWN_METADATA
        and (wanted is True or key in wanted)
        and all(key in other and other[key] == value for other in others)
    }


def explain_failure(error: Exception) -> str:
    """Return why a job failed, in a form that may be stored and shown: never what a model said."""
    if isinstance(error, ConflictError):
        return str(error)
    return f"{type(error).__name__}: {str(error).split(', got ')[0]}"[:500]
