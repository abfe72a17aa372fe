"""MemoryStore: the interface that every backend meets.

The public verbs check, broadcast and embed, always outside any transaction, and resolve their arguments into
the frozen values of :mod:`hitherto.store.requests`. A backend implements the primitives of
:mod:`hitherto.store.primitives`. What they promise together:

- A write is one transaction: all of it or nothing, durable when the call returns, and searchable at once.
- What has expired at ``now`` does not exist for any verb, though it may still occupy space.
- Scope, type, status, expiry and metadata restrict the candidates of a search before the best k are taken.
- Ids are unique within threads, messages, the four memory types together, user profiles, agent profiles,
  images and summaries. A taken id is a ConflictError; with the same content and owner an AlreadyStoredError.
- A memory is invalid if it was set so by hand or if an incoming link makes it so. Links come and go without
  touching what was set by hand; while one holds, ``metadata["$agent_memory"]["invalidation_reason"]`` has the
  wording of the oldest.
"""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

from typing_extensions import Self

from hitherto.aio import awaitable
from hitherto.events import observed
from hitherto.store.add_verbs import AddVerbs
from hitherto.store.batches import PendingRecordBatch
from hitherto.store.change_verbs import ChangeVerbs
from hitherto.store.job_verbs import JobVerbs
from hitherto.store.primitives import SearchStrategy, StorePrimitives
from hitherto.store.read_verbs import ReadVerbs
from hitherto.store.relation_verbs import RelationVerbs
from hitherto.store.search_verbs import SearchVerbs

__all__ = ["MemoryStore", "PendingRecordBatch", "SearchStrategy"]

S = TypeVar("S", bound="MemoryStore")


@observed("memory_store")
class MemoryStore(AddVerbs, ReadVerbs, ChangeVerbs, SearchVerbs, RelationVerbs, JobVerbs):
    """Where records live.

    Args:
        embedder: What turns texts into vectors, or None to search by words alone.
        memory_retention_config: How long records live that do not say so, and at most.
        search_strategy: What a search looks at; without an embedder HYBRID is words alone.
        clock: Returns the present time.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If the retention is not legal.
    """

    close_async = awaitable(StorePrimitives.close)

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()
