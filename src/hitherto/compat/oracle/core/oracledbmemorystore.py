"""Names of ``oracleagentmemory.core.oracledbmemorystore``."""

from __future__ import annotations

from typing import Any

from hitherto.compat.oracle.core.dbsearch import SearchIndexSyncMode
from hitherto.compat.oracle.core.embedders.oracledb import OracleDBEmbedder
from hitherto.compat.oracle.refusal import only_on_oracle
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.messages import ImageContent, MessageContent, TextContent
from hitherto.models.base import Embedder as IEmbedder
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
    """The store in an Oracle database, of which there is none here.

    Args:
        embedder: What turns texts into vectors.
        pool: A pool of connections to an Oracle database.
        schema_policy: What may be done to its schema.
        vector_dim: The dimension of its vectors.
        table_name_prefix: What its tables' names begin with.
        search_strategy: What a search looks at.
        search_index_sync: When its index sees what was stored.
        memory_retention_config: How long records live.
        memory_store_id: Its id.
        schema_owner: Whose schema it is.

    Raises:
        InvalidArgumentError: Always, with what to do instead.
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
        only_on_oracle(
            "OracleDBMemoryStore", 'give OracleAgentMemory connection="memory.db", a path, instead'
        )


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
