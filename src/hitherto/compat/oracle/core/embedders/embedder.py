"""Names of ``oracleagentmemory.core.embedders.embedder``."""

from __future__ import annotations

from hitherto.compat.oracle.model_classes import IEmbedder
from hitherto.compat.oracle.observability.event import EmbedderCompletedEvent
from hitherto.models.litellm_embedder import LiteLLMEmbedder as Embedder

__all__ = ["Embedder", "EmbedderCompletedEvent", "IEmbedder"]
