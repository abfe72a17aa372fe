"""Descriptions of images by a language model, so that words find them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hitherto.characters import storable
from hitherto.errors import ModelOutputError
from hitherto.extraction.extractor import PACKAGE
from hitherto.images import ImageLimits, check_for_model
from hitherto.messages import ImageContent, ImageMimeType, Message, TextContent
from hitherto.models.base import LLM
from hitherto.prompts import load_prompt
from hitherto.records import ImageRecord, MessageRecord
from hitherto.store.jobs import Job, finish

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto.extraction")

CAPTION: Final = "caption"


def caption(llm: LLM, data: bytes, mime_type: ImageMimeType, limits: ImageLimits) -> str:
    """Ask a language model to describe an image.

    Args:
        llm: The model; it has to take images.
        data: The encoded image.
        mime_type: Its format.
        limits: How large it may be.

    Raises:
        InvalidArgumentError: If the image is too large or broken.
        MissingExtraError: If Pillow is not installed.
        ModelOutputError: If the model says nothing.
        Exception: Whatever the model raises.
    """
    check_for_model([(data, mime_type)], limits)
    prompt = load_prompt(PACKAGE, "caption").text
    message = Message("user", (TextContent(prompt), ImageContent(data, mime_type)))
    text = storable(str(llm.generate([message]).text).strip())
    if not text:
        raise ModelOutputError("the model must describe the image, got nothing")
    return text


def describe_stored(store: MemoryStore, llm: LLM, image_id: str, limits: ImageLimits) -> bool:
    """Describe a stored image that has no description, and store what the model says.

    Args:
        store: The store.
        llm: The model.
        image_id: The image.
        limits: How large it may be.

    Returns:
        Whether it was described; not if it is gone or has a description already.
    """
    record = store.get("image", image_id, include_bytes=True)
    if not isinstance(record, ImageRecord) or record.bytes is None or record.content:
        return False
    text = caption(llm, record.bytes, record.mime_type, limits)
    return bool(store.update("image", image_id, index_text=text))


def run_caption_job(store: MemoryStore, llm: LLM, job: Job, limits: ImageLimits) -> None:
    """Do a job that describes an image.

    Args:
        store: The store.
        llm: The model.
        job: The job, begun.
        limits: How large the image may be.
    """
    describe_stored(store, llm, job.payload["image_id"], limits)
    store.transact_jobs(lambda table: finish(table, job))


def describe_images(
    store: MemoryStore, llm: LLM, records: Sequence[MessageRecord], limits: ImageLimits
) -> bool:
    """Describe the images of messages that have no description yet, before memories are extracted.

    Args:
        store: The store.
        llm: The model.
        records: The messages.
        limits: How large images may be.

    Returns:
        Whether any was described, so that the messages say more now; an image that could not be stays without.
    """
    changed = False
    for record in records:
        for part in record.content if isinstance(record.content, tuple) else ():
            if not isinstance(part, ImageContent) or (part.description or "").strip():
                continue
            try:
                changed = describe_stored(store, llm, part.id, limits) or changed
            except Exception as error:  # a model without eyes must not keep the words from being read
                log.warning("image %s was not described: %s", part.id, type(error).__name__)
    return changed
