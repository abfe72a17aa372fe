"""Updates of a record: what is to change, read against what is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hitherto.errors import InvalidArgumentError, shown
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor, expiry
from hitherto.messages import ImageContent, ImageMimeType
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import PROFILE_TYPES, SEARCHABLE_TYPES, ImageRecord, MessageRecord, Record, RecordStatus
from hitherto.store.batches import MIME_TYPE_KEY, check_content, check_image, check_status, image_drafts
from hitherto.store.checks import check_metadata, check_text, check_timestamp
from hitherto.store.drafts import Draft, draft_chunks
from hitherto.store.requests import NewRecord, RecordChanges

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """The arguments of an update, unchecked.

    Attributes:
        content: New content.
        index_text: New texts to index.
        embedding: Their vectors.
        metadata: New metadata.
        timestamp: New time of its own.
        ttl_days: New days to live.
        ttl_anchor: From when they count.
        status: New status.
    """

    content: Any
    index_text: Any
    embedding: Any
    metadata: Any
    timestamp: Any
    ttl_days: Any
    ttl_anchor: Any
    status: Any


@dataclass(frozen=True, slots=True)
class PlannedUpdate:
    """An update that is checked; vectors are still to be made.

    Attributes:
        changes: What to change, without chunks and images.
        draft: What is indexed from now on, or None if that stays.
        images: Drafts of the images of a message's new content, or None if those stay.
    """

    changes: RecordChanges
    draft: Draft | None
    images: list[Draft] | None


def plan_update(
    current: Record,
    request: UpdateRequest,
    *,
    created_at: Callable[[], datetime],
    retention: MemoryRetentionConfig,
    max_input_tokens: int | None,
) -> PlannedUpdate:
    """Check an update against the stored record.

    Args:
        current: What is stored.
        request: What is asked.
        created_at: Returns when the record was stored; called only if its expiry follows from that.
        retention: How long records may live.
        max_input_tokens: The most tokens that the embedder reads, or None.

    Raises:
        ArgumentTypeError: If a value has the wrong type.
        InvalidArgumentError: If a value is not allowed, or does not fit the record's type.
    """
    changes = _changes(current, request, created_at, retention)
    draft, images = None, None
    if current.record_type in SEARCHABLE_TYPES and _reindexes(current, changes, request):
        after = _record_after(current, changes)
        draft = draft_chunks(
            after,
            index_text=NOT_SET if current.record_type == "image" else request.index_text,
            embedding=request.embedding,
            max_input_tokens=max_input_tokens,
        )
        if changes.content is not NOT_SET:
            images = image_drafts(after, max_input_tokens=max_input_tokens)
    return PlannedUpdate(changes, draft, images)


def _changes(
    current: Record,
    request: UpdateRequest,
    created_at: Callable[[], datetime],
    retention: MemoryRetentionConfig,
) -> RecordChanges:
    timestamp = request.timestamp
    if timestamp is not NOT_SET:
        timestamp = check_timestamp(timestamp)
    metadata = request.metadata
    if metadata is not NOT_SET:
        metadata = check_metadata(metadata)
    status: RecordStatus | NotSetType = NOT_SET
    if request.status is not NOT_SET:
        status = check_status(request.status)
    revision = _revision(metadata) if current.record_type == "thread_summary" else None
    if revision is not None:
        metadata = {**metadata, "$agent_memory": {**metadata["$agent_memory"], "revision": revision + 1}}
    changes = RecordChanges(
        current.record_type,
        current.id,
        metadata=metadata,
        timestamp=timestamp,
        expires_at=_expires_at(current, request, timestamp, created_at, retention),
        status=status,
        expected_revision=revision,
    )
    if isinstance(current, ImageRecord):
        return _image_changes(changes, request)
    if request.content is NOT_SET:
        return changes
    return replace(changes, content=check_content(current.record_type, request.content))


def _image_changes(changes: RecordChanges, request: UpdateRequest) -> RecordChanges:
    if request.content is not NOT_SET:
        changes = replace(changes, image=check_image(request.content))
    if request.index_text is not NOT_SET:
        text = request.index_text
        changes = replace(changes, content=None if text is None else check_text(text, argument="index_text"))
    metadata = changes.metadata
    if isinstance(metadata, dict) and MIME_TYPE_KEY in metadata:
        try:
            mime_type = ImageMimeType(metadata[MIME_TYPE_KEY])
        except ValueError as error:
            raise InvalidArgumentError(
                f"metadata[{MIME_TYPE_KEY!r}] must be one of {', '.join(ImageMimeType)}, "
                f"got {shown(metadata[MIME_TYPE_KEY])}",
                argument="metadata",
            ) from error
        rest = {key: value for key, value in metadata.items() if key != MIME_TYPE_KEY}
        changes = replace(changes, mime_type=mime_type, metadata=rest or None)
    return changes


def _expires_at(
    current: Record,
    request: UpdateRequest,
    timestamp: Any,
    created_at: Callable[[], datetime],
    retention: MemoryRetentionConfig,
) -> datetime | None | NotSetType:
    if all(value is NOT_SET for value in (request.ttl_days, request.ttl_anchor)):
        return NOT_SET
    if current.record_type in PROFILE_TYPES:
        raise InvalidArgumentError(
            f"ttl_days must not be given for {current.record_type}", argument="ttl_days"
        )
    if isinstance(current, ImageRecord) and current.message_id is not None:
        raise InvalidArgumentError(
            f"ttl_days must not be given for an image of a message (message {shown(current.message_id)}): it "
            "expires with its message",
            argument="ttl_days",
        )
    anchored = request.ttl_anchor is TimeToLiveAnchor.TIMESTAMP
    return expiry(
        ttl_days=request.ttl_days,
        anchor=request.ttl_anchor,
        timestamp=current.timestamp if timestamp is NOT_SET else timestamp,
        # Counted from the timestamp, the time of storing is not needed.
        created_at=datetime.min if anchored else created_at(),
        retention=retention,
    )


def _revision(metadata: Any) -> int | None:
    inner = metadata.get("$agent_memory") if isinstance(metadata, dict) else None
    revision = inner.get("revision") if isinstance(inner, dict) else None
    return revision if isinstance(revision, int) and not isinstance(revision, bool) else None


def _reindexes(current: Record, changes: RecordChanges, request: UpdateRequest) -> bool:
    if request.index_text is not NOT_SET and current.record_type != "image":
        return True
    if request.embedding is not NOT_SET:
        return True
    if changes.content is not NOT_SET and changes.content != current.content:
        return True
    if not isinstance(current, MessageRecord):
        return False
    # Date and speaker are part of what is embedded for a message, and of what it is found by.
    metadata = changes.metadata if isinstance(changes.metadata, dict) else None
    renamed = changes.metadata is not NOT_SET and _name(metadata) != _name(current.metadata)
    return renamed or changes.timestamp not in (NOT_SET, current.timestamp)


def _name(metadata: dict[str, Any] | None) -> object:
    return (metadata or {}).get("name")


def _record_after(current: Record, changes: RecordChanges) -> NewRecord:
    def after(name: str) -> Any:
        value = getattr(changes, name)
        return getattr(current, name) if value is NOT_SET else value

    return NewRecord(
        record_type=current.record_type,
        id=current.id,
        content=after("content"),
        # Images that an update adds to a message are stored by the backend with the message's own times.
        created_at=datetime.min,
        thread_id=getattr(current, "thread_id", None),
        user_id=getattr(current, "user_id", None),
        agent_id=getattr(current, "agent_id", None),
        role=getattr(current, "role", None),
        timestamp=after("timestamp"),
        metadata=after("metadata"),
    )


def with_image(message: MessageRecord, image: ImageRecord) -> tuple[Any, ...] | NotSetType:
    """Return a message's content in which a part says what its image record says now.

    Args:
        message: The message.
        image: One of its images, after a change.

    Returns:
        The new parts, or NOT_SET if no part is that image or nothing differs.
    """
    if isinstance(message.content, str):
        return NOT_SET
    parts = tuple(
        replace(part, description=image.content, mime_type=image.mime_type)
        if isinstance(part, ImageContent) and part.id == image.id
        else part
        for part in message.content
    )
    return NOT_SET if parts == message.content else parts
