"""Memory for AI agents: what was said, by whom and when, kept in one file and found again.

Every public name is imported from here and loaded on first use, so that ``import hitherto`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitherto.client.extractions import Extraction
    from hitherto.errors import (
        AlreadyStoredError,
        ArgumentTypeError,
        BusyError,
        ClosedError,
        ConflictError,
        EmbedderMismatchError,
        HithertoError,
        InvalidArgumentError,
        InvalidFilterError,
        InvalidIdError,
        InvalidTextError,
        MissingExtraError,
        ModelError,
        ModelOutputError,
        NotFoundError,
        SchemaError,
        StoreError,
    )
    from hitherto.events import (
        CompletedEvent,
        Event,
        EventListener,
        OperationKind,
        StartedEvent,
        register_event_listeners,
    )
    from hitherto.extraction.cards import ContextCard
    from hitherto.extraction.config import (
        BackgroundExtractionQueueFullBehavior,
        MemoryExtractionConfig,
        MemoryExtractionImageContext,
        MemoryExtractionMode,
        MemoryLinkExtractionMode,
    )
    from hitherto.extraction.summaries import Summary
    from hitherto.images import ImageInputLimitConfig
    from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
    from hitherto.memory import AgentMemory
    from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent
    from hitherto.models.base import (
        LLM,
        Embedder,
        Fingerprint,
        LLMResponse,
        Reranker,
        RerankResponse,
        RerankResponseResult,
    )
    from hitherto.models.cross_encoder import LocalCrossEncoder
    from hitherto.models.http_reranker import HttpReranker
    from hitherto.models.litellm import LiteLLMReranker, Llm
    from hitherto.models.local import LocalEmbedder
    from hitherto.models.openai_compatible import OpenAICompatibleLLM
    from hitherto.notset import NOT_SET, NOT_SET_MARKER
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
    from hitherto.scope import Scope, SearchScope
    from hitherto.search.config import (
        MemorySearchConfig,
        PruningEvaluationMode,
        PruningMemorySearchConfig,
        TopKMemorySearchConfig,
    )
    from hitherto.search.explain import Explanation
    from hitherto.search.result import SearchResult, SearchResultFormatConfig
    from hitherto.store.base import MemoryStore, PendingRecordBatch, SearchStrategy
    from hitherto.store.jobs import JobState
    from hitherto.store.requests import ArmScore, HitExplanation
    from hitherto.store.settings import SearchSettings
    from hitherto.store.sql.migrate import SchemaPolicy
    from hitherto.store.sqlite.store import SQLiteStore
    from hitherto.telemetry import LoggingListener, OpenTelemetryListener
    from hitherto.thread import Thread

__all__ = [
    "LLM",
    "NOT_SET",
    "NOT_SET_MARKER",
    "AgentMemory",
    "AgentProfileRecord",
    "AlreadyStoredError",
    "ArgumentTypeError",
    "ArmScore",
    "BackgroundExtractionQueueFullBehavior",
    "BusyError",
    "ClosedError",
    "CompletedEvent",
    "ConflictError",
    "ContextCard",
    "Embedder",
    "EmbedderMismatchError",
    "Event",
    "EventListener",
    "Explanation",
    "Extraction",
    "FactRecord",
    "Fingerprint",
    "GuidelineRecord",
    "HitExplanation",
    "HithertoError",
    "HttpReranker",
    "ImageContent",
    "ImageInputLimitConfig",
    "ImageMimeType",
    "ImageRecord",
    "InvalidArgumentError",
    "InvalidFilterError",
    "InvalidIdError",
    "InvalidTextError",
    "JobState",
    "LLMResponse",
    "LiteLLMReranker",
    "Llm",
    "LocalCrossEncoder",
    "LocalEmbedder",
    "LoggingListener",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLink",
    "MemoryLinkExtractionMode",
    "MemoryRecord",
    "MemoryRetentionConfig",
    "MemorySearchConfig",
    "MemoryStore",
    "Message",
    "MessageContent",
    "MessageRecord",
    "MissingExtraError",
    "ModelError",
    "ModelOutputError",
    "NotFoundError",
    "OpenAICompatibleLLM",
    "OpenTelemetryListener",
    "OperationKind",
    "PendingRecordBatch",
    "PreferenceRecord",
    "PruningEvaluationMode",
    "PruningMemorySearchConfig",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "RerankResponse",
    "RerankResponseResult",
    "Reranker",
    "SQLiteStore",
    "SchemaError",
    "SchemaPolicy",
    "Scope",
    "ScopedRecord",
    "SearchResult",
    "SearchResultFormatConfig",
    "SearchScope",
    "SearchSettings",
    "SearchStrategy",
    "StartedEvent",
    "StoreError",
    "Summary",
    "TextContent",
    "Thread",
    "ThreadRecord",
    "ThreadSummaryRecord",
    "TimeToLiveAnchor",
    "TopKMemorySearchConfig",
    "UserProfileRecord",
    "__version__",
    "build_record",
    "register_event_listeners",
]

__version__ = "0.1.0"

_MODULE_OF = {
    "AgentMemory": "memory",
    "AgentProfileRecord": "records",
    "AlreadyStoredError": "errors",
    "ArgumentTypeError": "errors",
    "ArmScore": "store.requests",
    "BackgroundExtractionQueueFullBehavior": "extraction.config",
    "BusyError": "errors",
    "ClosedError": "errors",
    "CompletedEvent": "events",
    "ConflictError": "errors",
    "ContextCard": "extraction.cards",
    "Embedder": "models.base",
    "EmbedderMismatchError": "errors",
    "Event": "events",
    "EventListener": "events",
    "Explanation": "search.explain",
    "Extraction": "client.extractions",
    "FactRecord": "records",
    "Fingerprint": "models.base",
    "GuidelineRecord": "records",
    "HitExplanation": "store.requests",
    "HithertoError": "errors",
    "HttpReranker": "models.http_reranker",
    "ImageContent": "messages",
    "ImageInputLimitConfig": "images",
    "ImageMimeType": "messages",
    "ImageRecord": "records",
    "InvalidArgumentError": "errors",
    "InvalidFilterError": "errors",
    "InvalidIdError": "errors",
    "InvalidTextError": "errors",
    "JobState": "store.jobs",
    "LLM": "models.base",
    "LLMResponse": "models.base",
    "LiteLLMReranker": "models.litellm",
    "Llm": "models.litellm",
    "LocalCrossEncoder": "models.cross_encoder",
    "LocalEmbedder": "models.local",
    "LoggingListener": "telemetry",
    "MemoryExtractionConfig": "extraction.config",
    "MemoryExtractionImageContext": "extraction.config",
    "MemoryExtractionMode": "extraction.config",
    "MemoryLink": "relations",
    "MemoryLinkExtractionMode": "extraction.config",
    "MemoryRecord": "records",
    "MemoryRetentionConfig": "lifetime",
    "MemorySearchConfig": "search.config",
    "MemoryStore": "store.base",
    "Message": "messages",
    "MessageContent": "messages",
    "MessageRecord": "records",
    "MissingExtraError": "errors",
    "ModelError": "errors",
    "ModelOutputError": "errors",
    "NOT_SET": "notset",
    "NOT_SET_MARKER": "notset",
    "NotFoundError": "errors",
    "OpenAICompatibleLLM": "models.openai_compatible",
    "OpenTelemetryListener": "telemetry",
    "OperationKind": "events",
    "PendingRecordBatch": "store.base",
    "PreferenceRecord": "records",
    "PruningEvaluationMode": "search.config",
    "PruningMemorySearchConfig": "search.config",
    "Record": "records",
    "RecordRelation": "relations",
    "RecordStatus": "records",
    "RerankResponse": "models.base",
    "RerankResponseResult": "models.base",
    "Reranker": "models.base",
    "SQLiteStore": "store.sqlite.store",
    "SchemaError": "errors",
    "SchemaPolicy": "store.sql.migrate",
    "Scope": "scope",
    "ScopedRecord": "records",
    "SearchResult": "search.result",
    "SearchResultFormatConfig": "search.result",
    "SearchScope": "scope",
    "SearchSettings": "store.settings",
    "SearchStrategy": "store.base",
    "StartedEvent": "events",
    "StoreError": "errors",
    "Summary": "extraction.summaries",
    "TextContent": "messages",
    "Thread": "thread",
    "ThreadRecord": "records",
    "ThreadSummaryRecord": "records",
    "TimeToLiveAnchor": "lifetime",
    "TopKMemorySearchConfig": "search.config",
    "UserProfileRecord": "records",
    "build_record": "records",
    "register_event_listeners": "events",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'hitherto' has no attribute {name!r}")
    value: object = getattr(import_module(f"hitherto.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_MODULE_OF})
