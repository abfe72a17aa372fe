"""Names of ``oracleagentmemory.core.oraclememorystore``."""

from __future__ import annotations

from hitherto.messages import ImageContent, TextContent
from hitherto.records import MessageRecord, Record, ScopedRecord, ThreadRecord
from hitherto.store.base import MemoryStore as IMemoryStore
from hitherto.store.base import MemoryStore as OracleMemoryStore
from hitherto.store.batches import PendingRecordBatch

__all__ = [
    "IMemoryStore",
    "ImageContent",
    "MessageRecord",
    "OracleMemoryStore",
    "PendingRecordBatch",
    "Record",
    "ScopedRecord",
    "TextContent",
    "ThreadRecord",
]
