"""AgentMemory: the client that programs hold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from hitherto.aio import awaitable
from hitherto.client.extractions import ExtractionVerbs
from hitherto.client.images import ImageVerbs
from hitherto.client.links import LinkVerbs
from hitherto.client.memories import MemoryVerbs
from hitherto.client.profiles import ProfileVerbs
from hitherto.client.threads import ThreadVerbs
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, StoreError, shown
from hitherto.events import observed
from hitherto.extraction.config import ExtractionSettings, MemoryExtractionConfig
from hitherto.extraction.options import check_llm, read_options, split_options
from hitherto.images import ImageInputLimitConfig, ImageLimits
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.scope import SearchScope, resolve_for_client
from hitherto.search import pipeline
from hitherto.search.config import MemorySearchConfig, TopKMemorySearchConfig, checked_config
from hitherto.search.result import SearchResult
from hitherto.session import (
    DEFAULT_TIMEOUT_S,
    Session,
    check_timeout,
    read_scope,
)
from hitherto.store.opening import open_store
from hitherto.store.primitives import StorePrimitives

if TYPE_CHECKING:
    from typing_extensions import Self

    from hitherto.store.base import MemoryStore


@observed("agent_memory")
class AgentMemory(ThreadVerbs, ProfileVerbs, MemoryVerbs, LinkVerbs, ImageVerbs, ExtractionVerbs):
    """A client: threads, messages and memories in one store, and searches over them.

    Python threads may share one. Used as a context manager it is closed at the end. With a language model, memories
    are extracted from messages; without one they are what programs add, which the log says once.

    Args:
        path: The store's path or URL; ":memory:" for one that ends with the client.
        store: An open store, instead of a path; closing the client leaves it open.
        search_config: How searches go on after retrieval, where neither thread nor call says so.
        llm: The language model that extracts memories and keeps summaries; None for none.
        memory_extraction_config: What is extracted, and when, where a thread does not say so.
        image_input_limit_config: How large images for the language model may be.
        pruner_llm: The model that prunes where a stored configuration wants it and has none.
        **store_options: With a path, what :func:`~hitherto.store.opening.open_store` takes: ``embedder``,
            ``schema_policy``, ``memory_retention_config``, ``search_strategy``, ``durability`` and so on.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If there is neither a path nor a store, or both.
        StoreError: If the store cannot be opened.

    Examples:
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
        llm: LLM | None | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        pruner_llm: LLM | None | NotSetType = NOT_SET,
        **store_options: Any,
    ) -> None:
        inline, store_options = split_options(store_options)
        extraction = ExtractionSettings().with_given(read_options(memory_extraction_config, inline))
        model, pruner = check_llm(llm), check_llm(pruner_llm, argument="pruner_llm")
        limits = ImageLimits.of(image_input_limit_config)
        if (path is None) == (store is None):
            given = "neither" if path is None else "both"
            raise InvalidArgumentError(
                f"path or store must be given, one of them; got {given}", argument="path"
            )
        if store is not None and not isinstance(store, StorePrimitives):
            raise ArgumentTypeError(f"store must be a MemoryStore, got {shown(store)}", argument="store")
        if store is not None and store_options:
            raise InvalidArgumentError(
                f"{', '.join(sorted(store_options))} must be configured on the store that is given as store=",
                argument=sorted(store_options)[0],
            )
        config = TopKMemorySearchConfig() if search_config is NOT_SET else checked_config(search_config)
        opened = open_store(path, **store_options) if path is not None else cast("MemoryStore", store)
        self._session = Session(
            opened,
            config,
            owns_store=store is None,
            llm=model,
            extraction=extraction,
            image_limits=limits,
            pruner=pruner,
        )

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
        shared = self._session
        client._session = Session(
            bound(user_id, **options),
            shared.search_config,
            owns_store=True,
            llm=shared.llm,
            extraction=shared.extraction,
            image_limits=shared.image_limits,
            pruner=shared.pruner,
        )
        return client

    for_user_async = awaitable(for_user)

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
            self._session.search_config if search_config is NOT_SET else checked_config(search_config),
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

    def close(self, timeout: float | None = DEFAULT_TIMEOUT_S) -> None:
        """Close the client, and its store if it opened it; calling it again does nothing.

        Args:
            timeout: Seconds to wait for extraction in the background; None for no bound. What is not done by then goes
                on when the store is opened again.

        Raises:
            ArgumentTypeError: If timeout is no number.
            InvalidArgumentError: If timeout is not above 0.
        """
        self._session.close(timeout_s=check_timeout(timeout))

    close_async = awaitable(close)
