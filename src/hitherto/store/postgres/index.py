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

from hitherto.store.postgres.where import narrowed
from hitherto.store.sql.entries import INTO_ENTRIES
from hitherto.store.sql.index_sql import Driver, IndexSql, Key
from hitherto.store.sql.rows import RECORD_COLUMNS
from hitherto.store.sql.tables import records, scopes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.filters import Filter

_HEAD: Final = 4
"""How many bytes pgvector writes before a vector's numbers: their count, and two that are unused."""

_ENTRIES: Final = """CREATE TABLE entries (
    user_no BIGINT NOT NULL, record_no BIGINT NOT NULL, chunk_no INTEGER NOT NULL,
    version BIGINT NOT NULL, record_type SMALLINT NOT NULL, agent_id TEXT COLLATE "C", thread_id TEXT COLLATE "C",
    valid SMALLINT NOT NULL, expires BIGINT NOT NULL, speaker TEXT, question SMALLINT NOT NULL,
    tokens BYTEA NOT NULL, dates BYTEA NOT NULL, code BYTEA,
    PRIMARY KEY (user_no, record_no, chunk_no)
) PARTITION BY HASH (user_no)"""
_SOME_VECTORS: Final = (
    "SELECT wanted.place - 1, vector_send(v.vector) "
    "FROM unnest(?::bigint[], ?::bigint[], ?::int[]) WITH ORDINALITY AS wanted (user_no, record_no, chunk_no, place) "
    "JOIN vectors v USING (user_no, record_no, chunk_no)"
)
_CANDIDATES: Final = select(records.c.record_no, records.c.metadata).where(
    records.c.record_no.in_(bindparam("numbers", expanding=True))
)


MOST_PASSING: Final = 5000
"""So many records at most are looked up by their metadata before a search ranks."""
_JSON_COLUMNS: Final = tuple(
    statement
    for table in ("records", "links")
    for statement in (
        f"ALTER TABLE {table} ADD COLUMN metadata_json JSONB GENERATED ALWAYS AS (metadata::jsonb) STORED",
        f"CREATE INDEX ix_{table}_metadata ON {table} USING gin (metadata_json jsonb_path_ops)",
    )
)


def index_ddl(partitions: int) -> tuple[str, ...]:
    """Return what PostgreSQL has beside the tables that all SQL backends share.

    Args:
        partitions: Into how many parts entries and vectors are divided.

    Examples:
        >>> len(index_ddl(4))
        14
    """
    parts = [
        f"CREATE TABLE {table}_p{number} PARTITION OF {table} "
        f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
        for table in ("entries", "vectors")
        for number in range(partitions)
    ]
    return (_ENTRIES, "CREATE INDEX ix_entries_version ON entries (user_no, version)", *parts, *_JSON_COLUMNS)


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
    driver = conn.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101  narrows the driver's type
    return PgDriver(driver)


def _unpack_vectors(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    rows = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)
    return np.ascontiguousarray(rows[:, _HEAD:]).view(">f4").astype(np.float32)


def _some_vectors(driver: Driver, keys: Sequence[Key]) -> Iterator[tuple[int, bytes]]:
    # In one statement: each would be a way to the server and back.
    users, numbers, chunks = zip(*keys, strict=True) if keys else ((), (), ())
    return iter(driver.execute(_SOME_VECTORS, (list(users), list(numbers), list(chunks))).fetchall())


def _stored_bytes(dimension: int) -> int:
    return _HEAD + 4 * dimension


def _matching(conn: Connection, wanted: Filter, numbers: Sequence[int]) -> set[int]:
    rows = conn.execute(_CANDIDATES.where(_narrow(wanted, records)), {"numbers": list(numbers)})
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


def _fetch() -> str:
    columns = ", ".join(f"{column.table.name}.{column.name}" for column in RECORD_COLUMNS)
    joined = f"{records.name} JOIN {scopes.name} ON {scopes.name}.user_no = {records.name}.user_no"
    return f"SELECT {columns} FROM {joined} WHERE records.record_no = ANY(?)"  # noqa: S608  names of our own


POSTGRES_INDEX: Final = IndexSql(
    put_entry="INSERT " + INTO_ENTRIES,
    put_vector="INSERT INTO vectors (user_no, record_no, chunk_no, vector) VALUES (?, ?, ?, ?)",
    vector="vector_send(v.vector)",
    vector_bytes="4 * vector_dims(vector)",
    among="record_no = ANY(?)",
    fetch=_fetch(),
    driver=_driver,
    pack_numbers=list,
    pack_vector=PgVector,
    unpack_vectors=_unpack_vectors,
    some_vectors=_some_vectors,
    stored_bytes=_stored_bytes,
    after_copy=tuple(
        f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 0) + 1, false) "  # noqa: S608
        f"FROM {table}"
        for table, column in (("links", "link_no"), ("jobs", "job_no"))
    ),
    matching=_matching,
    passing=_passing,
    narrow=_narrow,
)
