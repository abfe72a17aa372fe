"""A client's verbs on memories and messages of all threads."""

from __future__ import annotations

from typing import Any, cast

from hitherto import memories
from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.memories import LinkType, MemoryType
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MemoryRecord, MessageRecord, RecordStatus
from hitherto.store.checks import check_flag


class MemoryVerbs(ClientVerbs):
    """Memories and messages."""

    def add_memory(
        self,
        content: str,
        *,
        memory_type: MemoryType | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        memory_id: str | None | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
        status: RecordStatus | NotSetType = NOT_SET,
        autonomous_linking: bool | None | NotSetType = NOT_SET,
        memory_id_to_link: str | NotSetType = NOT_SET,
        link_type: LinkType | NotSetType = NOT_SET,
        link_id: str | NotSetType = NOT_SET,
        link_timestamp: str | None | NotSetType = NOT_SET,
        link_metadata: dict[str, Any] | None | NotSetType = NOT_SET,
    ) -> str:
        """Store a memory, and maybe a link from it to an earlier one.

        Args:
            content: What it says.
            memory_type: "memory" (default), "fact", "guideline" or "preference".
            user_id: Whose it is; by default nobody's, or with a link the other memory's.
            agent_id: Which agent's it is, likewise.
            thread_id: Which thread's it is, likewise.
            memory_id: Its id; by default a new one.
            metadata: A JSON object.
            timestamp: When what it says happened.
            ttl_days: Days until it expires, whole or in part; None for never.
            ttl_anchor: From when the days count; default from now.
            status: Whether it holds.
            autonomous_linking: Whether the language model looks for links to earlier memories; by default it does, if
                there is one. If it fails, the memory is stored without, and the log says so.
            memory_id_to_link: An earlier memory that it is linked to.
            link_type: How it stands to that memory: "supersedes", "contradicts", "refines", "supports" or
                "duplicates".
            link_id: The link's id.
            link_timestamp: When the link came to hold.
            link_metadata: The link's metadata.

        Returns:
            The memory's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If the memory to link is not there.
            ConflictError: If the id is taken; AlreadyStoredError if by the very same memory.

        Examples:
            >>> from hitherto import AgentMemory
            >>> memory = AgentMemory(":memory:", embedder=None)
            >>> old = memory.add_memory("Mia drinks coffee", user_id="mia")
            >>> new = memory.add_memory("Mia drinks tea", memory_id_to_link=old, link_type="supersedes")
            >>> [record.status.value for record in memory.list_memories(user_id="mia")]
            ['invalid', 'valid']
        """
        given = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        linking = memories.read_linking(autonomous_linking)
        kind: MemoryType = "memory" if memory_type is NOT_SET else memory_type
        new_id = memories.add_memory(
            self.store,
            content,
            memory_type=kind,
            memory_id=memory_id,
            scope={name: value for name, value in given.items() if value is not NOT_SET},
            link=memories.read_link(memory_id_to_link, link_type, link_id, link_timestamp, link_metadata),
            within=None,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            status=status,
        )
        self._session.link_new_memory(
            new_id,
            kind,
            linking,
            llm=self._session.llm,
            extraction=self._session.extraction,
            exact_thread=True,
        )
        return new_id

    add_memory_async = awaitable(add_memory, limiter_name="models")

    def update_memory(
        self,
        memory_id: str,
        content: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
        status: RecordStatus | NotSetType = NOT_SET,
    ) -> str:
        """Change a memory; what is not given stays, its expiry too.

        Args:
            memory_id: Its id.
            content: What it says now.
            metadata: The new metadata, as a whole; None for none.
            timestamp: The new time.
            ttl_days: The new number of days until it expires; None for never.
            ttl_anchor: From when the days count.
            status: Whether it holds, set by hand; links do not undo it.

        Returns:
            The memory's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If there is no such memory.
        """
        return memories.update_memory(
            self.store,
            memory_id,
            within=None,
            content=content,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            status=status,
        )

    update_memory_async = awaitable(update_memory, limiter_name="models")

    def delete_memory(self, memory_id: str) -> int:
        """Delete a memory, and the links that touch it.

        Args:
            memory_id: Its id.

        Returns:
            1, or 0 if there is no such memory.
        """
        return memories.delete_memory(self.store, memory_id, within=None)

    delete_memory_async = awaitable(delete_memory)

    def list_memories(
        self,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[MemoryRecord]:
        """Return memories of all types, oldest first.

        Args:
            user_id: Only this user's, None for those without a user.
            agent_id: Only this agent's, likewise.
            thread_id: Only this thread's, likewise.
            metadata_filter: Only those whose metadata match; None for those without.
            limit: The newest so many of all types together; default 10,000, None for all; none for 0 and below.

        Raises:
            InvalidArgumentError: If a value is not allowed.
        """
        store = self.store
        if isinstance(limit, int) and not isinstance(limit, bool) and limit <= 0:
            return []
        return store.list_memories(
            user_id=user_id,
            agent_id=agent_id,
            thread_id=thread_id,
            metadata_filter=metadata_filter,
            limit=limit,
        )

    list_memories_async = awaitable(list_memories)

    def list_messages(
        self,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
        include_image_bytes: bool | NotSetType = NOT_SET,
    ) -> list[MessageRecord]:
        """Return messages, oldest first.

        Args:
            user_id: Only this user's, None for those without a user.
            agent_id: Only this agent's, likewise.
            thread_id: Only this thread's, likewise.
            metadata_filter: Only those whose metadata match; None for those without.
            limit: The newest so many; default 10,000, None for all.
            include_image_bytes: Whether image parts come with their bytes; default False.

        Raises:
            InvalidArgumentError: If a value is not allowed.
        """
        found = self.store.list(
            "message",
            user_id=user_id,
            agent_id=agent_id,
            thread_id=thread_id,
            metadata_filter=metadata_filter,
            limit=limit,
            include_bytes=check_flag(include_image_bytes, argument="include_image_bytes", default=False),
        )
        return cast("list[MessageRecord]", found)

    list_messages_async = awaitable(list_messages)
