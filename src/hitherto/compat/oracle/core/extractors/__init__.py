"""Names of ``oracleagentmemory.core.extractors``."""

from __future__ import annotations

from hitherto.extraction.config import (
    BackgroundExtractionQueueFullBehavior,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
)
from hitherto.store.batches import PendingRecordBatch

__all__ = [
    "BackgroundExtractionQueueFullBehavior",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLinkExtractionMode",
    "PendingRecordBatch",
]
