"""Copying a store into another one, of any SQL backend: streaming, resumable, verified.

Rows are copied table by table in the order of their keys, each batch in a transaction of its own, so that what was
interrupted goes on where it ended. All of the source is read in one transaction, and so is of one moment. At the end
both sides are read again and compared by counts and checksums.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import ConflictError, StoreError
from hitherto.store.sql import fingerprint
from hitherto.store.sql.entries import ENTRY_COLUMNS
from hitherto.store.sql.tables import (
    chunk_texts,
    counters,
    images,
    jobs,
    links,
    records,
    scopes,
    vectors,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from hitherto.store.sql.index_sql import IndexSql
    from hitherto.store.sql.store import SqlMemoryStore

COPYING_KEY: Final = "copying"
"""The setting of a target that is not complete yet: which store it is a copy of, and as of which version."""
BATCH: Final = 1000

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Part:
    """A table to be copied."""

    name: str
    columns: tuple[str, ...]
    key: int

    def select(self, sql: IndexSql, *, after: bool) -> str:
        """Return the statement that reads the next rows, the first ones or those after a key."""
        columns = ", ".join(
            sql.vector if (self.name, column) == ("vectors", "vector") else f"v.{column}"
            for column in self.columns
        )
        key = ", ".join(f"v.{column}" for column in self.columns[: self.key])
        where = f" WHERE ({key}) > ({_marks(self.key)})" if after else ""
        return f"SELECT {columns} FROM {self.name} v{where} ORDER BY {key} LIMIT {BATCH}"  # noqa: S608  own names

    @property
    def last(self) -> str:
        """The statement that reads the greatest key."""
        key = self.columns[: self.key]
        order = ", ".join(f"{column} DESC" for column in key)
        return f"SELECT {', '.join(key)} FROM {self.name} ORDER BY {order} LIMIT 1"  # noqa: S608  own names

    @property
    def insert(self) -> str:
        """The statement that writes a row."""
        columns = ", ".join(self.columns)
        return f"INSERT INTO {self.name} ({columns}) VALUES ({_marks(len(self.columns))})"  # noqa: S608  own names

    @property
    def count(self) -> str:
        """The statement that counts the rows."""
        return f"SELECT count(*) FROM {self.name}"  # noqa: S608  own names


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _part(table: Table, key: int = 1) -> _Part:
    return _Part(table.name, tuple(column.name for column in table.c), key)


_ENTRIES: Final = _Part("entries", ENTRY_COLUMNS, 3)
_PARTS: Final = (
    _part(scopes),
    _part(records),
    _part(chunk_texts, 2),
    _part(images),
    _ENTRIES,
    _part(vectors, 3),
    _part(links),
    _part(jobs),
)
# Where users are written to side by side, a change may have a smaller version than the newest.
_STATE: Final = (
    "SELECT CAST(count(*) AS TEXT) || ' ' || CAST(max(version) AS TEXT) || ' ' || CAST(sum(version) AS TEXT) "
    "FROM scopes"
)
_STORE_ID: Final = "SELECT value FROM meta WHERE key = 'store_id'"


def copy_store(
    source: SqlMemoryStore, target: SqlMemoryStore, progress: Progress | None = None
) -> dict[str, int]:
    """Copy all that a store holds into an empty one, or finish a copy that was interrupted.

    Args:
        source: The store that is read.
        target: The store that is written; nothing else may write to it meanwhile.
        progress: Called after each batch with the table's name, how many of its rows are there, and how many will be.

    Returns:
        How many rows each table has.

    Raises:
        ConflictError: If the target holds something else, or the source has changed since a copy was interrupted.
        StoreError: If the copy is not equal to the source.

    Examples:
        >>> from hitherto import SQLiteStore
        >>> with SQLiteStore("a.db") as source, SQLiteStore("b.db") as target:
        ...     _ = source.add(["Ana plays the cello"], "fact", record_ids="f1")
        ...     copy_store(source, target)["records"]
        ...     target.get("fact", "f1").content
        1
        'Ana plays the cello'
    """
    with source._read() as conn:
        _begin(conn, source, target)
        totals = {part.name: _scalar(conn, source, part.count) for part in _PARTS}
        for part in _PARTS:
            _copy_part(conn, source, target, part, totals[part.name], progress)
        with target._read() as copied:
            for part in _PARTS:
                _compare(part, _digest(conn, source, part), _digest(copied, target, part))
        _finish(conn, source, target)
    return totals


def _scalar(conn: Connection, store: SqlMemoryStore, statement: str) -> Any:
    row = store._index_sql.driver(conn).execute(statement, ()).fetchone()
    return None if row is None else row[0]


def _begin(conn: Connection, source: SqlMemoryStore, target: SqlMemoryStore) -> None:
    wanted = json.dumps([_scalar(conn, source, _STORE_ID), _scalar(conn, source, _STATE)])
    with target._write() as writing:
        found = fingerprint.read_meta(writing, COPYING_KEY)
        if found == wanted:
            return
        if found is not None:
            raise ConflictError(
                f"{target._where} holds part of a copy of another store, or of this one before it changed; delete it, "
                "or open it once with schema_policy=SchemaPolicy.RECREATE, and copy again"
            )
        if _scalar(writing, target, "SELECT value FROM counters WHERE name = 'record_no'"):
            raise ConflictError(f"{target._where} is not empty; copy into a new store")
        writing.execute(scopes.delete())
        fingerprint.write_meta(writing, COPYING_KEY, wanted)


def _copy_part(
    conn: Connection,
    source: SqlMemoryStore,
    target: SqlMemoryStore,
    part: _Part,
    total: int,
    progress: Progress | None,
) -> None:
    with target._read() as reading:
        driver = target._index_sql.driver(reading)
        after = driver.execute(part.last, ()).fetchone()
        done: int = driver.execute(part.count, ()).fetchone()[0]
    for rows in _batches(conn, source._index_sql, part, after):
        packed = _with_vectors(part, rows, target._index_sql.pack_vector)
        statement = target._index_sql.copied.get(part.name, part.insert)
        with target._write() as writing:
            target._index_sql.driver(writing).executemany(statement, packed)
        done += len(rows)
        if progress is not None:
            progress(part.name, done, total)


def _batches(
    conn: Connection, sql: IndexSql, part: _Part, after: Sequence[Any] | None
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in order of their key, vectors as arrays."""
    driver = sql.driver(conn)
    while True:
        values = () if after is None else tuple(after)
        rows = driver.execute(part.select(sql, after=after is not None), values).fetchall()
        if not rows:
            return
        after = rows[-1][: part.key]
        yield _with_vectors(part, rows, lambda stored: sql.unpack_vectors([stored])[0])


