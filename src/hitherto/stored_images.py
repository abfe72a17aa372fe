"""Stored images: what a client and a thread do alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError, shown
from hitherto.extraction.captions import CAPTION, caption
from hitherto.extraction.config import ExtractionSettings
from hitherto.images import detect_mime_type
from hitherto.lifetime import utc_now
from hitherto.messages import ImageMimeType, new_id
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import ImageRecord
from hitherto.session import Session
from hitherto.store.batches import MIME_TYPE_KEY, PendingRecordBatch
from hitherto.store.checks import check_flag, named_as
from hitherto.store.jobs import Job

_NAMES: Final = {
    "contents": "image",
    "index_texts": "description",
    "record_ids": "image_id",
    "user_ids": "user_id",
    "agent_ids": "agent_id",
    "thread_ids": "thread_id",
    "timestamps": "timestamp",
    "content": "image",
    "index_text": "description",
    "record_id": "image_id",
}
"""What the fields of an image are called where records of any type are stored."""


def add_image(
    session: Session,
    llm: LLM | None,
    extraction: ExtractionSettings,
    image: bytes,
    description: str | None | NotSetType,
    mime_type: ImageMimeType | NotSetType,
    **fields: Any,
) -> str:
    """Store an image; see :meth:`AgentMemory.add_image`.

    Args:
        session: The open client.
        llm: What describes it, or None.
        extraction: Whether that is waited for.
        image: The encoded image.
        description: What it shows, or None or NOT_SET to have it said.
        mime_type: Its format, or NOT_SET.
        **fields: Further fields of the store's batch; what is NOT_SET is left out.

    Returns:
        The image's id.

    Raises:
        InvalidArgumentError: If a value is not allowed, or there is neither a description nor a model.
    """
    store = session.store
    kind = detect_mime_type(image) if mime_type is NOT_SET else _checked_type(mime_type)
    text = None if description is NOT_SET else description
    if text is not None and not isinstance(text, str):
        raise ArgumentTypeError(
            f"description must be a str or None, got {shown(text)}", argument="description"
        )
    if text is None:
        _need_model(llm)
    later = text is None and extraction.in_background
    if text is None and not later:
        text = caption(cast("LLM", llm), image, kind, session.image_limits)
    given: dict[str, Any] = {name: [value] for name, value in fields.items() if value is not NOT_SET}
    metadata = given.get("metadata", [None])[0]
    if metadata is not None and not isinstance(metadata, dict):
        raise InvalidArgumentError(
            f"metadata must be a dict or None, got {shown(metadata)}", argument="metadata"
        )
    given["metadata"] = [{**(metadata or {}), MIME_TYPE_KEY: kind.value}]
    batch = PendingRecordBatch(contents=[image], record_type="image", index_texts=[text], **given)
    if not later:
        with named_as(_NAMES):
            return store.add_batches([batch])[0]
    batch.record_ids = given.get("record_ids") or [new_id()]
    job = _caption_job(batch)
    with named_as(_NAMES):
        (image_id,) = store.add_batches([batch], also=lambda table: table.put(job))
    session.queue.notify()
    return image_id


def _caption_job(batch: PendingRecordBatch) -> Job:
    def first(value: Any) -> Any:
        return value[0] if isinstance(value, list) else None

    now = utc_now()
    return Job(
        CAPTION,
        first(batch.thread_ids) or "",
        first(batch.user_ids),
        {"image_id": first(batch.record_ids)},
        now,
        now,
    )


def _need_model(llm: LLM | None) -> None:
    if llm is None:
        raise InvalidArgumentError(
            "description must be given, as there is no language model to say it", argument="description"
        )


def _checked_type(mime_type: object) -> ImageMimeType:
    if not isinstance(mime_type, ImageMimeType):
        raise InvalidArgumentError(
            f"mime_type must be an ImageMimeType, got {shown(mime_type)}", argument="mime_type"
        )
    return mime_type


def list_images(
    session: Session,
    image_id: str | NotSetType,
    include_bytes: bool | NotSetType,
    metadata_filter: dict[str, Any] | None | NotSetType,
    limit: int | None | NotSetType,
    scope: Mapping[str, Any],
) -> list[ImageRecord]:
    """Return images, oldest first; see :meth:`AgentMemory.list_images`.

    Raises:
        InvalidArgumentError: If the bytes of more than one image are asked for.
    """
    with_bytes = check_flag(include_bytes, argument="include_bytes", default=False)
    if with_bytes and image_id is NOT_SET:
        raise InvalidArgumentError(
            "include_bytes needs image_id: one image at a time", argument="include_bytes"
        )
    with named_as(_NAMES):
        found = session.store.list(
            "image",
            record_id=image_id,
            include_bytes=with_bytes,
            metadata_filter=metadata_filter,
            limit=limit,
            **dict(scope),
        )
    return cast("list[ImageRecord]", found)


def find_image(session: Session, image_id: object, thread_id: str | None) -> ImageRecord | None:
    """Return an image, or None.

    Args:
        session: The open client.
        image_id: Its id; what is no legal id names no image.
        thread_id: The thread that it has to belong to, or None for any.
    """
    store = session.store
    if not isinstance(image_id, str) or not image_id:
        return None
    record = store.get("image", image_id)
    if not isinstance(record, ImageRecord) or (thread_id is not None and record.thread_id != thread_id):
        return None
    return record


def known_image(session: Session, image_id: object, thread_id: str | None) -> ImageRecord:
    """Return an image.

    Raises:
        NotFoundError: If there is none of that id, or it belongs to another thread.
    """
    record = find_image(session, image_id, thread_id)
    if record is None:
        where = "" if thread_id is None else f" in thread {shown(thread_id)}"
        raise NotFoundError(f"there is no image {shown(image_id)}{where}")
    return record


def update_image(
    session: Session,
    llm: LLM | None,
    record: ImageRecord,
    image: bytes | NotSetType,
    description: str | None | NotSetType,
    mime_type: ImageMimeType | NotSetType,
    **fields: Any,
) -> str:
    """Change an image; see :meth:`AgentMemory.update_image`.

    Raises:
        InvalidArgumentError: If a value is not allowed.
        NotFoundError: If it was deleted meanwhile.
    """
    store = session.store
    changes = {name: value for name, value in fields.items() if value is not NOT_SET}
    kind = record.mime_type
    if image is not NOT_SET:
        kind = detect_mime_type(image) if mime_type is NOT_SET else _checked_type(mime_type)
        changes["content"] = image
        own = changes.get("metadata", record.metadata)
        changes["metadata"] = {**(own or {}), MIME_TYPE_KEY: kind.value}
    elif mime_type is not NOT_SET:
        raise InvalidArgumentError("mime_type must be given with image", argument="mime_type")
    if description is None:
        _need_model(llm)
        data = image
        if data is NOT_SET:
            stored = store.get("image", record.id, include_bytes=True)
            data = cast("bytes", cast("ImageRecord", stored).bytes)
        changes["index_text"] = caption(cast("LLM", llm), data, kind, session.image_limits)
    elif description is not NOT_SET:
        changes["index_text"] = description
    with named_as(_NAMES):
        if changes and not store.update("image", record.id, **changes):
            raise NotFoundError(f"there is no image {shown(record.id)}")
    return record.id


def delete_image(session: Session, record: ImageRecord | None) -> int:
    """Delete an image; return 1, or 0 if there is none.

    Raises:
        InvalidArgumentError: If it is part of a message.
    """
    if record is None:
        session.check_open()
        return 0
    if record.message_id is not None:
        raise InvalidArgumentError(
            f"image_id must name an image of its own, {shown(record.id)} is part of message "
            f"{shown(record.message_id)} and goes with it",
            argument="image_id",
        )
    return session.store.delete("image", record.id)
