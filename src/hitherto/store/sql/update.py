"""Changing one record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select, update

from hitherto.lifetime import format_time, parse_time
from hitherto.notset import NOT_SET
from hitherto.records import MEMORY_TYPES
from hitherto.store.checks import json_text
from hitherto.store.requests import Chunk, NewRecord, RecordChanges
from hitherto.store.sql.divided import of_users
from hitherto.store.sql.erase import delete_rows, find_live
from hitherto.store.sql.lifecycle import recalculate, touch
from hitherto.store.sql.numbers import change_scopes
from hitherto.store.sql.rows import content_columns, content_from_columns, index_rows, owners_of, rows_by_no
from hitherto.store.sql.tables import chunk_texts, images, records
from hitherto.store.sql.write import insert_images, insert_records, insert_texts

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from hitherto.store.sql.search_index import SearchIndex

_IMAGES_OF = select(records.c.id, records.c.record_no, records.c.user_no, records.c.expires_at).where(
    records.c.message_id == bindparam("message_id")
)
_DELETE_TEXTS = delete(chunk_texts).where(chunk_texts.c.record_no == bindparam("no"))
_DELETE_IMAGE = delete(images).where(images.c.record_no == bindparam("no"))


def update_record(conn: Connection, index: SearchIndex, changes: RecordChanges, *, now: datetime) -> int:
    """Change a record; return 1, or 0 if there is none or a summary has another revision.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        changes: What to change.
        now: The present time.
    """
    key = find_live(conn, changes.record_type, changes.id, now=now)
    if key is None:
        return 0
    number, user = key
    row = rows_by_no(conn, [number], [user])[number]
    if changes.expected_revision is not None and _revision(row) != changes.expected_revision:
        return 0
    columns = _columns(changes)
    if changes.chunks is not NOT_SET:
        _forget(conn, index, row)
    if columns:
        changing = update(records).where(records.c.record_no == number).values(columns)
        conn.execute(of_users(conn, changing, records, [user]))
    if changes.chunks is not NOT_SET:
        _index_again(conn, index, row, changes.chunks)
    elif columns.keys() & {"status", "expires_at"}:
        touch(conn, index, {number: user})
    _change_images(conn, index, row, changes, now=now)
    if row.record_type in MEMORY_TYPES and columns.keys() & {"status", "metadata"}:
        recalculate(conn, index, {number: user})
    return 1


def _forget(conn: Connection, index: SearchIndex, row: Row[Any]) -> None:
    indexed = index_rows(conn, [row])
    if indexed:
        index.remove(conn, indexed, change_scopes(conn, {row.user_no: 0}))


def _change_images(
    conn: Connection, index: SearchIndex, row: Row[Any], changes: RecordChanges, *, now: datetime
) -> None:
    if changes.image is not NOT_SET:
        conn.execute(of_users(conn, _DELETE_IMAGE, images, [row.user_no]), {"no": row.record_no})
        insert_images(conn, [(row._asdict(), changes.image)])
    if changes.images is not NOT_SET:
        _sync_images(conn, index, row, changes.images, now=now)
    if changes.expires_at is not NOT_SET and row.record_type == "message":
        _expire_images(conn, index, row, changes.expires_at)


def _columns(changes: RecordChanges) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if changes.content is not NOT_SET:
        columns["content"], columns["content_form"] = content_columns(changes.content)
    if changes.timestamp is not NOT_SET:
        columns["timestamp"] = changes.timestamp
    if changes.expires_at is not NOT_SET:
        columns["expires_at"] = None if changes.expires_at is None else format_time(changes.expires_at)
    if changes.status is not NOT_SET:
        columns["status"] = changes.status.value
        columns["hand_status"] = None if changes.status.value == "valid" else changes.status.value
    if changes.mime_type is not NOT_SET:
        columns["mime_type"] = changes.mime_type.value
    for name in ("metadata", "runtime_config", "runtime_state"):
        value = getattr(changes, name)
        if value is not NOT_SET:
            columns[name] = json_text(value)
    return columns


def _revision(row: Row[Any]) -> int:
    inner = json.loads(row.metadata or "{}").get("$agent_memory")
    revision = inner.get("revision", 0) if isinstance(inner, dict) else 0
    return revision if isinstance(revision, int) else 0


def _index_again(conn: Connection, index: SearchIndex, before: Row[Any], chunks: Sequence[Chunk]) -> None:
    number, users = before.record_no, [before.user_no]
    row = rows_by_no(conn, [number], users)[number]
    conn.execute(of_users(conn, _DELETE_TEXTS, chunk_texts, users), {"no": number})
    insert_texts(conn, [(row._asdict(), chunks, content_from_columns(row.content, row.content_form))])
    indexed = [
        replace(found, vectors=tuple(chunk.vector for chunk in chunks)) for found in index_rows(conn, [row])
    ]
    if indexed:
        index.add(conn, indexed, change_scopes(conn, {row.user_no: 0}))


def _sync_images(
    conn: Connection, index: SearchIndex, before: Row[Any], wanted: Sequence[NewRecord], *, now: datetime
) -> None:
    message = rows_by_no(conn, [before.record_no], [before.user_no])[before.record_no]
    stored = {row.id: row for row in _images_of(conn, message)}
    kept = {image.id for image in wanted}
    delete_rows(conn, index, owners_of(row for image_id, row in stored.items() if image_id not in kept))
    for image in wanted:
        if image.id in stored:
            update_record(conn, index, _image_changes(image), now=now)
    new = [_owned(image, message, now=now) for image in wanted if image.id not in stored]
    if new:
        insert_records(conn, index, new, now=now)


def _image_changes(image: NewRecord) -> RecordChanges:
    return RecordChanges(
        "image",
        image.id,
        content=image.content,
        chunks=image.chunks,
        timestamp=image.timestamp,
        mime_type=NOT_SET if image.mime_type is None else image.mime_type,
        image=NOT_SET if image.image is None else image.image,
    )


def _owned(image: NewRecord, message: Row[Any], *, now: datetime) -> NewRecord:
    return replace(
        image,
        thread_id=message.thread_id,
        user_id=message.user_id,
        agent_id=message.agent_id,
        created_at=now,
        expires_at=None if message.expires_at is None else parse_time(message.expires_at),
        message_id=message.id,
    )


def _expire_images(
    conn: Connection, index: SearchIndex, message: Row[Any], expires_at: datetime | None
) -> None:
    owners = owners_of(_images_of(conn, message))
    if owners:
        changing = (
            update(records)
            .where(records.c.record_no.in_(list(owners)))
            .values(expires_at=None if expires_at is None else format_time(expires_at))
        )
        conn.execute(of_users(conn, changing, records, set(owners.values())))
        touch(conn, index, owners)


def _images_of(conn: Connection, message: Row[Any]) -> Sequence[Any]:
    wanted = of_users(conn, _IMAGES_OF, records, [message.user_no])
    return conn.execute(wanted, {"message_id": message.id}).all()
