"""Names of ``oracleagentmemory.apis.agentmemory``."""

from __future__ import annotations

from hitherto.lifetime import TimeToLiveAnchor
from hitherto.memory import AgentMemory as IAgentMemory
from hitherto.messages import ImageMimeType
from hitherto.records import (
    AgentProfileRecord,
    ImageRecord,
    MemoryRecord,
    MessageRecord,
    RecordStatus,
    ThreadRecord,
    UserProfileRecord,
)
from hitherto.scope import SearchScope
from hitherto.search.config import MemorySearchConfig as ISearchConfig
from hitherto.search.result import SearchResult
from hitherto.thread import Thread as IThread

__all__ = [
    "AgentProfileRecord",
    "IAgentMemory",
    "ISearchConfig",
    "IThread",
    "ImageMimeType",
    "ImageRecord",
    "MemoryRecord",
    "MessageRecord",
    "RecordStatus",
    "SearchResult",
    "SearchScope",
    "ThreadRecord",
    "TimeToLiveAnchor",
    "UserProfileRecord",
]
