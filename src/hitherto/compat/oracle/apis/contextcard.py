"""Names of ``oracleagentmemory.apis.contextcard``."""

from __future__ import annotations

from hitherto.extraction.cards import ContextCard

__all__ = [
    "ContextCard",
]
