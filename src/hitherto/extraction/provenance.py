"""Where memories come from: each extracted one lists its messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hitherto.records import Record
from hitherto.search.render import OWN_METADATA

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore


SOURCES_KEY: Final = "source_message_ids"
"""The key in ``$agent_memory`` of a memory's metadata that lists the messages that it came from."""


def source_messages(record: Record) -> tuple[str, ...]:
    """Return the ids of the messages that a memory was extracted from; none for one that was added by hand.

    Args:
        record: The memory.

    Examples:
        >>> from hitherto.records import FactRecord
        >>> source_messages(FactRecord("f", metadata={"$agent_memory": {"source_message_ids": ["m1"]}}))
        ('m1',)
    """
    own = (record.metadata or {}).get(OWN_METADATA)
    ids = own.get(SOURCES_KEY) if isinstance(own, dict) else None
    return tuple(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else ()


def delete_derived(store: MemoryStore, thread_id: str, message_id: str) -> int:
    """Delete the memories of a thread that come from one message alone; take it from the sources of others.

    Args:
        store: The store.
        thread_id: The thread.
        message_id: The message.

    Returns:
        How many memories were deleted.
    """
    count = 0
    for memory in store.list_memories(thread_id=thread_id, limit=None):
        sources = source_messages(memory)
        if message_id not in sources:
            continue
        if sources == (message_id,):
            count += store.delete(memory.record_type, memory.id)
            continue
        _set_sources(store, memory, [one for one in sources if one != message_id])
    return count


def add_sources(store: MemoryStore, memory: Record, message_ids: Iterable[str]) -> None:
    """Note that a stored memory also comes from other messages; one that was added by hand depends on none.

    Args:
        store: The store.
        memory: The memory.
        message_ids: The messages.
    """
    current = store.get(memory.record_type, memory.id)
    if current is not None and SOURCES_KEY in ((current.metadata or {}).get(OWN_METADATA) or {}):
        _set_sources(store, current, list(dict.fromkeys((*source_messages(current), *message_ids))))


def _set_sources(store: MemoryStore, memory: Record, message_ids: list[str]) -> None:
    metadata = dict(memory.metadata or {})
    metadata[OWN_METADATA] = {**metadata[OWN_METADATA], SOURCES_KEY: message_ids}
    store.update(memory.record_type, memory.id, metadata=metadata)
