"""A thread's verbs on its memories and their links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hitherto import memories
from hitherto.aio import awaitable
from hitherto.extraction.config import ExtractionSettings
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.memories import LinkType, MemoryType
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import RecordStatus
from hitherto.session import Session


class ThreadMemoryVerbs(ABC):
    """Memories of one thread, and links between them."""

    _session: Session
    _extraction: ExtractionSettings

    @property
    @abstractmethod
    def _llm(self) -> LLM | None:
        """What looks for links, or None."""

    @property
    @abstractmethod
    def thread_id(self) -> str:
        """The thread's id."""

    @property
    @abstractmethod
    def user_id(self) -> str | None:
        """The user's id, or None."""

    @property
    @abstractmethod
    def agent_id(self) -> str | None:
        """The agent's id, or None."""

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
        """Store a memory of this thread; see :meth:`AgentMemory.add_memory`.

        Args:
            content: What it says.
            memory_type: "memory" (default), "fact", "guideline" or "preference".
            user_id: The user; by default the thread's.
            agent_id: The agent; by default the thread's.
            thread_id: The thread; by default this one.
            memory_id: Its id; by default a new one.
            metadata: A JSON object.
            timestamp: When what it says happened.
            ttl_days: Days until it expires; None for never.
            ttl_anchor: From when the days count.
            status: Whether it holds.
            autonomous_linking: Whether the language model looks for links to earlier memories; by default it does, if
                there is one. If it fails, the memory is stored without, and the log says so.
            memory_id_to_link: An earlier memory of this thread that it is linked to.
            link_type: How it stands to that memory.
            link_id: The link's id.
            link_timestamp: When the link came to hold.
            link_metadata: The link's metadata.

        Returns:
            The memory's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If the memory to link is not there, or not of this thread.
            ConflictError: If the id is taken.
        """
        own = {"user_id": self.user_id, "agent_id": self.agent_id, "thread_id": self.thread_id}
        given = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        linking = memories.read_linking(autonomous_linking)
        kind: MemoryType = "memory" if memory_type is NOT_SET else memory_type
        new_id = memories.add_memory(
            self._session.store,
            content,
            memory_type=kind,
            memory_id=memory_id,
            scope={name: own[name] if value is NOT_SET else value for name, value in given.items()},
            link=memories.read_link(memory_id_to_link, link_type, link_id, link_timestamp, link_metadata),
            within=self.thread_id,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            status=status,
        )
        self._session.link_new_memory(
            new_id, kind, linking, llm=self._llm, extraction=self._extraction, exact_thread=False
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
        """Change a memory of this thread; what is not given stays; see :meth:`AgentMemory.update_memory`.

        Args:
            memory_id: Its id.
            content: What it says now.
            metadata: The new metadata, as a whole; None for none.
            timestamp: The new time.
            ttl_days: The new number of days until it expires; None for never.
            ttl_anchor: From when the days count.
            status: Whether it holds.

        Returns:
            The memory's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If this thread has no such memory.
        """
        return memories.update_memory(
            self._session.store,
            memory_id,
            within=self.thread_id,
            content=content,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            status=status,
        )

    update_memory_async = awaitable(update_memory, limiter_name="models")

    def delete_memory(self, memory_id: str) -> int:
        """Delete a memory of this thread, and the links that touch it.

        Args:
            memory_id: Its id.

        Returns:
            1, or 0 if this thread has no such memory.
        """
        return memories.delete_memory(self._session.store, memory_id, within=self.thread_id)

    delete_memory_async = awaitable(delete_memory)

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
        """Link two memories of this thread; see :meth:`AgentMemory.link_records`.

        Args:
            source_record_id: The memory that the link starts from.
            source_record_type: Its type.
            target_record_id: The memory that it points at.
            target_record_type: Its type.
            relation_type: How the source stands to the target.
            opposite_relation_type: How the target stands to the source.
            relation_id: The link's id.
            timestamp: When it came to hold.
            metadata: A JSON object.

        Returns:
            The link's id.

        Raises:
            InvalidArgumentError: If an end is no memory, or there is such a link already.
            NotFoundError: If an end is not there, or not of this thread.
        """
        return memories.link_records(
            self._session.store,
            (source_record_id, source_record_type),
            (target_record_id, target_record_type),
            relation_type,
            within=self.thread_id,
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
        """Change a link between memories of this thread; what is not given stays.

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
            NotFoundError: If the link belongs to another thread.
        """
        return memories.update_link(
            self._session.store,
            relation_id,
            within=self.thread_id,
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
        """Delete a link between memories of this thread, named by its id or by its ends and kind.

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
            NotFoundError: If the link belongs to another thread.
        """
        ends = (source_record_id, source_record_type, target_record_id, target_record_type, relation_type)
        return memories.delete_link(self._session.store, relation_id, ends, within=self.thread_id)

    delete_record_link_async = awaitable(delete_record_link)
