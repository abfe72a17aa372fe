"""Names of ``oracleagentmemory.core.oracleagentmemory``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from hitherto.aio import awaitable
from hitherto.compat.oracle.core.dbsearch import SearchIndexSyncMode
from hitherto.compat.oracle.core.oracledbmemorystore import OracleDBMemoryStore
from hitherto.compat.oracle.model_classes import IEmbedder
from hitherto.compat.oracle.refusal import check_nothing_here, target_of
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.extraction.config import (
    BackgroundExtractionQueueFullBehavior,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
)
from hitherto.images import ImageInputLimitConfig
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.memory import AgentMemory
from hitherto.memory import AgentMemory as IAgentMemory
from hitherto.messages import ImageContent, ImageMimeType
from hitherto.models.base import LLM as ILlm
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import (
    AgentProfileRecord,
    ImageRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    RecordStatus,
    ScopedRecord,
    ThreadRecord,
    UserProfileRecord,
)
from hitherto.scope import SearchScope
from hitherto.search.config import (
    MemorySearchConfig,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
)
from hitherto.search.config import MemorySearchConfig as ISearchConfig
from hitherto.search.result import SearchResult
from hitherto.search.result import SearchResultFormatConfig as OracleSearchResultFormatConfig
from hitherto.store.base import MemoryStore as OracleMemoryStore
from hitherto.store.base import SearchStrategy
from hitherto.store.sql.migrate import SchemaPolicy
from hitherto.thread import Thread
from hitherto.thread import Thread as OracleThread


class OracleAgentMemory(AgentMemory):
    """A client with the arguments of the other package.

    Args:
        store: An open store, instead of a connection.
        connection: What hitherto opens: a path, a URL, or an SQLAlchemy engine. A connection or pool of ``oracledb`` is
            refused.
        embedder: What turns texts into vectors, or a LiteLLM name; left out, the local one if it is installed.
        llm: What extracts memories; see :class:`~hitherto.memory.AgentMemory`, as for all that follow.
        memory_extraction_config: What is extracted, and when.
        image_input_limit_config: How large images may be.
        schema_policy: What may be done to the schema.
        memory_store_id: Does nothing here: a file is one store.
        table_name_prefix: Does nothing here.
        schema_owner: Does nothing here.
        search_strategy: What a search looks at.
        search_index_sync: Does nothing here: every commit is searchable at once.
        extract_memories: Better given in memory_extraction_config.
        memory_extraction_custom_instructions: Better given in memory_extraction_config.
        memory_retention_config: How long records live.
        search_config: How searches go on after retrieval.
        pruner_llm: What prunes where a stored configuration has no model.

    Raises:
        InvalidArgumentError: If there is neither a store nor a connection, or both, or an Oracle connection.

    Examples:
        >>> memory = OracleAgentMemory(connection=":memory:")
        >>> thread = memory.create_thread(user_id="mia")
        >>> thread.user_id
        'mia'
        >>> memory.close()
    """

    def __init__(
        self,
        *,
        store: OracleMemoryStore | NotSetType = NOT_SET,
        connection: object | NotSetType = NOT_SET,
        embedder: IEmbedder | str | NotSetType = NOT_SET,
        llm: ILlm | None | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        schema_policy: SchemaPolicy | str | NotSetType = NOT_SET,
        memory_store_id: str | NotSetType = NOT_SET,
        table_name_prefix: str | NotSetType = NOT_SET,
        schema_owner: str | NotSetType = NOT_SET,
        search_strategy: SearchStrategy | NotSetType = NOT_SET,
        search_index_sync: SearchIndexSyncMode | NotSetType = NOT_SET,
        extract_memories: bool | NotSetType = NOT_SET,
        memory_extraction_custom_instructions: str | NotSetType = NOT_SET,
        memory_retention_config: MemoryRetentionConfig | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        pruner_llm: ILlm | NotSetType = NOT_SET,
    ) -> None:
        of_a_store = {
            "schema_policy": schema_policy,
            "search_strategy": search_strategy,
            "memory_retention_config": memory_retention_config,
        }
        nothing_here = {
            "memory_store_id": memory_store_id,
            "table_name_prefix": table_name_prefix,
            "schema_owner": schema_owner,
            "search_index_sync": search_index_sync,
        }
        check_nothing_here(nothing_here, has_store=store is not NOT_SET)
        options: dict[str, Any] = {name: value for name, value in of_a_store.items() if value is not NOT_SET}
        if store is not NOT_SET and options:
            name = sorted(options)[0]
            raise InvalidArgumentError(f"{name} must be configured on the store itself", argument=name)
        if store is NOT_SET and embedder is not NOT_SET:
            options["embedder"] = _embedder(embedder)
        inline = {
            "extract_memories": extract_memories,
            "memory_extraction_custom_instructions": memory_extraction_custom_instructions,
        }
        super().__init__(
            None if connection is NOT_SET else target_of(connection),
            store=None if store is NOT_SET else store,
            llm=llm,
            memory_extraction_config=memory_extraction_config,
            image_input_limit_config=image_input_limit_config,
            search_config=search_config,
            pruner_llm=pruner_llm,
            **options,
            **{name: value for name, value in inline.items() if value is not NOT_SET},
        )

    def create_thread(
        self,
        /,
        *,
        thread_id: str | NotSetType = NOT_SET,
        user_id: str | NotSetType = NOT_SET,
        agent_id: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        llm: ILlm | None | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        context_card_type_search_concurrency: int | NotSetType = NOT_SET,
        extract_memories: bool | NotSetType = NOT_SET,
        memory_extraction_window: int | NotSetType = NOT_SET,
        context_summary_update_frequency: int | NotSetType = NOT_SET,
        memory_extraction_frequency: int | NotSetType = NOT_SET,
        memory_extraction_token_limit: int | NotSetType = NOT_SET,
        memory_extraction_custom_instructions: str | NotSetType = NOT_SET,
        memory_extraction_inherit_message_metadata: bool | Sequence[str] | NotSetType = NOT_SET,
        enable_context_summary: bool | NotSetType = NOT_SET,
        **kwargs: Any,
    ) -> Thread:
        """Begin a conversation; see :meth:`hitherto.memory.AgentMemory.create_thread`."""
        given = dict(locals())
        return super().create_thread(**_thread_options(given))

    create_thread_async = awaitable(create_thread)  # type: ignore[arg-type]  # the base's twin names fewer options

    def get_thread(
        self,
        /,
        thread_id: str,
        *,
        llm: ILlm | None | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        context_card_type_search_concurrency: int | NotSetType = NOT_SET,
        extract_memories: bool | NotSetType = NOT_SET,
        memory_extraction_window: int | NotSetType = NOT_SET,
        context_summary_update_frequency: int | NotSetType = NOT_SET,
        memory_extraction_frequency: int | NotSetType = NOT_SET,
        memory_extraction_token_limit: int | NotSetType = NOT_SET,
        memory_extraction_custom_instructions: str | None | NotSetType = NOT_SET,
        memory_extraction_inherit_message_metadata: bool | Sequence[str] | NotSetType = NOT_SET,
        enable_context_summary: bool | NotSetType = NOT_SET,
        **kwargs: Any,
    ) -> Thread:
        """Return a stored conversation; see :meth:`hitherto.memory.AgentMemory.get_thread`."""
        given = dict(locals())
        return super().get_thread(given.pop("thread_id"), **_thread_options(given))

    get_thread_async = awaitable(get_thread)  # type: ignore[arg-type]  # the base's twin names fewer options

    def update_thread(
        self,
        /,
        thread_id: str,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        llm: ILlm | None | NotSetType = NOT_SET,
        extract_memories: bool | NotSetType = NOT_SET,
        max_message_token_length: int | NotSetType = NOT_SET,
        message_shortening_input_token_limit: int | NotSetType = NOT_SET,
        memory_extraction_window: int | NotSetType = NOT_SET,
        context_summary_update_frequency: int | NotSetType = NOT_SET,
        memory_extraction_frequency: int | NotSetType = NOT_SET,
        memory_extraction_token_limit: int | NotSetType = NOT_SET,
        context_card_token_limit: int | NotSetType = NOT_SET,
        enable_context_summary: bool | NotSetType = NOT_SET,
        memory_extraction_custom_instructions: str | None | NotSetType = NOT_SET,
        memory_extraction_inherit_message_metadata: bool | Sequence[str] | NotSetType = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        **kwargs: Any,
    ) -> Thread:
        """Change a conversation; see :meth:`hitherto.memory.AgentMemory.update_thread`."""
        given = dict(locals())
        return super().update_thread(given.pop("thread_id"), **_thread_options(given))

    update_thread_async = awaitable(update_thread)  # type: ignore[arg-type]  # the base's twin names fewer options


def _thread_options(given: dict[str, Any]) -> dict[str, Any]:
    unknown = given.pop("kwargs")
    if unknown:
        raise ArgumentTypeError(
            f"{sorted(unknown)[0]} is no argument of this method", argument=sorted(unknown)[0]
        )
    limits = given.pop("image_input_limit_config")
    if limits is not NOT_SET and not isinstance(limits, ImageInputLimitConfig):
        raise ArgumentTypeError(
            f"image_input_limit_config must be an ImageInputLimitConfig, got {shown(limits)}",
            argument="image_input_limit_config",
        )
    if limits is not NOT_SET:
        warnings.warn(
            "image_input_limit_config of a thread does nothing here: give it to the client",
            UserWarning,
            stacklevel=3,
        )
    names = {name for name in given if name not in {"self", "__class__"}}
    return {name: given[name] for name in names if given[name] is not NOT_SET}


def _embedder(embedder: object) -> object:
    if not isinstance(embedder, str):
        return embedder
    from hitherto.models.litellm_embedder import LiteLLMEmbedder

    return LiteLLMEmbedder(embedder)


__all__ = [
    "AgentProfileRecord",
    "BackgroundExtractionQueueFullBehavior",
    "IAgentMemory",
    "IEmbedder",
    "ILlm",
    "ISearchConfig",
    "ImageContent",
    "ImageInputLimitConfig",
    "ImageMimeType",
    "ImageRecord",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLinkExtractionMode",
    "MemoryRecord",
    "MemoryRetentionConfig",
    "MemorySearchConfig",
    "MessageRecord",
    "OracleAgentMemory",
    "OracleDBMemoryStore",
    "OracleMemoryStore",
    "OracleSearchResultFormatConfig",
    "OracleThread",
    "PruningMemorySearchConfig",
    "Record",
    "RecordStatus",
    "SchemaPolicy",
    "ScopedRecord",
    "SearchIndexSyncMode",
    "SearchResult",
    "SearchScope",
    "SearchStrategy",
    "ThreadRecord",
    "TimeToLiveAnchor",
    "TopKMemorySearchConfig",
    "UserProfileRecord",
]
