"""What the routes do: memories and messages of one caller, over AgentMemory and the documents.

Reads go to the documents, writes through the client, so that what a model is configured to extract is extracted, and
the checks that depend on what is stored are made once more inside the write transaction.
"""

from __future__ import annotations

import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Select, bindparam, func, select

from hitherto.messages import Message
from hitherto.server import envelope, problems
from hitherto.server.bodies import NewMemory, NewMessage, merged, parse_json
from hitherto.server.dsl.body import SearchBody, parse_search
from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.fields import MEMORIES, MESSAGES, IndexMapping
from hitherto.server.dsl.patience import MOST_SECONDS, patience
from hitherto.server.dsl.run import Result, run, terms_of
from hitherto.server.dsl.tree import Neural, Term
from hitherto.server.index.documents import INTERACTION, MEMORY_INDEX, MESSAGE_INDEX, metadata_of
from hitherto.server.index.reading import Reader, StoredMemory, StoredMessage
from hitherto.server.index.tables import changes, memories, messages
from hitherto.server.meaning import nearest_memories, nearest_messages
from hitherto.store.requests import RecordChanges
from hitherto.store.sql.divided import rows_by_id
from hitherto.store.sql.tables import records

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from hitherto.memory import AgentMemory
    from hitherto.server.envelope import Profile
    from hitherto.server.index.rest_index import RestIndex

T = TypeVar("T", StoredMemory, StoredMessage)

MOST_RESULTS: Final = 10_000
_TRIES: Final = 5

_PENDING: Final = (
    select(func.count())
    .select_from(changes)
    .where(changes.c.kind == "update", changes.c.record_no.in_(bindparam("nos", expanding=True)))
)
_THREAD: Final = select(records.c.record_no).where(
    records.c.id_space == "thread", records.c.id == bindparam("id")
)


class _ChangedMeanwhile(Exception):
    pass


