"""Names of ``oracleagentmemory.apis.embedders``."""

from __future__ import annotations

from hitherto.compat.oracle.model_classes import IEmbedder

__all__ = [
    "IEmbedder",
]
