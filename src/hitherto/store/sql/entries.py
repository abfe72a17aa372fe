"""The index in the database: one row per chunk of a record, beside the vectors.

A row holds what a search filters by and what it ranks by: the chunk's words as 32-bit hashes, the words of the
date, and a 1-bit code of the vector. It is clustered by user, so that a user's rows are read in one go; the words
of neighbours in a thread are not repeated in it, because their order is known when it is read. Deleting a row
deletes all that was derived from the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from hitherto.lifetime import parse_time
from hitherto.store.index_text import date_words
from hitherto.store.sql.vectors import bit_codes, unit_rows
from hitherto.text import question_share, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitherto.store.sql.index_sql import Driver, IndexSql
    from hitherto.store.sql.rows import IndexRow

TYPES: Final = (
    "message",
    "memory",
    "fact",
    "preference",
    "guideline",
    "user_profile",
    "agent_profile",
    "image",
)
"""The searchable types; their places are stored, so new ones go to the end."""
TYPE_NUMBERS: Final = {name: place for place, name in enumerate(TYPES)}
MESSAGE: Final = TYPE_NUMBERS["message"]

QUESTION_SCALE: Final = 255
"""What a text that is nothing but questions has in the column of that name."""

NEVER: Final = 2**62
"""The expiry of what does not expire, in microseconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)

ENTRY_COLUMNS: Final = (
    "user_no",
    "record_no",
    "chunk_no",
    "version",
    "record_type",
    "agent_id",
    "thread_id",
    "valid",
    "expires",
    "speaker",
    "question",
    "tokens",
    "dates",
    "code",
)
INTO_ENTRIES: Final = (
    f"INTO entries ({', '.join(ENTRY_COLUMNS)}) VALUES ({', '.join('?' * len(ENTRY_COLUMNS))})"
)
"""What a backend begins with the verb that puts a row in place of one with the same key."""
_DELETE: Final = "DELETE FROM entries WHERE user_no = ? AND record_no = ?"
_DELETE_VECTORS: Final = "DELETE FROM vectors WHERE user_no = ? AND record_no = ?"
_TOUCH: Final = (
    "UPDATE entries SET version = ?, agent_id = ?, thread_id = ?, valid = ?, expires = ?, speaker = ?, dates = ? "
    "WHERE user_no = ? AND record_no = ?"
)
_PUT_CODE: Final = (
    "UPDATE entries SET version = ?, code = ? WHERE user_no = ? AND record_no = ? AND chunk_no = ?"
)
_DROP: Final = ("DELETE FROM vectors", "UPDATE entries SET code = NULL")


def token_hash(word: str) -> int:
    """Return the 32-bit number that stands for a word.

    Args:
        word: A word as the tokeniser returns it.

    Examples:
        >>> token_hash("tea")
        2391201714
    """
    return crc32(word.encode("utf-8"))


def token_bytes(text: str) -> bytes:
    """Return the words of a text as little-endian 32-bit hashes.

    Args:
        text: Any text.
    """
    return np.array([crc32(word.encode("utf-8")) for word in words(text)], dtype="<u4").tobytes()


def microseconds(text: str | None) -> int:
    """Return a stored time in microseconds since 1970, and NEVER for None.

    Args:
        text: A time as stored.

    Examples:
        >>> microseconds("1970-01-01T00:00:01.000002+00:00")
        1000002
    """
    moment = None if text is None else parse_time(text)
    if moment is None:
        return NEVER
    return (
        round(moment.timestamp()) * 1_000_000 + moment.microsecond
        if not moment.microsecond
        else (int(moment.replace(microsecond=0).timestamp()) * 1_000_000 + moment.microsecond)
    )


def microseconds_of(moment: datetime) -> int:
    """Return an aware time in microseconds since 1970.

    Args:
        moment: The time.
    """
    return (moment - _EPOCH) // timedelta(microseconds=1)


