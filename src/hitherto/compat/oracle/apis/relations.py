"""Names of ``oracleagentmemory.apis.relations``."""

from __future__ import annotations

from hitherto.relations import MemoryLink, RecordRelation

__all__ = [
    "MemoryLink",
    "RecordRelation",
]
