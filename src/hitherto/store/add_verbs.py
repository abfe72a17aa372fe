"""The verbs of a store that add records: checked, broadcast and embedded once, for every backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from hitherto.aio import awaitable
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.lifetime import TimeToLiveAnchor, format_time
from hitherto.messages import new_id
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import RecordStatus, ThreadRecord
from hitherto.scope import check_id
from hitherto.store.batches import PendingRecordBatch, read_batches
from hitherto.store.checks import check_callable, check_metadata, named_as
from hitherto.store.drafts import embed_drafts
from hitherto.store.jobs import JobStep
from hitherto.store.primitives import StorePrimitives
from hitherto.store.requests import NewRecord, RecordChanges

if TYPE_CHECKING:
    from hitherto.store.batches import PerRecord


class AddVerbs(StorePrimitives):
    """Adding records, and the life of a thread's record."""

    def add(
        self,
        contents: Sequence[Any] | NotSetType = NOT_SET,
        record_type: str | NotSetType = NOT_SET,
        index_texts: Any = NOT_SET,
        embeddings: Any = NOT_SET,
        record_ids: PerRecord = NOT_SET,
        thread_ids: PerRecord = NOT_SET,
        user_ids: PerRecord = NOT_SET,
        agent_ids: PerRecord = NOT_SET,
        roles: PerRecord = NOT_SET,
        timestamps: PerRecord = NOT_SET,
        metadata: dict[str, Any] | None | list[dict[str, Any] | None] | NotSetType = NOT_SET,
        ttl_days: float | None | list[float | None] | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | list[TimeToLiveAnchor] | NotSetType = NOT_SET,
        statuses: RecordStatus | list[RecordStatus] | NotSetType = NOT_SET,
    ) -> list[str]:
        """Add records of one type, all or none; a scalar stands for all of them, a list has one value each.

        Args:
            contents: One content per record: a str, parts of a message, a summary's object, an image's bytes.
            record_type: Their type.
            index_texts: What is indexed instead of the content: a str, or several for a record of many chunks.
            embeddings: The vectors of the indexed texts, where they are known already.
            record_ids: Their ids; omitted to have them made.
            thread_ids: Their threads.
            user_ids: Their users.
            agent_ids: Their agents.
            roles: Who spoke, for messages.
            timestamps: Their own times, ISO 8601 or free text.
            metadata: JSON objects.
            ttl_days: Days to live.
            ttl_anchor: From when they count.
            statuses: Whether they hold.

        Returns:
            The ids, in order.

        Raises:
            ArgumentTypeError: If a value has the wrong type.
            InvalidArgumentError: If a value is not allowed, or a list has the wrong length.
            ConflictError: If an id is taken.

        Examples:
            >>> from hitherto.testing.reference import ReferenceStore
            >>> store = ReferenceStore()
            >>> store.add(["Ana plays the cello"], "fact", record_ids="f1", user_ids="ana")
            ['f1']
        """
        if contents is NOT_SET or record_type is NOT_SET:
            raise InvalidArgumentError("contents and record_type must both be given")
        batch = PendingRecordBatch(
            contents=contents,
            record_type=record_type,
            record_ids=record_ids,
            index_texts=index_texts,
            embeddings=embeddings,
            thread_ids=thread_ids,
            user_ids=user_ids,
            agent_ids=agent_ids,
            roles=roles,
            timestamps=timestamps,
            metadata=metadata,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            statuses=statuses,
        )
        return self.add_batches([batch])

    add_async = awaitable(add, limiter_name="models")

    def add_batches(self, batches: Iterable[PendingRecordBatch], *, also: JobStep | None = None) -> list[str]:
        """Add records of several types in one transaction.

        Args:
            batches: The batches.
            also: What is done with the store's jobs in the same transaction; also where there is nothing to add.

        Returns:
            The ids of all batches' records, in order; the images in a message's content are not among them.

        Raises:
            ArgumentTypeError: If a value has the wrong type.
            InvalidArgumentError: If a value is not allowed, or a list has the wrong length.
            ConflictError: If an id is taken.
        """
        check_callable(also, argument="also")
        drafts = read_batches(
            batches,
            now=self._now(),
            retention=self._memory_retention_config,
            max_input_tokens=self._max_input_tokens(),
        )
        if also is not None and drafts:
            self._insert_also(embed_drafts(drafts, self._embedder), also)
        elif also is not None:
            self._transact_jobs(also)
        elif drafts:
            self._insert(embed_drafts(drafts, self._embedder))
        return [draft.record.id for draft in drafts if draft.record.message_id is None]

    add_batches_async = awaitable(add_batches, limiter_name="models")

    def add_user(
        self,
        user_id: str | NotSetType = NOT_SET,
        information: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> str:
        """Add a user's profile.

        Args:
            user_id: The user; omitted to have an id made.
            information: What is known of the user.
            metadata: A JSON object.

        Returns:
            The user's id.

        Raises:
            ConflictError: If the user has a profile.
        """
        return self._add_profile("user_profile", user_id, information, metadata, argument="user_id")

    add_user_async = awaitable(add_user, limiter_name="models")

    def add_agent(
        self,
        agent_id: str | NotSetType = NOT_SET,
        information: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> str:
        """Add an agent's profile.

        Args:
            agent_id: The agent; omitted to have an id made.
            information: What is known of the agent.
            metadata: A JSON object.

        Returns:
            The agent's id.

        Raises:
            ConflictError: If the agent has a profile.
        """
        return self._add_profile("agent_profile", agent_id, information, metadata, argument="agent_id")

    add_agent_async = awaitable(add_agent, limiter_name="models")

    def _add_profile(
        self, record_type: str, given: object, information: object, metadata: Any, *, argument: str
    ) -> str:
        record_id = new_id() if given is NOT_SET else check_id(given, argument=argument)
        content = None if information is NOT_SET else information
        if content is not None and not isinstance(content, str):
            raise ArgumentTypeError(
                f"information must be a str or None, got {shown(content)}", argument="information"
            )
        metadata = metadata if metadata is NOT_SET else [metadata]
        with named_as({"contents": "information"}):
            return self.add([content], record_type, record_ids=record_id, metadata=metadata)[0]

    def create_thread_record(
        self,
        thread_id: str,
        user_id: str | None = None,
        agent_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        runtime_config: dict[str, Any] | None = None,
        runtime_state: dict[str, Any] | None = None,
    ) -> ThreadRecord:
        """Store a thread.

        Args:
            thread_id: Its id.
            user_id: Its user, or None.
            agent_id: Its agent, or None.
            metadata: A JSON object, or None.
            runtime_config: Its settings, a JSON object that is returned unchanged.
            runtime_state: Its counters, likewise.

        Returns:
            The stored thread.

        Raises:
            ConflictError: If the id is taken.
        """
        now = self._now()
        record = NewRecord(
            record_type="thread",
            id=check_id(thread_id, argument="thread_id"),
            content=None,
            created_at=now,
            thread_id=thread_id,
            user_id=None if user_id is None else check_id(user_id, argument="user_id"),
            agent_id=None if agent_id is None else check_id(agent_id, argument="agent_id"),
            timestamp=format_time(now),
            metadata=check_metadata(metadata),
            runtime_config=check_metadata(runtime_config, argument="runtime_config"),
            runtime_state=check_metadata(runtime_state, argument="runtime_state"),
        )
        self._insert([record])
        return ThreadRecord(
            record.id,
            timestamp=record.timestamp,
            metadata=record.metadata,
            thread_id=record.id,
            user_id=record.user_id,
            agent_id=record.agent_id,
            runtime_config=record.runtime_config,
            runtime_state=record.runtime_state,
        )

    create_thread_record_async = awaitable(create_thread_record)

    def get_thread_record(self, thread_id: str) -> ThreadRecord | None:
        """Return a thread, or None if there is none.

        Args:
            thread_id: Its id.
        """
        check_id(thread_id, argument="thread_id")
        return cast(
            "ThreadRecord | None", self._get("thread", thread_id, now=self._now(), include_bytes=False)
        )

    get_thread_record_async = awaitable(get_thread_record)

    def update_thread_record(
        self,
        thread_id: str,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        runtime_config: dict[str, Any] | None | NotSetType = NOT_SET,
        runtime_state: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> int:
        """Change a thread; what is omitted stays, what is given is replaced as a whole.

        Args:
            thread_id: Its id.
            metadata: New metadata.
            runtime_config: New settings.
            runtime_state: New counters.

        Returns:
            1, or 0 if there is no such thread.
        """
        given = {"metadata": metadata, "runtime_config": runtime_config, "runtime_state": runtime_state}
        checked = {
            name: check_metadata(value, argument=name)
            for name, value in given.items()
            if value is not NOT_SET
        }
        changes = RecordChanges("thread", check_id(thread_id, argument="thread_id"), **cast("Any", checked))
        return self._update(changes, now=self._now())

    update_thread_record_async = awaitable(update_thread_record)
