"""What every backend of a store implements, and the little state that all verbs share."""

from __future__ import annotations

import builtins
import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeVar

from hitherto.errors import ArgumentTypeError, shown
from hitherto.lifetime import Clock, MemoryRetentionConfig, check_retention, utc_now
from hitherto.records import MessageRecord, Record
from hitherto.relations import RecordRelation
from hitherto.store.checks import check_callable
from hitherto.store.jobs import JobStep, JobTable, MemoryJobs
from hitherto.store.requests import (
    MessageQuery,
    NewRecord,
    NewRelation,
    RecordChanges,
    RecordQuery,
    RelationChanges,
    RelationQuery,
    StoreHit,
    StoreQuery,
)

if TYPE_CHECKING:
    from hitherto.models.base import Embedder


T = TypeVar("T")


class SearchStrategy(enum.Enum):
    """What a search looks at."""

    VECTOR = "vector"
    HYBRID = "hybrid"
    KEYWORD = "keyword"


class StorePrimitives(ABC):
    """The methods that a backend implements; all are blocking and thread-safe."""

    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        memory_retention_config: MemoryRetentionConfig | None = None,
        search_strategy: SearchStrategy = SearchStrategy.HYBRID,
        clock: Clock = utc_now,
    ) -> None:
        """Check and keep what all verbs share.

        Args:
            embedder: What turns texts into vectors, or None to search by words alone.
            memory_retention_config: How long records live that do not say so, and at most.
            search_strategy: What a search looks at; without an embedder HYBRID is words alone.
            clock: Returns the present time.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If the retention is not legal.
        """
        if not isinstance(search_strategy, SearchStrategy):
            raise ArgumentTypeError(
                f"search_strategy must be a SearchStrategy, got {shown(search_strategy)}",
                argument="search_strategy",
            )
        if embedder is not None and not callable(getattr(embedder, "embed", None)):
            raise ArgumentTypeError(
                f"embedder must have embed() and embedding_dimension, got {shown(embedder)}",
                argument="embedder",
            )
        check_callable(clock, argument="clock")
        self._embedder = embedder
        self._memory_retention_config = check_retention(memory_retention_config)
        self._search_strategy = search_strategy
        self._clock = clock
        self._memory_jobs = MemoryJobs()

    @property
    def embedder(self) -> Embedder | None:
        """What turns texts into vectors, or None."""
        return self._embedder

    @property
    def search_strategy(self) -> SearchStrategy:
        """What a search looks at."""
        return self._search_strategy

    def _now(self) -> datetime:
        moment = self._clock()
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return moment.astimezone(timezone.utc)

    def _max_input_tokens(self) -> int | None:
        return getattr(self._embedder, "max_input_tokens", None)

    def _transact_jobs(self, step: Callable[[JobTable], T]) -> T:
        """Do something with the jobs in one transaction; a backend that keeps none in its engine has them in memory."""
        with self._memory_jobs.transaction() as table:
            return step(table)

    def _read_jobs(self, step: Callable[[JobTable], T]) -> T:
        """Look at the jobs without keeping others from writing, where the backend can."""
        return self._transact_jobs(step)

    def _insert_also(self, records: Sequence[NewRecord], also: JobStep) -> builtins.list[str]:
        """Store records and do something with the jobs, in one transaction where the backend can."""
        ids = self._insert(records)
        self._transact_jobs(also)
        return ids

    def _update_also(self, changes: RecordChanges, also: JobStep, *, now: datetime) -> int:
        """Change one record and do something with the jobs, in one transaction where the backend can."""
        changed = self._update(changes, now=now)
        if changed:
            self._transact_jobs(also)
        return changed

    @abstractmethod
    def close(self) -> None:
        """Free what the store holds; calling it again does nothing."""

    @abstractmethod
    def _insert(self, records: Sequence[NewRecord]) -> builtins.list[str]:
        """Store records in one transaction; return their ids."""

    @abstractmethod
    def _get(self, record_type: str, record_id: str, *, now: datetime, include_bytes: bool) -> Record | None:
        """Return one record."""

    @abstractmethod
    def _list(self, query: RecordQuery) -> builtins.list[Record]:
        """Return the newest records that qualify, oldest first."""

    @abstractmethod
    def _list_messages(self, query: MessageQuery) -> builtins.list[MessageRecord]:
        """Return a thread's messages, oldest first."""

    @abstractmethod
    def _update(self, changes: RecordChanges, *, now: datetime) -> int:
        """Change one record in one transaction; return 1 or 0. A message's images expire with it."""

    @abstractmethod
    def _delete(self, record_type: str, record_id: str, *, cascade: bool, now: datetime) -> int:
        """Delete in one transaction, with index entries, links and image parts; return 1 or 0."""

    @abstractmethod
    def _search(self, query: StoreQuery) -> builtins.list[StoreHit]:
        """Return the k nearest records, each with its linked records."""

    @abstractmethod
    def _expiration(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        """Return when one record expires."""

    @abstractmethod
    def _created_at(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        """Return when one record was stored, or None if there is none."""

    @abstractmethod
    def _erase_user(self, user_id: str) -> int:
        """Erase a user's records and their threads' content; return how many records that were."""

    @abstractmethod
    def _purge_expired(self, *, now: datetime) -> int:
        """Delete what has expired; return how many records that were."""

    @abstractmethod
    def _insert_relations(self, relations: Sequence[NewRelation]) -> builtins.list[str]:
        """Store links in one transaction, and recalculate what their endpoints' status follows from."""

    @abstractmethod
    def _update_relations(self, changes: Sequence[RelationChanges]) -> builtins.list[str]:
        """Change links in one transaction; return the ids of those that exist."""

    @abstractmethod
    def _list_relations(self, query: RelationQuery) -> builtins.list[RecordRelation]:
        """Return links ordered by (created_at, id)."""

    @abstractmethod
    def _delete_relations(self, relation_ids: Sequence[str]) -> int:
        """Delete links in one transaction; return how many existed."""