def _with_vectors(
    part: _Part, rows: Sequence[tuple[Any, ...]], change: Callable[[Any], Any]
) -> list[tuple[Any, ...]]:
    if part.name != "vectors":
        return list(rows)
    return [(*row[:-1], change(row[-1])) for row in rows]


def _digest(conn: Connection, store: SqlMemoryStore, part: _Part) -> tuple[int, str]:
    found, count = hashlib.sha256(), 0
    for rows in _batches(conn, store._index_sql, part, None):
        count += len(rows)
        for row in _with_vectors(part, rows, lambda vector: vector.tobytes()):
            found.update(repr(row).encode())
    return count, found.hexdigest()


def _compare(part: _Part, wanted: tuple[int, str], found: tuple[int, str]) -> None:
    if wanted != found:
        raise StoreError(
            f"the copy of {part.name} is not equal to the source: {found[0]} rows with checksum {found[1][:12]}, "
            f"wanted {wanted[0]} with {wanted[1][:12]}; delete the copy and try again"
        )


def _finish(conn: Connection, source: SqlMemoryStore, target: SqlMemoryStore) -> None:
    numbers = {row.name: row.value for row in conn.execute(counters.select())}
    with target._write() as writing:
        for key in (fingerprint.EMBEDDER_KEY, fingerprint.PROGRESS_KEY):
            fingerprint.write_meta(writing, key, fingerprint.read_meta(conn, key))
        for name, value in numbers.items():
            target._index_sql.driver(writing).execute(target._index_sql.set_counter, (value, name))
        for statement in target._index_sql.after_copy:
            target._index_sql.driver(writing).execute(statement, ())
        # Who searched meanwhile knew versions before there was anything of them.
        writing.execute(scopes.update().values(epoch=scopes.c.epoch + 1))
        fingerprint.write_meta(writing, COPYING_KEY, None)
