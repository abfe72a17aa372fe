"""The index in PostgreSQL: entries and vectors, partitioned by a hash of the user's number."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlalchemy import ColumnElement, Select, Table, bindparam, select

from hitherto.store.postgres.conditions import driver_of
from hitherto.store.postgres.moment import CHANGED, store_changes
from hitherto.store.postgres.where import narrowed
from hitherto.store.sql.entries import INTO_ENTRIES
from hitherto.store.sql.index_sql import Cursor, Driver, IndexSql, Key
from hitherto.store.sql.rows import RECORD_COLUMNS
from hitherto.store.sql.tables import records

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.filters import Filter

_HEAD: Final = 4
"""How many bytes pgvector writes before a vector's numbers: their count, and two that are unused."""

# OFFSET 0 keeps each look-up one by key: joined at once, all vectors would be read where they are not many.
_SOME_VECTORS: Final = (
    "SELECT wanted.place - 1, found.vector "
    "FROM unnest(?::bigint[], ?::bigint[], ?::int[]) WITH ORDINALITY AS wanted (user_no, record_no, chunk_no, place) "
    "CROSS JOIN LATERAL (SELECT vector_send(v.vector) AS vector FROM vectors v WHERE v.user_no = wanted.user_no "
    "AND v.record_no = wanted.record_no AND v.chunk_no = wanted.chunk_no OFFSET 0) found"
)
_CANDIDATES: Final = select(records.c.record_no, records.c.metadata).where(
    records.c.user_no.in_(bindparam("users", expanding=True)),
    records.c.record_no.in_(bindparam("numbers", expanding=True)),
)
_KEYS: Final = "records.user_no = ANY(?) AND records.record_no = ANY(?)"
_IDS: Final = f"SELECT record_no, record_type, id FROM records WHERE {_KEYS}"  # noqa: S608  names of our own
_COLUMNS: Final = ", ".join(f"{column.table.name}.{column.name}" for column in RECORD_COLUMNS)
_FETCH: Final = (
    f"SELECT {_COLUMNS} FROM records JOIN scopes ON scopes.user_no = records.user_no WHERE {_KEYS}"  # noqa: S608
)


MOST_PASSING: Final = 5000
"""So many records at most are looked up by their metadata before a search ranks."""


class PgVector:
    """A vector as a value of a statement.

    Args:
        numbers: Its numbers.
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: NDArray[np.float32]) -> None:
        self.numbers = numbers


class VectorDumper(Dumper):
    """Writes a vector in pgvector's binary form; the server knows from its place that it is one."""

    format = Format.BINARY

    def dump(self, obj: PgVector) -> bytes:
        """Return the bytes of a vector."""
        return int(obj.numbers.size).to_bytes(2, "big") + b"\0\0" + obj.numbers.astype(">f4").tobytes()


def settle(driver: psycopg.Connection[Any]) -> None:
    """Teach a new connection to write vectors.

    Args:
        driver: The connection.
    """
    driver.adapters.register_dumper(PgVector, VectorDumper)


