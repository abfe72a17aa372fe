"""The verbs of a store that read records by id, type and scope."""

from __future__ import annotations

import builtins
from datetime import datetime
from typing import Any

from hitherto.aio import awaitable
from hitherto.errors import InvalidArgumentError, shown
from hitherto.filters import parse_filter
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MemoryRecord, MessageRecord, Record
from hitherto.scope import check_id
from hitherto.store.checks import check_flag, check_record_type, check_whole
from hitherto.store.primitives import StorePrimitives
from hitherto.store.relation_verbs import MOST_ROWS, check_limit
from hitherto.store.requests import MessageQuery, RecordQuery


class ReadVerbs(StorePrimitives):
    """Reading records."""

    def get(
        self, record_type: str, record_id: str, include_bytes: bool | NotSetType = NOT_SET
    ) -> Record | None:
        """Return a record, or None if there is none or it has expired.

        Args:
            record_type: Its type.
            record_id: Its id.
            include_bytes: Whether an image, or a message's image parts, come with their bytes; default False.
        """
        check_record_type(record_type)
        check_id(record_id, argument="record_id")
        return self._get(
            record_type,
            record_id,
            now=self._now(),
            include_bytes=check_flag(include_bytes, argument="include_bytes", default=False),
        )

    get_async = awaitable(get)

    def list(
        self,
        record_type: str,
        *,
        limit: int | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        include_bytes: bool | NotSetType = NOT_SET,
        record_id: str | NotSetType = NOT_SET,
        before: str | NotSetType = NOT_SET,
    ) -> builtins.list[Record]:
        """Return the newest records of a type, oldest first.

        Args:
            record_type: The type.
            limit: The most records, 10,000 by default; None for all.
            thread_id: Only this thread's, None for those without one. Profiles ignore all three ids.
            user_id: The same for the user.
            agent_id: The same for the agent.
            metadata_filter: Only records whose metadata match; None for those without metadata.
            include_bytes: Whether images come with their bytes; default False.
            record_id: Only this record.
            before: Only records older than the one with this id: the next page, given the first of this one.

        Raises:
            InvalidArgumentError: If an argument is not allowed.
            NotFoundError: If there is no record with the id *before*.

        Examples:
            >>> from hitherto.testing.reference import ReferenceStore
            >>> store = ReferenceStore()
            >>> _ = store.add(["a", "b", "c"], "fact", record_ids=["1", "2", "3"])
            >>> page = store.list("fact", limit=2)
            >>> [record.id for record in page], [r.id for r in store.list("fact", limit=2, before=page[0].id)]
            (['2', '3'], ['1'])
        """
        for name, value in (("thread_id", thread_id), ("user_id", user_id), ("agent_id", agent_id)):
            if value is not NOT_SET and value is not None:
                check_id(value, argument=name)
        return self._list(
            RecordQuery(
                record_type=check_record_type(record_type),
                now=self._now(),
                limit=check_limit(limit),
                before=before if before is NOT_SET else check_id(before, argument="before"),
                record_id=record_id if record_id is NOT_SET else check_id(record_id, argument="record_id"),
                thread_id=thread_id,
                user_id=user_id,
                agent_id=agent_id,
                metadata_filter=metadata_filter
                if metadata_filter is NOT_SET
                else parse_filter(metadata_filter),
                include_bytes=check_flag(include_bytes, argument="include_bytes", default=False),
            )
        )

    list_async = awaitable(list)

    def list_memories(
        self,
        *,
        limit: int | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        before: str | NotSetType = NOT_SET,
    ) -> builtins.list[MemoryRecord]:
        """Return the newest memories of all four types together, oldest first.

        Args:
            limit: The most memories, 10,000 by default; None for all.
            thread_id: Only this thread's, None for those without one.
            user_id: The same for the user.
            agent_id: The same for the agent.
            metadata_filter: Only memories whose metadata match; None for those without metadata.
            before: Only memories older than the one with this id.

        Raises:
            InvalidArgumentError: If an argument is not allowed.
            NotFoundError: If there is no memory with the id *before*.
        """
        for name, value in (("thread_id", thread_id), ("user_id", user_id), ("agent_id", agent_id)):
            if value is not NOT_SET and value is not None:
                check_id(value, argument=name)
        found = self._list(
            RecordQuery(
                record_type="memory",
                any_memory=True,
                now=self._now(),
                limit=check_limit(limit),
                before=before if before is NOT_SET else check_id(before, argument="before"),
                thread_id=thread_id,
                user_id=user_id,
                agent_id=agent_id,
                metadata_filter=metadata_filter
                if metadata_filter is NOT_SET
                else parse_filter(metadata_filter),
            )
        )
        return [record for record in found if isinstance(record, MemoryRecord)]

    list_memories_async = awaitable(list_memories)

    def list_thread_messages(
        self,
        thread_id: str,
        *,
        last_n: int | None = None,
        range_start_seq_no: int | None = None,
        range_end_seq_no: int | None = None,
        include_bytes: bool | NotSetType = NOT_SET,
    ) -> builtins.list[MessageRecord]:
        """Return a thread's messages, oldest first.

        Args:
            thread_id: The thread.
            last_n: Only the newest so many; None for all.
            range_start_seq_no: Only from this sequence number on.
            range_end_seq_no: Only below this sequence number.
            include_bytes: Whether image parts come with their bytes; default False.

        Raises:
            InvalidArgumentError: If last_n is negative, the range is empty, or both ends come with last_n.
        """
        last_n = _check_last_n(last_n)
        for name, value in (
            ("range_start_seq_no", range_start_seq_no),
            ("range_end_seq_no", range_end_seq_no),
        ):
            if value is not None:
                check_whole(value, argument=name, least=-MOST_ROWS, most=MOST_ROWS)
        if range_start_seq_no is not None and range_end_seq_no is not None:
            if range_start_seq_no >= range_end_seq_no:
                raise InvalidArgumentError(
                    f"range_start_seq_no must be below range_end_seq_no ({range_end_seq_no}), got {range_start_seq_no}",
                    argument="range_start_seq_no",
                )
            if last_n is not None:
                raise InvalidArgumentError(
                    "last_n must not be given with both ends of a range", argument="last_n"
                )
        return self._list_messages(
            MessageQuery(
                thread_id=check_id(thread_id, argument="thread_id"),
                now=self._now(),
                last_n=last_n,
                start_seq_no=range_start_seq_no,
                end_seq_no=range_end_seq_no,
                include_bytes=check_flag(include_bytes, argument="include_bytes", default=False),
            )
        )

    list_thread_messages_async = awaitable(list_thread_messages)

    def record_expiration(self, record_type: str, record_id: str) -> datetime | None:
        """Return when a record expires, UTC; None for never, or if there is no such record.

        Args:
            record_type: Its type.
            record_id: Its id.
        """
        check_record_type(record_type)
        return self._expiration(record_type, check_id(record_id, argument="record_id"), now=self._now())

    record_expiration_async = awaitable(record_expiration)


def _check_last_n(last_n: object) -> int | None:
    if last_n is None:
        return None
    if isinstance(last_n, bool) or not isinstance(last_n, int) or last_n < 0:
        raise InvalidArgumentError(
            f"last_n must be an int >= 0 or None, got {shown(last_n)}", argument="last_n"
        )
    return min(last_n, MOST_ROWS)
