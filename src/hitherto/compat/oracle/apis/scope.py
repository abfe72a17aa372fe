"""Names of ``oracleagentmemory.apis.scope``."""

from __future__ import annotations

from hitherto.scope import Scope

__all__ = [
    "Scope",
]
