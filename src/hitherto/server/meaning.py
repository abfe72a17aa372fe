"""Searching by meaning: what the neural clause finds, through the store's own search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hitherto.records import MessageRecord
from hitherto.server.problems import illegal

if TYPE_CHECKING:
    from hitherto.server.dsl.tree import Neural
    from hitherto.server.index.reading import MessagePart
    from hitherto.server.index.rest_index import RestIndex
    from hitherto.store.base import MemoryStore

MOST_NEAR: Final = 10_000
_PER_RESULT: Final = 4
"""How many records are looked at for each result: a question and its answer are found apart."""
_PARTS: Final[Mapping[str, bool | None]] = {"input": True, "response": False, "*": None}
"""The fields that are searched by meaning: whether it is the question's; None for both."""


def nearest_messages(
    store: MemoryStore, index: RestIndex, clause: Neural, memory_id: str
) -> dict[str, float]:
    """Return the messages of a memory that are nearest in meaning, with scores above 0 and up to 1.

    Args:
        store: The store.
        index: Its documents.
        clause: What is looked for.
        memory_id: The memory.

    Raises:
        Problem: If the clause's field has no meaning.
    """
    scope = {"thread_id": memory_id, "exact_thread_match": True}
    return _nearest(store, index, clause, scope, lambda record, part: part.message_id)


def nearest_memories(
    store: MemoryStore, index: RestIndex, clause: Neural, caller: str | None
) -> dict[str, float]:
    """Return the memories of a caller that have the messages nearest in meaning, each with its best score.

    Args:
        store: The store.
        index: Its documents.
        clause: What is looked for.
        caller: Whose memories; None for everybody's.

    Raises:
        Problem: If the clause's field has no meaning.
    """
    scope = {} if caller is None else {"user_id": caller, "exact_user_match": True}
    return _nearest(store, index, clause, scope, lambda record, part: record.thread_id)


def _nearest(
    store: MemoryStore,
    index: RestIndex,
    clause: Neural,
    scope: Mapping[str, Any],
    named: Callable[[MessageRecord, MessagePart], str | None],
) -> dict[str, float]:
    if clause.field not in _PARTS:
        raise illegal(f"[neural] field must be one of {', '.join(sorted(_PARTS))}, got [{clause.field}]")
    wanted = _PARTS[clause.field]
    most = min(_PER_RESULT * clause.k, MOST_NEAR)
    hits = store.search_hits(clause.query_text, most, record_types=["message"], **scope)
    near = [(hit.record, hit.distance) for hit in hits if isinstance(hit.record, MessageRecord)]
    with index.reading() as reader:
        parts = reader.messages_of([record.seq_no for record, _ in near])
    found: dict[str, float] = {}
    for record, distance in near:
        part = parts.get(record.seq_no)
        if part is None or wanted not in (None, part.is_question):
            continue
        name = named(record, part)
        if name is not None and len(found) < clause.k:
            found.setdefault(name, 1 / (1 + distance))
    return found
