"""Names of ``oracleagentmemory.apis.memorystore``."""

from __future__ import annotations

from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import MessageContent
from hitherto.records import MessageRecord, Record, RecordStatus
from hitherto.relations import RecordRelation
from hitherto.store.base import MemoryStore as IMemoryStore
from hitherto.store.batches import PendingRecordBatch

__all__ = [
    "IMemoryStore",
    "MessageContent",
    "MessageRecord",
    "PendingRecordBatch",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "TimeToLiveAnchor",
]
