"""AgentMemory: the client that programs hold."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from hitherto.aio import awaitable
from hitherto.client.links import LinkVerbs
from hitherto.client.memories import MemoryVerbs
from hitherto.client.profiles import ProfileVerbs
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError, StoreError, shown
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import ThreadRecord
from hitherto.scope import SearchScope, check_id, resolve_for_client
from hitherto.search import pipeline
from hitherto.search.config import MemorySearchConfig, TopKMemorySearchConfig, config_from_payload
from hitherto.search.result import SearchResult
from hitherto.session import (
    DEFAULT_TIMEOUT_S,
    Session,
    check_timeout,
    read_scope,
    refuse_extraction,
    without_extraction,
)
from hitherto.store.opening import open_store
from hitherto.thread import Thread
from hitherto.thread_settings import ThreadSettings, read_settings, stored_settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from hitherto.store.base import MemoryStore


class AgentMemory(ProfileVerbs, MemoryVerbs, LinkVerbs):
    """A client: threads, messages and memories in one store, and searches over them.

    Python threads may share one. Used as a context manager it is closed at the end. Memories are what programs add:
    none are extracted from messages, which the log says once.

    Args:
        path: The store's path or URL; ":memory:" for one that ends with the client.
        store: An open store, instead of a path; closing the client leaves it open.
        search_config: How searches go on after retrieval, where neither thread nor call says so.
        **store_options: With a path, what :func:`~hitherto.store.opening.open_store` takes: ``embedder``,
            ``schema_policy``, ``memory_retention_config``, ``search_strategy``, ``durability`` and so on.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If there is neither a path nor a store, or both.
        StoreError: If the store cannot be opened.

    Example:
        >>> with AgentMemory(":memory:", embedder=None) as memory:
        ...     _ = memory.add_memory("Mia is allergic to walnuts", memory_type="fact", user_id="mia")
        ...     [result.content for result in memory.search("what is Mia allergic to?", user_id="mia")]
        ['Mia is allergic to walnuts']
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        store: MemoryStore | None = None,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        **store_options: Any,
    ) -> None:
        store_options = without_extraction(store_options)
        if (path is None) == (store is None):
            given = "neither" if path is None else "both"
            raise InvalidArgumentError(
                f"path or store must be given, one of them; got {given}", argument="path"
            )
        if store is not None and store_options:
            raise InvalidArgumentError(
                f"{', '.join(sorted(store_options))} must be configured on the store that is given as store=",
                argument=sorted(store_options)[0],
            )
        config = TopKMemorySearchConfig() if search_config is NOT_SET else _checked_config(search_config)
        opened = open_store(path, **store_options) if path is not None else cast("MemoryStore", store)
        self._session = Session(opened, config, owns_store=store is None)

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        await self.close_async()

    def for_user(self, /, user_id: str, **options: Any) -> AgentMemory:
        """Open a client that can reach one user's records only, because the database shows it no others.

        Args:
            user_id: The user.
            **options: ``role``, ``url`` and ``pool_size`` as :meth:`PostgresStore.for_user
                <hitherto.store.postgres.store.PostgresStore.for_user>` takes them.

        Returns:
            The client; closing it leaves this one open.

        Raises:
            StoreError: If the store is not one of PostgreSQL, or does not isolate users yet.
        """
        bound = getattr(self._session.store, "for_user", None)
        if bound is None:
            raise StoreError(
                "only PostgreSQL keeps users apart in the database; this store has no for_user()"
            )
        client = object.__new__(AgentMemory)
        client._session = Session(bound(user_id, **options), self._session.search_config, owns_store=True)
        return client

    for_user_async = awaitable(for_user)

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
            **extraction: Options of extraction, which must be left out or off.

        Returns:
            The thread.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            ConflictError: If the id is taken.
        """
        refuse_extraction(extraction)
        settings = read_settings(
            ThreadSettings(),
            {
                "max_message_token_length": max_message_token_length,
                "message_shortening_input_token_limit": message_shortening_input_token_limit,
                "context_card_token_limit": context_card_token_limit,
                "context_card_type_search_concurrency": context_card_type_search_concurrency,
            },
        )
        config = self._session.search_config if search_config is NOT_SET else _checked_config(search_config)
        record = self.store.create_thread_record(
            _new_or(thread_id, "thread_id"),
            _new_or(user_id, "user_id"),
            _new_or(agent_id, "agent_id"),
            _checked_metadata(metadata),
            {**settings.to_payload(), "search_config": config.to_payload()},
        )
        return Thread(self._session, record, settings, config)

    create_thread_async = awaitable(create_thread)

    def get_thread(
        self,
        /,
        thread_id: str,
        *,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        **extraction: Any,
    ) -> Thread:
        """Return a stored conversation.

        Args:
            thread_id: Its id.
            search_config: How the searches of this handle go on after retrieval; not stored.
            **extraction: Options of extraction, which must be left out or off.

        Raises:
            ArgumentTypeError: If search_config has the wrong type.
            NotFoundError: If there is no such thread.
        """
        refuse_extraction(extraction)
        return self._handle(self._known_thread(thread_id), search_config)

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
            **extraction: Options of extraction, which must be left out or off.

        Returns:
            The changed thread.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If there is no such thread.
        """
        refuse_extraction(extraction)
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
            config["search_config"] = _checked_config(search_config).to_payload()
        if config:
            changes["runtime_config"] = {**(record.runtime_config or {}), **config}
        if changes:
            self.store.update_thread_record(thread_id, **changes)
        return self._handle(self._known_thread(thread_id), search_config)

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

    def search(
        self,
        query: str,
        *,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        exact_user_match: bool | NotSetType = NOT_SET,
        exact_agent_match: bool | NotSetType = NOT_SET,
        exact_thread_match: bool | NotSetType = NOT_SET,
        max_results: int | None | NotSetType = NOT_SET,
        token_budget: int | None | NotSetType = NOT_SET,
        soft_token_budget: int | None | NotSetType = NOT_SET,
        record_types: Iterable[str] | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        num_hops: int | NotSetType = NOT_SET,
        max_linked_results: int | NotSetType = NOT_SET,
        include_invalid_results: bool | NotSetType = NOT_SET,
        scope: SearchScope | None | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        explain: bool = False,
    ) -> list[SearchResult]:
        """Search what one user has, in all threads; the user must be named.

        Args:
            query: What to look for.
            user_id: The user; None for records without one.
            agent_id: The agent, None for records without one; by default any.
            thread_id: The thread, None for records without one; it only ranks unless exact_thread_match is True.
            exact_user_match: Always True here.
            exact_agent_match: Whether the agent's id filters; default True.
            exact_thread_match: Whether the thread's id filters; default False.
            max_results: The most results, 1 to 1000; default 10.
            token_budget: The most tokens of all results together.
            soft_token_budget: The result that reaches so many tokens is the last one.
            record_types: Only these types.
            metadata_filter: Only records whose metadata match.
            num_hops: How far links are followed from each memory found, 0 to 5.
            max_linked_results: The most linked records for each; default 100.
            include_invalid_results: Whether invalid records qualify; default True.
            scope: The ids and flags in one value, instead of the keywords.
            search_config: How the search goes on after retrieval; by default the client's configuration.
            explain: Whether each result says why it is there.

        Returns:
            The results, best first.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If the user is not named, or a value is not allowed.
        """
        asked = read_scope(
            scope,
            user_id=user_id,
            agent_id=agent_id,
            thread_id=thread_id,
            exact_user_match=exact_user_match,
            exact_agent_match=exact_agent_match,
            exact_thread_match=exact_thread_match,
        )
        return pipeline.search(
            self.store,
            query,
            resolve_for_client(asked),
            self._session.search_config if search_config is NOT_SET else _checked_config(search_config),
            max_results=max_results,
            token_budget=token_budget,
            soft_token_budget=soft_token_budget,
            record_types=record_types,
            metadata_filter=metadata_filter,
            num_hops=num_hops,
            max_linked_results=max_linked_results,
            include_invalid_results=include_invalid_results,
            explain=explain,
        )

    search_async = awaitable(search, limiter_name="models")

    def wait_for_memory_extraction(self, timeout: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Wait until nothing is left to extract.

        Args:
            timeout: Seconds to wait at most; None for no bound.
        """
        self._session.check_open()

    wait_for_memory_extraction_async = awaitable(wait_for_memory_extraction, limiter_name="models")

    def close(self, timeout: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Close the client, and its store if it opened it; calling it again does nothing.

        Args:
            timeout: Seconds to wait for work in the background; None for no bound.

        Raises:
            ArgumentTypeError: If timeout is no number.
            InvalidArgumentError: If timeout is not above 0.
        """
        check_timeout(timeout)
        self._session.close()

    close_async = awaitable(close)

    def _known_thread(self, thread_id: object) -> ThreadRecord:
        store = self.store
        record = store.get_thread_record(str(thread_id)) if _names_something(thread_id) else None
        if record is None:
            raise NotFoundError(f"there is no thread {shown(thread_id)}")
        return record

    def _handle(self, record: ThreadRecord, search_config: MemorySearchConfig | NotSetType) -> Thread:
        config = self._session.search_config
        if search_config is not NOT_SET:
            config = _checked_config(search_config)
        elif record.runtime_config:
            config = config_from_payload(record.runtime_config.get("search_config"), config)
        return Thread(self._session, record, stored_settings(record.runtime_config), config)


def _names_something(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _new_or(value: str | NotSetType, name: str) -> str:
    return str(uuid.uuid4()) if value is NOT_SET else check_id(value, argument=name)


def _checked_config(config: object) -> MemorySearchConfig:
    if not isinstance(config, MemorySearchConfig):
        raise ArgumentTypeError(
            f"search_config must be a MemorySearchConfig, got {shown(config)}", argument="search_config"
        )
    return config


def _checked_metadata(metadata: object) -> dict[str, Any] | None:
    if metadata is NOT_SET or metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise InvalidArgumentError(
            f"metadata must be a dict or None, got {shown(metadata)}", argument="metadata"
        )
    return metadata
