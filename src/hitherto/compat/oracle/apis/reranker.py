"""Names of ``oracleagentmemory.apis.reranker``."""

from __future__ import annotations

from hitherto.models.base import Reranker as IReranker
from hitherto.models.base import RerankResponse, RerankResponseResult

__all__ = [
    "IReranker",
    "RerankResponse",
    "RerankResponseResult",
]
