"""Messages and their parts: what is said in a thread, as text and images."""

from __future__ import annotations

import os
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown


class ImageMimeType(TextEnum):
    """The image formats that can be stored."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"


def new_id() -> str:
    """Return a new id: a UUID of version 7 as text, its first part the time and the rest random.

    Ids that are made a millisecond later are greater, so that a store of a million records files new ones side by side
    instead of all over its index.

    Examples:
        >>> len(new_id())
        36
        >>> uuid.UUID(new_id()).version
        7
    """
    random_bits = int.from_bytes(os.urandom(10), "big") >> 6
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | 0x7 << 76 | (random_bits >> 62) << 64
    return str(uuid.UUID(int=value | 0b10 << 62 | random_bits & (1 << 62) - 1))


@dataclass(frozen=True, slots=True)
class MessageContent(ABC):
    """One part of a message's content.

    Attributes:
        id: The part's id; a new UUID unless given.
        timestamp: When the part was made, ISO 8601, or None.
    """

    type: ClassVar[str]
    id: str = field(default_factory=new_id, kw_only=True)
    timestamp: str | None = field(default=None, kw_only=True)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the part as a JSON object without its bytes."""


@dataclass(frozen=True, slots=True)
class TextContent(MessageContent):
    """A text part of a message.

    Attributes:
        text: The text; may be empty.

    Examples:
        >>> TextContent("hello", id="p1")
        TextContent(id='p1', timestamp=None, text='hello')
    """

    type: ClassVar[str] = "text"
    text: str

    def __post_init__(self) -> None:
        """Check the text's type.

        Raises:
            ArgumentTypeError: If text is not a str.
        """
        if not isinstance(self.text, str):
            raise ArgumentTypeError(f"text must be a str, got {shown(self.text)}", argument="text")

    def to_dict(self) -> dict[str, Any]:
        """Return the part as a JSON object."""
        return {"type": "text", "id": self.id, "timestamp": self.timestamp, "text": self.text}


@dataclass(frozen=True, slots=True)
class ImageContent(MessageContent):
    """An image part of a message.

    Attributes:
        bytes: The encoded image, or None where the bytes were not asked for.
        mime_type: Its format.
        description: What it shows, in words, or None.

    Examples:
        >>> ImageContent(None, ImageMimeType.PNG, "a red bicycle", id="p1").description
        'a red bicycle'
    """

    type: ClassVar[str] = "image"
    bytes: bytes | None
    mime_type: ImageMimeType
    description: str | None = None

    def __post_init__(self) -> None:
        """Check the types of the fields.

        Raises:
            ArgumentTypeError: If a field has the wrong type.
        """
        if self.bytes is not None and not isinstance(self.bytes, _BYTES):
            raise ArgumentTypeError(f"bytes must be bytes or None, got {shown(self.bytes)}", argument="bytes")
        if not isinstance(self.mime_type, ImageMimeType):
            raise ArgumentTypeError(
                f"mime_type must be an ImageMimeType, got {shown(self.mime_type)}", argument="mime_type"
            )
        if self.description is not None and not isinstance(self.description, str):
            raise ArgumentTypeError(
                f"description must be a str or None, got {shown(self.description)}", argument="description"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the part as a JSON object, without the bytes."""
        return {
            "type": "image",
            "id": self.id,
            "timestamp": self.timestamp,
            "mime_type": self.mime_type.value,
            "description": self.description,
        }


# The class attribute ``bytes`` hides the builtin inside ImageContent.
_BYTES = bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as a program hands it in or gets it back.

    Attributes:
        role: Who speaks: "user", "assistant", "system", "tool" or any other word.
        content: A text, or a non-empty sequence of content parts, kept as a tuple.
        timestamp: When it was said, ISO 8601, or None.
        metadata: A JSON object, or None.
        id: The message's id, or None to have one made; not part of equality.

    Examples:
        >>> Message("user", "I moved to Lisbon").content
        'I moved to Lisbon'
        >>> Message("user", "a", id="1") == Message("user", "a", id="2")
        True
    """

    role: str
    content: str | tuple[MessageContent, ...]
    timestamp: str | None = None
    metadata: dict[str, Any] | None = None
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check role and content; turn a sequence of parts into a tuple.

        Raises:
            ArgumentTypeError: If role is not a str or content is neither a str nor an iterable of parts.
            InvalidArgumentError: If content has no part.
        """
        if not isinstance(self.role, str):
            raise ArgumentTypeError(f"role must be a str, got {shown(self.role)}", argument="role")
        if not isinstance(self.content, str):
            object.__setattr__(self, "content", content_parts(self.content))


def content_parts(content: object) -> tuple[MessageContent, ...]:
    """Check an iterable of content parts and return it as a tuple.

    Args:
        content: An iterable of :class:`TextContent` and :class:`ImageContent`.

    Returns:
        The parts, at least one.

    Raises:
        ArgumentTypeError: If content is not iterable or an item is not a part.
        InvalidArgumentError: If there is no part.
    """
    if not isinstance(content, Iterable):
        raise ArgumentTypeError(
            f"content must be a str or a sequence of content parts, got {shown(content)}", argument="content"
        )
    parts = tuple(content)
    for part in parts:
        if not isinstance(part, MessageContent):
            raise ArgumentTypeError(
                f"content must hold only TextContent and ImageContent, got {shown(part)}", argument="content"
            )
    if not parts:
        raise InvalidArgumentError("content must have at least one part, got none", argument="content")
    return parts


def content_text(content: object) -> str:
    r"""Return the text of a record's or message's content.

    The rule for every layer: a str as it is; parts as the texts of the text parts, joined by newlines (images
    add nothing); anything else, a summary's object or None, as "".

    Args:
        content: A str, a sequence of content parts, or anything else.

    Returns:
        The text, maybe "".

    Examples:
        >>> content_text((TextContent("a"), ImageContent(None, ImageMimeType.PNG, "x"), TextContent("b")))
        'a\nb'
        >>> content_text(None)
        ''
    """
    if isinstance(content, str):
        return content
    if isinstance(content, (tuple, list)):
        return "\n".join(part.text for part in content if isinstance(part, TextContent))
    return ""