class PgDriver:
    """A connection of psycopg that takes the statements of the index.

    Args:
        driver: The connection.
    """

    __slots__ = ("_driver",)

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self._driver = driver

    def execute(self, sql: str, values: Any = (), /) -> psycopg.Cursor[Any]:
        """Run a statement."""
        return self._driver.execute(_marked(sql), values, binary=True)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Run a statement for each of many rows, all on their way before the first answer is read."""
        with self._driver.cursor() as cursor:
            cursor.executemany(_marked(sql), rows)


@functools.lru_cache(maxsize=128)
def _marked(sql: str) -> Any:  # psycopg wants a literal, which this comes from
    return sql.replace("?", "%s").encode()


def _driver(conn: Connection) -> PgDriver:
    return PgDriver(driver_of(conn))


def _unpack_vectors(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    rows = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)
    return np.ascontiguousarray(rows[:, _HEAD:]).view(">f4").astype(np.float32)


def _some_vectors(driver: Driver, keys: Sequence[Key]) -> Iterator[tuple[int, bytes]]:
    # In one statement: each would be a way to the server and back.
    users, numbers, chunks = zip(*keys, strict=True) if keys else ((), (), ())
    return iter(driver.execute(_SOME_VECTORS, (list(users), list(numbers), list(chunks))).fetchall())


def _stored_bytes(dimension: int) -> int:
    return _HEAD + 4 * dimension


def _ids(driver: Driver, numbers: Sequence[int], users: Sequence[int]) -> Cursor:
    return driver.execute(_IDS, (sorted(set(users)), list(numbers)))


def _fetch(driver: Driver, numbers: Sequence[int], users: Sequence[int]) -> Cursor:
    return driver.execute(_FETCH, (sorted(set(users)), list(numbers)))


def _matching(conn: Connection, wanted: Filter, numbers: Sequence[int], users: Sequence[int]) -> set[int]:
    values = {"numbers": list(numbers), "users": sorted(set(users))}
    rows = conn.execute(_CANDIDATES.where(_narrow(wanted, records)), values)
    return {number for number, text in rows if wanted.matches(None if text is None else json.loads(text))}


def passing_statement(wanted: Filter, user_no: int | None) -> Select[Any] | None:
    """Return the statement that finds the records which may pass a filter, or None if no index helps.

    Args:
        wanted: The filter.
        user_no: Whose; None for everybody's.
    """
    found = narrowed(wanted, records)
    if not found.indexed:
        return None
    statement = select(records.c.record_no).where(found.clause, records.c.searchable == 1)
    if user_no is not None:
        statement = statement.where(records.c.user_no == user_no)
    return statement.limit(MOST_PASSING + 1)


def _passing(conn: Connection, wanted: Filter, user_no: int | None) -> list[int] | None:
    statement = passing_statement(wanted, user_no)
    numbers = [] if statement is None else list(conn.execute(statement).scalars())
    return None if statement is None or len(numbers) > MOST_PASSING else numbers


def _narrow(wanted: Filter | None, table: Table) -> ColumnElement[bool]:
    return narrowed(wanted, table).clause


POSTGRES_INDEX: Final = IndexSql(
    put_entry="INSERT " + INTO_ENTRIES,
    put_vector="INSERT INTO vectors (user_no, record_no, chunk_no, vector) VALUES (?, ?, ?, ?)",
    vector="vector_send(v.vector)",
    vector_bytes="4 * vector_dims(vector)",
    ids=_ids,
    fetch=_fetch,
    thread_users="SELECT user_no FROM thread_users WHERE thread_id = ? LIMIT 2",
    store_changes=store_changes,
    changed=CHANGED,
    driver=_driver,
    pack_vector=PgVector,
    unpack_vectors=_unpack_vectors,
    some_vectors=_some_vectors,
    stored_bytes=_stored_bytes,
    after_copy=(
        "SELECT setval('link_no_seq', coalesce(max(link_no), 0) + 1, false) FROM links",
        "SELECT setval(pg_get_serial_sequence('jobs', 'job_no'), coalesce(max(job_no), 0) + 1, false) FROM jobs",
        "INSERT INTO ids (id_space, id, user_no, record_no) SELECT id_space, id, user_no, record_no FROM records",
        "INSERT INTO thread_users (thread_id, user_no) "
        "SELECT DISTINCT thread_id, user_no FROM records WHERE thread_id IS NOT NULL",
    ),
    copied={
        "chunk_texts": (
            "INSERT INTO chunk_texts (record_no, chunk_no, text, user_no) SELECT v.*, r.user_no "
            "FROM (VALUES (?::bigint, ?::integer, ?::text)) v (record_no, chunk_no, text) "
            "JOIN records r ON r.record_no = v.record_no"
        ),
        "images": (
            "INSERT INTO images (record_no, bytes, user_no) SELECT v.*, r.user_no "
            "FROM (VALUES (?::bigint, ?::bytea)) v (record_no, bytes) JOIN records r ON r.record_no = v.record_no"
        ),
        "links": (
            "INSERT INTO links (link_no, id, source_no, target_no, relation_type, opposite_type, timestamp, metadata, "
            "created_at, user_no, target_user_no) SELECT v.*, s.user_no, t.user_no "
            "FROM (VALUES (?::bigint, ?::text, ?::bigint, ?::bigint, ?::text, ?::text, ?::text, ?::text, ?::text)) v "
            "(link_no, id, source_no, target_no, relation_type, opposite_type, timestamp, metadata, created_at) "
            "JOIN records s ON s.record_no = v.source_no JOIN records t ON t.record_no = v.target_no"
        ),
    },
    set_counter="SELECT setval(CAST(c.name || '_seq' AS regclass), greatest(c.value, 1), c.value > 0) "
    "FROM (VALUES (?::bigint, ?::text)) c (value, name)",
    matching=_matching,
    passing=_passing,
    narrow=_narrow,
)
