"""Names of ``oracleagentmemory.core``."""

from __future__ import annotations

from typing import TypeAlias

from hitherto.compat.oracle.core.dbsearch import SearchIndexSyncMode
from hitherto.compat.oracle.core.oracleagentmemory import OracleAgentMemory
from hitherto.compat.oracle.core.oracledbmemorystore import OracleDBMemoryStore
from hitherto.compat.oracle.core.reranker import Reranker
from hitherto.compat.oracle.core.thread import OracleThread
from hitherto.extraction.cards import ContextCard as OracleContextCard
from hitherto.extraction.config import (
    BackgroundExtractionQueueFullBehavior,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
)
from hitherto.extraction.summaries import Summary as OracleSummary
from hitherto.images import ImageInputLimitConfig
from hitherto.lifetime import MemoryRetentionConfig
from hitherto.relations import MemoryLink, RecordRelation
from hitherto.search.config import (
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
)
from hitherto.search.result import SearchResult as OracleSearchResult
from hitherto.search.result import SearchResultFormatConfig
from hitherto.search.result import SearchResultFormatConfig as OracleSearchResultFormatConfig
from hitherto.store.base import MemoryStore as OracleMemoryStore
from hitherto.store.base import SearchStrategy
from hitherto.store.sql.migrate import SchemaPolicy

MemoryLinkOppositeType: TypeAlias = str

MemoryLinkType: TypeAlias = str

RelationType: TypeAlias = str

__all__ = [
    "BackgroundExtractionQueueFullBehavior",
    "ImageInputLimitConfig",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLink",
    "MemoryLinkExtractionMode",
    "MemoryLinkOppositeType",
    "MemoryLinkType",
    "MemoryRetentionConfig",
    "MemorySearchConfig",
    "OracleAgentMemory",
    "OracleContextCard",
    "OracleDBMemoryStore",
    "OracleMemoryStore",
    "OracleSearchResult",
    "OracleSearchResultFormatConfig",
    "OracleSummary",
    "OracleThread",
    "PruningEvaluationMode",
    "PruningMemorySearchConfig",
    "RecordRelation",
    "RelationType",
    "Reranker",
    "SchemaPolicy",
    "SearchIndexSyncMode",
    "SearchResultFormatConfig",
    "SearchStrategy",
    "TopKMemorySearchConfig",
]
