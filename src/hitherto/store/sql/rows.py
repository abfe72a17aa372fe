"""Record <-> row: times, JSON, contents, and the rows that are indexed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from hitherto.lifetime import format_time
from hitherto.messages import ImageContent, ImageMimeType, MessageContent, TextContent
from hitherto.records import MEMORY_TYPES, RECORD_CLASSES, SEARCHABLE_TYPES, Record, RecordStatus
from hitherto.store.checks import json_text
from hitherto.store.index_text import message_words
from hitherto.store.requests import NewRecord
from hitherto.store.sql.divided import Owners, of_users
from hitherto.store.sql.tables import chunk_texts, images, records, scopes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection, Row

BATCH = 500
"""How many values one IN list has at most."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A stored record as its index sees it.

    Attributes:
        record_no: Its number.
        user_no: Its user's number.
        record_type: Its type.
        agent_id: Its agent, or None.
        thread_id: Its thread, or None.
        status: "valid" or "invalid".
        expires_at: When it expires, as stored, or None.
        role: Who spoke, or None.
        speaker: The name in the metadata, or else the role, or None.
        timestamp: Its own time, or None.
        created_at: When it was stored, as stored.
        texts: What its words are, one per chunk.
        vectors: Its vectors, one per chunk; empty where they do not matter.
    """

    record_no: int
    user_no: int
    record_type: str
    agent_id: str | None
    thread_id: str | None
    status: str
    expires_at: str | None
    role: str | None
    speaker: str | None
    timestamp: str | None
    created_at: str
    texts: tuple[str, ...]
    vectors: tuple[NDArray[np.float32] | None, ...] = ()


def id_space(record_type: str) -> str:
    """Return within what an id of this type is unique: the four types of memory share one space."""
    return "memory" if record_type in MEMORY_TYPES else record_type


def owner_id(record: NewRecord) -> str | None:
    """Return the user that a record is filed under: a user's profile under that user."""
    return record.id if record.record_type == "user_profile" else record.user_id


def content_columns(content: Any) -> tuple[str | None, str | None]:
    """Return a content as stored, and in which form that is."""
    if content is None:
        return None, None
    if isinstance(content, str):
        return content, "text"
    if isinstance(content, tuple):
        return json.dumps([part.to_dict() for part in content], ensure_ascii=False), "parts"
    return json_text(content), "object"


def content_from_columns(
    content: str | None, form: str | None, image_bytes: Mapping[str, bytes] | None = None
) -> Any:
    """Return a content as it was handed in.

    Args:
        content: The stored content.
        form: Its form.
        image_bytes: The bytes of image parts, by part id, where they are wanted.
    """
    if content is None or form == "text":
        return content
    value = json.loads(content)
    return value if form == "object" else tuple(_part(item, image_bytes or {}) for item in value)


def _part(item: dict[str, Any], image_bytes: Mapping[str, bytes]) -> MessageContent:
    if item["type"] == "text":
        return TextContent(item["text"], id=item["id"], timestamp=item["timestamp"])
    return ImageContent(
        image_bytes.get(item["id"]),
        ImageMimeType(item["mime_type"]),
        item["description"],
        id=item["id"],
        timestamp=item["timestamp"],
    )


def row_from_record(record: NewRecord, *, record_no: int, user_no: int) -> dict[str, Any]:
    """Return the columns of a new record.

    Args:
        record: The record.
        record_no: Its number.
        user_no: Its user's number.
    """
    content, form = content_columns(record.content)
    return {
        "record_no": record_no,
        "id_space": id_space(record.record_type),
        "id": record.id,
        "record_type": record.record_type,
        "user_no": user_no,
        "agent_id": record.id if record.record_type == "agent_profile" else record.agent_id,
        "thread_id": record.thread_id,
        "status": record.status.value,
        "hand_status": None if record.status is RecordStatus.VALID else record.status.value,
        "created_at": format_time(record.created_at),
        "expires_at": None if record.expires_at is None else format_time(record.expires_at),
        "timestamp": record.timestamp,
        "role": record.role,
        "content": content,
        "content_form": form,
        "metadata": json_text(record.metadata),
        "message_id": record.message_id,
        "mime_type": None if record.mime_type is None else record.mime_type.value,
        "runtime_config": json_text(record.runtime_config),
        "runtime_state": json_text(record.runtime_state),
        "searchable": int(record.record_type in SEARCHABLE_TYPES),
    }


def index_row(columns: Mapping[str, Any], record: NewRecord) -> IndexRow:
    """Return what the index sees of a record that is being stored."""
    chunks = record.chunks
    return IndexRow(
        **{name: columns[name] for name in _INDEX_COLUMNS},
        speaker=_speaker(record.role, record.metadata),
        texts=tuple(chunk.text for chunk in chunks),
        vectors=tuple(chunk.vector for chunk in chunks),
    )


def _speaker(role: str | None, metadata: dict[str, Any] | None) -> str | None:
    name = (metadata or {}).get("name")
    return name if isinstance(name, str) else role


_INDEX_COLUMNS = (
    "record_no",
    "user_no",
    "record_type",
    "agent_id",
    "thread_id",
    "status",
    "expires_at",
    "role",
    "timestamp",
    "created_at",
)


def derived_texts(content: Any) -> tuple[str, ...]:
    """Return what is indexed for a content where nothing else is stored: one chunk of its words."""
    return (message_words(content) if isinstance(content, (str, tuple)) else "",)


