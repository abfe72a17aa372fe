"""A subclass of the original package's ``OracleMemoryStore``: loaded only where that package is installed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from anyio import to_thread
from oracleagentmemory.apis import message, records, relations
from oracleagentmemory.core import MemoryRetentionConfig, OracleMemoryStore

from hitherto.compat.oracle.conversion import from_original, to_original
from hitherto.notset import NOT_SET
from hitherto.records import RecordStatus
from hitherto.store.base import MemoryStore


class HithertoStore(OracleMemoryStore):  # type: ignore[misc]  # the original is untyped
    """What the original's client calls, handed to our store.

    Args:
        store: Our store.
    """

    def __init__(self, store: MemoryStore) -> None:
        self._ours = store
        # The original lets an extracted memory expire with its messages where it can see that there are limits.
        limits = store._memory_retention_config
        self._memory_retention_config = MemoryRetentionConfig(limits.default_ttl_days, limits.max_ttl_days)

    def _call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        answer = method(
            *(from_original(value) for value in args),
            **{name: from_original(value) for name, value in kwargs.items()},
        )
        return to_original(answer, records, relations, message)

    def _add_prepared_batches(self, batches: Any, **store_kwargs: Any) -> Any:
        return self._call(self._ours.add_batches, batches, **store_kwargs)

    async def _add_prepared_batches_async(self, batches: Any, **store_kwargs: Any) -> Any:
        return await to_thread.run_sync(partial(self._add_prepared_batches, batches, **store_kwargs))

    def _create_thread_record(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._ours.create_thread_record, *args, **kwargs)

    def _get_thread_record(self, thread_id: str) -> Any:
        return self._call(self._ours.get_thread_record, thread_id)

    def _update_thread_record(self, thread_id: str, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._ours.update_thread_record, thread_id, *args, **kwargs)

    def _get_record_expiration(self, record_type: str, record_id: str) -> datetime | None:
        return self._ours.record_expiration(record_type, record_id)

    def add_user(self, *args: Any, **kwargs: Any) -> Any:
        """Add a user's profile; see :meth:`hitherto.store.base.MemoryStore.add_user`."""
        return self._call(self._ours.add_user, *args, **kwargs)

    def add_agent(self, *args: Any, **kwargs: Any) -> Any:
        """Add an agent's profile; see :meth:`hitherto.store.base.MemoryStore.add_agent`."""
        return self._call(self._ours.add_agent, *args, **kwargs)

    def search(self, query: str | None, k: int, query_vector: Any = None, **options: Any) -> Any:
        """Return pairs of a record and its distance; see :meth:`hitherto.store.base.MemoryStore.search`."""
        return self._call(self._ours.search, query, k, query_vector=query_vector, **options)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a record or None; see :meth:`hitherto.store.base.MemoryStore.get`."""
        return self._call(self._ours.get, *args, **kwargs)

    def list(self, record_type: str, **filters: Any) -> Any:
        """Return records; see :meth:`hitherto.store.base.MemoryStore.list`."""
        return self._call(self._ours.list, record_type, **filters)

    def list_thread_messages(self, thread_id: str, **options: Any) -> Any:
        """Return a thread's messages; see :meth:`hitherto.store.base.MemoryStore.list_thread_messages`."""
        return self._call(self._ours.list_thread_messages, thread_id, **options)

    def update(self, record_type: str, record_id: str, **changes: Any) -> Any:
        """Change a record; see :meth:`hitherto.store.base.MemoryStore.update`."""
        if record_type == "thread_summary" and from_original(changes.get("status", NOT_SET)) is NOT_SET:
            # The original adds an empty summary as invalid, and counts on its store to take note when it is filled, or
            # when its messages change.
            filled = from_original(changes.get("content", NOT_SET)) is not NOT_SET
            changes["status"] = RecordStatus.VALID if filled else RecordStatus.INVALID
        return self._call(self._ours.update, record_type, record_id, **changes)

    def delete(self, record_type: str, record_id: str, cascade: bool = False) -> int:
        """Delete a record; see :meth:`hitherto.store.base.MemoryStore.delete`."""
        return self._ours.delete(record_type, record_id, cascade)

    def delete_thread(self, thread_id: str) -> int:
        """Delete a thread; see :meth:`hitherto.store.base.MemoryStore.delete_thread`."""
        return self._ours.delete_thread(thread_id)

    def add_relations(self, *args: Any, **kwargs: Any) -> Any:
        """Add links; see :meth:`hitherto.store.base.MemoryStore.add_relations`."""
        return self._call(self._ours.add_relations, *args, **kwargs)

    def update_relations(self, *args: Any, **kwargs: Any) -> Any:
        """Change links; see :meth:`hitherto.store.base.MemoryStore.update_relations`."""
        return self._call(self._ours.update_relations, *args, **kwargs)

    def get_relation(self, *args: Any, **kwargs: Any) -> Any:
        """Return a link or None; see :meth:`hitherto.store.base.MemoryStore.get_relation`."""
        return self._call(self._ours.get_relation, *args, **kwargs)

    def list_relations(self, *args: Any, **kwargs: Any) -> Any:
        """Return links; see :meth:`hitherto.store.base.MemoryStore.list_relations`."""
        return self._call(self._ours.list_relations, *args, **kwargs)

    def delete_relations(self, relation_ids: Any) -> int:
        """Delete links; see :meth:`hitherto.store.base.MemoryStore.delete_relations`."""
        return self._ours.delete_relations(relation_ids)
