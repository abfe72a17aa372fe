"""SqlMemoryStore: opens the transaction, calls the functions beside this module, nothing more."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import bindparam, select, update

from hitherto.aio import awaitable
from hitherto.errors import InvalidArgumentError
from hitherto.models.base import Fingerprint
from hitherto.notset import NOT_SET
from hitherto.records import MEMORY_TYPES, MessageRecord, Record
from hitherto.relations import RecordRelation
from hitherto.store.base import MemoryStore
from hitherto.store.checks import check_callable
from hitherto.store.drafts import draft_chunks, embed_drafts
from hitherto.store.jobs import JobStep, JobTable
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
from hitherto.store.sql import divided, erase, expand, fingerprint, links, numbers, read, rows, statistics
from hitherto.store.sql.index_sql import IndexSql
from hitherto.store.sql.jobs import SqlJobs
from hitherto.store.sql.search_index import SearchIndex
from hitherto.store.sql.tables import records, scopes
from hitherto.store.sql.update import update_record
from hitherto.store.sql.write import insert_records

if TYPE_CHECKING:
    from sqlalchemy import Connection

REEMBED_BATCH = 256
T = TypeVar("T")

_MEMORY_NOS = select(records.c.id, records.c.record_no, records.c.user_no).where(
    records.c.id_space == "memory", records.c.id.in_(bindparam("ids", expanding=True))
)
_SEARCHABLE_AFTER = (
    select(*rows.RECORD_COLUMNS)
    .join(scopes, scopes.c.user_no == records.c.user_no)
    .where(records.c.searchable == 1, records.c.record_no > bindparam("after"))
    .order_by(records.c.record_no)
    .limit(bindparam("most"))
)


class SqlMemoryStore(MemoryStore):
    """What all SQL backends share; a backend gives the transactions and the index."""

    _where: str
    _index: SearchIndex
    _index_sql: IndexSql
    _write_steps: tuple[Callable[[Connection], None], ...] = ()

    @abstractmethod
    def _read(self) -> AbstractContextManager[Connection]:
        """Return a read transaction: everything that is read in it is of one moment."""

    @abstractmethod
    def _begin(self) -> AbstractContextManager[Connection]:
        """Return a write transaction, committed at the end, rolled back on any error."""

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._begin() as conn:
            yield conn
            self._take_write_steps(conn)

    def _take_write_steps(self, conn: Connection) -> None:
        for step in self._write_steps:
            step(conn)

    def add_write_step(self, step: Callable[[Connection], None]) -> None:
        """Have something done at the end of each write transaction of this object, for tables beside the store's own.

        Args:
            step: Called with the connection; what it raises rolls the transaction back.
        """
        self._write_steps += (step,)

    def transact(self, step: Callable[[Connection], T]) -> T:
        """Run a step in a write transaction and return what it returns; a store may run it again if interrupted.

        Args:
            step: Called with the connection.
        """
        with self._write() as conn:
            return step(conn)

    transact_async = awaitable(transact)

    def consult(self, step: Callable[[Connection], T]) -> T:
        """Run a step in a read transaction and return what it returns; a store may run it again if interrupted.

        Args:
            step: Called with the connection.
        """
        with self._read() as conn:
            return step(conn)

    consult_async = awaitable(consult)

    @property
    def memory_store_id(self) -> str:
        """An id that the store was given when it was created."""
        return self.consult(lambda conn: fingerprint.read_meta(conn, "store_id")) or ""

    @property
    def stored_fingerprint(self) -> Fingerprint | None:
        """Which embedder made the stored vectors, or None if there are none."""
        return self.consult(fingerprint.read_fingerprint)

    def change_within(self, conn: Connection, changes: RecordChanges) -> int:
        """Change a record in a transaction that is open already; return 1, or 0 if there is none.

        Args:
            conn: A connection in a write transaction of this store.
            changes: What to change, and no text that would have to be embedded.
        """
        return update_record(conn, self._index, changes, now=self._now())

    def _insert(self, new: Sequence[NewRecord]) -> list[str]:
        with self._write() as conn:
            return self._insert_within(conn, new)

    def _insert_also(self, new: Sequence[NewRecord], also: JobStep) -> list[str]:
        with self._write() as conn:
            ids = self._insert_within(conn, new)
            also(SqlJobs(conn))
            return ids

    def _insert_within(self, conn: Connection, new: Sequence[NewRecord], *, alone: bool = True) -> list[str]:
        chunks = [chunk for record in new for chunk in record.chunks]
        fingerprint.note_vectors(conn, self._embedder, chunks, self._where)
        return insert_records(conn, self._index, new, now=self._now(), alone=alone)

    def _transact_jobs(self, step: Callable[[JobTable], T]) -> T:
        return self.transact(lambda conn: step(SqlJobs(conn)))

    def _read_jobs(self, step: Callable[[JobTable], T]) -> T:
        return self.consult(lambda conn: step(SqlJobs(conn)))

    def _get(self, record_type: str, record_id: str, *, now: datetime, include_bytes: bool) -> Record | None:
        with self._read() as conn:
            return read.get_record(conn, record_type, record_id, now=now, include_bytes=include_bytes)

    def _list(self, query: RecordQuery) -> list[Record]:
        with self._read() as conn:
            return read.list_records(conn, query, self._index_sql.narrow)

    def _list_messages(self, query: MessageQuery) -> list[MessageRecord]:
        with self._read() as conn:
            return read.list_messages(conn, query)

    def _update(self, changes: RecordChanges, *, now: datetime) -> int:
        chunks = () if changes.chunks is NOT_SET else changes.chunks
        with self._write() as conn:
            fingerprint.note_vectors(conn, self._embedder, chunks, self._where)
            return update_record(conn, self._index, changes, now=now)

    def _update_also(self, changes: RecordChanges, also: JobStep, *, now: datetime) -> int:
        chunks = () if changes.chunks is NOT_SET else changes.chunks
        with self._write() as conn:
            fingerprint.note_vectors(conn, self._embedder, chunks, self._where)
            changed = update_record(conn, self._index, changes, now=now)
            if changed:
                also(SqlJobs(conn))
            return changed

    def _delete(self, record_type: str, record_id: str, *, cascade: bool, now: datetime) -> int:
        with self._write() as conn:
            return erase.delete_record(conn, self._index, record_type, record_id, cascade=cascade, now=now)

    def _erase_user(self, user_id: str) -> int:
        with self._write() as conn:
            return erase.erase_user(conn, self._index, user_id)

    def _purge_expired(self, *, now: datetime) -> int:
        total = 0
        while True:
            with self._write() as conn:
                count = erase.purge_expired(conn, self._index, now=now)
            total += count
            if not count:
                return total

    def _search(self, query: StoreQuery) -> list[StoreHit]:
        with self._read() as conn:
            if query.vector is not None:
                self._check_vector(conn, query.vector.size)
            hits = self._index.search(conn, query)
            memories = [hit.record.id for hit in hits if hit.record.record_type in MEMORY_TYPES]
            if not query.num_hops or not query.max_linked_results or not memories:
                return hits
            found = {
                row.id: (row.record_no, row.user_no)
                for ids in rows.slices(memories)
                for row in divided.rows_by_id(conn, _MEMORY_NOS, {"ids": ids}, "memory", ids)
            }
            return expand.expand_hits(conn, hits, query, found)

    def _check_vector(self, conn: Connection, size: int) -> None:
        stored = fingerprint.read_fingerprint(conn)
        if stored is not None and stored.dimension != size:
            raise InvalidArgumentError(
                f"query_vector must have {stored.dimension} components, as the stored vectors have, got {size}",
                argument="query_vector",
            )

    def _expiration(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        with self._read() as conn:
            return read.expiration(conn, record_type, record_id, now=now)

    def _created_at(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        with self._read() as conn:
            return read.created_at(conn, record_type, record_id, now=now)

    def _insert_relations(self, relations: Sequence[NewRelation]) -> list[str]:
        with self._write() as conn:
            return links.insert_relations(conn, self._index, relations, now=self._now())

    def _update_relations(self, changes: Sequence[RelationChanges]) -> list[str]:
        with self._write() as conn:
            return links.update_relations(conn, self._index, changes)

    def _list_relations(self, query: RelationQuery) -> list[RecordRelation]:
        with self._read() as conn:
            return links.list_relations(conn, query, self._index_sql.narrow, now=self._now())

    def _delete_relations(self, relation_ids: Sequence[str]) -> int:
        with self._write() as conn:
            return links.delete_relations(conn, self._index, relation_ids)

    def statistics(self) -> dict[str, Any]:
        """Count what is stored.

        Returns:
            ``{"records": {type: count}, "users": count, "embedder": name or None}``.
        """
        return self.consult(statistics.count_records)

    statistics_async = awaitable(statistics)

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Make all vectors anew with this store's embedder; what was interrupted is resumed.

        Words stay searchable all the while; vectors are as they become ready.

        Args:
            progress: Called after each step with the number of records that are done.

        Returns:
            How many records were embedded by this call.

        Raises:
            InvalidArgumentError: If the store has no embedder.
            ModelError: If the embedder fails; what was done by then stays.
        """
        check_callable(progress, argument="progress")
        if self._embedder is None:
            raise InvalidArgumentError("reembed() needs a store with an embedder, this one has none")
        target = fingerprint.embedder_fingerprint(self._embedder)
        after = self.transact(lambda conn: _start_reembedding(conn, self._index, target))
        done = 0
        while True:
            found, stored, texts = self.consult(partial(_searchable, after=after))
            if not found:
                break
            made = self._embedded_again(found, stored, texts)
            after = found[-1].record_no
            self.transact(partial(_put_vectors, index=self._index, found=found, made=made, after=after))
            done += len(found)
            if progress is not None:
                progress(done)
        self.transact(lambda conn: fingerprint.write_meta(conn, fingerprint.PROGRESS_KEY, None))
        return done

    reembed_async = awaitable(reembed, limiter_name="models")

    def _embedded_again(
        self, found: Sequence[Any], stored: Sequence[Record], texts: dict[int, tuple[str, ...]]
    ) -> list[NewRecord]:
        drafts = [
            draft_chunks(
                NewRecord(
                    record_type=record.record_type,
                    id=record.id,
                    content=record.content,
                    created_at=self._now(),
                    role=getattr(record, "role", None),
                    timestamp=record.timestamp,
                    metadata=record.metadata,
                ),
                index_text=list(texts[row.record_no]) if row.record_no in texts else NOT_SET,
                embedding=NOT_SET,
                max_input_tokens=None,
            )
            for row, record in zip(found, stored, strict=True)
        ]
        return embed_drafts(drafts, self._embedder)


