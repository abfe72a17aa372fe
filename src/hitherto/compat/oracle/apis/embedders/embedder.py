"""Names of ``oracleagentmemory.apis.embedders.embedder``."""

from __future__ import annotations

from hitherto.models.base import Embedder as IEmbedder

__all__ = [
    "IEmbedder",
]
