"""The store in PostgreSQL passes the suite on a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.postgres import folder_url

from hitherto.store.base import MemoryStore
from hitherto.store.postgres.store import PostgresStore
from hitherto.testing.conformance import StoreConformance

DEPENDENT = {
    "chunk_texts": "record_no",
    "entries": "record_no",
    "images": "record_no",
    "links": "source_no",
    "vectors": "record_no",
}


LEFT = "SELECT {1} FROM {0} WHERE {1} NOT IN (SELECT record_no FROM records)"
LEADING = {
    "ids": (
        "SELECT id FROM ids WHERE (id_space, id, user_no, record_no) NOT IN (SELECT id_space, id, user_no, record_no "
        "FROM records UNION ALL SELECT 'link', id, user_no, link_no FROM links)"
    ),
    "thread_users": (
        "SELECT thread_id FROM thread_users WHERE (thread_id, user_no) NOT IN "
        "(SELECT thread_id, user_no FROM records WHERE thread_id IS NOT NULL)"
    ),
    "link_targets": (
        "SELECT link_no FROM link_targets WHERE (user_no, target_no, source_user_no, link_no) NOT IN "
        "(SELECT target_user_no, target_no, user_no, link_no FROM links)"
    ),
}


class TestPostgres(StoreConformance):
    """The store in a schema of its own."""

    persistent = True
    program = (
        "from hitherto.store.postgres.store import PostgresStore\n"
        "store = PostgresStore((folder / 'url').read_text(), partitions=2)"
    )

    @pytest.fixture(autouse=True)
    def _url(self, tmp_path: Path) -> None:
        """Leave the URL where another process finds it."""
        (tmp_path / "url").write_text(folder_url(tmp_path))

    def make_store(self, folder: Path, **options: Any) -> PostgresStore:
        """Open the schema that belongs to the folder."""
        return PostgresStore(folder_url(folder), partitions=2, **options)

    def leftovers(self, store: MemoryStore) -> list[str]:
        """Look into the tables."""
        assert isinstance(store, PostgresStore)
        with store._read() as conn:
            return [
                f"{table}: {row}"
                for table, statement in (
                    *((name, LEFT.format(name, column)) for name, column in DEPENDENT.items()),
                    *LEADING.items(),
                )
                for row in conn.exec_driver_sql(statement)
            ]
