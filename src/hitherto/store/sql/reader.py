"""Reading a scope from the database into arrays, whole or what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto.store.sql.index_sql import Cursor, Driver, IndexSql
from hitherto.store.sql.shelf import CHUNKS, COLUMN_NAMES, Batch, Columns, Names, question_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SELECT: Final = (
    "SELECT e.user_no, e.record_no, e.chunk_no, e.record_type, e.agent_id, e.thread_id, e.valid, e.expires, e.speaker, "
    "e.question, e.tokens, e.dates, e.code FROM "
)
_BLOCK: Final = 20_000
# CROSS JOIN keeps the order of the tables: the few scopes that changed first.
_CHANGED: Final = "{changed} CROSS JOIN {table} e WHERE e.user_no = s.user_no AND e.version > s.since"
_READ: Final = {
    ("user", False): "entries e WHERE e.user_no = ? ORDER BY e.record_no, e.chunk_no",
    ("user", True): "entries e WHERE e.user_no = ? AND e.version > ?",
    ("all", False): "entries e ORDER BY e.user_no, e.record_no, e.chunk_no",
    ("all", True): _CHANGED.replace("{table}", "entries"),
}
_VECTORS: Final = {
    False: (
        "SELECT v.record_no, v.chunk_no, {vector} FROM vectors v WHERE v.user_no = ? ORDER BY v.record_no, v.chunk_no"
    ),
    True: (
        "SELECT v.record_no, v.chunk_no, {vector} FROM entries e CROSS JOIN vectors v "
        "WHERE e.user_no = ? AND e.version > ? AND v.user_no = e.user_no AND v.record_no = e.record_no "
        "AND v.chunk_no = e.chunk_no"
    ),
}
_GONE: Final = {
    "user": "SELECT e.record_no FROM tombstones e WHERE e.user_no = ? AND e.version > ?",
    "all": "SELECT e.record_no FROM " + _CHANGED.replace("{table}", "tombstones"),  # noqa: S608  own text
}


@dataclass(frozen=True, slots=True)
class ScopeNames:
    """The numbers of ids in one scope.

    Attributes:
        agents: Of agents.
        threads: Of threads.
        speakers: Of speakers.
    """

    agents: Names
    threads: Names
    speakers: Names


def read_batch(
    sql: IndexSql,
    driver: Driver,
    user_no: int | None,
    names: ScopeNames,
    *,
    since: Sequence[Any] | None,
    coded: bool,
) -> Batch:
    """Read a scope's rows.

    Args:
        sql: The database's SQL.
        driver: A connection in a read transaction.
        user_no: The user, or None for the whole store.
        names: The numbers of ids, which may grow.
        since: Only what changed, by the values that :class:`Changes` has for it; None for everything.
        coded: Whether to take 1-bit codes instead of vectors.
    """
    scope = "all" if user_no is None else "user"
    values = [*([] if user_no is None else [user_no]), *([] if since is None else since)]
    rows = driver.execute(_SELECT + _READ[scope, since is not None].format(changed=sql.changed), values)
    batch = _batch(rows, names, coded=coded)
    if coded or user_no is None or not batch.columns.record_no.size:
        return batch
    found = driver.execute(_VECTORS[since is not None].format(vector=sql.vector), values).fetchall()
    return _with_vectors(sql, batch, found)


def read_rows(driver: Driver, source: str, values: Sequence[Any], names: ScopeNames) -> Batch:
    """Read some rows, with 1-bit codes instead of vectors.

    Args:
        driver: A connection in a read transaction.
        source: What follows FROM; the table of the rows is ``e``. They come in order of user, record and chunk.
        values: Its values.
        names: The numbers of ids, which may grow.
    """
    cursor = driver.execute(f"{_SELECT}{source} ORDER BY e.user_no, e.record_no, e.chunk_no", values)
    return _batch(cursor, names, coded=True)


def read_gone(sql: IndexSql, driver: Driver, user_no: int | None, *, since: Sequence[Any]) -> list[int]:
    """Return the numbers of the records that were deleted.

    Args:
        sql: The database's SQL.
        driver: A connection in a read transaction.
        user_no: The user, or None for the whole store.
        since: Since when, by the values that :class:`Changes` has for it.
    """
    scope, values = ("all", since) if user_no is None else ("user", [user_no, *since])
    return [row[0] for row in driver.execute(_GONE[scope].format(changed=sql.changed), values)]


def read_vectors(
    sql: IndexSql, driver: Driver, columns: Columns, rows: NDArray[np.intp], dimension: int
) -> NDArray[np.float32]:
    """Return the vectors of a few rows from the database; a missing one is all zeros.

    Args:
        sql: The database's SQL.
        driver: A connection in a read transaction.
        columns: The columns of the rows' shelf.
        rows: The rows.
        dimension: The vectors' dimension.
    """
    vectors = np.zeros((rows.size, dimension), np.float32)
    keys = zip(
        columns.user_no[rows].tolist(),
        columns.record_no[rows].tolist(),
        columns.chunk_no[rows].tolist(),
        strict=True,
    )
    size = sql.stored_bytes(dimension)
    for place, stored in sql.some_vectors(driver, list(keys)):
        if len(stored) == size:
            vectors[place] = sql.unpack_vectors([stored])[0]
    return vectors


def _batch(cursor: Cursor, names: ScopeNames, *, coded: bool) -> Batch:
    parts = [_part(block, names, coded=coded) for block in _blocks(cursor)]
    if not parts:
        return _part([], names, coded=coded)
    return parts[0] if len(parts) == 1 else _joined(parts)


def _blocks(cursor: Cursor) -> Iterator[list[tuple[Any, ...]]]:
    # Rows as Python objects take several times the memory of the arrays that are made of them.
    while block := cursor.fetchmany(_BLOCK):
        yield block


def _part(block: Sequence[tuple[Any, ...]], names: ScopeNames, *, coded: bool) -> Batch:
    fields = list(zip(*block, strict=True)) if block else [()] * 13
    (
        user_no,
        record_no,
        chunk_no,
        kind,
        agent,
        thread,
        valid,
        expires,
        speaker,
        question,
        tokens,
        dates,
        code,
    ) = fields
    columns = Columns(
        record_no=np.array(record_no, np.int64),
        chunk_no=np.array(chunk_no, np.int32),
        user_no=np.array(user_no, np.int32),
        kind=np.array(kind, np.uint8),
        agent=names.agents.take(agent),
        thread=names.threads.take(thread),
        speaker=names.speakers.take(speaker),
        valid=np.array(valid, np.bool_),
        expires=np.array(expires, np.int64),
        question=question_column(question),
        alive=np.ones(len(block), np.bool_),
        own_length=_lengths(tokens),
        date_length=_lengths(dates),
        has_vector=np.array([item is not None for item in code], np.bool_),
    )
    return Batch(columns, _hashes(tokens), _hashes(dates), _codes(code) if coded else None)


def _lengths(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    return (np.fromiter(map(len, blobs), np.int64, len(blobs)) // 4).astype(np.float32)


def _hashes(blobs: Sequence[bytes]) -> NDArray[np.uint32]:
    return np.frombuffer(b"".join(blobs), "<u4").astype(np.uint32, copy=False)


def _codes(blobs: Sequence[bytes | None]) -> NDArray[np.uint8] | None:
    size = max((len(blob) for blob in blobs if blob is not None), default=0)
    if not size:
        return None
    nothing = bytes(size)
    whole = b"".join(blob if blob is not None and len(blob) == size else nothing for blob in blobs)
    return np.frombuffer(whole, np.uint8).reshape(-1, size)


def _joined(parts: Sequence[Batch]) -> Batch:
    columns = Columns(
        *(np.concatenate([getattr(part.columns, name) for part in parts]) for name in COLUMN_NAMES)
    )
    width = next((part.vectors.shape[1] for part in parts if part.vectors is not None), None)
    vectors = None
    if width is not None:
        vectors = np.concatenate(
            [
                np.zeros((part.columns.record_no.size, width), np.uint8)
                if part.vectors is None
                else part.vectors
                for part in parts
            ]
        )
    return Batch(
        columns,
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.dates for part in parts]),
        vectors,
    )


def _with_vectors(sql: IndexSql, batch: Batch, found: Sequence[tuple[int, int, bytes]]) -> Batch:
    if not found:
        return batch
    size = len(found[-1][2])
    kept = [row for row in found if len(row[2]) == size]
    matrix = sql.unpack_vectors([row[2] for row in kept])
    keys = np.array([row[0] for row in kept], np.int64) * CHUNKS + np.array(
        [row[1] for row in kept], np.int64
    )
    wanted = batch.columns.record_no * CHUNKS + batch.columns.chunk_no
    if keys.size == wanted.size and bool((keys == wanted).all()):
        return Batch(batch.columns, batch.tokens, batch.dates, matrix)
    order = np.argsort(wanted, kind="stable")
    places = order[np.minimum(np.searchsorted(wanted[order], keys), wanted.size - 1)]
    vectors = np.zeros((wanted.size, matrix.shape[1]), np.float32)
    known = wanted[places] == keys
    vectors[places[known]] = matrix[known]
    return Batch(batch.columns, batch.tokens, batch.dates, vectors)
