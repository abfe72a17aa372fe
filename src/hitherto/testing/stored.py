"""What the reference store keeps, and the pure questions that it asks of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hitherto.errors import AlreadyStoredError, ConflictError, shown
from hitherto.filters import Filter
from hitherto.lifetime import format_time, is_expired
from hitherto.notset import NOT_SET
from hitherto.records import MEMORY_TYPES, PROFILE_TYPES
from hitherto.relations import RecordRelation
from hitherto.store.requests import NewRecord, NewRelation, RecordQuery

OWN = "$agent_memory"
Key = tuple[str, str]


@dataclass
class Row:
    """A stored record: what was asked for, its number, and whether it was made invalid by hand."""

    number: int
    new: NewRecord
    by_hand: bool

    @property
    def key(self) -> Key:
        """What the record is found by."""
        return key_of(self.new.record_type, self.new.id)


def key_of(record_type: str, record_id: str) -> Key:
    """Return what a record is found by: its id, which the four types of memories share."""
    return ("memory" if record_type in MEMORY_TYPES else record_type, record_id)


def is_listed(row: Row, query: RecordQuery, end: int | None) -> bool:
    """Return whether a list that ends before a number has a record."""
    new = row.new
    if new.record_type not in (MEMORY_TYPES if query.any_memory else {query.record_type}):
        return False
    if is_expired(new.expires_at, query.now) or (end is not None and row.number >= end):
        return False
    wanted: list[tuple[str | None, object]] = [(new.id, query.record_id)]
    if new.record_type not in PROFILE_TYPES:
        wanted += [
            (new.thread_id, query.thread_id),
            (new.user_id, query.user_id),
            (new.agent_id, query.agent_id),
        ]
    return all(value is NOT_SET or value == own for own, value in wanted) and metadata_match(
        query.metadata_filter, new.metadata
    )


def metadata_match(wanted: Any, metadata: dict[str, Any] | None) -> bool:
    """Return whether metadata pass a filter; None asks for no metadata, an omitted filter for nothing."""
    if wanted is NOT_SET:
        return True
    return wanted.matches(metadata) if isinstance(wanted, Filter) else metadata is None


def conflict_of(live: Sequence[Row], new: Sequence[NewRecord]) -> ConflictError:
    """Return the error for records whose ids are taken: AlreadyStoredError where the very same are stored."""
    by_key = {key_of(record.record_type, record.id): record for record in new}
    same = len(live) == len(new) and all(
        all(
            getattr(row.new, name) == getattr(by_key[row.key], name)
            for name in ("record_type", "content", "user_id", "agent_id", "thread_id")
        )
        for row in live
    )
    first = live[0].new
    if same:
        return AlreadyStoredError(
            f"{first.record_type} {shown(first.id)} is stored already with the same content",
            record_id=first.id,
        )
    return ConflictError(f"a {first.record_type} with the id {shown(first.id)} exists already")


def ends_of(link: NewRelation) -> set[Key]:
    """Return both ends of a link."""
    return {key_of(link.source_type, link.source_id), key_of(link.target_type, link.target_id)}


def relation_of(link: NewRelation) -> RecordRelation:
    """Return a link as it is read."""
    return RecordRelation(
        link.id,
        link.source_id,
        link.source_type,
        link.target_id,
        link.target_type,
        link.relation_type,
        link.opposite_type,
        link.timestamp,
        copy.deepcopy(link.metadata),
        format_time(link.created_at),
    )


def revision_of(new: NewRecord) -> int:
    """Return the revision in a summary's metadata, 0 where there is none."""
    own = (new.metadata or {}).get(OWN)
    return int(own.get("revision", 0)) if isinstance(own, dict) else 0
