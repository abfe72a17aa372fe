"""Names of ``oracleagentmemory.apis.records``."""

from __future__ import annotations

from hitherto.messages import ImageMimeType, MessageContent
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

__all__ = [
    "AgentProfileRecord",
    "FactRecord",
    "GuidelineRecord",
    "ImageMimeType",
    "ImageRecord",
    "MemoryRecord",
    "MessageContent",
    "MessageRecord",
    "PreferenceRecord",
    "Record",
    "RecordStatus",
    "ScopedRecord",
    "ThreadRecord",
    "ThreadSummaryRecord",
    "UserProfileRecord",
    "build_record",
]
