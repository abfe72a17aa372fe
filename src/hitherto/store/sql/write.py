"""Storing records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select

from hitherto.errors import AlreadyStoredError, ConflictError, shown
from hitherto.lifetime import format_time
from hitherto.store.requests import Chunk, NewRecord
from hitherto.store.sql.divided import insert_rows, note_records, rows_by_id
from hitherto.store.sql.erase import delete_rows
from hitherto.store.sql.numbers import change_scopes, take, user_numbers
from hitherto.store.sql.rows import (
    RECORD_COLUMNS,
    content_columns,
    derived_texts,
    id_space,
    index_row,
    owner_id,
    owners_of,
    row_from_record,
    slices,
)
from hitherto.store.sql.tables import chunk_texts, images, records, scopes

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from hitherto.store.sql.search_index import SearchIndex

_TAKEN = (
    select(*RECORD_COLUMNS)
    .join(scopes, scopes.c.user_no == records.c.user_no)
    .where(records.c.id_space == bindparam("space"), records.c.id.in_(bindparam("ids", expanding=True)))
)
_INSERT_RECORDS = insert(records)


class NotAloneError(Exception):
    """A transaction beside others would have to change what belongs to another user; alone it may."""


def insert_records(
    conn: Connection, index: SearchIndex, new: Sequence[NewRecord], *, now: datetime, alone: bool = True
) -> list[str]:
    """Store records.

    Args:
        conn: A connection in a write transaction.
        index: What makes them findable.
        new: The records.
        now: The present time; an id that only an expired record has is free.
        alone: Whether nobody else writes meanwhile; else only those who add for other users and to other threads.

    Returns:
        Their ids.

    Raises:
        AlreadyStoredError: If all of them are stored already, with the same owner and content.
        ConflictError: If an id is taken.
        NotAloneError: If an expired record has to make room, and others write meanwhile.
    """
    _free_ids(conn, index, new, now=now, alone=alone)
    numbers = user_numbers(conn, (owner_id(record) for record in new))
    rows = [
        row_from_record(record, record_no=record_no, user_no=numbers[owner_id(record)])
        for record_no, record in zip(take(conn, "record_no", len(new)), new, strict=True)
    ]
    version = change_scopes(conn, Counter(row["user_no"] for row in rows))
    conn.execute(_INSERT_RECORDS, rows)
    note_records(conn, rows)
    insert_images(conn, [(row, record.image) for row, record in zip(rows, new, strict=True)])
    indexed = [(row, record) for row, record in zip(rows, new, strict=True) if record.chunks]
    insert_texts(conn, [(row, record.chunks, record.content) for row, record in indexed])
    if indexed:
        index.add(conn, [index_row(row, record) for row, record in indexed], version)
    return [record.id for record in new]


def insert_texts(conn: Connection, indexed: Sequence[tuple[Mapping[str, Any], Sequence[Chunk], Any]]) -> None:
    """Store the texts that are indexed for records, where they do not follow from the content.

    Args:
        conn: A connection in a write transaction.
        indexed: For each record its columns, chunks and content.
    """
    rows = [
        {**_key(row), "chunk_no": chunk_no, "text": chunk.text}
        for row, chunks, content in indexed
        if tuple(chunk.text for chunk in chunks) != derived_texts(content)
        for chunk_no, chunk in enumerate(chunks)
    ]
    if rows:
        insert_rows(conn, chunk_texts, rows)


def insert_images(conn: Connection, data: Sequence[tuple[Mapping[str, Any], bytes | None]]) -> None:
    """Store the bytes of images, where there are any, for records of which the columns are given."""
    rows = [{**_key(row), "bytes": value} for row, value in data if value is not None]
    if rows:
        insert_rows(conn, images, rows)


def _key(row: Mapping[str, Any]) -> dict[str, int]:
    return {"user_no": row["user_no"], "record_no": row["record_no"]}


def _free_ids(
    conn: Connection, index: SearchIndex, new: Sequence[NewRecord], *, now: datetime, alone: bool
) -> None:
    by_key = {(id_space(record.record_type), record.id): record for record in new}
    ids: dict[str, list[str]] = {}
    for space, record_id in by_key:
        ids.setdefault(space, []).append(record_id)
    taken = [
        row
        for space, wanted in ids.items()
        for piece in slices(wanted)
        for row in rows_by_id(conn, _TAKEN, {"space": space, "ids": piece}, space, piece)
    ]
    if not taken:
        return
    moment = format_time(now)
    live = [row for row in taken if row.expires_at is None or row.expires_at > moment]
    if live:
        raise _conflict(live, by_key)
    if not alone:
        raise NotAloneError
    delete_rows(conn, index, owners_of(taken))


def _conflict(live: Sequence[Row[Any]], by_key: dict[tuple[str, str], NewRecord]) -> ConflictError:
    first = live[0]
    if len(live) == len(by_key) and all(_same(row, by_key[row.id_space, row.id]) for row in live):
        return AlreadyStoredError(
            f"{first.record_type} {shown(first.id)} is stored already with the same content; nothing was written",
            record_id=first.id,
        )
    return ConflictError(
        f"a {first.record_type} with the id {shown(first.id)} exists already; give another id, or none to have one made"
    )


def _same(row: Row[Any], new: NewRecord) -> bool:
    return (row.record_type, row.user_id, row.agent_id, row.thread_id, row.content) == (
        new.record_type,
        owner_id(new),
        new.id if new.record_type == "agent_profile" else new.agent_id,
        new.thread_id,
        content_columns(new.content)[0],
    )
