"""Names of ``oracleagentmemory.core.searchresult``."""

from __future__ import annotations

from hitherto.messages import TextContent
from hitherto.records import MessageRecord, Record, RecordStatus, ScopedRecord
from hitherto.relations import RecordRelation
from hitherto.search.result import SearchResult, SearchResultFormatConfig
from hitherto.search.result import SearchResult as OracleSearchResult
from hitherto.search.result import SearchResultFormatConfig as OracleSearchResultFormatConfig

__all__ = [
    "MessageRecord",
    "OracleSearchResult",
    "OracleSearchResultFormatConfig",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "ScopedRecord",
    "SearchResult",
    "SearchResultFormatConfig",
    "TextContent",
]
