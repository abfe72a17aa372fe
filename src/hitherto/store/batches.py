"""Batches of records to add: what callers may write, and its reading into one draft per record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor, expiry
from hitherto.messages import ImageContent, ImageMimeType, TextContent, content_parts, new_id
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import PROFILE_TYPES, RecordStatus
from hitherto.scope import check_id
from hitherto.store.checks import (
    check_metadata,
    check_record_type,
    check_summary,
    check_text,
    check_timestamp,
    spread,
)
from hitherto.store.drafts import Draft, draft_chunks
from hitherto.store.requests import NewRecord

if TYPE_CHECKING:
    from typing import TypeAlias

    PerRecord: TypeAlias = "str | None | list[str | None] | NotSetType"

MIME_TYPE_KEY = "image_mime_type"
"""The metadata key by which an image's format comes in; it is not stored."""


@dataclass(slots=True)
class PendingRecordBatch:
    """Records of one type to add together; a scalar stands for all of them, a list has one value per record.

    Attributes:
        contents: One content per record: a str, parts of a message, a summary's object, or an image's bytes.
        record_type: Their type.
        record_ids: Their ids; omitted or None to have them made.
        index_texts: What is indexed instead of the content: a str, or several for a record of several chunks.
        embeddings: The vectors of the indexed texts, if they are known already.
        thread_ids: Their threads.
        user_ids: Their users.
        agent_ids: Their agents.
        roles: Who spoke, for messages.
        timestamps: Their own times, ISO 8601 or free text.
        metadata: JSON objects.
        ttl_days: Days to live.
        ttl_anchor: From when they count.
        statuses: Whether they hold.
        texts: Another name of contents.

    Examples:
        >>> PendingRecordBatch(contents=["Ana plays the cello"], record_type="fact", user_ids="ana").contents
        ['Ana plays the cello']
    """

    contents: Sequence[Any] | NotSetType = NOT_SET
    record_type: str | NotSetType = NOT_SET
    record_ids: PerRecord = NOT_SET
    index_texts: Any = NOT_SET
    embeddings: Any = NOT_SET
    thread_ids: PerRecord = NOT_SET
    user_ids: PerRecord = NOT_SET
    agent_ids: PerRecord = NOT_SET
    roles: PerRecord = NOT_SET
    timestamps: PerRecord = NOT_SET
    metadata: dict[str, Any] | None | list[dict[str, Any] | None] | NotSetType = NOT_SET
    ttl_days: float | None | list[float | None] | NotSetType = NOT_SET
    ttl_anchor: TimeToLiveAnchor | list[TimeToLiveAnchor] | NotSetType = NOT_SET
    statuses: RecordStatus | list[RecordStatus] | NotSetType = NOT_SET
    _expires_at: list[datetime | None] | NotSetType = NOT_SET
    texts: Sequence[Any] | NotSetType = NOT_SET
    _initialized: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Require a type and contents, and keep contents and texts the same.

        Raises:
            ArgumentTypeError: If the type or the contents are missing, or the contents are no sequence.
            InvalidArgumentError: If contents and texts are both given and differ.
        """
        if self.record_type is NOT_SET:
            raise ArgumentTypeError("record_type must be given, got nothing", argument="record_type")
        if self.contents is NOT_SET:
            self.contents = self.texts
        elif self.texts is not NOT_SET and self.texts != self.contents:
            raise InvalidArgumentError(
                "contents and texts must not differ; give one of them", argument="texts"
            )
        if self.contents is NOT_SET:
            raise ArgumentTypeError("contents must be given, got nothing", argument="contents")
        if not isinstance(self.contents, (list, tuple)):
            raise ArgumentTypeError(
                f"contents must be a list with one content per record, got {shown(self.contents)}",
                argument="contents",
            )
        self.texts = self.contents
        self._initialized = True


def read_batches(
    batches: Iterable[PendingRecordBatch],
    *,
    now: datetime,
    retention: MemoryRetentionConfig,
    max_input_tokens: int | None,
) -> list[Draft]:
    """Check batches and read them into one draft per record, in order, with image parts after their message.

    Args:
        batches: The batches.
        now: When the records are stored, UTC.
        retention: How long records live that do not say so.
        max_input_tokens: The most tokens that the embedder reads, or None.

    Returns:
        One draft per record; a message's image parts come as further drafts with its id as ``message_id``.

    Raises:
        ArgumentTypeError: If a value has the wrong type.
        InvalidArgumentError: If a value is not allowed, or a list has the wrong length.
    """
    if not isinstance(batches, Iterable):
        raise ArgumentTypeError(
            f"batches must be several PendingRecordBatch, got {shown(batches)}", argument="batches"
        )
    drafts: list[Draft] = []
    seen: set[tuple[str, str]] = set()
    for batch in batches:
        if not isinstance(batch, PendingRecordBatch):
            raise ArgumentTypeError(
                f"batches must hold PendingRecordBatch, got {shown(batch)}", argument="batches"
            )
        for row in _rows(batch):
            draft = _draft(row, now=now, retention=retention, max_input_tokens=max_input_tokens)
            drafts.append(draft)
            drafts.extend(image_drafts(draft.record, max_input_tokens=max_input_tokens))
    for draft in drafts:
        key = (draft.record.record_type, draft.record.id)
        if key in seen:
            raise InvalidArgumentError(
                f"record_ids must be unique, got {shown(key[1])} twice", argument="record_ids"
            )
        seen.add(key)
    return drafts


@dataclass(frozen=True, slots=True)
class _Row:
    """One record of a batch, its values still unchecked."""

    record_type: str
    content: Any
    record_id: Any
    index_text: Any
    embedding: Any
    thread_id: Any
    user_id: Any
    agent_id: Any
    role: Any
    timestamp: Any
    metadata: Any
    ttl_days: Any
    ttl_anchor: Any
    status: Any
    expires_at: Any


_COLUMNS = {
    "record_id": "record_ids",
    "index_text": "index_texts",
    "embedding": "embeddings",
    "thread_id": "thread_ids",
    "user_id": "user_ids",
    "agent_id": "agent_ids",
    "role": "roles",
    "timestamp": "timestamps",
    "metadata": "metadata",
    "ttl_days": "ttl_days",
    "ttl_anchor": "ttl_anchor",
    "status": "statuses",
    "expires_at": "_expires_at",
}


def _rows(batch: PendingRecordBatch) -> list[_Row]:
    record_type = check_record_type(batch.record_type)
    if record_type == "thread":
        raise InvalidArgumentError(
            "record_type must not be 'thread' here; use create_thread_record()", argument="record_type"
        )
    contents = batch.contents
    assert contents is not NOT_SET  # noqa: S101  __post_init__ requires it
    count = len(contents)
    spreads = {
        name: spread(_as_list(getattr(batch, column)), count, argument=column.strip("_"))
        for name, column in _COLUMNS.items()
    }
    ids = spreads["record_id"]
    if any(value in (None, NOT_SET) for value in ids) and not all(value in (None, NOT_SET) for value in ids):
        raise InvalidArgumentError(
            "record_ids must be given for all records or for none", argument="record_ids"
        )
    return [
        _Row(record_type, content, **{name: values[place] for name, values in spreads.items()})
        for place, content in enumerate(contents)
    ]


def _as_list(value: Any) -> Any:
    # An array of vectors is one vector per record.
    return list(value) if hasattr(value, "__array__") and not isinstance(value, (list, tuple)) else value


def _given(value: Any) -> Any:
    return None if value is NOT_SET else value


def _draft(
    row: _Row, *, now: datetime, retention: MemoryRetentionConfig, max_input_tokens: int | None
) -> Draft:
    metadata = check_metadata(_given(row.metadata))
    timestamp = check_timestamp(_given(row.timestamp), argument="timestamps")
    mime_type, image, description = None, None, None
    if row.record_type == "image":
        metadata, mime_type = _take_mime_type(metadata)
        image, description = check_image(row.content), _description(_given(row.index_text))
    content = description if row.record_type == "image" else check_content(row.record_type, row.content)
    record_id = _given(row.record_id)
    record = NewRecord(
        record_type=row.record_type,
        id=new_id() if record_id is None else check_id(record_id, argument="record_ids"),
        content=content,
        created_at=now,
        thread_id=_scope_id(row, "thread_id"),
        user_id=_scope_id(row, "user_id"),
        agent_id=_scope_id(row, "agent_id"),
        role=_role(row),
        timestamp=timestamp,
        metadata=metadata,
        status=check_status(row.status, argument="statuses"),
        expires_at=_expires_at(row, timestamp, now=now, retention=retention),
        mime_type=mime_type,
        image=image,
    )
    return draft_chunks(
        record, index_text=row.index_text, embedding=row.embedding, max_input_tokens=max_input_tokens
    )


def _scope_id(row: _Row, name: str) -> str | None:
    value = _given(getattr(row, name))
    if value is None:
        return None
    if row.record_type in PROFILE_TYPES:
        raise InvalidArgumentError(
            f"{name}s must not be given for {row.record_type}: a profile's scope is its own id",
            argument=f"{name}s",
        )
    return check_id(value, argument=f"{name}s")


def _role(row: _Row) -> str | None:
    role = _given(row.role)
    if role is None:
        return None
    if row.record_type != "message":
        raise InvalidArgumentError(
            f"roles must be given for messages only, not for {row.record_type}", argument="roles"
        )
    return check_text(role, argument="roles")


def check_status(value: object, *, argument: str = "status") -> RecordStatus:
    """Return a status, VALID where none is given.

    Raises:
        InvalidArgumentError: If it is no RecordStatus.
    """
    if value is NOT_SET:
        return RecordStatus.VALID
    if not isinstance(value, RecordStatus):
        raise InvalidArgumentError(
            f"{argument} must be a RecordStatus, got {shown(value)}", argument=argument
        )
    return value


def check_content(record_type: str, content: Any) -> Any:
    """Return a record's content as it is stored.

    Args:
        record_type: The record's type, not "image".
        content: What came.

    Raises:
        ArgumentTypeError: If it has the wrong type.
        InvalidArgumentError: If a text in it cannot be stored.
    """
    if record_type == "thread_summary":
        return check_summary(content)
    if record_type in PROFILE_TYPES and content is None:
        return None
    if record_type != "message" or isinstance(content, str):
        return check_text(content, argument="contents")
    parts = content_parts(content)
    for part in parts:
        check_id(part.id, argument="contents")
        check_timestamp(part.timestamp, argument="contents")
        text = part.text if isinstance(part, TextContent) else getattr(part, "description", None)
        if text is not None:
            check_text(text, argument="contents")
    # One text part says no more than a plain text.
    return parts[0].text if len(parts) == 1 and isinstance(parts[0], TextContent) else parts


def check_image(content: object) -> bytes:
    """Return an image's bytes.

    Raises:
        ArgumentTypeError: If they are no bytes.
    """
    if not isinstance(content, bytes):
        raise ArgumentTypeError(
            f"contents must be bytes for images, got {shown(content)}", argument="contents"
        )
    return content


def _description(index_text: Any) -> str | None:
    if isinstance(index_text, (list, tuple)):
        return "\n".join(check_text(text, argument="index_texts") for text in index_text)
    return None if index_text is None else check_text(index_text, argument="index_texts")


def _take_mime_type(metadata: dict[str, Any] | None) -> tuple[dict[str, Any] | None, ImageMimeType]:
    given = (metadata or {}).get(MIME_TYPE_KEY)
    try:
        mime_type = ImageMimeType(given)
    except ValueError:
        raise InvalidArgumentError(
            f"metadata[{MIME_TYPE_KEY!r}] must be one of {', '.join(ImageMimeType)} for an image, got {shown(given)}",
            argument="metadata",
        ) from None
    rest = {key: value for key, value in (metadata or {}).items() if key != MIME_TYPE_KEY}
    return rest or None, mime_type


def _expires_at(
    row: _Row, timestamp: str | None, *, now: datetime, retention: MemoryRetentionConfig
) -> datetime | None:
    if row.expires_at is not NOT_SET:
        expires_at: datetime | None = row.expires_at
        return expires_at
    if row.record_type in PROFILE_TYPES:
        if row.ttl_days not in (None, NOT_SET) or row.ttl_anchor is not NOT_SET:
            raise InvalidArgumentError(
                f"ttl_days must not be given for {row.record_type}", argument="ttl_days"
            )
        return None
    return expiry(
        ttl_days=row.ttl_days, anchor=row.ttl_anchor, timestamp=timestamp, created_at=now, retention=retention
    )


def image_drafts(message: NewRecord, *, max_input_tokens: int | None) -> list[Draft]:
    """Return the image records that a message's parts make, which live and expire with it.

    Args:
        message: The message.
        max_input_tokens: The most tokens that the embedder reads, or None.
    """
    if not isinstance(message.content, tuple):
        return []
    shared = {
        name: getattr(message, name)
        for name in ("thread_id", "user_id", "agent_id", "created_at", "expires_at")
    }
    return [
        draft_chunks(
            NewRecord(
                record_type="image",
                id=part.id,
                content=part.description,
                timestamp=part.timestamp,
                mime_type=part.mime_type,
                image=part.bytes,
                message_id=message.id,
                **shared,
            ),
            index_text=NOT_SET,
            embedding=NOT_SET,
            max_input_tokens=max_input_tokens,
        )
        for part in message.content
        if isinstance(part, ImageContent)
    ]
