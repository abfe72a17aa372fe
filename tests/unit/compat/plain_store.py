"""A store of the original package in dicts, written without anything of ours, with the manners of its database store.

Messages come back as parts, timestamps are filled in, days to live are whole, and errors are plain ValueErrors.
Loaded only where the original package is installed.
"""

from __future__ import annotations

import builtins
import copy
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from oracleagentmemory.apis import message, records, relations
from oracleagentmemory.apis.memorystore import NOT_SET_MARKER as OPEN
from oracleagentmemory.apis.ttl import TimeToLiveAnchor
from oracleagentmemory.core import OracleMemoryStore

MEMORIES = {"memory", "fact", "guideline", "preference"}
PROFILES = {"user_profile", "agent_profile"}
CLASSES = {
    "message": records.MessageRecord,
    "memory": records.MemoryRecord,
    "fact": records.FactRecord,
    "guideline": records.GuidelineRecord,
    "preference": records.PreferenceRecord,
    "image": records.ImageRecord,
    "thread_summary": records.ThreadSummaryRecord,
    "user_profile": records.UserProfileRecord,
    "agent_profile": records.AgentProfileRecord,
}
ENDING = {"supersedes", "refines", "duplicates"}


def one(value: Any, place: int) -> Any:
    """Return a column's value for one record; what is open is None."""
    value = value[place] if isinstance(value, list) else value
    return None if value is OPEN else value


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not open."""
    return {name: value for name, value in fields.items() if value is not OPEN}


def words(record: Any) -> set[str]:
    """Return what a record is found by."""
    content = record.content
    if isinstance(content, tuple):
        content = " ".join(getattr(part, "text", None) or "" for part in content)
    return set(str(content or "").lower().split())


class PlainStore(OracleMemoryStore):  # type: ignore[misc]  # the original is untyped
    """A store in dicts."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Any] = {}
        self.ends: dict[tuple[str, str], datetime | None] = {}
        self.bytes: dict[str, bytes] = {}
        self.links: dict[str, Any] = {}
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)
        self.number = 0
        self.lock = threading.RLock()

    def live(self, record_type: str) -> Iterator[Any]:
        """Yield what has not expired of a type."""
        for key, record in builtins.list(self.rows.items()):
            end = self.ends.get(key)
            if key[0] == record_type and (end is None or end > self.now):
                yield record

    def end(self, days: Any, anchor: Any, timestamp: str | None) -> datetime | None:
        """Return when a record ends."""
        if days is None:
            return None
        if type(days) is not int or days < 0:
            raise ValueError("ttl must be whole days")
        start = (
            datetime.fromisoformat(timestamp)
            if anchor is TimeToLiveAnchor.TIMESTAMP and timestamp
            else self.now
        )
        return start + timedelta(days=days)

    def put(self, record: Any, end: datetime | None) -> str:
        """Store a record that is new."""
        kinds = MEMORIES if record.record_type in MEMORIES else {record.record_type}
        if any(other.id == record.id for kind in kinds for other in self.live(kind)):
            raise ValueError("duplicate id")
        self.rows[record.record_type, record.id] = record
        self.ends[record.record_type, record.id] = end
        return str(record.id)

    def _add_prepared_batches(self, batches: Any, **store_kwargs: Any) -> Any:
        with self.lock:
            before = dict(self.rows), dict(self.ends)
            try:
                return [
                    self.add_one(batch, place) for batch in batches for place in range(len(batch.contents))
                ]
            except ValueError:
                self.rows, self.ends = before
                raise

    async def _add_prepared_batches_async(self, batches: Any, **store_kwargs: Any) -> Any:
        return self._add_prepared_batches(batches, **store_kwargs)

    def add_one(self, batch: Any, place: int) -> str:
        """Store one record of a batch."""
        kind, content = batch.record_type, batch.contents[place]
        metadata = copy.deepcopy(one(batch.metadata, place))
        timestamp = one(batch.timestamps, place)
        fields: dict[str, Any] = {
            "id": one(batch.record_ids, place) or str(uuid.uuid4()),
            "content": content,
            "timestamp": timestamp or self.now.isoformat(),
            "metadata": metadata,
            "status": one(batch.statuses, place) or records.RecordStatus.VALID,
        }
        scope = {
            f"{name}_id": one(getattr(batch, f"{name}_ids"), place) for name in ("user", "agent", "thread")
        }
        end = one(batch._expires_at, place)
        if end is None and kind not in PROFILES:
            end = self.end(one(batch.ttl_days, place), one(batch.ttl_anchor, place), timestamp)
        if kind not in PROFILES:
            fields |= scope
        if kind == "image":
            fields["mime_type"] = message.ImageMimeType(metadata.pop("image_mime_type"))
            self.bytes[fields["id"]] = content
            fields |= {"content": one(batch.index_texts, place), "metadata": metadata or None}
        if kind == "message":
            self.number += 3
            fields |= {"role": one(batch.roles, place), "seq_no": self.number}
            fields["content"] = self.parts(fields["id"], content, scope, end)
        return self.put(CLASSES[kind](**fields), end)

    def parts(self, message_id: str, content: Any, scope: dict[str, Any], end: datetime | None) -> Any:
        """Return a message's parts without the bytes of images, which are records of their own."""
        if isinstance(content, str):
            return (message.TextContent(content),)
        for part in content:
            if isinstance(part, message.ImageContent):
                self.bytes[part.id] = part.bytes or self.bytes[part.id]
                self.rows.pop(("image", part.id), None)
                self.put(
                    records.ImageRecord(
                        part.id,
                        content=part.description,
                        mime_type=part.mime_type,
                        message_id=message_id,
                        **scope,
                    ),
                    end,
                )
        images = [part.id for part in content if isinstance(part, message.ImageContent)]
        for image in builtins.list(self.live("image")):
            if image.message_id == message_id and image.id not in images:
                del self.rows["image", image.id]
        return tuple(
            replace(part, bytes=None) if isinstance(part, message.ImageContent) else part for part in content
        )

    def shown(self, record: Any, include_bytes: Any = False) -> Any:
        """Return a record as it is read."""
        wanted = include_bytes is True
        if record.record_type == "image" and wanted:
            return replace(record, bytes=self.bytes[record.id])
        if record.record_type != "message":
            return replace(record, metadata=copy.deepcopy(record.metadata))
        content = tuple(self.part(part, wanted) for part in record.content)
        return replace(record, content=content)

    def part(self, part: Any, wanted: bool) -> Any:
        """Return a message's part as it is read."""
        if not isinstance(part, message.ImageContent):
            return part
        image = self.rows["image", part.id]
        return replace(part, description=image.content, bytes=self.bytes[part.id] if wanted else None)

    def _create_thread_record(self, thread_id: str, *rest: Any, **fields: Any) -> Any:
        record = records.ThreadRecord(
            thread_id, thread_id=thread_id, timestamp=self.now.isoformat(), **fields
        )
        self.put(record, None)
        return record

    def _get_thread_record(self, thread_id: str) -> Any:
        return self.get("thread", thread_id)

    def _update_thread_record(self, thread_id: str, **fields: Any) -> int:
        return self.change("thread", thread_id, **given(**fields))

    def _get_record_expiration(self, record_type: str, record_id: str) -> datetime | None:
        return self.ends.get((record_type, record_id))

    def change(self, record_type: str, record_id: str, **fields: Any) -> int:
        """Replace fields of a record."""
        if self.get(record_type, record_id) is None:
            return 0
        self.rows[record_type, record_id] = replace(self.rows[record_type, record_id], **fields)
        return 1

    def add_user(self, user_id: Any = OPEN, information: Any = OPEN, metadata: Any = OPEN) -> Any:
        """Add a user."""
        fields = {"content": information, "metadata": None if metadata is OPEN else metadata}
        return self.put(records.UserProfileRecord(user_id, **fields), None)

    def add_agent(self, agent_id: str, information: str, metadata: Any = OPEN) -> Any:
        """Add an agent."""
        fields = {"content": information, "metadata": None if metadata is OPEN else metadata}
        return self.put(records.AgentProfileRecord(agent_id, **fields), None)

    def get(self, record_type: str, record_id: str, include_bytes: Any = False) -> Any:
        """Return a record."""
        found = next((record for record in self.live(record_type) if record.id == record_id), None)
        return None if found is None else self.shown(found, include_bytes)

    def list(self, record_type: str, *, limit: Any = OPEN, include_bytes: Any = OPEN, **filters: Any) -> Any:
        """Return records."""
        wanted = given(**filters)
        if "record_id" in wanted:
            wanted["id"] = wanted.pop("record_id")
        metadata = wanted.pop("metadata_filter", OPEN)
        if record_type in PROFILES:
            wanted = {name: value for name, value in wanted.items() if name == "id"}
        found = [
            self.shown(record, include_bytes)
            for record in self.live(record_type)
            if all(getattr(record, name) == value for name, value in wanted.items())
            and (metadata is OPEN or self.matches(record, metadata))
        ]
        return found[-limit:] if isinstance(limit, int) else found

    def matches(self, record: Any, metadata: Any) -> bool:
        """Return whether metadata pass a filter of equalities."""
        if metadata is None:
            return record.metadata is None
        return all((record.metadata or {}).get(key) == value for key, value in metadata.items())

    def list_thread_messages(
        self,
        thread_id: str,
        *,
        last_n: int | None = None,
        range_start_seq_no: int | None = None,
        range_end_seq_no: int | None = None,
        include_bytes: Any = OPEN,
    ) -> Any:
        """Return a thread's messages."""
        found = [
            record
            for record in self.list("message", thread_id=thread_id, include_bytes=include_bytes)
            if (range_start_seq_no is None or record.seq_no >= range_start_seq_no)
            and (range_end_seq_no is None or record.seq_no < range_end_seq_no)
        ]
        return found if last_n is None else found[-last_n:]

    def search(self, query: str | None, k: int, query_vector: Any = None, **options: Any) -> Any:
        """Return what shares words with the query."""
        asked = set((query or "").lower().split())
        kinds = options.get("record_types") or set(CLASSES) - {"thread_summary"}
        found = [
            (self.linked(record, options), 1 - len(asked & words(record)) / len(asked))
            for kind in sorted(kinds)
            for record in self.list(kind)
            if self.in_scope(record, options)
        ]
        return sorted((hit for hit in found if hit[1] < 1), key=lambda hit: hit[1])[:k]

    def in_scope(self, record: Any, options: dict[str, Any]) -> bool:
        """Return whether a search may return a record."""
        own = {"user_profile": "user_id", "agent_profile": "agent_id"}.get(record.record_type)
        for name in ("user", "agent", "thread"):
            value = record.id if own == f"{name}_id" else getattr(record, f"{name}_id", None)
            if options.get(f"exact_{name}_match") and value != options.get(f"{name}_id"):
                return False
        if not options.get("include_invalid_results", True) and record.status == "invalid":
            return False
        metadata = options.get("metadata_filter")
        return metadata is None or self.matches(record, metadata)

    def linked(self, record: Any, options: dict[str, Any]) -> Any:
        """Return a record with those that it is linked to."""
        if not options.get("num_hops"):
            return record
        pairs = [
            (link, self.get(kind, name))
            for link in self.links.values()
            for kind, name, other in (
                (link.source_record_type, link.source_record_id, link.target_record_id),
                (link.target_record_type, link.target_record_id, link.source_record_id),
            )
            if other == record.id
        ]
        return replace(record, linked_results=tuple(pairs))

    def update(self, record_type: str, record_id: str, **changes: Any) -> int:
        """Change a record."""
        changes = given(**changes)
        if not changes:
            raise ValueError("nothing to update")
        current = self.get(record_type, record_id)
        if current is None:
            return 0
        key = (record_type, record_id)
        if changes.keys() & {"ttl_days", "ttl_anchor"}:
            self.ends[key] = self.end(
                changes.pop("ttl_days", None), changes.pop("ttl_anchor", None), current.timestamp
            )
        if record_type == "image" and "index_text" in changes:
            changes["content"] = changes["index_text"]
        if record_type == "message" and "content" in changes:
            scope = {name: getattr(current, name) for name in ("user_id", "agent_id", "thread_id")}
            changes["content"] = self.parts(record_id, changes["content"], scope, self.ends[key])
        if record_type == "thread_summary":
            own = ((changes.get("metadata") or {}).get("$agent_memory") or {}).get("revision")
            if own != ((current.metadata or {}).get("$agent_memory") or {}).get("revision"):
                return 0
            if own is not None:
                changes["metadata"] = copy.deepcopy(changes["metadata"])
                changes["metadata"]["$agent_memory"]["revision"] = own + 1
        for name in ("index_text", "embedding"):
            changes.pop(name, None)
        return self.change(record_type, record_id, **changes)

    def delete(self, record_type: str, record_id: str, cascade: bool = False) -> int:
        """Delete a record, and with cascade what carries its id."""
        with self.lock:
            if cascade and record_type in PROFILES:
                name = f"{record_type.removesuffix('_profile')}_id"
                for thread in builtins.list(self.live("thread")):
                    if getattr(thread, name) == record_id:
                        self.delete_thread(thread.id)
                self.drop(name, record_id)
            if record_type == "message":
                self.drop("message_id", record_id)
            there = self.get(record_type, record_id) is not None
            self.rows.pop((record_type, record_id), None)
            ends = [
                link.id
                for link in self.links.values()
                if record_id in (link.source_record_id, link.target_record_id)
            ]
            self.delete_relations(ends)
            return int(there)

    def drop(self, name: str, value: str) -> None:
        """Delete what carries an id."""
        for kind, record_id in [
            key for key, record in self.rows.items() if getattr(record, name, None) == value
        ]:
            self.delete(kind, record_id)

    def delete_thread(self, thread_id: str) -> int:
        """Delete a thread with its content."""
        there = self.get("thread", thread_id) is not None
        self.drop("thread_id", thread_id)
        return int(there)

    def add_relations(
        self,
        source_record_ids: Any,
        source_record_types: Any,
        target_record_ids: Any,
        target_record_types: Any,
        relation_types: Any,
        opposite_relation_types: Any = OPEN,
        relation_ids: Any = OPEN,
        timestamps: Any = OPEN,
        metadata: Any = OPEN,
    ) -> Any:
        """Add links."""
        made = []
        for place, name in enumerate(relation_ids):
            link = relations.RecordRelation(
                name,
                source_record_ids[place],
                source_record_types[place],
                target_record_ids[place],
                target_record_types[place],
                relation_types[place],
                opposite_relation_types[place],
                one(timestamps, place),
                one(metadata, place),
                self.now.isoformat(),
            )
            ends = {link.source_record_id, link.target_record_id}
            if len(ends) < 2 or name in self.links:
                raise ValueError("impossible relation")
            for other in self.links.values():
                if {other.source_record_id, other.target_record_id} == ends:
                    raise ValueError("relation exists")
            self.links[name] = link
            self.judge(link)
            made.append(name)
        return made

    def judge(self, link: Any) -> None:
        """Set what follows from links for both ends."""
        for kind, name in (
            (link.source_record_type, link.source_record_id),
            (link.target_record_type, link.target_record_id),
        ):
            kinds = {other.relation_type for other in self.links.values() if other.target_record_id == name}
            status = records.RecordStatus.INVALID if kinds & ENDING else records.RecordStatus.VALID
            self.change(kind, name, status=status)

    def update_relations(self, relation_ids: Any, **columns: Any) -> Any:
        """Change links."""
        for place, name in enumerate(relation_ids):
            fields = {column.removesuffix("s"): one(value, place) for column, value in columns.items()}
            self.links[name] = replace(self.links[name], **fields)
            self.judge(self.links[name])
        return relation_ids

    def get_relation(self, *args: Any, **kwargs: Any) -> Any:
        """Return a link."""
        return next(iter(self.list_relations(*args, **kwargs)), None)

    def list_relations(
        self, *args: Any, limit: Any = OPEN, metadata_filter: Any = OPEN, **filters: Any
    ) -> Any:
        """Return links."""
        wanted = given(**filters)
        if "relation_id" in wanted:
            wanted["id"] = wanted.pop("relation_id")
        return [
            link
            for link in self.links.values()
            if all(getattr(link, name) == value for name, value in wanted.items())
        ]

    def delete_relations(self, relation_ids: Any) -> int:
        """Delete links."""
        gone = [self.links.pop(name) for name in relation_ids if name in self.links]
        for link in gone:
            self.judge(link)
        return len(gone)
