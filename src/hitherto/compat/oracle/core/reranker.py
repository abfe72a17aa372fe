"""Names of ``oracleagentmemory.core.reranker``."""

from __future__ import annotations

from hitherto.compat.oracle.model_classes import IReranker
from hitherto.models.base import RerankResponse, RerankResponseResult
from hitherto.models.litellm import LiteLLMReranker as Reranker

__all__ = ["IReranker", "RerankResponse", "RerankResponseResult", "Reranker"]
