"""Names of ``oracleagentmemory.apis.searchresult``."""

from __future__ import annotations

from hitherto.search.result import SearchResult, SearchResultFormatConfig

__all__ = [
    "SearchResult",
    "SearchResultFormatConfig",
]
