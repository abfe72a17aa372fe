"""Names of ``oracleagentmemory.core.llms``."""

from __future__ import annotations

from hitherto.compat.oracle.core.llms.llm import Llm, LlmApiType

__all__ = [
    "Llm",
    "LlmApiType",
]
