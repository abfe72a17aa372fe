"""The records that a store keeps: frozen values, one class per type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.messages import ImageMimeType, MessageContent, content_parts

if TYPE_CHECKING:
    from hitherto.relations import RecordRelation


class RecordStatus(TextEnum):
    """Whether a record still holds."""

    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Record:
    """Anything that a store keeps.

    Attributes:
        id: The record's id, unique within its type.
        record_type: Its type's name.
        content: What it says.
        timestamp: When what it says happened, ISO 8601, or None.
        metadata: A JSON object, or None.
        status: Whether it still holds.
        linked_results: Linked records, as (relation, record) pairs; filled by a search with hops.
    """

    id: str
    record_type: str = "record"
    content: Any = None
    timestamp: str | None = None
    metadata: dict[str, Any] | None = None
    status: RecordStatus = RecordStatus.VALID
    linked_results: tuple[tuple[RecordRelation, Record], ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class ScopedRecord(Record):
    """A record that may belong to a user, an agent and a thread.

    Attributes:
        thread_id: The thread, or None.
        user_id: The user, or None.
        agent_id: The agent, or None.
    """

    thread_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadRecord(ScopedRecord):
    """A conversation.

    Attributes:
        runtime_config: The thread's stored settings, a JSON object.
        runtime_state: Its counters, a JSON object.
    """

    record_type: str = field(default="thread", init=False)
    runtime_config: dict[str, Any] | None = None
    runtime_state: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MessageRecord(ScopedRecord):
    """A stored message.

    Attributes:
        content: A text, or a non-empty tuple of content parts.
        role: Who spoke.
        seq_no: Its place in the order of all messages; grows, with gaps.
    """

    record_type: str = field(default="message", init=False)
    content: str | tuple[MessageContent, ...] = ""
    role: str | None = None
    seq_no: int = field(kw_only=True)

    def __post_init__(self) -> None:
        """Check content; turn a sequence of parts into a tuple.

        Raises:
            ArgumentTypeError: If content is neither a str nor a sequence of parts.
            InvalidArgumentError: If content has no part.
        """
        if not isinstance(self.content, str):
            object.__setattr__(self, "content", content_parts(self.content))


@dataclass(frozen=True, slots=True)
class ThreadSummaryRecord(ScopedRecord):
    """A summary of a thread up to one of its messages; content is ``{"text": ..., "topics": [...]}``."""

    record_type: str = field(default="thread_summary", init=False)
    content: dict[str, Any] | None = None
    _covered_through_seq_no: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryRecord(ScopedRecord):
    """A durable memory, of no more special kind.

    Examples:
        >>> MemoryRecord("m1", content="Ana plays the cello", user_id="ana").record_type
        'memory'
    """

    record_type: str = field(default="memory", init=False)


@dataclass(frozen=True, slots=True)
class GuidelineRecord(MemoryRecord):
    """A memory that says how something is to be done."""

    record_type: str = field(default="guideline", init=False)


@dataclass(frozen=True, slots=True)
class FactRecord(MemoryRecord):
    """A memory that states a fact."""

    record_type: str = field(default="fact", init=False)


@dataclass(frozen=True, slots=True)
class PreferenceRecord(MemoryRecord):
    """A memory that says what somebody likes or wants."""

    record_type: str = field(default="preference", init=False)


@dataclass(frozen=True, slots=True)
class UserProfileRecord(Record):
    """What is known of a user; its id is the user's."""

    record_type: str = field(default="user_profile", init=False)


@dataclass(frozen=True, slots=True)
class AgentProfileRecord(Record):
    """What is known of an agent; its id is the agent's."""

    record_type: str = field(default="agent_profile", init=False)


@dataclass(frozen=True, slots=True)
class ImageRecord(ScopedRecord):
    """A stored image; content is its description.

    Attributes:
        message_id: The message that it is part of, or None.
        mime_type: Its format.
        bytes: The encoded image, or None where the bytes were not asked for.
    """

    record_type: str = field(default="image", init=False)
    message_id: str | None = None
    mime_type: ImageMimeType = field(kw_only=True)
    bytes: bytes | None = None

    def __post_init__(self) -> None:
        """Check the format's type.

        Raises:
            ArgumentTypeError: If mime_type is not an ImageMimeType.
        """
        if not isinstance(self.mime_type, ImageMimeType):
            raise ArgumentTypeError(
                f"mime_type must be an ImageMimeType, got {shown(self.mime_type)}", argument="mime_type"
            )


RECORD_CLASSES: Final[Mapping[str, type[Record]]] = {
    "message": MessageRecord,
    "memory": MemoryRecord,
    "guideline": GuidelineRecord,
    "fact": FactRecord,
    "preference": PreferenceRecord,
    "user_profile": UserProfileRecord,
    "agent_profile": AgentProfileRecord,
    "image": ImageRecord,
    "thread": ThreadRecord,
    "thread_summary": ThreadSummaryRecord,
}
"""Which class a record type has."""

MEMORY_TYPES: Final = frozenset({"memory", "guideline", "fact", "preference"})
"""The types of durable memories: those that can be linked."""

PROFILE_TYPES: Final = frozenset({"user_profile", "agent_profile"})
"""The types that are their own scope: a user's profile has the user's id."""

SEARCHABLE_TYPES: Final = MEMORY_TYPES | PROFILE_TYPES | {"message", "image"}
"""The types that a search returns; threads and summaries are never searched."""


def build_record(record_type: str, *, id: str, **fields: Any) -> Record:
    """Make a record of the class that belongs to a type.

    Args:
        record_type: The type's name; an unknown one gives a plain :class:`Record`.
        id: The record's id.
        **fields: The class's fields. Scope is dropped where the class has none, and ``seq_no`` where it is no
            message.

    Returns:
        The record.

    Raises:
        InvalidArgumentError: If a message comes without ``seq_no``.
        TypeError: If a field is unknown, or an image has no ``mime_type``.

    Examples:
        >>> build_record("fact", id="f1", content="Water boils at 100 °C", user_id="ana").record_type
        'fact'
    """
    cls = RECORD_CLASSES.get(record_type, Record)
    if not issubclass(cls, ScopedRecord):
        for name in ("thread_id", "user_id", "agent_id"):
            fields.pop(name, None)
    if cls is not MessageRecord:
        fields.pop("seq_no", None)
        fields.pop("role", None)
    elif fields.get("seq_no") is None:
        raise InvalidArgumentError("seq_no must be given for a message, got None", argument="seq_no")
    if cls is ThreadSummaryRecord and isinstance(fields.get("content"), str):
        fields["content"] = {"text": fields["content"]}
    if cls is Record:
        fields["record_type"] = record_type
    return cls(id=id, **fields)
