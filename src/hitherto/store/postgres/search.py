"""Searching PostgreSQL: as every SQL backend does, but for vectors alone in a scope too large to be held in memory.

There the database ranks. From its statistics it says how many rows qualify: few are compared one by one, many are
found through the HNSW index, which goes on through the graph until enough rows have passed the conditions (iterative
scan). If that ends with fewer than k, the rows are compared one by one after all, so that k are found if k qualify.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import psycopg
from sqlalchemy import text

from hitherto.store.fusion import DIGITS
from hitherto.store.postgres.index import POSTGRES_INDEX, PgVector
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.sql.entries import TYPE_NUMBERS, microseconds_of
from hitherto.store.sql.rows import fetch_records
from hitherto.store.sql.shelf_search import ShelfSearch
from hitherto.store.sql.tables import NO_USER
from hitherto.store.sql.vectors import exact_cosines, unit_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hitherto.records import Record

INDEX_NAME: Final = "ix_vectors_hnsw"
MOST_INDEXED: Final = 4000
"""The most dimensions that pgvector indexes in half precision."""
_HAS_INDEX: Final = text("SELECT to_regclass('ix_vectors_hnsw') IS NOT NULL")
_PARTS: Final = text(
    "SELECT CAST(CAST(inhrelid AS regclass) AS text) FROM pg_inherits "
    "WHERE inhparent = to_regclass('vectors') ORDER BY 1"
)
_ALL_ROWS: Final = text("SELECT value FROM counters WHERE name = 'record_no'")
_USER_ROWS: Final = text("SELECT user_no, row_count FROM scopes WHERE user_id = :user_id")
_NO_USER_ROWS: Final = text("SELECT user_no, row_count FROM scopes WHERE user_no = :user_no")
_SCAN: Final = (
    "SET LOCAL hnsw.iterative_scan = relaxed_order",
    "SET LOCAL hnsw.ef_search = {ef}",
    "SET LOCAL hnsw.max_scan_tuples = 2000000",
    "SET LOCAL hnsw.scan_mem_multiplier = 8",
)
_LEAST: Final = 64
_WIDEN: Final = 4


def build_index(conn: Connection, dimension: int) -> None:
    """Build the HNSW index anew without keeping writers waiting.

    Args:
        conn: A connection without a transaction, as concurrent building wants it.
        dimension: How many numbers a vector has.
    """
    how = f"USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)"
    parts = conn.execute(_PARTS).scalars().all()
    conn.exec_driver_sql(f"DROP INDEX IF EXISTS {INDEX_NAME}")
    names = [f"{INDEX_NAME}_{place}" for place in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        # One that was interrupted leaves an index that is not used and keeps the name.
        conn.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        conn.exec_driver_sql(f"CREATE INDEX CONCURRENTLY {name} ON {part} {how}")
    # Searches look for this one, so it comes when all is there.
    conn.exec_driver_sql(f"CREATE INDEX {INDEX_NAME} ON ONLY vectors {how}")
    for name in names:
        conn.exec_driver_sql(f"ALTER INDEX {INDEX_NAME} ATTACH PARTITION {name}")


@dataclass
class _Wanted:
    """The conditions of a search in SQL, with their values."""

    clauses: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, clause: str, *values: Any) -> None:
        self.clauses.append(clause)
        self.values.extend(values)


class PostgresSearch(ShelfSearch):
    """The search index of one store in PostgreSQL."""

    def search(self, conn: Connection, query: StoreQuery) -> list[StoreHit]:
        """Return the records nearest to a query, nearest first, without linked records.

        Args:
            conn: A connection in a read transaction.
            query: What is searched.
        """
        if query.text is None and query.vector is not None and not query.explain:
            large, user_no = self._is_large(conn, query)
            if large and conn.execute(_HAS_INDEX).scalar():
                return nearest(conn, query, user_no, most_compared=self._settings.exact_rows)
        return super().search(conn, query)

    def _is_large(self, conn: Connection, query: StoreQuery) -> tuple[bool, int | None]:
        """Return whether the scope is too large to be held in memory in full, and the one user that it is in."""
        user = query.scope.user
        if not user.exact:
            rows = conn.execute(_ALL_ROWS).scalar()
            return bool(rows is not None and rows > self._settings.exact_rows), None
        found = (
            conn.execute(_NO_USER_ROWS, {"user_no": NO_USER})
            if user.id is None
            else conn.execute(_USER_ROWS, {"user_id": user.id})
        ).one_or_none()
        if found is None:
            return False, None
        return found.row_count > self._settings.exact_rows, found.user_no


def nearest(
    conn: Connection, query: StoreQuery, user_no: int | None, *, most_compared: int
) -> list[StoreHit]:
    """Return the records whose vectors are nearest, as the database finds them.

    Args:
        conn: A connection in a read transaction.
        query: A search by a vector alone.
        user_no: The one user whose records qualify, or None for all users'.
        most_compared: Up to so many candidates are compared one by one.
    """
    wanted = _conditions(query, user_no)
    if query.metadata_filter is not None:
        passing = POSTGRES_INDEX.passing(conn, query.metadata_filter, user_no)
        if passing is not None:
            wanted.add("e.record_no = ANY(%s) AND v.record_no = ANY(%s)", passing, passing)
    driver = conn.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101  narrows the driver's type
    indexed = estimated_rows(driver, wanted) > most_compared
    count = max(_LEAST, 4 * query.k)
    while True:
        if indexed:
            for statement in _SCAN:
                driver.execute(statement.format(ef=min(count, 1000)).encode())
        keys = driver.execute(*statement_of(query, wanted, count, indexed=indexed), prepare=False).fetchall()
        hits = _ranked(conn, driver, query, keys)
        if len(hits) >= query.k or (not indexed and len(keys) < count):
            return hits[: query.k]
        if indexed and len(keys) < count:
            # The graph was left before enough qualified.
            indexed = False
        else:
            count *= _WIDEN


def _conditions(query: StoreQuery, user_no: int | None) -> _Wanted:
    wanted = _Wanted()
    if user_no is not None:
        wanted.add("e.user_no = %s AND v.user_no = %s", user_no, user_no)
    for match, column in ((query.scope.agent, "e.agent_id"), (query.scope.thread, "e.thread_id")):
        if match.exact and match.id is None:
            wanted.add(f"{column} IS NULL")
        elif match.exact:
            wanted.add(f"{column} = %s", match.id)
    if query.record_types is not None:
        wanted.add("e.record_type = ANY(%s)", [TYPE_NUMBERS[name] for name in sorted(query.record_types)])
    if not query.include_invalid:
        wanted.add("e.valid = 1")
    wanted.add("e.expires > %s", microseconds_of(query.now))
    return wanted


_FROM: Final = (
    "FROM vectors v JOIN entries e ON e.user_no = v.user_no AND e.record_no = v.record_no "
    "AND e.chunk_no = v.chunk_no WHERE "
)


def estimated_rows(driver: psycopg.Connection[Any], wanted: _Wanted) -> int:
    """Return how many rows meet conditions, as the database's statistics have it.

    Args:
        driver: A connection.
        wanted: The conditions.
    """
    found = driver.execute(
        ("EXPLAIN SELECT 1 " + _FROM + " AND ".join(wanted.clauses)).encode(), wanted.values, prepare=False
    ).fetchone()
    rows = re.search(r"rows=(\d+)", "" if found is None else found[0])
    return 0 if rows is None else int(rows[1])


def statement_of(query: StoreQuery, wanted: _Wanted, count: int, *, indexed: bool) -> tuple[bytes, list[Any]]:
    """Return the statement that finds the nearest rows, and its values.

    Args:
        query: The search.
        wanted: Its conditions.
        count: How many rows are wanted.
        indexed: Whether to order by what is indexed: in half precision.
    """
    assert query.vector is not None  # noqa: S101  asked for by a search for vectors only
    size = query.vector.size
    order = (
        f"v.vector::halfvec({size}) <=> %s::vector::halfvec({size})" if indexed else "v.vector <=> %s::vector"
    )
    statement = (
        "SELECT v.user_no, v.record_no, v.chunk_no, vector_send(v.vector) "
        + _FROM
        + " AND ".join(wanted.clauses)
        + f" ORDER BY {order} LIMIT %s"
    )
    return statement.encode(), [*wanted.values, PgVector(query.vector), count]


def _ranked(
    conn: Connection, driver: psycopg.Connection[Any], query: StoreQuery, keys: Sequence[Any]
) -> list[StoreHit]:
    """Score rows in full precision, the best chunk of each record, and leave out what the metadata filter does."""
    if not keys:
        return []
    assert query.vector is not None  # noqa: S101  asked for by a search for vectors only
    vectors = POSTGRES_INDEX.unpack_vectors([bytes(row[3]) for row in keys])
    cosines = np.clip(exact_cosines(vectors, unit_rows(query.vector[None, :])[0]), 0, 1)
    scores: dict[int, float] = {}
    for row, cosine in zip(keys, np.round(cosines, DIGITS).tolist(), strict=True):
        scores[row[1]] = max(scores.get(row[1], 0.0), cosine)
    owners = {row[1]: row[0] for row in keys}
    if query.metadata_filter is not None:
        allowed = POSTGRES_INDEX.matching(conn, query.metadata_filter, list(owners), list(owners.values()))
        owners = {number: user for number, user in owners.items() if number in allowed}
    found = fetch_records(conn, owners)
    numbers = list(found)
    numbers.sort(
        key=lambda no: (-scores[no], -_preferred(query, found[no]), found[no].record_type, found[no].id)
    )
    return [StoreHit(found[no], round(1 - scores[no], DIGITS), None) for no in numbers]


def _preferred(query: StoreQuery, record: Record) -> int:
    """Return in how many dimensions a record has the id that is preferred."""
    return sum(
        match.preferred_id is not None and getattr(record, name, None) == match.preferred_id
        for match, name in (
            (query.scope.user, "user_id"),
            (query.scope.agent, "agent_id"),
            (query.scope.thread, "thread_id"),
        )
    )