def record_from_row(
    row: Row[Any], *, user_id: str | None, image: bytes | None = None, parts: Any = None
) -> Record:
    """Return a record.

    Args:
        row: Anything with the columns of ``records`` as attributes.
        user_id: The user whose number the row has.
        image: The image's bytes, where they are wanted.
        parts: The bytes of image parts by id, where they are wanted.
    """
    cls = RECORD_CLASSES[row.record_type]
    fields: dict[str, Any] = {
        "id": row.id,
        "content": content_from_columns(row.content, row.content_form, parts),
        "timestamp": row.timestamp,
        "metadata": None if row.metadata is None else json.loads(row.metadata),
        "status": RecordStatus.VALID if row.status == "valid" else RecordStatus.INVALID,
    }
    record_type = row.record_type
    if record_type in ("user_profile", "agent_profile"):
        return cls(**fields)
    fields.update(thread_id=row.thread_id, user_id=user_id, agent_id=row.agent_id)
    if record_type == "message":
        fields.update(role=row.role, seq_no=row.record_no)
    elif record_type == "image":
        fields.update(message_id=row.message_id, mime_type=ImageMimeType(row.mime_type), bytes=image)
    elif record_type == "thread":
        fields.update(runtime_config=_object(row.runtime_config), runtime_state=_object(row.runtime_state))
    return cls(**fields)


def _object(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)


RECORD_COLUMNS = (*records.c, scopes.c.user_id)
"""The columns of a record with its user's id."""

_BY_NO = (
    select(*RECORD_COLUMNS)
    .join(scopes, scopes.c.user_no == records.c.user_no)
    .where(records.c.record_no.in_(bindparam("nos", expanding=True)))
)
_TEXTS = (
    select(chunk_texts.c.record_no, chunk_texts.c.text)
    .where(chunk_texts.c.record_no.in_(bindparam("nos", expanding=True)))
    .order_by(chunk_texts.c.record_no, chunk_texts.c.chunk_no)
)
_PART_BYTES = (
    select(records.c.message_id, records.c.id, images.c.bytes)
    .join(images, images.c.record_no == records.c.record_no)
    .where(records.c.message_id.in_(bindparam("ids", expanding=True)))
)
_IMAGE_BYTES = select(images.c.record_no, images.c.bytes).where(
    images.c.record_no.in_(bindparam("nos", expanding=True))
)


def slices(values: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    """Yield a sequence in pieces of at most *size*."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def rows_by_no(
    conn: Connection, record_nos: Sequence[int], users: Collection[int] | None = None
) -> dict[int, Row[Any]]:
    """Return stored rows by their number.

    Args:
        conn: The connection.
        record_nos: The numbers.
        users: The numbers of the users whose they are, where these are known.
    """
    statement = of_users(conn, _BY_NO, records, users)
    return {row.record_no: row for nos in slices(record_nos) for row in conn.execute(statement, {"nos": nos})}


def owners_of(rows: Iterable[Any]) -> dict[int, int]:
    """Return the numbers of records with those of their users."""
    return {row.record_no: row.user_no for row in rows}


def records_from_rows(
    conn: Connection, rows: Iterable[Row[Any]], *, include_bytes: bool = False
) -> list[Record]:
    """Return records, with the bytes of images only where they are wanted.

    Args:
        conn: The connection.
        rows: Rows with RECORD_COLUMNS.
        include_bytes: Whether bytes come along.
    """
    found = list(rows)
    parts: dict[str, dict[str, bytes]] = {}
    whole: dict[int, bytes] = {}
    if include_bytes:
        users = {row.user_no for row in found}
        of_parts = of_users(conn, of_users(conn, _PART_BYTES, records, users), images, users)
        of_images = of_users(conn, _IMAGE_BYTES, images, users)
        messages = [row.id for row in found if row.content_form == "parts"]
        for ids in slices(messages):
            for message_id, part_id, data in conn.execute(of_parts, {"ids": ids}):
                parts.setdefault(message_id, {})[part_id] = data
        for nos in slices([row.record_no for row in found if row.record_type == "image"]):
            whole.update((no, data) for no, data in conn.execute(of_images, {"nos": nos}))
    return [
        record_from_row(row, user_id=row.user_id, image=whole.get(row.record_no), parts=parts.get(row.id))
        for row in found
    ]


def fetch_records(conn: Connection, owners: Owners) -> dict[int, Record]:
    """Return records by their number, without bytes.

    Args:
        conn: The connection.
        owners: The numbers, with those of their users; what is not stored is left out.
    """
    rows = rows_by_no(conn, list(owners), set(owners.values()))
    return {no: record_from_row(row, user_id=row.user_id) for no, row in rows.items()}


def stored_texts(conn: Connection, owners: Owners) -> dict[int, tuple[str, ...]]:
    """Return the texts that are stored apart from the content, for the records that have such."""
    found: dict[int, list[str]] = {}
    statement = of_users(conn, _TEXTS, chunk_texts, set(owners.values()))
    for nos in slices(list(owners)):
        for record_no, text in conn.execute(statement, {"nos": nos}):
            found.setdefault(record_no, []).append(text)
    return {record_no: tuple(texts) for record_no, texts in found.items()}


def index_rows(conn: Connection, rows: Sequence[Row[Any]]) -> list[IndexRow]:
    """Return what the index sees of stored records, without vectors; only the searchable ones.

    Args:
        conn: The connection.
        rows: Rows with RECORD_COLUMNS.
    """
    searchable = [row for row in rows if row.searchable]
    texts = stored_texts(conn, owners_of(searchable))
    return [
        IndexRow(
            **{name: getattr(row, name) for name in _INDEX_COLUMNS},
            speaker=_speaker(row.role, _object(row.metadata)),
            texts=texts.get(row.record_no)
            or derived_texts(content_from_columns(row.content, row.content_form)),
        )
        for row in searchable
    ]
