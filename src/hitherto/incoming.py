"""Messages as callers hand them in, read into what is stored. All of them are checked before any is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError, shown
from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent, new_id
from hitherto.notset import NOT_SET, NotSetType

MessageInput: TypeAlias = "Message | Mapping[str, Any]"
"""A :class:`Message`, or a mapping with ``role``, ``content`` and maybe ``id``, ``timestamp``, ``metadata``."""

MetadataInput: TypeAlias = "dict[str, Any] | None | list[dict[str, Any] | None] | NotSetType"


@dataclass(frozen=True, slots=True)
class IncomingMessages:
    """Checked messages, field by field, in order.

    Attributes:
        ids: Their ids, made where none were given.
        roles: Who speaks.
        contents: Texts, or tuples of parts.
        timestamps: When it was said, or None.
        metadata: JSON objects, or None.
    """

    ids: list[str]
    roles: list[str]
    contents: list[str | tuple[MessageContent, ...]]
    timestamps: list[str | None]
    metadata: list[dict[str, Any] | None]


def read_messages(
    messages: object, metadata: MetadataInput = NOT_SET, *, may_describe: bool = False
) -> IncomingMessages:
    """Read messages.

    Args:
        messages: A list or tuple of :data:`MessageInput`.
        metadata: One object for all messages, or a list with one for each; it replaces the messages' own.
        may_describe: Whether an image may come without a description, because a model will describe it.

    Raises:
        ArgumentTypeError: If messages is no sequence, or a field has the wrong type.
        InvalidArgumentError: If messages is a text or a single mapping, or a field is not allowed.
        NotFoundError: If a mapping lacks a key.

    Examples:
        >>> read_messages([{"role": "user", "content": "hello"}]).roles
        ['user']
    """
    if isinstance(messages, (str, bytes, Mapping)):
        raise InvalidArgumentError(
            f"messages must be a list of messages, also where there is just one, got {shown(messages)}",
            argument="messages",
        )
    if not isinstance(messages, Sequence):
        raise ArgumentTypeError(
            f"messages must be a list of messages, got {shown(messages)}", argument="messages"
        )
    found = [_message(item, f"messages[{place}]", may_describe) for place, item in enumerate(messages)]
    return IncomingMessages(
        ids=[message.id or new_id() for message in found],
        roles=[message.role for message in found],
        contents=[message.content for message in found],
        timestamps=[message.timestamp for message in found],
        metadata=_metadata(metadata, [message.metadata for message in found]),
    )


def read_content(
    content: object, where: str = "content", *, may_describe: bool = False
) -> str | tuple[MessageContent, ...]:
    """Read the content of a message: a text, or a non-empty list of mappings that describe its parts.

    Args:
        content: What came.
        where: The place, for messages.
        may_describe: Whether an image may come without a description.

    Raises:
        ArgumentTypeError: If it is neither, or a part has the wrong type.
        InvalidArgumentError: If it is None, empty, or a part is of an unknown type.
        NotFoundError: If a part lacks a key.

    Examples:
        >>> read_content([{"type": "text", "text": "look", "id": "p1"}])
        (TextContent(id='p1', timestamp=None, text='look'),)
    """
    if isinstance(content, str):
        return content
    if content is None:
        raise InvalidArgumentError(f"{where} must be a text or a list of parts, got None", argument="content")
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise ArgumentTypeError(
            f"{where} must be a text or a list of parts, got {shown(content)}", argument="content"
        )
    if not content:
        raise InvalidArgumentError(f"{where} must have at least one part, got none", argument="content")
    parts = tuple(_part(item, f"{where}[{place}]") for place, item in enumerate(content))
    _check_described(parts, where, may_describe)
    return parts


def _message(item: object, where: str, may_describe: bool) -> Message:
    if isinstance(item, Message):
        message = item
    elif isinstance(item, Mapping):
        for key in ("role", "content"):
            if key not in item:
                raise NotFoundError(f"{where} must have {key!r}, got the keys {sorted(map(str, item))}")
        if not isinstance(item["role"], str):
            raise ArgumentTypeError(
                f"{where} must have a str as role, got {shown(item['role'])}", argument="role"
            )
        message = Message(
            item["role"],
            read_content(item["content"], f"{where}.content", may_describe=may_describe),
            item.get("timestamp"),
            item.get("metadata"),
            item.get("id"),
        )
    else:
        raise InvalidArgumentError(
            f"{where} must be a Message or a mapping with role and content, got {shown(item)}",
            argument="messages",
        )
    for name in ("id", "timestamp"):
        value = getattr(message, name)
        if value is not None and not isinstance(value, str):
            raise ArgumentTypeError(
                f"{where}.{name} must be a str or None, got {shown(value)}", argument=name
            )
    if message.metadata is not None and not isinstance(message.metadata, dict):
        raise InvalidArgumentError(
            f"{where}.metadata must be a dict or None, got {shown(message.metadata)}", argument="metadata"
        )
    _check_described(message.content, where, may_describe)
    return Message(message.role, message.content, message.timestamp or None, message.metadata, message.id)


def _check_described(content: object, where: str, may_describe: bool) -> None:
    parts = content if isinstance(content, (tuple, list)) else ()
    if not may_describe and any(
        isinstance(part, ImageContent) and part.description is None for part in parts
    ):
        raise InvalidArgumentError(
            f'{where}: an image must have a description, which is what is searched; "" for none',
            argument="description",
        )


def _part(item: object, where: str) -> MessageContent:
    if not isinstance(item, Mapping):
        raise ArgumentTypeError(
            f"{where} must be a mapping that describes a part; part objects go into a Message; got {shown(item)}",
            argument="content",
        )
    kind = _field(item, "type", where)
    common: dict[str, Any] = {"id": item.get("id") or new_id(), "timestamp": item.get("timestamp")}
    if kind == "text":
        return TextContent(_field(item, "text", where), **common)
    if kind != "image":
        raise InvalidArgumentError(
            f'{where}.type must be "text" or "image", got {shown(kind)}', argument="type"
        )
    try:
        mime_type = ImageMimeType(item.get("mime_type"))
    except ValueError:
        raise InvalidArgumentError(
            f"{where}.mime_type must be one of {', '.join(kind.value for kind in ImageMimeType)}, "
            f"got {shown(item.get('mime_type'))}",
            argument="mime_type",
        ) from None
    return ImageContent(_field(item, "bytes", where), mime_type, item.get("description"), **common)


def _field(item: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in item:
        raise NotFoundError(f"{where} must have {key!r}, got the keys {sorted(map(str, item))}")
    return item[key]


def _metadata(given: MetadataInput, own: list[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    if given is NOT_SET:
        return own
    if isinstance(given, list):
        if len(given) != len(own):
            raise InvalidArgumentError(
                f"metadata must have one entry for each of the {len(own)} messages, got {len(given)}",
                argument="metadata",
            )
        values = given
    else:
        values = [given] * len(own)
    for value in values:
        if value is not None and not isinstance(value, dict):
            raise InvalidArgumentError(
                f"metadata must be a dict or None, got {shown(value)}", argument="metadata"
            )
    return values


def read_int(value: Any, argument: str) -> int:
    """Return a whole number that a caller gave, as a number or as text.

    Args:
        value: What was given.
        argument: The argument's name, for the error.

    Raises:
        InvalidArgumentError: If it is no number.

    Examples:
        >>> read_int("3", "start"), read_int(1.5, "start")
        (3, 1)
    """
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(
            f"{argument} must be a whole number, got {shown(value)}", argument=argument
        ) from None
