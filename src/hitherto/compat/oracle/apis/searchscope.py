"""Names of ``oracleagentmemory.apis.searchscope``."""

from __future__ import annotations

from hitherto.scope import Scope, SearchScope

__all__ = [
    "Scope",
    "SearchScope",
]
