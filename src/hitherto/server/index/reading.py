"""Reading documents: one, a page, or all that a search is about."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

from hitherto.lifetime import format_time
from hitherto.server.dsl.documents import Document
from hitherto.server.index.documents import memory_source, message_source
from hitherto.server.index.follow import MEMORY_DELETIONS, MEMORY_SEQ, MESSAGE_SEQ
from hitherto.server.index.state import read_number
from hitherto.server.index.tables import memories, messages
from hitherto.store.sql.numbers import user_number
from hitherto.store.sql.rows import rows_by_no, slices
from hitherto.store.sql.tables import records, scopes

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

MOST_CACHED: Final = 200_000
"""How many documents are kept in memory between searches."""

_LIVE: Final = or_(records.c.expires_at.is_(None), records.c.expires_at > bindparam("now"))
_FIRST_NO: Final = func.coalesce(messages.c.question_no, messages.c.answer_no)
_MEMORIES: Final = (
    select(*memories.c, records.c.expires_at)
    .join(records, records.c.record_no == memories.c.memory_no)
    .where(_LIVE)
)
_MESSAGES: Final = (
    select(*messages.c, records.c.expires_at, scopes.c.user_id)
    .join(records, records.c.record_no == _FIRST_NO)
    .join(memories, memories.c.memory_no == messages.c.memory_no)
    .join(scopes, scopes.c.user_no == memories.c.user_no)
    .where(_LIVE)
)
_NEWEST_FIRST: Final = (memories.c.updated_at.desc(), memories.c.memory_no)


def _page(statement: Select[Any], *order: ColumnElement[Any]) -> Select[Any]:
    return statement.order_by(*order).limit(bindparam("most")).offset(bindparam("skip"))


_MEMORY: Final = _MEMORIES.where(memories.c.id == bindparam("id"))
_MEMORY_PAGE: Final = _page(_MEMORIES, *_NEWEST_FIRST)
_USER_PAGE: Final = _page(_MEMORIES.where(memories.c.user_no == bindparam("user")), *_NEWEST_FIRST)
_MESSAGE: Final = _MESSAGES.where(messages.c.id == bindparam("id"))
_MESSAGE_PAGE: Final = _page(
    _MESSAGES.where(messages.c.memory_no == bindparam("no"), messages.c.trace_number.is_(None)),
    messages.c.place,
)
_TRACE_PAGE: Final = _page(
    _MESSAGES.where(messages.c.parent_id == bindparam("parent"), messages.c.memory_no == bindparam("no")),
    messages.c.trace_number,
    messages.c.place,
)
_NEWER_MESSAGES: Final = _MESSAGES.where(
    messages.c.memory_no == bindparam("no"), messages.c.seq_no > bindparam("after")
)
_NEWER_MEMORIES: Final = _MEMORIES.where(memories.c.seq_no > bindparam("after"))
_NEWER_OF_USER: Final = _NEWER_MEMORIES.where(memories.c.user_no == bindparam("user"))


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory.

    Attributes:
        no: Its number.
        record: The record of its thread, with its user's id.
        document: What REST shows of it.
    """

    no: int
    record: Row[Any]
    document: Document


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message.

    Attributes:
        memory_no: The number of its memory.
        user: The memory's user, or None.
        question: The record of its input and all but the response, or None.
        answer: The record of its response, or None.
        document: What REST shows of it.
    """

    memory_no: int
    user: str | None
    question: Row[Any] | None
    answer: Row[Any] | None
    document: Document

    @property
    def first(self) -> Row[Any]:
        """The record that the message is of: its question, or the answer where there is none."""
        row = self.question if self.question is not None else self.answer
        assert row is not None  # noqa: S101  a message without any record is not read
        return row


@dataclass(frozen=True, slots=True)
class MessagePart:
    """Which message a record is part of.

    Attributes:
        message_id: The message.
        is_question: Whether it is its question, or else its answer.
    """

    message_id: str
    is_question: bool


class Reader:
    """The documents as they are in one transaction.

    Args:
        conn: The transaction.
        now: The present time; what has expired by then is not there.
    """

    def __init__(self, conn: Connection, *, now: datetime) -> None:
        self.conn = conn
        self._now = format_time(now)

    @property
    def has_memories(self) -> bool:
        """Whether a memory was ever written."""
        return read_number(self.conn, MEMORY_SEQ) > 0

    @property
    def has_messages(self) -> bool:
        """Whether a message was ever written."""
        return read_number(self.conn, MESSAGE_SEQ) > 0

    def memory(self, memory_id: str) -> StoredMemory | None:
        """Return a memory, or None."""
        if "\0" in memory_id:
            return None  # PostgreSQL takes no such text, not even to compare it
        found = self._memories(_MEMORY, {"id": memory_id})
        return found[0] if found else None

    def memories(self, *, user: str | None, skip: int, most: int) -> list[StoredMemory]:
        """Return a page of memories, the last changed first.

        Args:
            user: Whose; None for everybody's.
            skip: How many are left out before.
            most: How many at most.
        """
        bounds = {"skip": skip, "most": most}
        if user is None:
            return self._memories(_MEMORY_PAGE, bounds)
        number = user_number(self.conn, user)
        return [] if number is None else self._memories(_USER_PAGE, {**bounds, "user": number})

    def message(self, message_id: str) -> StoredMessage | None:
        """Return a message or trace, or None."""
        if "\0" in message_id:
            return None
        found = self._messages(_MESSAGE, {"id": message_id})
        return found[0] if found else None

    def messages(self, memory: StoredMemory, *, skip: int, most: int) -> list[StoredMessage]:
        """Return a page of a memory's messages without traces, oldest first."""
        return self._messages(_MESSAGE_PAGE, {"no": memory.no, "skip": skip, "most": most})

    def traces(self, message: StoredMessage, *, skip: int, most: int) -> list[StoredMessage]:
        """Return a page of a message's traces, in the order of their numbers."""
        wanted = {"parent": message.document.id, "no": message.memory_no, "skip": skip, "most": most}
        return self._messages(_TRACE_PAGE, wanted)

    def messages_of(self, record_nos: Sequence[int]) -> dict[int, MessagePart]:
        """Return which messages records are part of, by the records' numbers."""
        found: dict[int, MessagePart] = {}
        for nos in slices(sorted(set(record_nos))):
            for column, is_question in ((messages.c.question_no, True), (messages.c.answer_no, False)):
                rows = self.conn.execute(select(column, messages.c.id).where(column.in_(nos)))
                found.update({number: MessagePart(name, is_question) for number, name in rows})
        return found

    def count(self, user: str | None) -> tuple[int, int]:
        """Return how many memories and messages there are.

        Args:
            user: Whose; None for everybody's.
        """
        number = None if user is None else user_number(self.conn, user)
        if user is not None and number is None:
            return 0, 0
        found = select(func.count()).select_from(memories)
        inside = select(func.count()).select_from(messages)
        if number is not None:
            found = found.where(memories.c.user_no == number)
            inside = inside.join(memories, memories.c.memory_no == messages.c.memory_no).where(
                memories.c.user_no == number
            )
        return self.conn.execute(found).scalar_one(), self.conn.execute(inside).scalar_one()

    def newer_messages(self, memory: StoredMemory, *, after: int) -> list[tuple[Document, str | None]]:
        """Return a memory's documents that were written after a sequence number, with the times they expire."""
        rows = self._rows(_NEWER_MESSAGES, {"no": memory.no, "after": after})
        return [(one.document, row.expires_at) for row, one in self._with_messages(rows)]

    def newer_memories(self, user_no: int | None, *, after: int) -> list[tuple[Document, str | None]]:
        """Return the memories that were written after a sequence number, with the times they expire.

        Args:
            user_no: Whose; None for everybody's.
            after: The sequence number; -1 for all.
        """
        statement = _NEWER_MEMORIES if user_no is None else _NEWER_OF_USER
        wanted = {"after": after} if user_no is None else {"after": after, "user": user_no}
        rows = self._rows(statement, wanted)
        return [(one.document, row.expires_at) for row, one in self._with_memories(rows)]

    def _rows(self, statement: Select[Any], wanted: Mapping[str, Any]) -> Sequence[Row[Any]]:
        return self.conn.execute(statement, {**wanted, "now": self._now}).all()

    def _memories(self, statement: Select[Any], wanted: Mapping[str, Any]) -> list[StoredMemory]:
        return [one for _, one in self._with_memories(self._rows(statement, wanted))]

    def _messages(self, statement: Select[Any], wanted: Mapping[str, Any]) -> list[StoredMessage]:
        return [one for _, one in self._with_messages(self._rows(statement, wanted))]

    def _with_memories(self, rows: Sequence[Row[Any]]) -> list[tuple[Row[Any], StoredMemory]]:
        found = rows_by_no(self.conn, [row.memory_no for row in rows])
        return [(row, _stored_memory(row, found[row.memory_no])) for row in rows if row.memory_no in found]

    def _with_messages(self, rows: Sequence[Row[Any]]) -> list[tuple[Row[Any], StoredMessage]]:
        wanted = {no for row in rows for no in (row.question_no, row.answer_no) if no is not None}
        found = rows_by_no(self.conn, sorted(wanted))
        made = []
        for row in rows:
            question, answer = found.get(row.question_no), found.get(row.answer_no)
            if question is not None or answer is not None:
                made.append((row, _stored_message(row, question, answer)))
        return made


