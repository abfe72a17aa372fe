"""ReferenceStore: the executable specification of a store, in dicts and loops; slow, obvious, and only for truth."""

from __future__ import annotations

import builtins
import contextlib
import copy
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from hitherto.errors import ConflictError, InvalidArgumentError, NotFoundError, shown
from hitherto.lifetime import format_time, is_expired
from hitherto.messages import ImageContent
from hitherto.notset import NOT_SET
from hitherto.records import (
    MEMORY_TYPES,
    PROFILE_TYPES,
    SEARCHABLE_TYPES,
    MessageRecord,
    Record,
    RecordStatus,
    build_record,
)
from hitherto.relations import RecordRelation, invalidation_reason
from hitherto.scope import record_scope
from hitherto.store.base import MemoryStore
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
from hitherto.testing.scoring import distance_of, preference_of, with_reason
from hitherto.testing.stored import (
    Key,
    Row,
    conflict_of,
    ends_of,
    is_listed,
    key_of,
    metadata_match,
    relation_of,
    revision_of,
)


class ReferenceStore(MemoryStore):
    """A store in memory.

    Args:
        **options: What every store takes: ``embedder``, ``memory_retention_config``, ``search_strategy``, ``clock``.

    Examples:
        >>> with ReferenceStore() as store:
        ...     store.add(["Ana plays the cello"], "fact", record_ids="f1")
        ['f1']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._rows: dict[Key, Row] = {}
        self._links: dict[str, NewRelation] = {}
        self._last = 0
        self._lock = threading.RLock()

    def close(self) -> None:
        """Do nothing."""

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Hold the lock, and put back what was there when an error comes."""
        with self._lock:
            rows, links = {key: copy.copy(row) for key, row in self._rows.items()}, dict(self._links)
            try:
                yield
            except Exception:
                self._rows, self._links = rows, links
                raise

    def _live(self, record_type: str, record_id: str, now: datetime) -> Row | None:
        row = self._rows.get(key_of(record_type, record_id))
        if row is None or row.new.record_type != record_type or is_expired(row.new.expires_at, now):
            return None
        return row

    def _insert(self, records: Sequence[NewRecord]) -> builtins.list[str]:
        with self._lock:
            now = self._now()
            taken = [row for new in records if (row := self._rows.get(key_of(new.record_type, new.id)))]
            live = [row for row in taken if not is_expired(row.new.expires_at, now)]
            if live:
                raise conflict_of(live, records)
            self._remove({row.key for row in taken})
            for new in records:
                self._last += 1
                row = Row(self._last, copy.deepcopy(new), new.status is RecordStatus.INVALID)
                self._rows[row.key] = row
            return [new.id for new in records]

    def _record(self, row: Row, *, include_bytes: bool = False) -> Record:
        new = copy.deepcopy(row.new)
        fields: dict[str, Any] = {
            "content": self._parts(new, include_bytes=include_bytes),
            "timestamp": new.timestamp,
            "metadata": new.metadata,
            "status": new.status,
            "thread_id": new.thread_id,
            "user_id": new.user_id,
            "agent_id": new.agent_id,
        }
        if new.record_type == "message":
            fields.update(role=new.role, seq_no=row.number)
        elif new.record_type == "image":
            fields.update(message_id=new.message_id, mime_type=new.mime_type)
            fields["bytes"] = new.image if include_bytes else None
        elif new.record_type == "thread":
            fields.update(runtime_config=new.runtime_config, runtime_state=new.runtime_state)
        return build_record(new.record_type, id=new.id, **fields)

    def _parts(self, new: NewRecord, *, include_bytes: bool) -> Any:
        if not isinstance(new.content, tuple):
            return new.content
        images = {row.new.id: row.new.image for row in self._rows.values() if row.new.message_id == new.id}
        return tuple(
            replace(part, bytes=images.get(part.id) if include_bytes else None)
            if isinstance(part, ImageContent)
            else part
            for part in new.content
        )

    def _get(self, record_type: str, record_id: str, *, now: datetime, include_bytes: bool) -> Record | None:
        with self._lock:
            row = self._live(record_type, record_id, now)
            return None if row is None else self._record(row, include_bytes=include_bytes)

    def _list(self, query: RecordQuery) -> builtins.list[Record]:
        with self._lock:
            end = None
            if query.before is not NOT_SET:
                limit_row = self._rows.get(key_of(query.record_type, query.before))
                if limit_row is None:
                    raise NotFoundError(
                        f"before must be the id of a stored {query.record_type}, got {shown(query.before)}"
                    )
                end = limit_row.number
            rows = [row for row in self._rows.values() if is_listed(row, query, end)]
            if query.limit is not None:
                rows = rows[-query.limit :]
            return [self._record(row, include_bytes=query.include_bytes) for row in rows]

    def _list_messages(self, query: MessageQuery) -> builtins.list[MessageRecord]:
        wanted = RecordQuery(
            "message", query.now, thread_id=query.thread_id, include_bytes=query.include_bytes
        )
        found = [record for record in self._list(wanted) if isinstance(record, MessageRecord)]
        if query.start_seq_no is not None:
            found = [record for record in found if record.seq_no >= query.start_seq_no]
        if query.end_seq_no is not None:
            found = [record for record in found if record.seq_no < query.end_seq_no]
        return found if query.last_n is None else found[max(0, len(found) - query.last_n) :]

    def _update(self, changes: RecordChanges, *, now: datetime) -> int:
        with self._all_or_nothing():
            row = self._live(changes.record_type, changes.id, now)
            if row is None:
                return 0
            if changes.expected_revision is not None and revision_of(row.new) != changes.expected_revision:
                return 0
            names = (
                "content",
                "chunks",
                "metadata",
                "timestamp",
                "expires_at",
                "status",
                "mime_type",
                "image",
                "runtime_config",
                "runtime_state",
            )
            given = {name: getattr(changes, name) for name in names if getattr(changes, name) is not NOT_SET}
            row.new = replace(row.new, **copy.deepcopy(given))
            if "status" in given:
                row.by_hand = given["status"] is RecordStatus.INVALID
            self._update_images(row, changes)
            self._recalculate([row.key])
            return 1

    def _update_images(self, row: Row, changes: RecordChanges) -> None:
        mine = {other.new.id: other for other in self._rows.values() if other.new.message_id == row.new.id}
        if changes.images is not NOT_SET:
            wanted = {image.id: image for image in changes.images}
            self._remove({other.key for image_id, other in mine.items() if image_id not in wanted})
            for image in wanted.values():
                if image.id in mine:
                    old = mine[image.id].new
                    kept = old.image if image.image is None else image.image
                    mine[image.id].new = replace(
                        old,
                        content=image.content,
                        chunks=image.chunks,
                        timestamp=image.timestamp,
                        mime_type=image.mime_type,
                        image=kept,
                    )
                else:
                    owner = {name: getattr(row.new, name) for name in ("thread_id", "user_id", "agent_id")}
                    self._insert(
                        [replace(image, **owner, message_id=row.new.id, expires_at=row.new.expires_at)]
                    )
        if changes.expires_at is not NOT_SET and row.new.record_type == "message":
            for other in mine.values():
                other.new = replace(other.new, expires_at=changes.expires_at)

    def _delete(self, record_type: str, record_id: str, *, cascade: bool, now: datetime) -> int:
        with self._lock:
            target = self._live(record_type, record_id, now)
            doomed = set() if target is None else {target.key}
            if record_type == "message" and target is not None:
                doomed |= {row.key for row in self._rows.values() if row.new.message_id == record_id}
            elif cascade:
                doomed |= self._belonging(record_type, record_id)
            self._remove(doomed)
            return int(target is not None)

    def _belonging(self, record_type: str, record_id: str) -> set[Key]:
        if record_type == "thread":
            threads, owned = {record_id}, set()
        elif record_type in PROFILE_TYPES:
            place = 0 if record_type == "user_profile" else 1
            owned = {
                row.key for row in self._rows.values() if record_scope(self._record(row))[place] == record_id
            }
            threads = {key[1] for key in owned if key[0] == "thread"}
        else:
            return set()
        return owned | {row.key for row in self._rows.values() if row.new.thread_id in threads}

    def _remove(self, doomed: Iterable[Key]) -> int:
        gone = {key for key in doomed if self._rows.pop(key, None) is not None}
        broken = {link.id: link for link in self._links.values() if ends_of(link) & gone}
        for link_id in broken:
            del self._links[link_id]
        self._recalculate(key_of(link.target_type, link.target_id) for link in broken.values())
        return len(gone)

    def _erase_user(self, user_id: str) -> int:
        with self._lock:
            return self._remove(self._belonging("user_profile", user_id))

    def _purge_expired(self, *, now: datetime) -> int:
        with self._lock:
            return self._remove(
                {row.key for row in self._rows.values() if is_expired(row.new.expires_at, now)}
            )

    def _expiration(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        row = self._live(record_type, record_id, now)
        return None if row is None else row.new.expires_at

    def _created_at(self, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
        row = self._live(record_type, record_id, now)
        return None if row is None else row.new.created_at

    def _recalculate(self, keys: Iterable[Key]) -> None:
        for key in set(keys):
            row = self._rows.get(key)
            if row is None or row.new.record_type not in MEMORY_TYPES:
                continue
            incoming = [
                link.relation_type
                for link in self._sorted_links()
                if key_of(link.target_type, link.target_id) == key
            ]
            reason = invalidation_reason(incoming)
            status = RecordStatus.INVALID if row.by_hand or reason else RecordStatus.VALID
            row.new = replace(row.new, status=status, metadata=with_reason(row.new.metadata, reason))

    def _sorted_links(self) -> builtins.list[NewRelation]:
        return sorted(self._links.values(), key=lambda link: (format_time(link.created_at), link.id))

    def _insert_relations(self, relations: Sequence[NewRelation]) -> builtins.list[str]:
        with self._all_or_nothing():
            for link in relations:
                self._check_ends(link)
                self._put_relation(link)
            self._recalculate(key for link in relations for key in ends_of(link))
            return [link.id for link in relations]

    def _check_ends(self, link: NewRelation) -> None:
        ends = (("source", link.source_type, link.source_id), ("target", link.target_type, link.target_id))
        for name, record_type, record_id in ends:
            if self._live(record_type, record_id, self._now()) is None:
                raise InvalidArgumentError(
                    f"{name}_record_ids must name a stored {record_type}, got {shown(record_id)}",
                    argument=f"{name}_record_ids",
                )

    def _put_relation(self, link: NewRelation) -> None:
        if link.id in self._links:
            raise ConflictError(f"a link with the id {shown(link.id)} exists already")
        here = (key_of(link.source_type, link.source_id), key_of(link.target_type, link.target_id))
        for other in self._links.values():
            there = (key_of(other.source_type, other.source_id), key_of(other.target_type, other.target_id))
            same = there == here and other.relation_type == link.relation_type
            if same or there == here[::-1]:
                raise ConflictError("such a link, or one in the reverse direction, exists already")
        self._links[link.id] = copy.deepcopy(link)

    def _update_relations(self, changes: Sequence[RelationChanges]) -> builtins.list[str]:
        with self._all_or_nothing():
            done = []
            for change in changes:
                link = self._links.get(change.id)
                if link is None:
                    continue
                names = ("relation_type", "opposite_type", "timestamp", "metadata")
                given = {
                    name: getattr(change, name) for name in names if getattr(change, name) is not NOT_SET
                }
                link = replace(link, **copy.deepcopy(given))
                del self._links[change.id]
                self._put_relation(link)
                done.append(change.id)
            self._recalculate(key for link_id in done for key in ends_of(self._links[link_id]))
            return done

    def _list_relations(self, query: RelationQuery) -> builtins.list[RecordRelation]:
        with self._lock:
            now = self._now()
            pairs = (
                ("id", query.relation_id),
                ("relation_type", query.relation_type),
                ("source_id", query.source_id),
                ("source_type", query.source_type),
                ("target_id", query.target_id),
                ("target_type", query.target_type),
            )
            found = [
                link
                for link in self._sorted_links()
                if all(value is NOT_SET or getattr(link, name) == value for name, value in pairs)
                and metadata_match(query.metadata_filter, link.metadata)
                and self._live(link.source_type, link.source_id, now)
                and self._live(link.target_type, link.target_id, now)
            ]
            return [relation_of(link) for link in (found if query.limit is None else found[: query.limit])]

    def _delete_relations(self, relation_ids: Sequence[str]) -> int:
        with self._lock:
            gone = [link for link_id in relation_ids if (link := self._links.pop(link_id, None))]
            self._recalculate(key for link in gone for key in ends_of(link))
            return len(gone)

    def _search(self, query: StoreQuery) -> builtins.list[StoreHit]:
        with self._lock:
            scored = []
            for row in self._rows.values():
                record = self._record(row)
                if row.new.record_type not in SEARCHABLE_TYPES or not self._qualifies(row, record, query):
                    continue
                if not query.include_invalid and record.status is RecordStatus.INVALID:
                    continue
                distance = distance_of(row.new.chunks, query)
                if distance is not None:
                    scored.append((round(distance, 9), -preference_of(record, query), record, row))
            scored.sort(key=lambda item: (item[0], item[1], item[2].record_type, item[2].id))
            return [
                StoreHit(self._expanded(record, row, query), distance)
                for distance, _, record, row in scored[: query.k]
            ]

    def _qualifies(self, row: Row, record: Record, query: StoreQuery) -> bool:
        return (
            not is_expired(row.new.expires_at, query.now)
            and (query.record_types is None or record.record_type in query.record_types)
            and query.scope.admits(record)
            and (query.metadata_filter is None or query.metadata_filter.matches(record.metadata))
        )

    def _expanded(self, record: Record, row: Row, query: StoreQuery) -> Record:
        if record.record_type not in MEMORY_TYPES or not query.num_hops:
            return record
        reached: dict[Key, tuple[int, NewRelation, Key]] = {}
        ring = [row.key]
        for depth in range(1, query.num_hops + 1):
            found: dict[Key, tuple[tuple[str, str, str], NewRelation, Key]] = {}
            for parent in ring:
                for link in self._links.values():
                    for other in ends_of(link) - {parent} if parent in ends_of(link) else ():
                        if other == row.key or other in reached or not self._enterable(other, query):
                            continue
                        rank = (format_time(link.created_at), link.id, parent[1])
                        if other not in found or rank < found[other][0]:
                            found[other] = (rank, link, parent)
            reached.update({key: (depth, link, parent) for key, (_, link, parent) in found.items()})
            ring = list(found)
        order = sorted(
            reached.items(),
            key=lambda item: (item[1][0], format_time(item[1][1].created_at), item[1][1].id, item[0][1]),
        )
        return self._nested(record, row.key, order[: query.max_linked_results])

    def _enterable(self, key: Key, query: StoreQuery) -> bool:
        row = self._rows.get(key)
        return row is not None and self._qualifies(row, self._record(row), query)

    def _nested(
        self, record: Record, key: Key, order: Sequence[tuple[Key, tuple[int, NewRelation, Key]]]
    ) -> Record:
        children = tuple(
            (relation_of(link), self._nested(self._record(self._rows[other]), other, order))
            for other, (_, link, parent) in order
            if parent == key
        )
        return replace(record, linked_results=children) if children else record
