"""Taking in what the triggers noted: documents, their versions, and the statistics, in the order of the changes.

Which records are one document is decided once, when a record is first seen, and kept: ids stay what they were,
whatever is deleted later. A record that a REST client wrote says which message it belongs to; a program's assistant
message answers the interaction before it, if that is a user's question without an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from hitherto.lifetime import format_time, parse_time
from hitherto.server.index.documents import memory_source, message_source, metadata_of, owner_of, trace_of
from hitherto.server.index.state import read_numbers, write_numbers
from hitherto.server.index.tables import changes, memories, messages
from hitherto.server.index.terms import Counted, Difference, TermHashes, count_source
from hitherto.store.sql.rows import RECORD_COLUMNS, rows_by_no, slices
from hitherto.store.sql.tables import records, scopes

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from hitherto.store.sql.index_sql import Driver

BATCH: Final = 2000
"""How many changes are taken in at once."""

MEMORY_SEQ: Final = "memory_seq_no"
MESSAGE_SEQ: Final = "message_seq_no"
"""How many writes and deletes an index has seen; what has seen none does not exist yet."""
MEMORY_DELETIONS: Final = "memory_deletions"

_NEXT_CHANGES = select(changes).order_by(changes.c.change_no).limit(BATCH)
_FORGET_CHANGES = delete(changes).where(changes.c.change_no <= bindparam("last"))
_MEMORIES = select(memories).where(memories.c.memory_no.in_(bindparam("nos", expanding=True)))
_MEMORY_NOS = select(memories.c.memory_no, memories.c.id).where(
    memories.c.id.in_(bindparam("ids", expanding=True))
)
_MESSAGES = select(messages).where(messages.c.id.in_(bindparam("ids", expanding=True)))
_OF_RECORDS = tuple(
    select(messages).where(part.in_(bindparam("nos", expanding=True)))
    for part in (messages.c.question_no, messages.c.answer_no)
)
_OF_MEMORY = select(messages).where(messages.c.memory_no == bindparam("no"))
_LAST = (
    select(messages)
    .where(messages.c.memory_no == bindparam("no"), messages.c.trace_number.is_(None))
    .order_by(messages.c.place.desc())
    .limit(1)
)
_EARLIER = (
    select(*RECORD_COLUMNS)
    .join(scopes, scopes.c.user_no == records.c.user_no)
    .where(
        records.c.thread_id == bindparam("thread"),
        records.c.record_type == "message",
        records.c.record_no < bindparam("no"),
    )
    .order_by(records.c.record_no)
)
_PUT_MEMORY = (
    update(memories)
    .where(memories.c.memory_no == bindparam("no"))
    .values(
        {name: bindparam(f"new_{name}") for name in ("updated_at", "version", "seq_no", "deletions", "terms")}
    )
)
_PUT_MESSAGE = (
    update(messages)
    .where(messages.c.id == bindparam("key"))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in (
                "question_no",
                "answer_no",
                "parent_id",
                "trace_number",
                "updated_at",
                "version",
                "seq_no",
                "terms",
            )
        }
    )
)


@dataclass(slots=True)
class _Memory:
    no: int
    id: str
    user_no: int
    updated_at: str
    version: int
    seq_no: int
    deletions: int
    terms: bytes
    changed: bool = False


@dataclass(slots=True)
class _Message:
    id: str
    memory_no: int
    place: int
    question_no: int | None
    answer_no: int | None
    parent_id: str | None
    trace_number: int | None
    updated_at: str
    version: int
    seq_no: int
    terms: bytes
    writes: int = 0
    is_new: bool = False
    changed_at: str | None = None


@dataclass(slots=True)
class _Batch:
    """The changes of one batch, and the documents that they are about."""

    conn: Connection
    driver: Driver
    hashes: TermHashes
    memory_seq: int
    message_seq: int
    deletions: int
    rows: dict[int, Row[Any]] = field(default_factory=dict)
    memories: dict[int, _Memory] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    messages: dict[str, _Message] = field(default_factory=dict)
    by_record: dict[int, _Message] = field(default_factory=dict)
    looked_up: set[int] = field(default_factory=set)
    last: dict[int, _Message | None] = field(default_factory=dict)
    statistics: Difference = field(default_factory=Difference)

    def take(self, found: Sequence[Row[Any]]) -> None:
        """Take in changes, in order."""
        self.rows = rows_by_no(self.conn, sorted({row.record_no for row in found}))
        self._load([row.thread_id for row in self.rows.values() if row.thread_id is not None])
        self._look_up([change.record_no for change in found])
        for change in found:
            if change.kind == "delete":
                self._deleted(change)
            elif change.record_no in self.rows:
                row = self.rows[change.record_no]
                if change.record_type == "thread":
                    self._thread(row, change)
                else:
                    self._message(row, change)
        self._write()

    def _load(self, thread_ids: Iterable[str]) -> None:
        missing = sorted(set(thread_ids) - self.numbers.keys())
        for ids in slices(missing):
            self.numbers.update(
                (row.id, row.memory_no) for row in self.conn.execute(_MEMORY_NOS, {"ids": ids})
            )
        for nos in slices(sorted(set(self.numbers.values()) - self.memories.keys())):
            for row in self.conn.execute(_MEMORIES, {"nos": nos}):
                self.memories[row.memory_no] = _Memory(*row)

    def _thread(self, row: Row[Any], change: Row[Any]) -> None:
        memory = self.memories.get(row.record_no)
        if memory is not None:
            if change.kind == "update":
                self._touch(memory, _later(change.changed_at, memory.updated_at))
            return
        memory = _Memory(row.record_no, row.id, row.user_no, row.created_at, 0, 0, 0, b"")
        self.conn.execute(
            insert(memories),
            {
                "memory_no": memory.no,
                "id": memory.id,
                "user_no": memory.user_no,
                "updated_at": memory.updated_at,
                "version": 0,
                "seq_no": 0,
                "deletions": 0,
                "terms": b"",
            },
        )
        self.memories[memory.no] = memory
        self.numbers[memory.id] = memory.no
        self._touch(memory, row.created_at)
        for earlier in self.conn.execute(_EARLIER, {"thread": row.id, "no": row.record_no}):
            self.rows[earlier.record_no] = earlier
            self._new_message(earlier)

    def _touch(self, memory: _Memory, moment: str) -> None:
        memory.version += 1
        memory.seq_no = self.memory_seq
        memory.updated_at = moment
        memory.changed = True
        self.memory_seq += 1

    def _message(self, row: Row[Any], change: Row[Any]) -> None:
        if change.kind == "insert":
            self._new_message(row)
            return
        message = self._of_record(row.record_no)
        if message is not None:
            primary = message.question_no if message.question_no is not None else message.answer_no
            message.writes += row.record_no == primary
            self._changed(message, change.changed_at)

    def _new_message(self, row: Row[Any]) -> None:
        memory = self.memories.get(self.numbers.get(row.thread_id or "", -1))
        if memory is None or self._of_record(row.record_no) is not None:
            return
        owner = owner_of(row)
        if owner is not None and owner != row.id:
            message = self._by_id(owner)
            if message is not None and message.memory_no == memory.no and message.answer_no is None:
                self._answer(message, row)
                return
        elif owner is None and row.role == "assistant":
            message = self._last_of(memory.no)
            if message is not None and self._is_open(message):
                self._answer(message, row)
                return
        self._create(memory, row)

    def _is_open(self, message: _Message) -> bool:
        if message.answer_no is not None or message.question_no is None:
            return False
        if message.question_no not in self.rows:
            self.rows.update(rows_by_no(self.conn, [message.question_no]))
        row = self.rows.get(message.question_no)
        return row is not None and row.role == "user"

    def _answer(self, message: _Message, row: Row[Any]) -> None:
        message.answer_no = row.record_no
        self.by_record[row.record_no] = message
        self._changed(message, row.created_at)

    def _create(self, memory: _Memory, row: Row[Any]) -> None:
        parent, number = trace_of(metadata_of(row))
        is_answer = row.role == "assistant"
        message = _Message(
            id=row.id,
            memory_no=memory.no,
            place=row.record_no,
            question_no=None if is_answer else row.record_no,
            answer_no=row.record_no if is_answer else None,
            parent_id=parent,
            trace_number=number,
            updated_at=row.created_at,
            version=0,
            seq_no=0,
            terms=b"",
            is_new=True,
        )
        self.messages[message.id] = message
        self.by_record[row.record_no] = message
        if number is None:
            self.last[memory.no] = message
        self._touch(memory, max(row.created_at, memory.updated_at))

    def _changed(self, message: _Message, moment: str) -> None:
        message.changed_at = moment if message.changed_at is None else max(moment, message.changed_at)

    def _deleted(self, change: Row[Any]) -> None:
        if change.record_type == "thread":
            self._memory_gone(change.record_no)
            return
        message = self._of_record(change.record_no)
        if message is None:
            return
        if message.question_no == change.record_no:
            message.question_no = None
        else:
            message.answer_no = None
        self.by_record.pop(change.record_no, None)
        if message.question_no is None and message.answer_no is None:
            self._message_gone(message)
        else:
            self._changed(message, change.changed_at)

    def _memory_gone(self, memory_no: int) -> None:
        if memory_no not in self.memories:
            self.memories.update(
                (row.memory_no, _Memory(*row)) for row in self.conn.execute(_MEMORIES, {"nos": [memory_no]})
            )
        memory = self.memories.pop(memory_no, None)
        if memory is None:
            return
        for row in self.conn.execute(_OF_MEMORY, {"no": memory_no}).all():
            self._message_gone(self._known(row))
        for message in [one for one in self.messages.values() if one.memory_no == memory_no]:
            self._message_gone(message)
        self.numbers.pop(memory.id, None)
        self.statistics.replace(Counted.from_bytes(memory.terms), Counted())
        self.conn.execute(delete(memories).where(memories.c.memory_no == memory_no))
        self.memory_seq += 1
        self.deletions += 1

    def _message_gone(self, message: _Message) -> None:
        self.messages.pop(message.id, None)
        for number in (message.question_no, message.answer_no):
            self.by_record.pop(number if number is not None else -1, None)
        self.last.pop(message.memory_no, None)
        if not message.is_new:
            self.statistics.replace(Counted.from_bytes(message.terms), Counted())
            self.conn.execute(delete(messages).where(messages.c.id == message.id))
        self.message_seq += 1
        memory = self.memories.get(message.memory_no)
        if memory is not None:
            memory.deletions += 1
            memory.changed = True

    def _known(self, row: Row[Any]) -> _Message:
        message = self.messages.get(row.id)
        if message is None:
            message = self.messages[row.id] = _Message(**dict(row._mapping))
            for number in (message.question_no, message.answer_no):
                if number is not None:
                    self.by_record[number] = message
        return message

    def _by_id(self, message_id: str) -> _Message | None:
        if message_id in self.messages:
            return self.messages[message_id]
        row = self.conn.execute(_MESSAGES, {"ids": [message_id]}).first()
        return None if row is None else self._known(row)

    def _of_record(self, record_no: int) -> _Message | None:
        self._look_up([record_no])
        return self.by_record.get(record_no)

    def _look_up(self, record_nos: Iterable[int]) -> None:
        for nos in slices(sorted(set(record_nos) - self.looked_up)):
            for statement in _OF_RECORDS:
                for row in self.conn.execute(statement, {"nos": nos}):
                    self._known(row)
        self.looked_up.update(record_nos)

    def _last_of(self, memory_no: int) -> _Message | None:
        if memory_no not in self.last:
            row = self.conn.execute(_LAST, {"no": memory_no}).first()
            if row is not None:
                self._known(row)
            ours = (
                one
                for one in self.messages.values()
                if one.memory_no == memory_no and one.trace_number is None
            )
            self.last[memory_no] = max(ours, key=lambda one: one.place, default=None)
        return self.last[memory_no]

    def _write(self) -> None:
        touched = [one for one in self.messages.values() if one.is_new or one.changed_at is not None]
        wanted = {no for one in touched for no in (one.question_no, one.answer_no) if no is not None}
        self.rows.update(rows_by_no(self.conn, sorted(wanted - self.rows.keys())))
        for message in touched:
            self._settle(message)
        new = [one for one in touched if one.is_new]
        if new:
            self.conn.execute(insert(messages), [_message_row(one) for one in new])
        old = [one for one in touched if not one.is_new]
        if old:
            self.conn.execute(_PUT_MESSAGE, [_message_changes(one) for one in old])
        self._write_memories([one for one in self.memories.values() if one.changed])
        self.statistics.write(self.driver)
        write_numbers(
            self.conn,
            {
                MEMORY_SEQ: self.memory_seq,
                MESSAGE_SEQ: self.message_seq,
                MEMORY_DELETIONS: self.deletions,
            },
        )

    def _settle(self, message: _Message) -> None:
        question = self.rows.get(message.question_no or -1)
        answer = self.rows.get(message.answer_no or -1)
        if question is None and answer is None:
            return  # its records are gone again; their deletion is noted behind
        if message.is_new:
            message.version = 1
        else:
            message.version += max(1, message.writes)
            message.updated_at = _later(message.changed_at or message.updated_at, message.updated_at)
        message.seq_no = self.message_seq
        self.message_seq += 1
        memory = self.memories[message.memory_no]
        source = message_source(question, answer, memory_id=memory.id, updated_at=message.updated_at)
        message.parent_id, message.trace_number = source["parent_message_id"], source["trace_number"]
        counted = count_source(self.hashes, source)
        self.statistics.replace(Counted.from_bytes(message.terms), counted)
        message.terms = counted.to_bytes()

    def _write_memories(self, changed: Sequence[_Memory]) -> None:
        missing = {one.no for one in changed} - self.rows.keys()
        self.rows.update(rows_by_no(self.conn, sorted(missing)))
        values = []
        for memory in changed:
            row = self.rows.get(memory.no)
            if row is not None:
                source = memory_source(row, user=row.user_id, updated_at=memory.updated_at)
                counted = count_source(self.hashes, source)
                self.statistics.replace(Counted.from_bytes(memory.terms), counted)
                memory.terms = counted.to_bytes()
            values.append(
                {
                    "no": memory.no,
                    "new_updated_at": memory.updated_at,
                    "new_version": memory.version,
                    "new_seq_no": memory.seq_no,
                    "new_deletions": memory.deletions,
                    "new_terms": memory.terms,
                }
            )
        if values:
            self.conn.execute(_PUT_MEMORY, values)


def take_in(conn: Connection, driver: Driver, salt: bytes) -> int:
    """Take in the next changes; return how many there were.

    Args:
        conn: A connection in a write transaction.
        driver: The same past SQLAlchemy.
        salt: The store's own key.
    """
    found = conn.execute(_NEXT_CHANGES).all()
    if not found:
        return 0
    numbers = read_numbers(conn, (MEMORY_SEQ, MESSAGE_SEQ, MEMORY_DELETIONS))
    batch = _Batch(
        conn,
        driver,
        TermHashes(salt),
        memory_seq=numbers[MEMORY_SEQ],
        message_seq=numbers[MESSAGE_SEQ],
        deletions=numbers[MEMORY_DELETIONS],
    )
    batch.take(found)
    conn.execute(_FORGET_CHANGES, {"last": found[-1].change_no})
    return len(found)


def has_changes(conn: Connection) -> bool:
    """Return whether something was noted that is not taken in yet."""
    return conn.execute(select(changes.c.change_no).limit(1)).first() is not None


def _later(moment: str, before: str) -> str:
    # Clocks are coarse and go back; a change is after what it changes.
    return moment if moment > before else format_time(_time(before) + timedelta(microseconds=1))


def _time(stored: str) -> datetime:
    moment = parse_time(stored)
    assert moment is not None  # noqa: S101  times are stored as format_time() makes them
    return moment


def _message_row(message: _Message) -> dict[str, Any]:
    names = [column.name for column in messages.c]
    return {name: getattr(message, name) for name in names}


def _message_changes(message: _Message) -> dict[str, Any]:
    return {
        "key": message.id,
        "new_question_no": message.question_no,
        "new_answer_no": message.answer_no,
        "new_parent_id": message.parent_id,
        "new_trace_number": message.trace_number,
        "new_updated_at": message.updated_at,
        "new_version": message.version,
        "new_seq_no": message.seq_no,
        "new_terms": message.terms,
    }
