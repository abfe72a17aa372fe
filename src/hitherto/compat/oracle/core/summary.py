"""Names of ``oracleagentmemory.core.summary``."""

from __future__ import annotations

from hitherto.extraction.summaries import Summary
from hitherto.extraction.summaries import Summary as OracleSummary

__all__ = [
    "OracleSummary",
    "Summary",
]
