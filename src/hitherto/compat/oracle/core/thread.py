"""Names of ``oracleagentmemory.core.thread``."""

from __future__ import annotations

from hitherto.compat.oracle.core.oracledbmemorystore import OracleDBMemoryStore
from hitherto.extraction.cards import ContextCard as OracleContextCard
from hitherto.extraction.config import (
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
)
from hitherto.extraction.summaries import Summary as OracleSummary
from hitherto.images import ImageInputLimitConfig
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent
from hitherto.models.base import LLM as ILlm
from hitherto.records import ImageRecord, MessageRecord, RecordStatus, ScopedRecord
from hitherto.relations import RecordRelation
from hitherto.scope import SearchScope
from hitherto.search.config import MemorySearchConfig, TopKMemorySearchConfig
from hitherto.search.result import SearchResult
from hitherto.search.result import SearchResult as OracleSearchResult
from hitherto.store.base import MemoryStore as OracleMemoryStore
from hitherto.store.batches import PendingRecordBatch
from hitherto.thread import Thread as BaseThread
from hitherto.thread import Thread as OracleThread

__all__ = [
    "BaseThread",
    "ILlm",
    "ImageContent",
    "ImageInputLimitConfig",
    "ImageMimeType",
    "ImageRecord",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemorySearchConfig",
    "Message",
    "MessageContent",
    "MessageRecord",
    "OracleContextCard",
    "OracleDBMemoryStore",
    "OracleMemoryStore",
    "OracleSearchResult",
    "OracleSummary",
    "OracleThread",
    "PendingRecordBatch",
    "RecordRelation",
    "RecordStatus",
    "ScopedRecord",
    "SearchResult",
    "SearchScope",
    "TextContent",
    "TimeToLiveAnchor",
    "TopKMemorySearchConfig",
]
