"""Names of ``oracleagentmemory.apis``."""

from __future__ import annotations

from typing import TypeAlias

from hitherto.compat.oracle.model_classes import IEmbedder, IReranker
from hitherto.extraction.cards import ContextCard
from hitherto.extraction.summaries import Summary
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.memory import AgentMemory as IAgentMemory
from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent
from hitherto.models.base import LLM as ILlm
from hitherto.models.base import LLMResponse as LlmResponse
from hitherto.models.base import RerankResponse, RerankResponseResult
from hitherto.records import (
    AgentProfileRecord,
    FactRecord,
    GuidelineRecord,
    ImageRecord,
    MemoryRecord,
    MessageRecord,
    PreferenceRecord,
    Record,
    RecordStatus,
    ScopedRecord,
    ThreadRecord,
    ThreadSummaryRecord,
    UserProfileRecord,
    build_record,
)
from hitherto.relations import MemoryLink, RecordRelation
from hitherto.search.config import MemorySearchConfig as ISearchConfig
from hitherto.search.result import SearchResultFormatConfig
from hitherto.store.base import MemoryStore as IMemoryStore
from hitherto.store.batches import PendingRecordBatch
from hitherto.thread import Thread as IThread

MemoryLinkOppositeType: TypeAlias = str

MemoryLinkType: TypeAlias = str

MemoryRecordType: TypeAlias = str

RelationType: TypeAlias = str

ThreadRecordType: TypeAlias = str

__all__ = [
    "AgentProfileRecord",
    "ContextCard",
    "FactRecord",
    "GuidelineRecord",
    "IAgentMemory",
    "IEmbedder",
    "ILlm",
    "IMemoryStore",
    "IReranker",
    "ISearchConfig",
    "IThread",
    "ImageContent",
    "ImageMimeType",
    "ImageRecord",
    "LlmResponse",
    "MemoryLink",
    "MemoryLinkOppositeType",
    "MemoryLinkType",
    "MemoryRecord",
    "MemoryRecordType",
    "Message",
    "MessageContent",
    "MessageRecord",
    "PendingRecordBatch",
    "PreferenceRecord",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "RelationType",
    "RerankResponse",
    "RerankResponseResult",
    "ScopedRecord",
    "SearchResultFormatConfig",
    "Summary",
    "TextContent",
    "ThreadRecord",
    "ThreadRecordType",
    "ThreadSummaryRecord",
    "TimeToLiveAnchor",
    "UserProfileRecord",
    "build_record",
]
