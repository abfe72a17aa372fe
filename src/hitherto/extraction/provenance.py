"""Where memories come from: each extracted one lists its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitherto.extraction.learning import SOURCES_KEY
from hitherto.records import Record
from hitherto.search.render import OWN_METADATA

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore


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
        metadata = dict(memory.metadata or {})
        rest = [one for one in sources if one != message_id]
        metadata[OWN_METADATA] = {**metadata[OWN_METADATA], SOURCES_KEY: rest}
        store.update(memory.record_type, memory.id, metadata=metadata)
    return count