def _stored_memory(row: Row[Any], record: Row[Any]) -> StoredMemory:
    source = memory_source(record, user=record.user_id, updated_at=row.updated_at)
    document = Document(id=row.id, source=source, version=row.version, seq_no=row.seq_no, order=row.memory_no)
    return StoredMemory(row.memory_no, record, document)


def _stored_message(row: Row[Any], question: Row[Any] | None, answer: Row[Any] | None) -> StoredMessage:
    first = question if question is not None else answer
    assert first is not None  # noqa: S101  the caller has looked
    source = message_source(question, answer, memory_id=first.thread_id, updated_at=row.updated_at)
    document = Document(id=row.id, source=source, version=row.version, seq_no=row.seq_no, order=row.place)
    return StoredMessage(row.memory_no, row.user_id, question, answer, document)


@dataclass(slots=True)
class _Kept:
    seq_no: int = -1
    deletions: int = -1
    documents: dict[str, tuple[Document, str | None]] = field(default_factory=dict)


class DocumentCache:
    """The documents of the memories that were searched lately, each as new as the database is.

    Args:
        limit: How many documents are kept together.
    """

    def __init__(self, limit: int = MOST_CACHED) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, int | None], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def messages(self, reader: Reader, memory: StoredMemory) -> list[Document]:
        """Return all of a memory's messages and traces, in the order in which they were written."""
        deletions = reader.conn.execute(
            select(memories.c.deletions).where(memories.c.memory_no == memory.no)
        ).scalar_one()
        kept = self._get(("messages", memory.no), deletions)
        return self._renewed(
            ("messages", memory.no), kept, reader, reader.newer_messages(memory, after=kept.seq_no)
        )

    def memories(self, reader: Reader, user: str | None) -> list[Document]:
        """Return all memories of a user, or of everybody, in the order in which they were created."""
        number = None if user is None else user_number(reader.conn, user)
        if user is not None and number is None:
            return []
        kept = self._get(("memories", number), read_number(reader.conn, MEMORY_DELETIONS))
        return self._renewed(
            ("memories", number), kept, reader, reader.newer_memories(number, after=kept.seq_no)
        )

    def _get(self, key: tuple[str, int | None], deletions: int) -> _Kept:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.deletions != deletions:
                return _Kept(deletions=deletions)
            self._kept.move_to_end(key)
            return kept

    def _renewed(
        self,
        key: tuple[str, int | None],
        kept: _Kept,
        reader: Reader,
        newer: Sequence[tuple[Document, str | None]],
    ) -> list[Document]:
        if newer or kept.seq_no < 0:
            documents = {**kept.documents, **{document.id: (document, end) for document, end in newer}}
            documents = dict(sorted(documents.items(), key=lambda item: item[1][0].order))
            last = max((document.seq_no for document, _ in newer), default=kept.seq_no)
            kept = _Kept(max(last, kept.seq_no), kept.deletions, documents)
            with self._lock:
                self._kept[key] = kept
                self._kept.move_to_end(key)
                self._evict()
        return [document for document, end in kept.documents.values() if end is None or end > reader._now]

    def _evict(self) -> None:
        total = sum(len(kept.documents) for kept in self._kept.values())
        while total > self._limit and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            total -= len(oldest.documents)
