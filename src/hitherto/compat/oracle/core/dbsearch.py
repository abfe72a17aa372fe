"""Names of ``oracleagentmemory.core.dbsearch``."""

from __future__ import annotations

import enum

from hitherto.store.base import SearchStrategy


class SearchIndexSyncMode(enum.Enum):
    """When Oracle's search index sees what was stored; here every commit is searchable at once."""

    AUTO = "auto"
    MANUAL = "manual"
    ON_COMMIT = "on_commit"


__all__ = ["SearchIndexSyncMode", "SearchStrategy"]
