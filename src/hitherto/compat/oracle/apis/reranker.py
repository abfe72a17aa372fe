"""Names of ``oracleagentmemory.apis.reranker``."""

from __future__ import annotations

from hitherto.compat.oracle.model_classes import IReranker
from hitherto.models.base import RerankResponse, RerankResponseResult

__all__ = [
    "IReranker",
    "RerankResponse",
    "RerankResponseResult",
]
