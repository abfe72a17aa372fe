"""The verbs of a store that concern links: checked and broadcast once, for every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hitherto.aio import awaitable
from hitherto.errors import InvalidArgumentError, shown
from hitherto.filters import parse_filter
from hitherto.messages import new_id
from hitherto.notset import NOT_SET, NotSetType
from hitherto.relations import OPPOSITE_TYPES, RecordRelation, check_memory_type
from hitherto.scope import check_id
from hitherto.store.checks import (
    check_label,
    check_metadata,
    check_record_type,
    check_text,
    check_timestamp,
    spread,
)
from hitherto.store.primitives import StorePrimitives
from hitherto.store.requests import NewRelation, RelationChanges, RelationQuery

if TYPE_CHECKING:
    from typing import TypeAlias

    Labels: TypeAlias = "str | list[str]"
    Texts: TypeAlias = "str | None | list[str | None] | NotSetType"
    Objects: TypeAlias = "dict[str, Any] | None | list[dict[str, Any] | None] | NotSetType"

MAX_LIST_LIMIT = 10_000
"""How many records or links a list returns where no limit is given."""
MOST_ROWS = 2**63 - 1
"""The largest number that a database can be asked for."""


class RelationVerbs(StorePrimitives):
    """Links between memories; the part of :class:`~hitherto.store.base.MemoryStore` that concerns them."""

    def add_relations(
        self,
        source_record_ids: Labels,
        source_record_types: Labels,
        target_record_ids: Labels,
        target_record_types: Labels,
        relation_types: Labels,
        opposite_relation_types: Labels | NotSetType = NOT_SET,
        relation_ids: Texts = NOT_SET,
        timestamps: Texts = NOT_SET,
        metadata: Objects = NOT_SET,
    ) -> list[str]:
        """Add links between memories, all or none; a scalar stands for all of them.

        A link of kind supersedes, refines or duplicates makes its target invalid for as long as it exists.

        Args:
            source_record_ids: Where the links start.
            source_record_types: The types of the sources.
            target_record_ids: What they point at.
            target_record_types: The types of the targets.
            relation_types: How the sources stand to the targets: a built-in kind or any label.
            opposite_relation_types: The reverse; by default the built-in kind's, or the same label.
            relation_ids: Their ids; omitted or None to have them made.
            timestamps: When they came to hold.
            metadata: JSON objects.

        Returns:
            The ids of the links, in order.

        Raises:
            InvalidArgumentError: If an endpoint is no stored memory, a link would join a memory to itself, or a
                built-in kind comes with another kind's reverse.
            ConflictError: If an id is taken, the same link exists, or any link in the reverse direction.
        """
        columns = {
            "source_record_ids": source_record_ids,
            "source_record_types": source_record_types,
            "target_record_ids": target_record_ids,
            "target_record_types": target_record_types,
            "relation_types": relation_types,
            "opposite_relation_types": opposite_relation_types,
            "relation_ids": relation_ids,
            "timestamps": timestamps,
            "metadata": metadata,
        }
        count = _count(columns)
        rows = zip(*(spread(value, count, argument=name) for name, value in columns.items()), strict=True)
        links = [self._new_relation(*row) for row in rows]
        _check_unique([link.id for link in links])
        return self._insert_relations(links) if links else []

    add_relations_async = awaitable(add_relations)

    def _new_relation(
        self,
        source_id: object,
        source_type: object,
        target_id: object,
        target_type: object,
        kind: object,
        opposite: object,
        relation_id: object,
        timestamp: object,
        metadata: object,
    ) -> NewRelation:
        link = NewRelation(
            id=new_id() if relation_id in (None, NOT_SET) else check_id(relation_id, argument="relation_ids"),
            source_id=check_id(source_id, argument="source_record_ids"),
            source_type=check_memory_type(source_type, argument="source_record_types"),
            target_id=check_id(target_id, argument="target_record_ids"),
            target_type=check_memory_type(target_type, argument="target_record_types"),
            relation_type=check_label(kind, argument="relation_types"),
            opposite_type=_opposite(kind, opposite),
            timestamp=None if timestamp is NOT_SET else check_timestamp(timestamp, argument="timestamps"),
            metadata=None if metadata is NOT_SET else check_metadata(metadata),
            created_at=self._now(),
        )
        if link.source_id == link.target_id:
            raise InvalidArgumentError(
                f"target_record_ids must not be the source itself, got {shown(link.target_id)} for both",
                argument="target_record_ids",
            )
        return link

    def update_relations(
        self,
        relation_ids: Labels,
        relation_types: Labels | NotSetType = NOT_SET,
        opposite_relation_types: Labels | NotSetType = NOT_SET,
        timestamps: Texts = NOT_SET,
        metadata: Objects = NOT_SET,
    ) -> list[str]:
        """Change links; what is omitted stays. A new built-in kind brings its reverse along.

        Args:
            relation_ids: Which links.
            relation_types: Their new kinds.
            opposite_relation_types: Their new reverses.
            timestamps: Their new times.
            metadata: Their new metadata, as a whole.

        Returns:
            The ids of the links that exist, in order.

        Raises:
            InvalidArgumentError: If nothing is to be changed, or a built-in kind comes with another's reverse.
            ConflictError: If the link would equal another one.
        """
        columns = {
            "relation_types": relation_types,
            "opposite_relation_types": opposite_relation_types,
            "timestamps": timestamps,
            "metadata": metadata,
        }
        if all(value is NOT_SET for value in columns.values()):
            raise InvalidArgumentError(f"give at least one of {', '.join(columns)}, got none")
        ids = relation_ids if isinstance(relation_ids, (list, tuple)) else [relation_ids]
        _check_unique(ids)
        rows = zip(*(spread(value, len(ids), argument=name) for name, value in columns.items()), strict=True)
        return self._update_relations(
            [_changes(relation_id, *row) for relation_id, row in zip(ids, rows, strict=True)]
        )

    update_relations_async = awaitable(update_relations)

    def get_relation(
        self,
        source_record_id: str | NotSetType = NOT_SET,
        source_record_type: str | NotSetType = NOT_SET,
        target_record_id: str | NotSetType = NOT_SET,
        target_record_type: str | NotSetType = NOT_SET,
        relation_type: str | NotSetType = NOT_SET,
        relation_id: str | NotSetType = NOT_SET,
    ) -> RecordRelation | None:
        """Return one link, found by its id alone or by both endpoints and its kind.

        Args:
            source_record_id: Where it starts.
            source_record_type: The source's type.
            target_record_id: What it points at.
            target_record_type: The target's type.
            relation_type: How the source stands to the target.
            relation_id: Its id, instead of all of the above.

        Returns:
            The link, or None if there is none.

        Raises:
            InvalidArgumentError: If neither the id alone nor all five parts are given.
        """
        parts = (source_record_id, source_record_type, target_record_id, target_record_type, relation_type)
        given = sum(part is not NOT_SET for part in parts)
        if given != (5 if relation_id is NOT_SET else 0):
            raise InvalidArgumentError(
                "give relation_id alone, or source_record_id, source_record_type, target_record_id, "
                "target_record_type and relation_type together"
            )
        found = self.list_relations(
            relation_type=relation_type,
            source_record_id=source_record_id,
            source_record_type=source_record_type,
            target_record_id=target_record_id,
            target_record_type=target_record_type,
            relation_id=relation_id,
            limit=1,
        )
        return found[0] if found else None

    get_relation_async = awaitable(get_relation)

    def list_relations(
        self,
        relation_type: str | NotSetType = NOT_SET,
        source_record_id: str | NotSetType = NOT_SET,
        source_record_type: str | NotSetType = NOT_SET,
        target_record_id: str | NotSetType = NOT_SET,
        target_record_type: str | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        relation_id: str | NotSetType = NOT_SET,
    ) -> list[RecordRelation]:
        """Return links in order of creation.

        Args:
            relation_type: Only links of this kind.
            source_record_id: Only links that start here.
            source_record_type: Only links that start from this type.
            target_record_id: Only links that point here.
            target_record_type: Only links that point at this type.
            limit: The earliest so many, 10,000 by default; None for all.
            metadata_filter: Only links whose metadata match; None for links without metadata.
            relation_id: Only this link.

        Raises:
            InvalidArgumentError: If limit is not positive, a type is unknown, or the filter is malformed.
        """
        for name, value in (
            ("source_record_type", source_record_type),
            ("target_record_type", target_record_type),
        ):
            if value is not NOT_SET:
                check_record_type(value, argument=name)
        for name, value in (
            ("relation_id", relation_id),
            ("relation_type", relation_type),
            ("source_record_id", source_record_id),
            ("target_record_id", target_record_id),
        ):
            if value is not NOT_SET:
                check_text(value, argument=name)
        return self._list_relations(
            RelationQuery(
                limit=check_limit(limit),
                relation_id=relation_id,
                relation_type=relation_type,
                source_id=source_record_id,
                source_type=source_record_type,
                target_id=target_record_id,
                target_type=target_record_type,
                metadata_filter=NOT_SET if metadata_filter is NOT_SET else parse_filter(metadata_filter),
            )
        )

    list_relations_async = awaitable(list_relations)

    def delete_relations(self, relation_ids: Labels) -> int:
        """Delete links; a memory that only they made invalid holds again.

        Args:
            relation_ids: Which links.

        Returns:
            How many of them existed.
        """
        ids = list(relation_ids) if isinstance(relation_ids, (list, tuple)) else [relation_ids]
        for relation_id in ids:
            check_id(relation_id, argument="relation_ids")
        return self._delete_relations(list(dict.fromkeys(ids))) if ids else 0

    delete_relations_async = awaitable(delete_relations)


def check_limit(limit: object) -> int | None:
    """Return how many items a list may have, or None for all.

    Raises:
        InvalidArgumentError: If the limit is neither NOT_SET, None nor a positive int.
    """
    if limit is NOT_SET:
        return MAX_LIST_LIMIT
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidArgumentError(
            f"limit must be a positive int or None, got {shown(limit)}", argument="limit"
        )
    return min(limit, MOST_ROWS)


def _count(columns: dict[str, Any]) -> int:
    lengths = {name: len(value) for name, value in columns.items() if isinstance(value, (list, tuple))}
    if len(set(lengths.values())) > 1:
        raise InvalidArgumentError(f"lists must have the same length, got {lengths}")
    return next(iter(lengths.values()), 1)


def _check_unique(ids: Sequence[object]) -> None:
    for relation_id in ids:
        check_id(relation_id, argument="relation_ids")
    if len(set(ids)) != len(ids):
        raise InvalidArgumentError("relation_ids must be unique", argument="relation_ids")


def _opposite(kind: object, opposite: object) -> str:
    builtin = OPPOSITE_TYPES.get(kind) if isinstance(kind, str) else None
    if opposite is NOT_SET:
        return builtin or check_label(kind, argument="relation_types")
    label = check_label(opposite, argument="opposite_relation_types")
    if builtin is not None and label != builtin:
        raise InvalidArgumentError(
            f"opposite_relation_types must be {builtin!r} for {kind!r}, got {shown(label)}",
            argument="opposite_relation_types",
        )
    return label


def _changes(
    relation_id: str, kind: object, opposite: object, timestamp: object, metadata: object
) -> RelationChanges:
    new_kind = kind if kind is NOT_SET else check_label(kind, argument="relation_types")
    new_opposite: str | NotSetType = NOT_SET
    if new_kind is not NOT_SET and (opposite is not NOT_SET or new_kind in OPPOSITE_TYPES):
        new_opposite = _opposite(new_kind, opposite)
    elif opposite is not NOT_SET:
        new_opposite = check_label(opposite, argument="opposite_relation_types")
    return RelationChanges(
        id=relation_id,
        relation_type=new_kind,
        opposite_type=new_opposite,
        timestamp=timestamp if timestamp is NOT_SET else check_timestamp(timestamp, argument="timestamps"),
        metadata=metadata if metadata is NOT_SET else check_metadata(metadata),
    )
