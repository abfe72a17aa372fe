"""A client's verbs on links between memories."""

from __future__ import annotations

from typing import Any

from hitherto import memories
from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.notset import NOT_SET, NotSetType


class LinkVerbs(ClientVerbs):
    """Links between memories."""

    def link_records(
        self,
        source_record_id: str,
        source_record_type: str,
        target_record_id: str,
        target_record_type: str,
        relation_type: str,
        opposite_relation_type: str | NotSetType = NOT_SET,
        relation_id: str | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> str:
        """Link two memories.

        The target of a supersedes, refines or duplicates link is invalid for as long as the link exists.

        Args:
            source_record_id: The memory that the link starts from.
            source_record_type: Its type.
            target_record_id: The memory that it points at.
            target_record_type: Its type.
            relation_type: How the source stands to the target: a built-in kind or a label of your own.
            opposite_relation_type: How the target stands to the source; by default the kind's reverse.
            relation_id: The link's id; by default a new one.
            timestamp: When it came to hold.
            metadata: A JSON object.

        Returns:
            The link's id.

        Raises:
            InvalidArgumentError: If an end is no memory, or there is such a link already.
            NotFoundError: If an end is not there.
        """
        return memories.link_records(
            self.store,
            (source_record_id, source_record_type),
            (target_record_id, target_record_type),
            relation_type,
            within=None,
            opposite_relation_type=opposite_relation_type,
            relation_id=relation_id,
            timestamp=timestamp,
            metadata=metadata,
        )

    link_records_async = awaitable(link_records)

    def update_record_link(
        self,
        relation_id: str,
        relation_type: str | NotSetType = NOT_SET,
        opposite_relation_type: str | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> int:
        """Change a link; what is not given stays.

        Args:
            relation_id: The link's id.
            relation_type: Its new kind.
            opposite_relation_type: Its new reverse.
            timestamp: Its new time.
            metadata: Its new metadata, as a whole.

        Returns:
            1, or 0 if there is no such link.

        Raises:
            InvalidArgumentError: If nothing is given.
        """
        return memories.update_link(
            self.store,
            relation_id,
            within=None,
            relation_type=relation_type,
            opposite_relation_type=opposite_relation_type,
            timestamp=timestamp,
            metadata=metadata,
        )

    update_record_link_async = awaitable(update_record_link)

    def delete_record_link(
        self,
        source_record_id: str | NotSetType = NOT_SET,
        source_record_type: str | NotSetType = NOT_SET,
        target_record_id: str | NotSetType = NOT_SET,
        target_record_type: str | NotSetType = NOT_SET,
        relation_type: str | NotSetType = NOT_SET,
        relation_id: str | NotSetType = NOT_SET,
    ) -> int:
        """Delete a link, named by its id or by its ends and kind.

        Args:
            source_record_id: The memory that it starts from.
            source_record_type: Its type.
            target_record_id: The memory that it points at.
            target_record_type: Its type.
            relation_type: Its kind.
            relation_id: Its id, instead of the five others.

        Returns:
            1, or 0 if there is no such link.

        Raises:
            InvalidArgumentError: If it is not named in one of the two ways.
            NotFoundError: If an end is not there.
        """
        ends = (source_record_id, source_record_type, target_record_id, target_record_type, relation_type)
        return memories.delete_link(self.store, relation_id, ends, within=None)

    delete_record_link_async = awaitable(delete_record_link)
