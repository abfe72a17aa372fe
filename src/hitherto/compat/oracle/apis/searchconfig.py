"""Names of ``oracleagentmemory.apis.searchconfig``."""

from __future__ import annotations

from hitherto.search.config import MemorySearchConfig as ISearchConfig

__all__ = [
    "ISearchConfig",
]
