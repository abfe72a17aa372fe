"""A store of ours over the original package's ``OracleMemoryStore``: loaded only where that package is installed."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar, cast

from oracleagentmemory.apis import memorystore, message, records, relations, ttl
from oracleagentmemory.core import OracleMemoryStore

from hitherto.compat.oracle.conversion import from_original, to_original
from hitherto.compat.oracle.conversion import plain_filter as plain
from hitherto.errors import (
    AlreadyStoredError,
    ArgumentTypeError,
    ConflictError,
    HithertoError,
    InvalidArgumentError,
    NotFoundError,
    StoreError,
    shown,
)
from hitherto.lifetime import TimeToLiveAnchor, parse_time
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MessageRecord, Record, RecordStatus
from hitherto.relations import RecordRelation
from hitherto.scope import check_id
from hitherto.store.base import MemoryStore
from hitherto.store.batches import PendingRecordBatch, read_batches
from hitherto.store.checks import check_record_type
from hitherto.store.jobs import JobStep
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
from hitherto.store.updates import UpdateRequest, plan_update

T = TypeVar("T")

_THEIRS = (records, relations, message, ttl, memorystore)
# In the original's own order.
_MEMORY_TYPES = ("fact", "guideline", "memory", "preference")
_BATCH_COLUMNS = (
    "contents",
    "record_type",
    "record_ids",
    "index_texts",
    "embeddings",
    "thread_ids",
    "user_ids",
    "agent_ids",
    "roles",
    "timestamps",
    "metadata",
    "ttl_days",
    "ttl_anchor",
    "statuses",
    "_expires_at",
)


class OracleBackedStore(MemoryStore):
    """What our client calls, handed to a store of the original's kind.

    Arguments are checked here as every store of ours checks them. Embedding, cutting into chunks, retention and
    ranking are the other store's: texts go there as they came, and so do days to live.

    Args:
        theirs: The original's store.
    """

    def __init__(self, theirs: OracleMemoryStore) -> None:
        super().__init__()
        self._theirs = theirs

    def close(self) -> None:
        """Do nothing: the original's store belongs to who made it."""

    def _call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call the other store with its own values; what is NOT_SET is left out."""
        given = {name: value for name, value in kwargs.items() if value is not NOT_SET}
        try:
            answer = method(
                *(to_original(value, *_THEIRS) for value in args),
                **{name: to_original(value, *_THEIRS) for name, value in given.items()},
            )
        except HithertoError:
            raise
        except KeyError as error:
            raise NotFoundError(*error.args) from error
        except ValueError as error:
            raise InvalidArgumentError(str(error)) from error
        except TypeError as error:
            raise ArgumentTypeError(str(error)) from error
        except Exception as error:
            raise StoreError(f"{type(self._theirs).__name__} failed: {error}") from error
        return from_original(answer)

    # -- adding ---------------------------------------------------------------------------------------------------

    def add_batches(
        self, batches: Iterable[PendingRecordBatch], *, also: JobStep | None = None
    ) -> builtins.list[str]:
        """Add records; see :meth:`hitherto.store.base.MemoryStore.add_batches`."""
        given = builtins.list(batches)
        drafts = read_batches(
            given, now=self._now(), retention=self._memory_retention_config, max_input_tokens=None
        )
        new = [draft.record for draft in drafts]

        def add() -> builtins.list[str]:
            if not new:
                return []
            theirs = [_batch(batch) for batch in given if batch.contents]
            try:
                return cast("list[str]", self._call(self._theirs.add_batches, theirs))
            except InvalidArgumentError as error:
                raise (self._conflict(new) or error) from error

        return add() if also is None else self._with_jobs(also, add)

    def _with_jobs(self, also: JobStep, write: Callable[[], T]) -> T:
        # The jobs are in memory: a write that fails undoes what was done to them, and a step that raises prevents it.
        def step(table: Any) -> T:
            also(table)
            return write()

        return self._transact_jobs(step)

    def _conflict(self, new: Sequence[NewRecord]) -> ConflictError | None:
        """Return what a refused write was refused for, if that was an id which is taken."""
        pairs = [(record, self._stored(record.record_type, record.id)) for record in new]
        taken = [(record, stored) for record, stored in pairs if stored is not None]
        if not taken:
            return None
        record, _ = taken[0]
        if all(stored is not None and _same(stored, record) for record, stored in pairs):
            return AlreadyStoredError(
                f"{record.record_type} {shown(record.id)} is stored already with the same content",
                record_id=record.id,
            )
        return ConflictError(f"a {record.record_type} with the id {shown(record.id)} exists already")

    def _stored(self, record_type: str, record_id: str) -> Record | None:
        kinds = _MEMORY_TYPES if record_type in _MEMORY_TYPES else (record_type,)
        found = (self._get(kind, record_id, now=self._now(), include_bytes=False) for kind in kinds)
        return next((record for record in found if record is not None), None)

    def _add_profile(
        self, record_type: str, given: object, information: object, metadata: Any, *, argument: str
    ) -> str:
        if information is not NOT_SET and information is not None and not isinstance(information, str):
            raise ArgumentTypeError(
                f"information must be a str or None, got {shown(information)}", argument="information"
            )
        content = None if information is NOT_SET else information
        if given is not NOT_SET:
            check_id(given, argument=argument)
        batch = PendingRecordBatch(
            contents=[content],
            record_type=record_type,
            record_ids=cast("Any", given),
            metadata=metadata if metadata is NOT_SET else [metadata],
        )
        [draft] = read_batches(
            [batch], now=self._now(), retention=self._memory_retention_config, max_input_tokens=None
        )
        add = self._theirs.add_user if record_type == "user_profile" else self._theirs.add_agent
        fields = {argument: draft.record.id, "information": content or "", "metadata": metadata}
        try:
            return cast("str", self._call(add, **fields))
        except InvalidArgumentError as error:
            raise (self._conflict([draft.record]) or error) from error

    def _insert(self, records: Sequence[NewRecord]) -> builtins.list[str]:
        """Store threads; other records come by :meth:`add_batches`."""
        for thread in records:
            names = ("user_id", "agent_id", "metadata", "runtime_config", "runtime_state")
            fields = {name: getattr(thread, name) for name in names}
            try:
                self._call(self._theirs._create_thread_record, thread_id=thread.id, **fields)
            except InvalidArgumentError as error:
                raise (self._conflict([thread]) or error) from error
        return [thread.id for thread in records]

    # -- reading --------------------------------------------------------------------------------------------------

    def _get(self, record_type: str, record_id: str, *, now: datetime, include_bytes: bool) -> Record | None:
        if record_type == "thread":
            return cast("Record | None", self._call(self._theirs._get_thread_record, record_id))
        found = self._call(
            self._theirs.get, record_type, record_id, include_bytes=True if include_bytes else NOT_SET
        )
        return cast("Record | None", found)

    def _list(self, query: RecordQuery) -> builtins.list[Record]:
        options: dict[str, Any] = {
            "limit": query.limit if query.before is NOT_SET else None,
            "thread_id": query.thread_id,
            "user_id": query.user_id,
            "agent_id": query.agent_id,
            "metadata_filter": plain(query.metadata_filter),
            "include_bytes": True if query.include_bytes else NOT_SET,
            "record_id": query.record_id,
        }
        kinds = _MEMORY_TYPES if query.any_memory else (query.record_type,)
        lists = [self._call(self._theirs.list, kind, **options) for kind in kinds]
        found: list[Record] = [record for some in lists for record in some]
        if query.any_memory:
            # Their records do not say when they were stored.
            found.sort(key=_moment)
        if query.before is not NOT_SET:
            found = self._older(found, query)
        return found if query.limit is None else found[-query.limit :]

    def _older(self, found: builtins.list[Record], query: RecordQuery) -> builtins.list[Record]:
        before = cast("str", query.before)
        place = next((place for place, record in enumerate(found) if record.id == before), None)
        if place is not None:
            return found[:place]
        raise NotFoundError(
            f"before must be the id of a {query.record_type} in this list, got {shown(before)}: a store of the "
            "original package pages by the records that it lists"
        )

    def _list_messages(self, query: MessageQuery) -> builtins.list[MessageRecord]:
        found = self._call(
            self._theirs.list_thread_messages,
            query.thread_id,
            # To the original 0 may be no number at all.
            last_n=query.last_n or None,
            range_start_seq_no=query.start_seq_no,
            range_end_seq_no=query.end_seq_no,
            include_bytes=True if query.include_bytes else NOT_SET,
        )
        return [] if query.last_n == 0 else cast("list[MessageRecord]", found)

    def _expiration(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        moment = cast(
            "datetime | None", self._call(self._theirs._get_record_expiration, record_type, record_id)
        )
        if moment is None or moment.tzinfo is not None:
            return moment
        return moment.replace(tzinfo=timezone.utc)

    def _created_at(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        raise self._cannot("say when a record was stored", "read the record's timestamp")

    def _search(self, query: StoreQuery) -> builtins.list[StoreHit]:
        scope = query.scope
        found = self._call(
            self._theirs.search,
            query.text if query.vector is None else None,
            query.k,
            query_vector=NOT_SET if query.vector is None else query.vector.tolist(),
            user_id=scope.user.id,
            agent_id=scope.agent.id,
            thread_id=scope.thread.id,
            exact_user_match=scope.user.exact,
            exact_agent_match=scope.agent.exact,
            exact_thread_match=scope.thread.exact,
            record_types=None if query.record_types is None else set(query.record_types),
            metadata_filter=plain(query.metadata_filter),
            num_hops=query.num_hops,
            max_linked_results=query.max_linked_results,
            include_invalid_results=query.include_invalid,
        )
        return [StoreHit(record, distance) for record, distance in found[: query.k]]

    # -- changing -------------------------------------------------------------------------------------------------

    def update(
        self,
        record_type: str,
        record_id: str,
        *,
        content: Any = NOT_SET,
        index_text: Any = NOT_SET,
        embedding: Any = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
        status: RecordStatus | NotSetType = NOT_SET,
        text: Any = NOT_SET,
        also: JobStep | None = None,
    ) -> int:
        """Change a record; see :meth:`hitherto.store.base.MemoryStore.update`."""
        check_record_type(record_type)
        check_id(record_id, argument="record_id")
        current = self._get(record_type, record_id, now=self._now(), include_bytes=False)
        if current is None:
            return 0
        request = {
            "content": text if content is NOT_SET else content,
            "index_text": index_text,
            "embedding": embedding,
            "metadata": metadata,
            "timestamp": timestamp,
            "ttl_days": ttl_days,
            "ttl_anchor": ttl_anchor,
            "status": status,
        }
        # Only checked here: the other store makes its own plan.
        plan_update(
            current,
            UpdateRequest(**request),
            created_at=self._now,
            retention=self._memory_retention_config,
            max_input_tokens=None,
        )
        if all(value is NOT_SET for value in request.values()):
            # The original refuses an update of nothing.
            return 1 if also is None else self._with_jobs(also, lambda: 1)
        write = cast(
            "Callable[[], int]", partial(self._call, self._theirs.update, record_type, record_id, **request)
        )
        return write() if also is None else self._changed_with_jobs(also, write)

    def _changed_with_jobs(self, also: JobStep, write: Callable[[], int]) -> int:
        def step(table: Any) -> int:
            changed = write()
            if changed:
                also(table)
            return changed

        return self._transact_jobs(step)

    def _update(self, changes: RecordChanges, *, now: datetime) -> int:
        """Change a thread; other records come by :meth:`update`."""
        names = ("metadata", "runtime_config", "runtime_state")
        fields = {name: getattr(changes, name) for name in names}
        return cast("int", self._call(self._theirs._update_thread_record, changes.id, **fields))

    def _delete(self, record_type: str, record_id: str, *, cascade: bool, now: datetime) -> int:
        if record_type == "thread":
            return cast("int", self._call(self._theirs.delete_thread, record_id))
        return cast("int", self._call(self._theirs.delete, record_type, record_id, cascade=cascade))

    def _erase_user(self, user_id: str) -> int:
        raise self._cannot(
            "erase a user without a trace",
            "delete('user_profile', id, cascade=True) deletes what belongs to the user",
        )

    def _purge_expired(self, *, now: datetime) -> int:
        raise self._cannot("purge what has expired", "an Oracle database does that by a job of its own")

    def _cannot(self, what: str, instead: str) -> StoreError:
        return StoreError(
            f"a store of the original package ({type(self._theirs).__name__}) cannot {what}; {instead}"
        )

    # -- links ----------------------------------------------------------------------------------------------------

    def _insert_relations(self, relations: Sequence[NewRelation]) -> builtins.list[str]:
        try:
            made = self._call(
                self._theirs.add_relations,
                [link.source_id for link in relations],
                [link.source_type for link in relations],
                [link.target_id for link in relations],
                [link.target_type for link in relations],
                [link.relation_type for link in relations],
                opposite_relation_types=[link.opposite_type for link in relations],
                relation_ids=[link.id for link in relations],
                timestamps=[link.timestamp for link in relations],
                metadata=[link.metadata for link in relations],
            )
        except InvalidArgumentError as error:
            raise (self._link_conflict(relations) or error) from error
        return cast("list[str]", made)

    def _link_conflict(self, new: Sequence[NewRelation]) -> ConflictError | None:
        for link in new:
            if self.list_relations(relation_id=link.id):
                return ConflictError(f"a link with the id {shown(link.id)} exists already")
            there = self.list_relations(source_record_id=link.source_id, target_record_id=link.target_id)
            back = self.list_relations(source_record_id=link.target_id, target_record_id=link.source_id)
            if back or any(other.relation_type == link.relation_type for other in there):
                return ConflictError("such a link, or one in the reverse direction, exists already")
        return None

    def _update_relations(self, changes: Sequence[RelationChanges]) -> builtins.list[str]:
        changed: list[str] = []
        columns = {
            "relation_type": "relation_types",
            "opposite_type": "opposite_relation_types",
            "timestamp": "timestamps",
            "metadata": "metadata",
        }
        groups: dict[tuple[str, ...], list[RelationChanges]] = {}
        for change in changes:
            given = tuple(name for name in columns if getattr(change, name) is not NOT_SET)
            groups.setdefault(given, []).append(change)
        for given, some in groups.items():
            values = {columns[name]: [getattr(change, name) for change in some] for name in given}
            ids = [change.id for change in some]
            changed += self._call(self._theirs.update_relations, ids, **values)
        return [change.id for change in changes if change.id in changed]

    def _list_relations(self, query: RelationQuery) -> builtins.list[RecordRelation]:
        found = self._call(
            self._theirs.list_relations,
            limit=query.limit,
            relation_id=query.relation_id,
            relation_type=query.relation_type,
            source_record_id=query.source_id,
            source_record_type=query.source_type,
            target_record_id=query.target_id,
            target_record_type=query.target_type,
            metadata_filter=plain(query.metadata_filter),
        )
        return cast("list[RecordRelation]", found)

    def _delete_relations(self, relation_ids: Sequence[str]) -> int:
        return cast("int", self._call(self._theirs.delete_relations, builtins.list(relation_ids)))


def _batch(batch: PendingRecordBatch) -> Any:
    """Return the original's batch of the same content, without the second name that it has for it."""
    values = {name: getattr(batch, name) for name in _BATCH_COLUMNS}
    return memorystore.PendingRecordBatch(
        **{name: to_original(value, *_THEIRS) for name, value in values.items() if value is not NOT_SET}
    )


def _same(stored: Record, new: NewRecord) -> bool:
    names = ("record_type", "content", "user_id", "agent_id", "thread_id")
    return all(getattr(stored, name, None) == getattr(new, name) for name in names)


def _moment(record: Record) -> datetime:
    moment = parse_time(record.timestamp) if record.timestamp else None
    return moment or datetime.min.replace(tzinfo=timezone.utc)
