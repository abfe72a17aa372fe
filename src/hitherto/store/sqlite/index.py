"""The index in SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sqlalchemy import ColumnElement, Table, bindparam, column, func, select, true
from sqlalchemy.dialects import sqlite

from hitherto.store.sql.entries import INTO_ENTRIES
from hitherto.store.sql.index_sql import Cursor, Driver, IndexSql, Key
from hitherto.store.sql.migrate import Creation
from hitherto.store.sql.moment import Changes, Moment, compared
from hitherto.store.sql.rows import RECORD_COLUMNS
from hitherto.store.sql.tables import NO_USER, records, scopes
from hitherto.store.sql.where import filter_condition
from hitherto.store.sqlite.engine import driver_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.filters import Filter

INDEX_DDL: Final = (
    """CREATE TABLE IF NOT EXISTS entries (
        user_no INTEGER NOT NULL, record_no INTEGER NOT NULL, chunk_no INTEGER NOT NULL,
        version INTEGER NOT NULL, record_type INTEGER NOT NULL, agent_id TEXT, thread_id TEXT,
        valid INTEGER NOT NULL, expires INTEGER NOT NULL, speaker TEXT, question INTEGER NOT NULL,
        tokens BLOB NOT NULL, dates BLOB NOT NULL, code BLOB,
        PRIMARY KEY (user_no, record_no, chunk_no)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS ix_entries_version ON entries (user_no, version)",
)
"""What SQLite has beside the tables that all SQL backends share."""
CREATION: Final = Creation(INDEX_DDL, "give hitherto a file of its own", alone=True)

_STORE: Final = (
    "SELECT c.value, m.value, s.epoch FROM counters c, meta m, scopes s "
    "WHERE c.name = 'version' AND m.key = 'store_id' AND s.user_no = ?"
)
_ONE_VECTOR: Final = "SELECT vector FROM vectors WHERE user_no = ? AND record_no = ? AND chunk_no = ?"
_AMONG: Final = records.c.record_no.in_(
    select(func.json_each(bindparam("numbers")).table_valued(column("value")).c.value)
)
_CANDIDATES: Final = select(records.c.record_no, records.c.metadata).where(_AMONG)


_IDS: Final = (
    "SELECT record_no, record_type, id FROM records WHERE record_no IN (SELECT value FROM json_each(?))"
)
_FETCH: Final = str(
    select(*RECORD_COLUMNS)
    .join(scopes, scopes.c.user_no == records.c.user_no)
    .where(_AMONG)
    .compile(dialect=sqlite.dialect())
)


def _ids(driver: Driver, numbers: Sequence[int], users: Sequence[int]) -> Cursor:
    return driver.execute(_IDS, (json.dumps(numbers),))


def _fetch(driver: Driver, numbers: Sequence[int], users: Sequence[int]) -> Cursor:
    return driver.execute(_FETCH, (json.dumps(numbers),))


def _store_changes(driver: Driver, before: Moment | None) -> Changes:
    version, *epoch = driver.execute(_STORE, (NO_USER,)).fetchone()
    since = () if before is None else (before.version, before.version)
    return compared(Moment(version, tuple(epoch)), before, since=since)


def _pack_vector(unit: NDArray[np.float32]) -> bytes:
    return unit.tobytes()


def _unpack_vectors(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)


def _some_vectors(driver: Driver, keys: Sequence[Key]) -> Iterator[tuple[int, bytes]]:
    for place, key in enumerate(keys):
        found = driver.execute(_ONE_VECTOR, key).fetchone()
        if found is not None:
            yield place, found[0]


def _stored_bytes(dimension: int) -> int:
    return 4 * dimension


def _matching(conn: Connection, wanted: Filter, numbers: Sequence[int], users: Sequence[int]) -> set[int]:
    condition = filter_condition(wanted, records.c.metadata)
    rows = conn.execute(_CANDIDATES.where(condition.clause), {"numbers": json.dumps(numbers)}).all()
    if condition.exact:
        return {row[0] for row in rows}
    return {row[0] for row in rows if wanted.matches(_metadata(row[1]))}


def _passing(conn: Connection, wanted: Filter, user_no: int | None) -> None:
    # Nothing is indexed by metadata, so that to look for them reads every record.
    return None


def _narrow(wanted: Filter | None, table: Table) -> ColumnElement[bool]:
    return true()


def _metadata(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)


SQLITE_INDEX: Final = IndexSql(
    put_entry="INSERT OR REPLACE " + INTO_ENTRIES,
    put_vector="INSERT OR REPLACE INTO vectors (user_no, record_no, chunk_no, vector) VALUES (?, ?, ?, ?)",
    vector="v.vector",
    vector_bytes="length(vector)",
    ids=_ids,
    fetch=_fetch,
    thread_users="SELECT DISTINCT user_no FROM records WHERE thread_id = ? LIMIT 2",
    store_changes=_store_changes,
    changed="(SELECT user_no, ? AS since FROM scopes WHERE version > ?) s",
    driver=driver_of,
    pack_vector=_pack_vector,
    unpack_vectors=_unpack_vectors,
    some_vectors=_some_vectors,
    stored_bytes=_stored_bytes,
    after_copy=(),
    copied={},
    set_counter="UPDATE counters SET value = ? WHERE name = ?",
    matching=_matching,
    passing=_passing,
    narrow=_narrow,
)
