"""Names of ``oracleagentmemory.core.contextcard``."""

from __future__ import annotations

from hitherto.extraction.cards import ContextCard
from hitherto.extraction.cards import ContextCard as OracleContextCard
from hitherto.messages import Message
from hitherto.records import MessageRecord
from hitherto.search.result import SearchResult

__all__ = [
    "ContextCard",
    "Message",
    "MessageRecord",
    "OracleContextCard",
    "SearchResult",
]
