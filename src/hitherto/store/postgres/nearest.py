"""Records by their vectors, as the database finds them, in a scope too large to be held in memory.

From its statistics the database says how many rows qualify: few are compared one by one, many are found through the
HNSW index, which goes on through the graph until enough rows have passed the conditions (iterative scan). If that
ends with fewer than k, the rows are compared one by one after all, so that k are found if k qualify.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto.store.fusion import DIGITS
from hitherto.store.postgres.conditions import Wanted, driver_of, of_found, of_ranked
from hitherto.store.postgres.index import POSTGRES_INDEX, PgVector
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.sql.rows import fetch_records
from hitherto.store.sql.vectors import exact_cosines, unit_rows

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

    from hitherto.records import Record

VECTORS_INDEX: Final = "ix_vectors_hnsw"
_SCAN: Final = (
    "SET LOCAL hnsw.iterative_scan = relaxed_order",
    "SET LOCAL hnsw.ef_search = {ef}",
    "SET LOCAL hnsw.max_scan_tuples = 2000000",
    "SET LOCAL hnsw.scan_mem_multiplier = 8",
    # Expecting few rows of the join, the planner would rather sort all of them.
    "SET LOCAL enable_sort = off",
)
_LEAST: Final = 64
_WIDEN: Final = 4


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
    wanted = conditions(query, user_no)
    if query.metadata_filter is not None:
        passing = POSTGRES_INDEX.passing(conn, query.metadata_filter, user_no)
        if passing is not None:
            wanted.add("e.record_no = ANY(%s)", passing)
    driver = driver_of(conn)
    indexed = estimated_rows(driver, wanted) > most_compared
    count = max(_LEAST, 4 * query.k)
    while True:
        keys = nearest_rows(driver, query, wanted, count, indexed=indexed)
        hits = _ranked(conn, driver, query, keys)
        if len(hits) >= query.k or (not indexed and len(keys) < count):
            return hits[: query.k]
        if indexed and len(keys) < count:
            # The graph was left before enough qualified.
            indexed = False
        else:
            count *= _WIDEN


def nearest_rows(
    driver: psycopg.Connection[Any], query: StoreQuery, wanted: Wanted, count: int, *, indexed: bool
) -> list[Any]:
    """Return user, record, chunk and vector of the nearest rows, nearest first.

    Args:
        driver: A connection.
        query: The search.
        wanted: Its conditions.
        count: How many rows are wanted.
        indexed: Whether to go through the HNSW index, which may end with fewer.
    """
    if indexed:
        for statement in _SCAN:
            driver.execute(statement.format(ef=min(count, 1000)).encode())
    return driver.execute(*statement_of(query, wanted, count, indexed=indexed), prepare=False).fetchall()


def conditions(query: StoreQuery, user_no: int | None) -> Wanted:
    """Return what a row must meet to be found.

    Args:
        query: The search.
        user_no: The one user whose records qualify, or None for all users'.
    """
    return of_ranked(query, user_no).join(of_found(query))


_FROM: Final = (
    "FROM vectors v JOIN entries e ON e.user_no = v.user_no AND e.record_no = v.record_no "
    "AND e.chunk_no = v.chunk_no WHERE "
)


def estimated_rows(driver: psycopg.Connection[Any], wanted: Wanted) -> int:
    """Return how many rows meet conditions, as the database's statistics have it.

    Args:
        driver: A connection.
        wanted: The conditions.
    """
    # Without the vectors: of a join by three columns the database expects a hundredth of what there is.
    statement = f"EXPLAIN SELECT 1 FROM entries e WHERE {wanted.sql}"  # noqa: S608  names of our own
    found = driver.execute(statement.encode(), wanted.values, prepare=False).fetchone()
    rows = re.search(r"rows=(\d+)", "" if found is None else found[0])
    return 0 if rows is None else int(rows[1])


def statement_of(query: StoreQuery, wanted: Wanted, count: int, *, indexed: bool) -> tuple[bytes, list[Any]]:
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
        + wanted.sql
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
