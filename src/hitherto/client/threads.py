"""A client's verbs on threads."""

from __future__ import annotations

import uuid
from typing import Any, cast

from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.errors import InvalidArgumentError, NotFoundError, shown
from hitherto.extraction.config import ExtractionSettings, MemoryExtractionConfig, settings_from_payload
from hitherto.extraction.options import check_llm, check_usable, read_options
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import ThreadRecord
from hitherto.scope import check_id
from hitherto.search.config import MemorySearchConfig, checked_config, config_from_payload
from hitherto.thread import Thread
from hitherto.thread_settings import ThreadSettings, read_settings, stored_settings


class ThreadVerbs(ClientVerbs):
    """Conversations."""

    def create_thread(
        self,
        /,
        *,
        thread_id: str | NotSetType = NOT_SET,
        user_id: str | NotSetType = NOT_SET,
        agent_id: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        context_card_type_search_concurrency: int | NotSetType = NOT_SET,
        llm: LLM | None | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        **extraction: Any,
    ) -> Thread:
        """Begin a conversation.

        Args:
            thread_id: Its id; by default a new one.
            user_id: The user's id; by default a new one.
            agent_id: The agent's id; by default a new one.
            metadata: A JSON object.
            search_config: How its searches go on after retrieval; stored with it, without models.
            max_message_token_length: From how many tokens on a message is shortened in prompts.
            message_shortening_input_token_limit: How many tokens of a long message are read to shorten it.
            context_card_token_limit: The most tokens that go into a summary's prompt.
            context_card_type_search_concurrency: How many searches of a context card run at once.
            llm: The thread's own language model, not stored; by default the client's.
            memory_extraction_config: What is extracted, and when, where it differs from the client's.
            **extraction: The same options one by one; better give a MemoryExtractionConfig.

        Returns:
            The thread.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            ConflictError: If the id is taken.
        """
        given = read_options(memory_extraction_config, extraction)
        settings = read_settings(
            ThreadSettings(),
            {
                "max_message_token_length": max_message_token_length,
                "message_shortening_input_token_limit": message_shortening_input_token_limit,
                "context_card_token_limit": context_card_token_limit,
                "context_card_type_search_concurrency": context_card_type_search_concurrency,
            },
        )
        config = self._session.search_config if search_config is NOT_SET else checked_config(search_config)
        model = self._session.llm if llm is NOT_SET else check_llm(llm)
        learning = check_usable(self._session.extraction.with_given(given), model, explicit=True)
        record = self.store.create_thread_record(
            _new_or(thread_id, "thread_id"),
            _new_or(user_id, "user_id"),
            _new_or(agent_id, "agent_id"),
            _checked_metadata(metadata),
            {
                "memory_extraction_config": learning.to_payload(),
                **settings.to_payload(),
                "search_config": config.to_payload(),
            },
            {"memory_extraction_state": {"last_memory_extraction_counter": 0}},
        )
        return Thread(self._session, record, settings, config, learning, model)

    create_thread_async = awaitable(create_thread)

    def get_thread(
        self,
        /,
        thread_id: str,
        *,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        llm: LLM | None | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        context_card_type_search_concurrency: int | NotSetType = NOT_SET,
        **extraction: Any,
    ) -> Thread:
        """Return a stored conversation; what is given here holds for this handle and is not stored.

        Args:
            thread_id: Its id.
            search_config: How the searches of this handle go on after retrieval.
            max_message_token_length: From how many tokens on a message is shortened in prompts.
            message_shortening_input_token_limit: How many tokens of a long message are read to shorten it.
            context_card_token_limit: The most tokens that go into a summary's prompt.
            context_card_type_search_concurrency: How many searches of a context card run at once.
            llm: The thread's own language model, not stored; by default the client's.
            memory_extraction_config: What is extracted, and when, where it differs from the client's.
            **extraction: The same options one by one; better give a MemoryExtractionConfig.

        Raises:
            ArgumentTypeError: If search_config has the wrong type.
            NotFoundError: If there is no such thread.
        """
        given = read_options(memory_extraction_config, extraction)
        numbers = {
            "max_message_token_length": max_message_token_length,
            "message_shortening_input_token_limit": message_shortening_input_token_limit,
            "context_card_token_limit": context_card_token_limit,
            "context_card_type_search_concurrency": context_card_type_search_concurrency,
        }
        return self._handle(self._known_thread(thread_id), search_config, llm, given, numbers)

    get_thread_async = awaitable(get_thread)

    def update_thread(
        self,
        /,
        thread_id: str,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        *,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        llm: LLM | None | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        **extraction: Any,
    ) -> Thread:
        """Change a conversation; what is not given stays.

        Args:
            thread_id: Its id.
            metadata: The new metadata, as a whole; None for none.
            search_config: How its searches go on after retrieval.
            max_message_token_length: From how many tokens on a message is shortened in prompts.
            message_shortening_input_token_limit: How many tokens of a long message are read to shorten it.
            context_card_token_limit: The most tokens that go into a summary's prompt.
            llm: The thread's own language model, not stored; by default the client's.
            memory_extraction_config: What is extracted, and when, where it differs from the client's.
            **extraction: The same options one by one; better give a MemoryExtractionConfig.

        Returns:
            The changed thread.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If there is no such thread.
        """
        given = read_options(memory_extraction_config, extraction)
        record = self._known_thread(thread_id)
        numbers = {
            "max_message_token_length": max_message_token_length,
            "message_shortening_input_token_limit": message_shortening_input_token_limit,
            "context_card_token_limit": context_card_token_limit,
        }
        changes: dict[str, Any] = {}
        if metadata is not NOT_SET:
            changes["metadata"] = _checked_metadata(metadata)
        settings = read_settings(stored_settings(record.runtime_config), numbers)
        config: dict[str, Any] = {}
        if any(value is not NOT_SET for value in numbers.values()):
            config.update(settings.to_payload())
        if search_config is not NOT_SET:
            config["search_config"] = checked_config(search_config).to_payload()
        if given:
            learning = self._stored_extraction(record).with_given(given)
            model = self._session.llm if llm is NOT_SET else check_llm(llm)
            config["memory_extraction_config"] = check_usable(learning, model, explicit=True).to_payload()
        if config:
            changes["runtime_config"] = {**(record.runtime_config or {}), **config}
        if changes:
            self.store.update_thread_record(thread_id, **changes)
        return self._handle(self._known_thread(thread_id), search_config, llm, {}, {})

    update_thread_async = awaitable(update_thread)

    def delete_thread(self, thread_id: str) -> int:
        """Delete a conversation with its messages, memories, summaries and images.

        Args:
            thread_id: Its id.

        Returns:
            1, or 0 if there is no such thread.
        """
        store = self.store
        return min(1, store.delete_thread(thread_id)) if _names_something(thread_id) else 0

    delete_thread_async = awaitable(delete_thread)

    def list_threads(
        self,
        user_id: str | None,
        agent_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[ThreadRecord]:
        """Return a user's conversations, oldest first.

        Args:
            user_id: The user's id; None for threads without a user.
            agent_id: Only this agent's; None for those without an agent.
            metadata_filter: Only those whose metadata match; None for those without.
            limit: The newest so many; default 10,000, None for all.

        Raises:
            InvalidArgumentError: If a value is not allowed.
        """
        found = self.store.list(
            "thread", user_id=user_id, agent_id=agent_id, metadata_filter=metadata_filter, limit=limit
        )
        return cast("list[ThreadRecord]", found)

    list_threads_async = awaitable(list_threads)

    def _known_thread(self, thread_id: object) -> ThreadRecord:
        store = self.store
        record = store.get_thread_record(str(thread_id)) if _names_something(thread_id) else None
        if record is None:
            raise NotFoundError(f"there is no thread {shown(thread_id)}")
        return record

    def _stored_extraction(self, record: ThreadRecord) -> ExtractionSettings:
        stored = (record.runtime_config or {}).get("memory_extraction_config")
        return settings_from_payload(stored, self._session.extraction)

    def _handle(
        self,
        record: ThreadRecord,
        search_config: MemorySearchConfig | NotSetType,
        llm: LLM | None | NotSetType,
        extraction: dict[str, Any],
        numbers: dict[str, Any],
    ) -> Thread:
        config = self._session.search_config
        if search_config is not NOT_SET:
            config = checked_config(search_config)
        elif record.runtime_config:
            stored = record.runtime_config.get("search_config")
            config = config_from_payload(stored, config, pruner=self._session.pruner)
        settings = read_settings(stored_settings(record.runtime_config), numbers)
        model = self._session.llm if llm is NOT_SET else check_llm(llm)
        learning = self._stored_extraction(record).with_given(extraction)
        explicit = bool(extraction.get("extract_memories"))
        learning = check_usable(learning, model, explicit=explicit)
        return Thread(self._session, record, settings, config, learning, model)


def _names_something(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _new_or(value: str | NotSetType, name: str) -> str:
    return str(uuid.uuid4()) if value is NOT_SET else check_id(value, argument=name)


def _checked_metadata(metadata: object) -> dict[str, Any] | None:
    if metadata is NOT_SET or metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise InvalidArgumentError(
            f"metadata must be a dict or None, got {shown(metadata)}", argument="metadata"
        )
    return metadata
