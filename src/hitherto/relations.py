"""Links between records, and what each kind implies for the record that it points at.

A link goes from a source to a target: "source supersedes target". The target of a ``supersedes``, ``refines``
or ``duplicates`` link is invalid for as long as the link exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hitherto.errors import InvalidArgumentError, shown
from hitherto.records import MEMORY_TYPES

OPPOSITE_TYPES: Final[Mapping[str, str]] = {
    "supersedes": "is_superseded_by",
    "contradicts": "contradicts",
    "refines": "is_refined_by",
    "supports": "is_supported_by",
    "duplicates": "duplicates",
}
"""The built-in kinds of link, and how each reads from the target's side."""

INVALIDATION_REASONS: Final[Mapping[str, str]] = {
    "supersedes": "Superseded by another memory.",
    "refines": "Refined by another memory.",
    "duplicates": "Duplicated by another memory.",
}
"""The kinds that make their target invalid, and the reason that is stored with it."""


@dataclass(frozen=True, slots=True)
class RecordRelation:
    """A stored link between two records.

    Attributes:
        id: The link's id.
        source_record_id: The record that the link starts from.
        source_record_type: Its type.
        target_record_id: The record that the link points at.
        target_record_type: Its type.
        relation_type: How the source stands to the target, such as "supports".
        opposite_relation_type: How the target stands to the source.
        timestamp: When the link came to hold, ISO 8601, or None.
        metadata: A JSON object, or None.
        created_at: When the link was stored, ISO 8601.
    """

    id: str
    source_record_id: str
    source_record_type: str
    target_record_id: str
    target_record_type: str
    relation_type: str
    opposite_relation_type: str
    timestamp: str | None
    metadata: dict[str, Any] | None
    created_at: str


@dataclass(frozen=True, slots=True)
class MemoryLink(RecordRelation):
    """A link of a built-in kind between two memories, checked when made.

    Examples:
        >>> link = MemoryLink(
        ...     "l1",
        ...     "new",
        ...     "fact",
        ...     "old",
        ...     "fact",
        ...     "supersedes",
        ...     "is_superseded_by",
        ...     None,
        ...     None,
        ...     "2026-01-01T00:00:00+00:00",
        ... )
        >>> link.source_memory_id, link.link_type, link.target_memory_id
        ('new', 'supersedes', 'old')
    """

    def __post_init__(self) -> None:
        """Check the kind, its reverse and the endpoints' types.

        Raises:
            InvalidArgumentError: If the kind is not built in, its reverse is another one's, or an endpoint is
                no memory.
        """
        check_link_type(self.relation_type, argument="relation_type")
        wanted = OPPOSITE_TYPES[self.relation_type]
        if self.opposite_relation_type != wanted:
            raise InvalidArgumentError(
                f"opposite_relation_type must be {wanted!r} for {self.relation_type!r}, "
                f"got {shown(self.opposite_relation_type)}",
                argument="opposite_relation_type",
            )
        for name in ("source_record_type", "target_record_type"):
            check_memory_type(getattr(self, name), argument=name)

    @property
    def source_memory_id(self) -> str:
        """The memory that the link starts from."""
        return self.source_record_id

    @property
    def target_memory_id(self) -> str:
        """The memory that the link points at."""
        return self.target_record_id

    @property
    def link_type(self) -> str:
        """How the source stands to the target."""
        return self.relation_type


def check_link_type(value: object, *, argument: str) -> str:
    """Return *value* if it names a built-in kind of link.

    Raises:
        InvalidArgumentError: If it does not.
    """
    if not isinstance(value, str) or value not in OPPOSITE_TYPES:
        raise InvalidArgumentError(
            f"{argument} must be one of {', '.join(sorted(OPPOSITE_TYPES))}, got {shown(value)}",
            argument=argument,
        )
    return value


def check_memory_type(value: object, *, argument: str) -> str:
    """Return *value* if it names a type of memory.

    Raises:
        InvalidArgumentError: If it does not.
    """
    if not isinstance(value, str) or value not in MEMORY_TYPES:
        raise InvalidArgumentError(
            f"{argument} must be one of {', '.join(sorted(MEMORY_TYPES))}, got {shown(value)}",
            argument=argument,
        )
    return value


def invalidation_reason(incoming: Iterable[str]) -> str | None:
    """Return why a record is invalid, judged by the links that point at it.

    Args:
        incoming: The kinds of the links that point at the record, oldest first.

    Returns:
        The reason given by the oldest link that invalidates, or None if none does.

    Examples:
        >>> invalidation_reason(["supports", "refines", "supersedes"])
        'Refined by another memory.'
        >>> invalidation_reason(["supports"]) is None
        True
    """
    return next((INVALIDATION_REASONS[kind] for kind in incoming if kind in INVALIDATION_REASONS), None)
