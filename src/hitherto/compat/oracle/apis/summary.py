"""Names of ``oracleagentmemory.apis.summary``."""

from __future__ import annotations

from hitherto.extraction.summaries import Summary

__all__ = [
    "Summary",
]
