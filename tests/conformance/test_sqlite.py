"""The embedded store passes the suite, in a file and in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.conformance import StoreConformance


class TestSQLiteFile(StoreConformance):
    """The store in a file."""

    persistent = True

    def make_store(self, folder: Path, **options: Any) -> SQLiteStore:
        """Open the file."""
        return SQLiteStore(folder / "memory.db", **options)


class TestSQLiteInMemory(StoreConformance):
    """The store that ends with the object."""

    def make_store(self, folder: Path, **options: Any) -> SQLiteStore:
        """Return an empty store."""
        return SQLiteStore(":memory:", **options)
