"""Names of ``oracleagentmemory.core.embedders``."""

from __future__ import annotations

from hitherto.compat.oracle.core.embedders.embedder import Embedder
from hitherto.compat.oracle.core.embedders.oracledb import OracleDBEmbedder

__all__ = [
    "Embedder",
    "OracleDBEmbedder",
]