def _start_reembedding(conn: Connection, index: SearchIndex, target: Fingerprint) -> int:
    progress = fingerprint.read_meta(conn, fingerprint.PROGRESS_KEY)
    if progress is not None and fingerprint.read_fingerprint(conn) == target:
        return int(progress)
    index.drop_vectors(conn, numbers.change_scopes(conn, {}))
    conn.execute(update(scopes).values(epoch=scopes.c.epoch + 1))
    fingerprint.write_fingerprint(conn, target)
    fingerprint.write_meta(conn, fingerprint.PROGRESS_KEY, "0")
    return 0


def _searchable(
    conn: Connection, *, after: int
) -> tuple[Sequence[Any], list[Record], dict[int, tuple[str, ...]]]:
    """Return the next rows that are embedded again, with their records and those of their texts that are stored."""
    found = conn.execute(_SEARCHABLE_AFTER, {"after": after, "most": REEMBED_BATCH}).all()
    return found, rows.records_from_rows(conn, found), rows.stored_texts(conn, rows.owners_of(found))


def _put_vectors(
    conn: Connection, *, index: SearchIndex, found: Sequence[Any], made: Sequence[NewRecord], after: int
) -> None:
    # What was deleted or changed meanwhile is left out: a change has embedded it already.
    now = rows.rows_by_no(conn, [row.record_no for row in found], {row.user_no for row in found})
    current = [
        (row, record)
        for row, record in zip(found, made, strict=True)
        if row.record_no in now and now[row.record_no].content == row.content
    ]
    version = numbers.change_scopes(conn, {row.user_no: 0 for row, _ in current})
    by_no = {row.record_no: record for row, record in current}
    indexed = [
        replace(item, vectors=tuple(chunk.vector for chunk in by_no[item.record_no].chunks))
        for item in rows.index_rows(conn, [row for row, _ in current])
    ]
    if indexed:
        index.put_vectors(conn, indexed, version)
    fingerprint.write_meta(conn, fingerprint.PROGRESS_KEY, str(after))
