"""Names of ``oracleagentmemory.apis.ttl``."""

from __future__ import annotations

from hitherto.lifetime import TimeToLiveAnchor

__all__ = [
    "TimeToLiveAnchor",
]
