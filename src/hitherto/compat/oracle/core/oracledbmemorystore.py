"""Names of ``oracleagentmemory.core.oracledbmemorystore``."""

from __future__ import annotations

from typing import Any

from hitherto.compat.oracle.core.dbsearch import SearchIndexSyncMode
from hitherto.compat.oracle.core.embedders.oracledb import OracleDBEmbedder
from hitherto.compat.oracle.model_classes import IEmbedder
from hitherto.compat.oracle.refusal import check_nothing_here, target_of
from hitherto.errors import InvalidArgumentError, shown
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.messages import ImageContent, MessageContent, TextContent
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import (
    ImageRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    RecordStatus,
    ThreadRecord,
    ThreadSummaryRecord,
    build_record,
)
from hitherto.relations import RecordRelation
from hitherto.store.base import MemoryStore as OracleMemoryStore
from hitherto.store.base import SearchStrategy
from hitherto.store.batches import PendingRecordBatch
from hitherto.store.sql.migrate import SchemaPolicy
from hitherto.store.sqlite.store import SQLiteStore


class OracleDBMemoryStore(SQLiteStore):
    """The store that programs configure themselves, here in a file.

    Args:
        embedder: What turns texts into vectors, or None to search by words alone.
        pool: The file's path, or an SQLAlchemy engine of it; a pool of ``oracledb`` is refused. A store in PostgreSQL
            is opened by ``OracleAgentMemory(connection=...)``.
        schema_policy: What may be done to its schema; a file is made with CREATE_IF_NECESSARY alone.
        vector_dim: The dimension of its vectors, which is the embedder's.
        table_name_prefix: Does nothing here.
        search_strategy: What a search looks at.
        search_index_sync: Does nothing here: every commit is searchable at once.
        memory_retention_config: How long records live.
        memory_store_id: Does nothing here: a file is one store.
        schema_owner: Does nothing here.

    Raises:
        InvalidArgumentError: If pool is Oracle's or a URL of another kind, or vector_dim is not the embedder's.
        SchemaError: If there is no store, or another one, and the policy does not allow to make one.

    Examples:
        >>> with OracleDBMemoryStore(None, "memory.db", SchemaPolicy.CREATE_IF_NECESSARY) as store:
        ...     store.add(["Ana plays the cello"], "fact", record_ids="f1")
        ['f1']
    """

    def __init__(
        self,
        embedder: IEmbedder | None,
        pool: Any,
        schema_policy: SchemaPolicy | str = SchemaPolicy.REQUIRE_EXISTING,
        vector_dim: int | None = None,
        table_name_prefix: str | NotSetType = NOT_SET,
        search_strategy: SearchStrategy | NotSetType = NOT_SET,
        search_index_sync: SearchIndexSyncMode | NotSetType = NOT_SET,
        memory_retention_config: MemoryRetentionConfig | NotSetType = NOT_SET,
        memory_store_id: str | NotSetType = NOT_SET,
        schema_owner: str | NotSetType = NOT_SET,
    ) -> None:
        check_nothing_here(
            {
                "table_name_prefix": table_name_prefix,
                "search_index_sync": search_index_sync,
                "memory_store_id": memory_store_id,
                "schema_owner": schema_owner,
            }
        )
        path = str(target_of(pool, argument="pool")).removeprefix("sqlite:///")
        if "://" in path:
            raise InvalidArgumentError(
                f"pool must be a file here, got a URL that starts with {path.split('://')[0]!r}; "
                "give it to OracleAgentMemory(connection=...)",
                argument="pool",
            )
        if vector_dim is not None and embedder is not None and vector_dim != embedder.embedding_dimension:
            raise InvalidArgumentError(
                f"vector_dim must be the embedder's ({embedder.embedding_dimension}), got {shown(vector_dim)}",
                argument="vector_dim",
            )
        options: dict[str, Any] = {
            "search_strategy": search_strategy,
            "memory_retention_config": memory_retention_config,
        }
        given = {name: value for name, value in options.items() if value is not NOT_SET}
        super().__init__(path, embedder=embedder, schema_policy=schema_policy, **given)


__all__ = [
    "IEmbedder",
    "ImageContent",
    "ImageRecord",
    "MemoryRecord",
    "MemoryRetentionConfig",
    "MessageContent",
    "MessageRecord",
    "OracleDBEmbedder",
    "OracleDBMemoryStore",
    "OracleMemoryStore",
    "PendingRecordBatch",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "SchemaPolicy",
    "SearchIndexSyncMode",
    "SearchStrategy",
    "TextContent",
    "ThreadRecord",
    "ThreadSummaryRecord",
    "TimeToLiveAnchor",
    "build_record",
]