def new_document_id() -> str:
    """Return a new id, 20 characters of URL-safe base64, later ones greater by and large.

    Examples:
        >>> len(new_document_id())
        20
    """
    stamp = (time.time_ns() // 1_000_000).to_bytes(6, "big")
    return urlsafe_b64encode(stamp + os.urandom(9)).decode("ascii")


class MemoryService:
    """The verbs of the Memory API.

    Args:
        memory: The client, over a store on SQL.
        index: The documents of its store.
        profile: Whose output is given.
    """

    def __init__(self, memory: AgentMemory, index: RestIndex, profile: Profile = "3.x") -> None:
        self.memory = memory
        self.index = index
        self.profile = profile
        self.has_llm: Final = memory._session.llm is not None

    # ------------------------------------------------------------------ memories

    def create_memory(self, new: NewMemory, caller: str | None) -> dict[str, Any]:
        """Create a memory of the caller's."""
        given = {
            "name": new.name,
            "application_type": new.application_type,
            "additional_info": new.additional_info,
        }
        metadata = {key: value for key, value in given.items() if value is not None}
        memory_id = new_document_id()
        self.memory.store.create_thread_record(memory_id, user_id=caller, metadata=metadata or None)
        return {"memory_id": memory_id}

    def get_memory(self, memory_id: str, caller: str | None) -> dict[str, Any]:
        """Return a memory."""
        with self.index.reading() as reader:
            return envelope.memory_object(_memory(reader, memory_id, caller, "get memory").document)

    def list_memories(self, caller: str | None, *, skip: int, most: int) -> dict[str, Any]:
        """Return a page of the caller's memories, the last changed first."""
        if skip + most > MOST_RESULTS:
            raise problems.window_too_large(skip + most)
        with self.index.reading() as reader:
            found = reader.memories(user=caller, skip=skip, most=most)
        return envelope.page(
            "memories", [envelope.memory_object(one.document) for one in found], skip=skip, most=most
        )

    def update_memory(self, memory_id: str, given: Mapping[str, Any], caller: str | None) -> dict[str, Any]:
        """Put a partial document over a memory."""

        def read(reader: Reader) -> StoredMemory:
            return _memory(reader, memory_id, caller, "update memory")

        def write(memory: StoredMemory) -> None:
            metadata = metadata_of(memory.record)
            if "name" in given:
                metadata["name"] = given["name"]
            _put_information(metadata, memory.document.source, given)
            sequence = select(memories.c.seq_no).where(memories.c.memory_no == memory.no)
            guard = _Guard(sequence, memory.document.seq_no, [memory.no])
            with self.index.alongside(guard.check):
                self.memory.store.update_thread_record(memory_id, metadata=metadata or None)

        document = self._retried(read, write, MEMORY_INDEX, memory_id)
        return envelope.update_result(MEMORY_INDEX, document)

    def delete_memory(self, memory_id: str, caller: str | None) -> dict[str, Any]:
        """Delete a memory with all its messages and traces."""
        with self.index.reading() as reader:
            if reader.has_memories:
                memory = reader.memory(memory_id)
                if memory is None:
                    raise problems.memory_not_found(memory_id)
                if _is_foreign(memory.record.user_id, caller):
                    raise problems.Problem(
                        404,
                        "status_exception",
                        f"Resources not found. Failed to delete the memory for {memory_id}",
                    )
        self.memory.delete_thread(memory_id)
        return {"success": True}

    # ------------------------------------------------------------------ messages

    def create_message(self, memory_id: str, new: NewMessage, caller: str | None) -> dict[str, Any]:
        """Create a message in a memory of the caller's."""
        with self.index.reading() as reader:
            if not reader.has_memories:
                raise problems.memory_not_found(memory_id)
            _memory(reader, memory_id, caller)
        message_id = new_document_id()
        thread = self.memory.get_thread(memory_id)
        with self.index.alongside(lambda conn: _check_exists(conn, memory_id)):
            thread.add_messages(_messages(message_id, new))
        return {"message_id": message_id}

    def get_message(self, message_id: str, caller: str | None) -> dict[str, Any]:
        """Return a message or trace."""
        with self.index.reading() as reader:
            if not reader.has_messages:
                raise problems.no_message_index("get message")
            message = _message(reader, message_id, caller)
        return envelope.message_object(message.document, self.profile)

    def list_messages(self, memory_id: str, caller: str | None, *, skip: int, most: int) -> dict[str, Any]:
        """Return a page of a memory's messages without traces, oldest first."""
        if skip + most > MOST_RESULTS:
            raise problems.window_too_large(skip + most)
        with self.index.reading() as reader:
            memory = _memory(reader, memory_id, caller) if reader.has_memories else None
            found = [] if memory is None else reader.messages(memory, skip=skip, most=most)
        return self._page("messages", found, skip, most)

    def list_traces(self, message_id: str, caller: str | None, *, skip: int, most: int) -> dict[str, Any]:
        """Return a page of a message's traces, in the order of their numbers."""
        if skip + most > MOST_RESULTS:
            raise problems.window_too_large(skip + most)
        with self.index.reading() as reader:
            found: list[StoredMessage] = []
            if reader.has_messages:
                found = reader.traces(_message(reader, message_id, caller), skip=skip, most=most)
        return self._page("traces", found, skip, most)

    def update_message(self, message_id: str, given: Mapping[str, Any], caller: str | None) -> dict[str, Any]:
        """Put a partial document over a message."""

        def read(reader: Reader) -> StoredMessage:
            if not reader.has_messages:
                raise problems.no_message_index("update message", called="message")
            return _message(reader, message_id, caller, updating=True)

        document = self._retried(
            read, lambda message: self._write_message(message, given), MESSAGE_INDEX, message_id
        )
        return envelope.update_result(MESSAGE_INDEX, document)

    def _write_message(self, message: StoredMessage, given: Mapping[str, Any]) -> None:
        first, response = message.first, given.get("response")
        thread = self.memory.get_thread(first.thread_id)
        metadata = metadata_of(first)
        _put_information(metadata, message.document.source, given)
        if message.answer is None and message.document.source["trace_number"] is not None:
            if response is not None:
                metadata["response"] = response
            response = None
        numbers = [row.record_no for row in (message.question, message.answer) if row is not None]
        sequence = select(messages.c.seq_no).where(messages.c.id == message.document.id)
        guard = _Guard(sequence, message.document.seq_no, numbers)
        if response is None:
            with self.index.alongside(guard.check):
                thread.update_message(first.id, metadata=metadata or None)
            return
        store, changes = self.memory.store, RecordChanges("message", first.id, metadata=metadata or None)

        def check_and_put(conn: Connection) -> None:
            # The other half of the change, in the same transaction.
            if guard.check(conn) and first is not message.answer:
                store.change_within(conn, changes)  # type: ignore[attr-defined]  # a store on SQL

        with self.index.alongside(check_and_put):
            if message.answer is None:
                guard.inserts = True
                thread.add_messages([_answer(first.id, response)])
            elif first is message.answer:
                thread.update_message(first.id, content=response, metadata=metadata or None)
            else:
                thread.update_message(message.answer.id, content=response)

    # ------------------------------------------------------------------ searches

    def search_memories(self, raw: bytes, caller: str | None) -> dict[str, Any]:
        """Search the caller's memories."""
        began = time.monotonic()
        now = self.index.now()
        body = parse_search(parse_json(raw), MEMORIES, now=now, raw=raw)

        def documents(reader: Reader) -> list[Document]:
            if not reader.has_memories:
                raise problems.no_memory_index()
            return self.index.cache.memories(reader, caller)

        near = self._neighbours(
            body, documents, lambda clause: nearest_memories(self.memory.store, self.index, clause, caller)
        )
        scope = None if caller is None else Term(field="user", value=caller)
        with self.index.reading() as reader:
            found = self._run(body, reader, documents(reader), MEMORIES, scope, near, now)
        return envelope.search_result(found, began)

    def search_messages(self, memory_id: str, raw: bytes, caller: str | None) -> dict[str, Any]:
        """Search the messages and traces of one memory of the caller's."""
        began = time.monotonic()
        now = self.index.now()
        body = parse_search(parse_json(raw), MESSAGES, now=now, raw=raw)

        def documents(reader: Reader) -> list[Document]:
            memory = _memory(reader, memory_id, caller, "get memory")
            if not reader.has_messages:
                raise problems.no_message_index()
            return self.index.cache.messages(reader, memory)

        near = self._neighbours(
            body, documents, lambda clause: nearest_messages(self.memory.store, self.index, clause, memory_id)
        )
        scope = Term(field="memory_id", value=memory_id)
        with self.index.reading() as reader:
            found = self._run(body, reader, documents(reader), MESSAGES, scope, near, now)
        return envelope.search_result(found, began)

    def _neighbours(
        self,
        body: SearchBody,
        documents: Callable[[Reader], list[Document]],
        nearest: Callable[[Neural], dict[str, float]],
    ) -> dict[Neural, dict[str, float]]:
        """Answer the clauses about meaning, which takes transactions of its own, for whoever has access."""
        clauses = [
            clause
            for part in (body.query, body.post_filter)
            if part is not None
            for clause in part.walk()
            if isinstance(clause, Neural)
        ]
        if not clauses:
            return {}
        with self.index.reading() as reader:
            documents(reader)
        return {clause: nearest(clause) for clause in clauses}

    def _run(
        self,
        body: SearchBody,
        reader: Reader,
        documents: list[Document],
        mapping: IndexMapping,
        scope: Term | None,
        near: Mapping[Neural, Mapping[str, float]],
        now: datetime,
    ) -> Result:
        statistics = self.index.statistics(reader)
        with patience(MOST_SECONDS):
            statistics.prefetch(terms_of(body, mapping, scope=scope, profile=self.profile, now=now))
            return run(
                body,
                documents,
                statistics,
                mapping=mapping,
                now=now,
                scope=scope,
                profile=self.profile,
                neural=lambda clause: near[clause],
            )

    # ------------------------------------------------------------------ the server itself

    def check(self) -> None:
        """Read something from the store.

        Raises:
            StoreError: If it cannot be read.
        """
        with self.index.reading() as reader:
            _ = reader.has_memories

    def count(self, caller: str | None) -> tuple[int | None, int | None]:
        """Return how many memories and messages the caller has; None for an index that does not exist yet."""
        with self.index.reading() as reader:
            counts = reader.count(caller)
            return (
                counts[0] if reader.has_memories else None,
                counts[1] if reader.has_messages else None,
            )

    # ------------------------------------------------------------------ helpers

    def _page(self, name: str, found: list[StoredMessage], skip: int, most: int) -> dict[str, Any]:
        objects = [envelope.message_object(one.document, self.profile) for one in found]
        return envelope.page(name, objects, skip=skip, most=most)

    def _retried(
        self, read: Callable[[Reader], T], write: Callable[[T], None], index: str, identifier: str
    ) -> Document:
        """Read and write, again while others change the document between the two; return it as it is then."""
        for _ in range(_TRIES):
            with self.index.reading() as reader:
                found = read(reader)
            try:
                write(found)
            except _ChangedMeanwhile:
                continue
            with self.index.reading() as reader:
                return read(reader).document
        raise problems.conflict(index, identifier)


@dataclass(slots=True)
class _Guard:
    """Sees inside a write transaction that a document is still what was read of it.

    Attributes:
        sequence: Selects its sequence number.
        seq_no: What that was when it was read.
        numbers: The numbers of its records.
        inserts: Whether the transaction adds a record instead of changing one.
    """

    sequence: Select[Any]
    seq_no: int
    numbers: list[int]
    inserts: bool = False

    def check(self, conn: Connection) -> bool:
        """Return whether it is this transaction that changes the document.

        Raises:
            _ChangedMeanwhile: If somebody else did since it was read.
        """
        pending = conn.execute(_PENDING, {"nos": self.numbers}).scalar_one()
        own = 0 if self.inserts else 1
        if pending < own:
            return False  # a later transaction of the same call
        if pending > own or conn.execute(self.sequence).scalar() != self.seq_no:
            raise _ChangedMeanwhile
        self.inserts = False
        return True


def _memory(reader: Reader, memory_id: str, caller: str | None, doing: str | None = None) -> StoredMemory:
    if doing is not None and not reader.has_memories:
        raise problems.no_memory_index(doing)
    found = reader.memory(memory_id)
    if found is None:
        raise problems.memory_not_found(memory_id)
    if _is_foreign(found.record.user_id, caller):
        raise problems.no_access(caller, "memory", memory_id)
    return found


def _message(reader: Reader, message_id: str, caller: str | None, *, updating: bool = False) -> StoredMessage:
    found = reader.message(message_id)
    if found is None:
        raise problems.message_not_found(message_id, updating=updating)
    if _is_foreign(found.user, caller):
        raise problems.no_access(caller, "message", message_id)
    return found


def _is_foreign(owner: str | None, caller: str | None) -> bool:
    return caller is not None and owner != caller


def _check_exists(conn: Connection, memory_id: str) -> None:
    if not rows_by_id(conn, _THREAD, {"id": memory_id}, "thread", [memory_id]):
        raise problems.memory_not_found(memory_id)


def _put_information(metadata: dict[str, Any], source: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Merge additional information; what a program keeps beside it in the metadata stays where it is."""
    if "additional_info" not in given:
        return
    new = given["additional_info"]
    own = metadata.get("additional_info")
    kept = own if isinstance(own, dict) else {}
    seen = merged(source.get("additional_info") or {}, new)
    metadata["additional_info"] = {key: value for key, value in seen.items() if key in kept or key in new}


def _messages(message_id: str, new: NewMessage) -> list[Message]:
    """Return the one or two messages that an interaction is stored as."""
    given = {
        INTERACTION: message_id,
        "prompt_template": new.prompt_template,
        "origin": new.origin,
        "additional_info": new.additional_info,
        "parent_message_id": new.parent_message_id,
        "trace_number": new.trace_number,
    }
    metadata = {key: value for key, value in given.items() if value is not None}
    if new.trace_number is not None:
        # A step on the way to an answer: nobody said it, so no memories are extracted from its halves.
        if new.response is not None:
            metadata["response"] = new.response
        return [Message("tool", new.input or "", metadata=metadata, id=message_id)]
    if new.input is None and new.response is not None:
        return [Message("assistant", new.response, metadata=metadata, id=message_id)]
    role = "system" if new.input is None else "user"
    found = [Message(role, new.input or "", metadata=metadata, id=message_id)]
    if new.response is not None:
        found.append(_answer(message_id, new.response))
    return found


def _answer(message_id: str, response: str) -> Message:
    return Message("assistant", response, metadata={INTERACTION: message_id}, id=f"{message_id}.response")
