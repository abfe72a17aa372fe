"""Names of ``oracleagentmemory.core.searchconfig``."""

from __future__ import annotations

from hitherto.compat.oracle.model_classes import IReranker
from hitherto.models.base import LLM as ILlm
from hitherto.records import Record
from hitherto.search.config import (
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
)
from hitherto.search.config import MemorySearchConfig as ISearchConfig

__all__ = [
    "ILlm",
    "IReranker",
    "ISearchConfig",
    "MemorySearchConfig",
    "PruningEvaluationMode",
    "PruningMemorySearchConfig",
    "Record",
    "TopKMemorySearchConfig",
]
