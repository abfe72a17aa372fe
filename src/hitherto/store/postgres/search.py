"""Searching PostgreSQL: as every SQL backend does, but where a scope does not fit in memory, the database has a part.

By a vector alone it ranks (:mod:`~hitherto.store.postgres.nearest`), by words it finds candidates
(:mod:`~hitherto.store.postgres.candidates`); both only where the index for it was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from hitherto.store.postgres.build import build_online, is_built
from hitherto.store.postgres.candidates import CandidateSearch
from hitherto.store.postgres.nearest import VECTORS_INDEX, nearest
from hitherto.store.postgres.words import INDEX_NAME as WORDS_INDEX
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.sql.shelf_search import ShelfSearch
from hitherto.store.sql.tables import NO_USER

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_INDEXED: Final = 4000
"""The most dimensions that pgvector indexes in half precision."""
ROW_BYTES: Final = 200
"""What a row takes in a shelf at least, with a code for its vector."""
_ALL_ROWS: Final = text("SELECT value FROM counters WHERE name = 'record_no'")
_USER_ROWS: Final = text("SELECT user_no, row_count FROM scopes WHERE user_id = :user_id")
_ROWS_OF: Final = text("SELECT user_no, row_count FROM scopes WHERE user_no = :user_no")
# Where rows are hidden by policies, these are asked before any index that compares: each row would be read.
_IS_BOUND: Final = text("SELECT row_security_active('entries')")


def build_index(conn: Connection, dimension: int) -> None:
    """Build the HNSW index anew without keeping writers waiting.

    Args:
        conn: A connection without a transaction, as concurrent building wants it.
        dimension: How many numbers a vector has.
    """
    how = f"USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)"
    build_online(conn, "vectors", VECTORS_INDEX, how, anew=True)


class PostgresSearch(ShelfSearch):
    """The search index of one store in PostgreSQL."""

    def _start(self) -> None:
        super()._start()
        self._candidates = CandidateSearch(self._sql, self._settings, self._ranking)

    def erase(self, conn: Connection) -> None:
        """Forget what is in memory.

        Args:
            conn: A connection in a write transaction.
        """
        super().erase(conn)
        self._candidates.clear()

    def drop_vectors(self, conn: Connection, version: int) -> None:
        """Delete all vectors.

        Args:
            conn: A connection in a write transaction.
            version: The transaction's version.
        """
        super().drop_vectors(conn, version)
        self._candidates.clear()

    def search(self, conn: Connection, query: StoreQuery) -> list[StoreHit]:
        """Return the records nearest to a query, nearest first, without linked records.

        Args:
            conn: A connection in a read transaction.
            query: What is searched.
        """
        if query.text is None and not query.explain:
            large, user_no = self._is_large(conn, query)
            if large and is_built(conn, "vectors", VECTORS_INDEX):
                return nearest(conn, query, user_no, most_compared=self._settings.exact_rows)
        return super().search(conn, query)

    def _search_within(self, conn: Connection, query: StoreQuery, user_no: int | None) -> list[StoreHit]:
        if (
            query.text is not None
            and self._outgrows_cache(conn, user_no)
            and is_built(conn, "entries", WORDS_INDEX)
            and not conn.execute(_IS_BOUND).scalar()
        ):
            return self._candidates.search(conn, query, user_no)
        return super()._search_within(conn, query, user_no)

    def _is_large(self, conn: Connection, query: StoreQuery) -> tuple[bool, int | None]:
        """Return whether the scope is too large to be held in memory in full, and the one user that it is in."""
        user = query.scope.user
        if not user.exact:
            rows = conn.execute(_ALL_ROWS).scalar()
            return bool(rows is not None and rows > self._settings.exact_rows), None
        found = (
            conn.execute(_ROWS_OF, {"user_no": NO_USER})
            if user.id is None
            else conn.execute(_USER_ROWS, {"user_id": user.id})
        ).one_or_none()
        if found is None:
            return False, None
        return found.row_count > self._settings.exact_rows, found.user_no

    def _outgrows_cache(self, conn: Connection, user_no: int | None) -> bool:
        """Return whether a scope's shelf would not fit the cache, even with codes."""
        if self._cache.holds(user_no):
            return False
        rows = (
            conn.execute(_ALL_ROWS).scalar()
            if user_no is None
            else conn.execute(_ROWS_OF, {"user_no": user_no}).one().row_count
        )
        return (rows or 0) * ROW_BYTES > self._cache_bytes
