"""Names of ``oracleagentmemory.core.dbschemapolicy``."""

from __future__ import annotations

from hitherto.store.sql.migrate import SchemaPolicy

__all__ = [
    "SchemaPolicy",
]
