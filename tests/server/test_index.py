"""What the server keeps of threads and messages follows whatever is done to them, by whichever door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from tests.server.agreement import check_statistics

from hitherto import AgentMemory
from hitherto.server.bodies import NewMemory, NewMessage
from hitherto.server.index import follow, state
from hitherto.server.index.rest_index import RestIndex
from hitherto.server.index.terms import Counted, TermHashes, term_hash
from hitherto.server.service import MemoryService

WORDS = st.sampled_from(["tea", "tea time", "Green tea, please", "", "cello", "日本 tea"])
USERS = st.sampled_from(["ana", "bo", None])
ROLES = st.sampled_from(["user", "assistant", "assistant", "system", "tool"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "thread",
                "say",
                "say",
                "say",
                "change",
                "delete message",
                "delete thread",
                "erase",
                "rest memory",
                "rest message",
                "rest message",
                "rest trace",
                "rest response",
                "rest information",
                "look",
            ]
        ),
        st.integers(0, 7),
        USERS,
        st.lists(st.tuples(ROLES, WORDS), min_size=1, max_size=3),
    ),
    max_size=14,
)


class _World:
    """One file with a server's client and a program's, which knows nothing of the server."""

    def __init__(self, folder: Path, number: int) -> None:
        path = folder / f"{number}.db"
        self.program = AgentMemory(path, embedder=None, durability="normal")
        self.served = AgentMemory(path, embedder=None, durability="normal")
        self.index = RestIndex(self.served.store)
        self.service = MemoryService(self.served, self.index)
        self.threads: list[str] = []
        self.messages: list[tuple[str, str]] = []

    def close(self) -> None:
        self.program.close()
        self.served.close()

    def do(self, name: str, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        getattr(self, "_" + name.replace(" ", "_"))(number, user, said)

    def _thread_of(self, number: int) -> str | None:
        return self.threads[number % len(self.threads)] if self.threads else None

    def _message_of(self, number: int) -> tuple[str, str] | None:
        return self.messages[number % len(self.messages)] if self.messages else None

    def _thread(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        thread_id = f"t{len(self.threads)}-{number}"
        self.program.store.create_thread_record(thread_id, user_id=user, metadata={"name": said[0][1]})
        self.threads.append(thread_id)

    def _say(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        thread_id = self._thread_of(number)
        if thread_id is None or self.program.store.get_thread_record(thread_id) is None:
            return
        ids = self.program.get_thread(thread_id).add_messages(
            [{"role": role, "content": words, "metadata": {"n": number}} for role, words in said]
        )
        self.messages.extend((thread_id, message_id) for message_id in ids)

    def _change(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        known = self._message_of(number)
        if known is not None:
            self.program.store.update("message", known[1], content=said[0][1])

    def _delete_message(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        known = self._message_of(number)
        if known is not None:
            self.program.store.delete("message", known[1])

    def _delete_thread(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        thread_id = self._thread_of(number)
        if thread_id is not None:
            self.program.delete_thread(thread_id)

    def _erase(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        if user is not None:
            self.program.store.erase_user(user)

    def _rest_memory(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        new = NewMemory(said[0][1] or None, "app" if number % 2 else None, {"n": number})
        self.threads.append(self.service.create_memory(new, user)["memory_id"])

    def _new(self, number: int, new: NewMessage) -> None:
        thread_id = self._thread_of(number)
        if thread_id is not None and self.program.store.get_thread_record(thread_id) is not None:
            made = self.service.create_message(thread_id, new, None)
            self.messages.append((thread_id, made["message_id"]))

    def _rest_message(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        response = said[-1][1] if len(said) > 1 else None
        self._new(number, NewMessage(said[0][1] or None, response=response or None, origin="agent"))

    def _rest_trace(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        parent = self._message_of(number)
        if parent is not None:
            self._new(number, NewMessage("step", parent_message_id=parent[1], trace_number=number))

    def _rest_response(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        self._update(number, {"response": said[0][1] or "fine"})

    def _rest_information(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        self._update(
            number, {"additional_info": {"k": number}, **({"response": "yes"} if number % 2 else {})}
        )

    def _update(self, number: int, given: dict[str, Any]) -> None:
        known = self._message_of(number)
        if known is None:
            return
        with self.index.reading() as reader:
            before = reader.message(known[1])
        if before is None:
            return
        result = self.service.update_message(known[1], given, None)
        assert result["_version"] == before.document.version + 1
        after = self.service.get_message(known[1], None)
        assert given.items() <= {**after, "additional_info": given.get("additional_info")}.items()

    def _look(self, number: int, user: str | None, said: list[tuple[str, str]]) -> None:
        with self.index.reading() as reader:
            for thread_id in self.threads:
                memory = reader.memory(thread_id)
                if memory is not None:
                    self.index.cache.messages(reader, memory)
            self.index.cache.memories(reader, None)
            self.index.cache.memories(reader, user)


def _check(world: _World) -> None:
    with world.index.reading() as reader:
        check_statistics(world.index, reader)
        for memory in reader.memories(user=None, skip=0, most=1000):
            kept = world.index.cache.messages(reader, memory)
            fresh = [document for document, _ in reader.newer_messages(memory, after=-1)]
            assert [(one.id, one.source, one.version) for one in kept] == [
                (one.id, one.source, one.version) for one in sorted(fresh, key=lambda one: one.order)
            ]
        for user in (None, "ana", "bo"):
            kept = world.index.cache.memories(reader, user)
            listed = reader.memories(user=user, skip=0, most=1000)
            assert {one.id: one.source for one in kept} == {
                one.document.id: one.document.source for one in listed
            }


@given(programs=STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_index_follows_both_doors(programs: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """After any program of both doors the statistics are those of the documents, and what is cached is what is read."""
    world = _World(tmp_path_factory.mktemp("doors"), 0)
    try:
        for step in programs:
            world.do(*step)
        _check(world)
    finally:
        world.close()


@given(
    st.frozensets(st.integers(0, 2**48 - 1)),
    st.dictionaries(st.sampled_from(["name", "input"]), st.integers(1, 9)),
)
def test_what_a_document_was_counted_with_is_read_back(
    hashes: frozenset[int], lengths: dict[str, int]
) -> None:
    """Each number of a word takes six bytes, and is read back as it was."""
    stored = Counted(lengths, hashes).to_bytes()
    read = Counted.from_bytes(stored)
    assert (read.hashes, dict(read.lengths)) == (hashes, lengths)
    numbers = stored[len(stored) - 6 * len(hashes) :]
    assert {int.from_bytes(numbers[at : at + 6], "little") for at in range(0, len(numbers), 6)} == hashes


def test_a_word_has_its_number_by_its_field() -> None:
    """Numbers that are asked for again are those that each word of each field has for itself."""
    hashes = TermHashes(b"salt")
    for name in ("input", "response", "input"):
        assert list(hashes.of(name, ["tea", "time", "tea"])) == [
            term_hash(b"salt", name, word) for word in ("tea", "time", "tea")
        ]


def test_what_is_there_is_taken_in_as_what_comes(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that is made late, in many batches, counts what one counted that saw each write."""

    def counted(store: Any) -> list[Any]:
        with store._read() as conn:
            return [
                sorted(map(tuple, conn.execute(text(f"SELECT * FROM {name}"))))
                for name in ("rest_terms", "rest_fields")
            ] + [
                {
                    row.id: Counted.from_bytes(row.terms)
                    for row in conn.execute(text(f"SELECT id, terms FROM {name}"))
                }
                for name in ("rest_memories", "rest_messages")
            ]

    monkeypatch.setattr(state.secrets, "token_hex", lambda size: "5a" * size)
    early = RestIndex(memory.store)
    for number in range(3):
        thread = memory.create_thread(thread_id=f"t{number}", user_id="ana")
        for turn in range(4):
            said = f"tea {turn} don't {number} Größe 日本"
            thread.add_messages(
                [{"role": "user", "content": said}, {"role": "assistant", "content": said * (turn + 1)}]
            )
    with early.reading() as reader:
        check_statistics(early, reader)
    before = counted(memory.store)
    memory.store.transact(state.prepare)  # type: ignore[attr-defined]  # a store on SQL
    monkeypatch.setattr(follow, "_NEXT_CHANGES", follow._NEXT_CHANGES.limit(5))
    RestIndex(memory.store)
    assert counted(memory.store) == before
