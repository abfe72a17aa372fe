"""A thread's verbs on what it has learnt: summary, context card, and waiting for extraction."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from hitherto.aio import awaitable
from hitherto.extraction.cards import CardRequest, ContextCard, find_relevant, read_card_request
from hitherto.extraction.config import ExtractionSettings
from hitherto.extraction.summaries import StoredSummary, Summary, cut_to_budget
from hitherto.extraction.transcript import transcript
from hitherto.incoming import read_int
from hitherto.messages import Message
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MessageRecord, RecordStatus, ThreadRecord
from hitherto.scope import ResolvedScope, SearchScope, resolve_for_thread
from hitherto.search import budget, pipeline
from hitherto.search.config import MemorySearchConfig
from hitherto.search.request import read_budget
from hitherto.search.result import SearchResult
from hitherto.session import DEFAULT_TIMEOUT_S, Session
from hitherto.thread_settings import ThreadSettings

log = logging.getLogger("hitherto.extraction")

DEFAULT_SUMMARY_TOKENS = 1000


class ThreadLearningVerbs(ABC):
    """Summary and context card of one thread."""

    _session: Session
    _record: ThreadRecord
    _settings: ThreadSettings
    _extraction: ExtractionSettings
    _search_config: MemorySearchConfig

    @property
    @abstractmethod
    def _llm(self) -> LLM | None:
        """What summarises, or None."""

    @abstractmethod
    def _as_message(self, record: MessageRecord) -> Message:
        """Return a stored message as callers see it."""

    def get_summary(
        self, except_last: int | NotSetType = NOT_SET, token_budget: int | NotSetType = NOT_SET
    ) -> Summary:
        """Return what was said so far, in short.

        With a language model the summary is kept, and each call reads only what came since. Without one, or where it
        fails, a plain transcript stands in, at most 4000 characters of it.

        Args:
            except_last: How many of the last messages are left out; then nothing is kept. Default 0.
            token_budget: The most tokens, at 3.5 characters each; default 1000, <= 0 for no bound.

        Raises:
            InvalidArgumentError: If an argument is no number.

        Examples:
            >>> from hitherto import AgentMemory
            >>> with AgentMemory(":memory:", embedder=None) as memory:
            ...     thread = memory.create_thread(user_id="mia")
            ...     _ = thread.add_messages([{"role": "Mia", "content": "I moved to Lisbon"}])
            ...     str(thread.get_summary())
            'Mia (-): I moved to Lisbon'
        """
        excepted = 0 if except_last is NOT_SET else read_int(except_last, "except_last")
        tokens = DEFAULT_SUMMARY_TOKENS if token_budget is NOT_SET else read_int(token_budget, "token_budget")
        return Summary(cut_to_budget(self._summarise(max(0, excepted), None).text, tokens))

    get_summary_async = awaitable(get_summary, limiter_name="models")

    def get_context_card(
        self,
        fallback_message_count: int | NotSetType = NOT_SET,
        max_relevant_results: int | NotSetType = NOT_SET,
        max_recent_messages: int | NotSetType = NOT_SET,
        except_last_messages: int | NotSetType = NOT_SET,
        min_relevant_results_by_type: Mapping[str, int] | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        include_invalid_results: bool | NotSetType = NOT_SET,
        token_budget: int | None | NotSetType = NOT_SET,
        soft_token_budget: int | None | NotSetType = NOT_SET,
    ) -> ContextCard:
        """Return what a model should know before it answers, as text for its prompt.

        The card has the thread's topics and summary, and what is found for them: memories of the thread's user and
        agent from all threads, and messages of this one. A thread without messages has the newest memories on its
        card.

        Args:
            fallback_message_count: How many of the last messages stand for a summary where there is no language
                model; default 5.
            max_relevant_results: The most results; default 5, or what the types need.
            max_recent_messages: How many of the last messages are on the card as they are; default 0.
            except_last_messages: How many of the last messages are left out, because the prompt has them anyway;
                default 0. With it, max_recent_messages is the same or left out.
            min_relevant_results_by_type: How many results of a type there are at least, if there are so many.
            metadata_filter: Only results whose metadata match.
            include_invalid_results: Whether memories that no longer hold are among the results; default True.
            token_budget: The most tokens of all results together.
            soft_token_budget: The result that reaches so many tokens is the last one.

        Raises:
            InvalidArgumentError: If a value is not allowed.

        Examples:
            >>> from hitherto import AgentMemory
            >>> with AgentMemory(":memory:", embedder=None) as memory:
            ...     thread = memory.create_thread(user_id="mia")
            ...     _ = thread.add_memory("Mia lives in Lisbon", memory_type="fact", memory_id="f1")
            ...     print(thread.get_context_card())
            <context_card>
              <topics></topics>
              <summary></summary>
              <relevant_information>
                <fact>
                  <record_id>f1</record_id>
                  <status>valid</status>
                  <content>Mia lives in Lisbon</content>
                </fact>
              </relevant_information>
            </context_card>
        """
        request = read_card_request(
            fallback_message_count=fallback_message_count,
            max_relevant_results=max_relevant_results,
            max_recent_messages=max_recent_messages,
            except_last_messages=except_last_messages,
            min_relevant_results_by_type=min_relevant_results_by_type,
            metadata_filter=metadata_filter,
            include_invalid_results=include_invalid_results,
            token_budget=token_budget,
            soft_token_budget=soft_token_budget,
        )
        store = self._session.store
        last = store.list_thread_messages(
            self._record.id, last_n=max(1, request.recent_messages, request.except_last)
        )
        if not last:
            return ContextCard("", relevant_results=self._fitted(self._newest_memories(request), request))
        summary = self._summarise(request.except_last, request.fallback_messages)
        if not summary.text:
            return ContextCard("")
        query = "\n".join(filter(None, (summary.text, "; ".join(summary.topics))))
        hidden = frozenset(record.id for record in last[len(last) - request.except_last :])
        found = find_relevant(
            query,
            request,
            hidden,
            lambda text, types, most: self._find(text, types, most, request),
            concurrency=self._settings.context_card_type_search_concurrency,
        )
        recent = last[len(last) - request.recent_messages :] if request.recent_messages else []
        return ContextCard(
            summary.text,
            topics=summary.topics,
            relevant_results=self._fitted(found, request),
            recent_messages=[self._as_message(record) for record in recent],
        )

    get_context_card_async = awaitable(get_context_card, limiter_name="models")

    def wait_for_memory_extraction(self, timeout: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Wait until nothing is left to extract from this thread.

        Args:
            timeout: Seconds to wait at most; None for no bound.

        Raises:
            ArgumentTypeError: If timeout is no number.
            InvalidArgumentError: If timeout is not above 0.
            TimeoutError: If something is left then.
        """
        self._session.wait([self._record.id], timeout)

    wait_for_memory_extraction_async = awaitable(wait_for_memory_extraction, limiter_name="models")

    def _summarise(self, except_last: int, fallback_messages: int | None) -> StoredSummary:
        store, llm = self._session.store, self._llm
        if llm is not None:
            summariser = self._session.learner(
                self._record, llm, self._extraction, self._settings
            ).summariser()
            try:
                if not except_last:
                    return summariser.refresh()
                messages = store.list_thread_messages(self._record.id)[:-except_last]
                return summariser.over(messages) if messages else StoredSummary()
            except Exception as error:  # a transcript is better than nothing, and is not kept
                log.warning("thread %s: no summary could be made: %s", self._record.id, type(error).__name__)
        count = None if fallback_messages is None else fallback_messages + except_last
        if fallback_messages == 0:
            return StoredSummary()
        messages = store.list_thread_messages(self._record.id, last_n=count)
        return StoredSummary(transcript(messages[: len(messages) - except_last]))

    def _find(self, query: str, types: Sequence[str], most: int, request: CardRequest) -> list[SearchResult]:
        return pipeline.search(
            self._session.store,
            query,
            self._card_scope(exact_thread="message" in types),
            self._search_config,
            max_results=most,
            record_types=list(types),
            metadata_filter=request.metadata_filter,
            include_invalid_results=request.include_invalid,
            token_budget=None,
            soft_token_budget=None,
        )

    def _card_scope(self, *, exact_thread: bool) -> ResolvedScope:
        record = self._record
        return resolve_for_thread(
            SearchScope(exact_thread_match=exact_thread),
            user_id=record.user_id,
            agent_id=record.agent_id,
            thread_id=record.id,
        )

    def _newest_memories(self, request: CardRequest) -> list[SearchResult]:
        if not request.results:
            return []
        record = self._record
        found = self._session.store.list_memories(
            user_id=record.user_id,
            agent_id=record.agent_id,
            metadata_filter=NOT_SET if request.metadata_filter is None else request.metadata_filter,
            limit=request.results if request.include_invalid else None,
        )
        kept = [memory for memory in found if request.include_invalid or memory.status is RecordStatus.VALID]
        return [
            SearchResult(pipeline.LINKED_DISTANCE, memory) for memory in reversed(kept[-request.results :])
        ]

    def _fitted(self, results: Sequence[SearchResult], request: CardRequest) -> list[SearchResult]:
        config = self._search_config
        return budget.fit(
            results,
            token_budget=read_budget(request.token_budget, config.token_budget, "token_budget"),
            soft_token_budget=read_budget(
                request.soft_token_budget, config.soft_token_budget, "soft_token_budget"
            ),
            count=budget.estimate_tokens if config.token_counter is NOT_SET else config.token_counter,
        )
