"""Names of ``oracleagentmemory.core.retention``."""

from __future__ import annotations

from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor

__all__ = [
    "MemoryRetentionConfig",
    "TimeToLiveAnchor",
]