def insert(sql: IndexSql, driver: Driver, rows: Sequence[IndexRow], version: int) -> None:
    """Write the entries and vectors of records.

    Args:
        sql: The database's SQL.
        driver: A connection in a write transaction.
        rows: The records, with the texts and vectors of their chunks.
        version: The transaction's version.
    """
    codes, vectors = _packed(sql, rows)
    dates: dict[str | None, bytes] = {}
    entries: list[tuple[object, ...]] = []
    for row in rows:
        if row.timestamp not in dates:
            dates[row.timestamp] = token_bytes(date_words(row.timestamp))
        head = (row.user_no, row.record_no)
        tail = (
            version,
            TYPE_NUMBERS[row.record_type],
            row.agent_id,
            row.thread_id,
            int(row.status == "valid"),
            microseconds(row.expires_at),
            row.speaker,
        )
        entries.extend(
            (
                *head,
                chunk_no,
                *tail,
                round(question_share(text) * QUESTION_SCALE),
                token_bytes(text),
                dates[row.timestamp],
                codes.get((row.record_no, chunk_no)),
            )
            for chunk_no, text in enumerate(row.texts)
        )
    driver.executemany(sql.put_entry, entries)
    driver.executemany(sql.put_vector, vectors)


def delete(driver: Driver, rows: Iterable[IndexRow]) -> None:
    """Delete the entries and vectors of records.

    Args:
        driver: A connection in a write transaction.
        rows: The records.
    """
    keys = [(row.user_no, row.record_no) for row in rows]
    driver.executemany(_DELETE, keys)
    driver.executemany(_DELETE_VECTORS, keys)


def touch(driver: Driver, rows: Iterable[IndexRow], version: int) -> None:
    """Write anew what records are filtered by.

    Args:
        driver: A connection in a write transaction.
        rows: The records.
        version: The transaction's version.
    """
    driver.executemany(
        _TOUCH,
        [
            (
                version,
                row.agent_id,
                row.thread_id,
                int(row.status == "valid"),
                microseconds(row.expires_at),
                row.speaker,
                token_bytes(date_words(row.timestamp)),
                row.user_no,
                row.record_no,
            )
            for row in rows
        ],
    )


def put_vectors(sql: IndexSql, driver: Driver, rows: Sequence[IndexRow], version: int) -> None:
    """Replace the vectors of records.

    Args:
        sql: The database's SQL.
        driver: A connection in a write transaction.
        rows: The records, with the vectors of their chunks.
        version: The transaction's version.
    """
    codes, vectors = _packed(sql, rows)
    users = {row.record_no: row.user_no for row in rows}
    driver.executemany(_DELETE_VECTORS, [(row.user_no, row.record_no) for row in rows])
    driver.executemany(sql.put_vector, vectors)
    driver.executemany(
        _PUT_CODE,
        [
            (version, code, users[record_no], record_no, chunk_no)
            for (record_no, chunk_no), code in codes.items()
        ],
    )


def drop_vectors(driver: Driver) -> None:
    """Delete all vectors.

    Args:
        driver: A connection in a write transaction.
    """
    for statement in _DROP:
        driver.execute(statement)


def _packed(
    sql: IndexSql, rows: Sequence[IndexRow]
) -> tuple[dict[tuple[int, int], bytes], list[tuple[int, int, int, Any]]]:
    keys: list[tuple[int, int, int]] = []
    found: list[NDArray[np.float32]] = []
    for row in rows:
        for chunk_no, vector in enumerate(row.vectors):
            if vector is not None:
                keys.append((row.user_no, row.record_no, chunk_no))
                found.append(vector)
    if not found:
        return {}, []
    units = unit_rows(np.stack(found))
    codes = {
        (record_no, chunk_no): code.tobytes()
        for (_, record_no, chunk_no), code in zip(keys, bit_codes(units), strict=True)
    }
    return codes, [(*key, sql.pack_vector(unit)) for key, unit in zip(keys, units, strict=True)]
