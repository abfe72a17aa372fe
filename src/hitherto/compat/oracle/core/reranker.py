"""Names of ``oracleagentmemory.core.reranker``."""

from __future__ import annotations

from hitherto.models.base import Reranker as IReranker
from hitherto.models.base import RerankResponse, RerankResponseResult
from hitherto.models.litellm import LiteLLMReranker as Reranker

__all__ = ["IReranker", "RerankResponse", "RerankResponseResult", "Reranker"]
