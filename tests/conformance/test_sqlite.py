"""The embedded store passes the suite, in a file and in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitherto.store.base import MemoryStore
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.conformance import StoreConformance

DEPENDENT = {
    "chunk_texts": "record_no",
    "entries": "record_no",
    "images": "record_no",
    "links": "source_no",
    "vectors": "record_no",
}


def rows_without_record(store: MemoryStore) -> list[str]:
    """Return the rows of each table that depends on records whose record is gone."""
    assert isinstance(store, SQLiteStore)
    with store._read() as conn:
        return [
            f"{table}: {row}"
            for table, column in DEPENDENT.items()
            for row in conn.exec_driver_sql(
                f"SELECT {column} FROM {table} WHERE {column} NOT IN (SELECT record_no FROM records)"
            )
        ]


class TestSQLiteFile(StoreConformance):
    """The store in a file."""

    persistent = True
    program = (
        "from hitherto.store.sqlite.store import SQLiteStore\n"
        "store = SQLiteStore(folder / 'memory.db', durability='normal')"
    )

    def make_store(self, folder: Path, **options: Any) -> SQLiteStore:
        """Open the file."""
        return SQLiteStore(folder / "memory.db", **options)

    def leftovers(self, store: MemoryStore) -> list[str]:
        """Look into the tables."""
        return rows_without_record(store)


class TestSQLiteInMemory(StoreConformance):
    """The store that ends with the object."""

    def make_store(self, folder: Path, **options: Any) -> SQLiteStore:
        """Return an empty store."""
        return SQLiteStore(":memory:", **options)
