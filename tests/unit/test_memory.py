"""The client: threads, memories, links, searches and closing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hitherto import AgentMemory, MemoryExtractionConfig, Message, RecordStatus, SearchScope
from hitherto.errors import ArgumentTypeError, ClosedError, ConflictError, InvalidArgumentError, NotFoundError
from hitherto.testing.reference import ReferenceStore


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgentMemory]:
    """Return a client on an empty file, without an embedder."""
    with AgentMemory(tmp_path / "memory.db", embedder=None) as client:
        yield client


def test_a_path_or_a_store_is_needed() -> None:
    """Neither or both is refused; store options belong to a path."""
    with pytest.raises(InvalidArgumentError, match="neither"):
        AgentMemory()
    with pytest.raises(InvalidArgumentError, match="both"):
        AgentMemory("x.db", store=ReferenceStore())
    with pytest.raises(InvalidArgumentError, match="durability"):
        AgentMemory(store=ReferenceStore(), durability="normal")


def test_a_conversation_survives_the_client(tmp_path: Path) -> None:
    """What one client stored, the next one on the same file returns and finds."""
    path = tmp_path / "memory.db"
    with AgentMemory(path, embedder=None) as first:
        thread = first.create_thread(thread_id="t", user_id="mia", agent_id="desk", metadata={"k": 1})
        made = thread.add_messages([{"role": "user", "content": "Otto hates the tram bell"}])
    with AgentMemory(path, embedder=None) as second:
        again = second.get_thread("t")
        assert (again.user_id, again.agent_id, again.metadata) == ("mia", "desk", {"k": 1})
        assert again.get_messages() == [
            Message("user", "Otto hates the tram bell", again.get_messages()[0].timestamp)
        ]
        assert [result.id for result in second.search("tram", user_id="mia")] == made
        assert second.search("tram", user_id="other") == []


def test_threads_get_ids_and_keep_them(memory: AgentMemory) -> None:
    """Omitted ids are made once and stored; None and "" are refused."""
    thread = memory.create_thread()
    again = memory.get_thread(thread.thread_id)
    assert (again.user_id, again.agent_id) == (thread.user_id, thread.agent_id)
    bad: Any
    for bad in (None, "", "x" * 129):
        with pytest.raises(InvalidArgumentError, match="user_id"):
            memory.create_thread(user_id=bad)
    with pytest.raises(ConflictError):
        memory.create_thread(thread_id=thread.thread_id)


@pytest.mark.parametrize("name", ["zz", "", None, 5])
def test_an_unknown_thread_is_named(memory: AgentMemory, name: Any) -> None:
    """What names no thread is not found; deleting it returns 0."""
    with pytest.raises(NotFoundError):
        memory.get_thread(name)
    with pytest.raises(NotFoundError):
        memory.update_thread(name, {"a": 1})
    assert memory.delete_thread(name) == 0


def test_update_thread_changes_only_what_is_given(memory: AgentMemory) -> None:
    """Metadata and settings are changed one by one and stored."""
    memory.create_thread(thread_id="t", metadata={"k": 1})
    assert memory.update_thread("t", max_message_token_length=77).metadata == {"k": 1}
    assert memory.get_thread("t").max_message_token_length == 77
    assert memory.update_thread("t", None).metadata is None
    assert memory.get_thread("t").max_message_token_length == 77


def test_deleting_a_thread_deletes_its_content(memory: AgentMemory) -> None:
    """Messages and memories of the thread go with it."""
    thread = memory.create_thread(thread_id="t", user_id="u")
    thread.add_messages([Message("user", "tea")])
    thread.add_memory("tea")
    assert memory.delete_thread("t") == 1
    assert memory.search("tea", user_id="u") == []
    assert memory.list_messages(user_id="u") == []


def test_a_link_takes_the_scope_of_its_target(memory: AgentMemory) -> None:
    """A linked memory is filed where the earlier one is, and the earlier one is superseded."""
    old = memory.add_memory("Mia drinks coffee", user_id="mia", agent_id="desk")
    new = memory.add_memory("Mia drinks tea", memory_id_to_link=old, link_type="supersedes")
    records = {record.id: record for record in memory.list_memories(user_id="mia")}
    assert records[new].agent_id == "desk"
    assert records[old].status is RecordStatus.INVALID
    found = memory.search("coffee", user_id="mia", include_invalid_results=False)
    assert old not in [result.id for result in found]


@pytest.mark.parametrize(
    "arguments",
    [
        {"memory_type": "note"},
        {"memory_type": None},
        {"memory_id_to_link": "x"},
        {"link_type": "supports"},
        {"link_id": "l"},
        {"memory_id_to_link": "x", "link_type": "is_superseded_by"},
    ],
)
def test_bad_arguments_of_add_memory_store_nothing(memory: AgentMemory, arguments: dict[str, Any]) -> None:
    """A wrong type or half a link is refused before anything is stored."""
    with pytest.raises(InvalidArgumentError):
        memory.add_memory("text", **arguments)
    with pytest.raises(NotFoundError):
        memory.add_memory("text", memory_id_to_link="absent", link_type="supports")
    assert memory.list_memories() == []


@pytest.mark.parametrize("content", ["", "  ", None, 5])
def test_blank_memories_are_refused(memory: AgentMemory, content: Any) -> None:
    """A memory says something."""
    with pytest.raises(InvalidArgumentError, match="content"):
        memory.add_memory(content)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user_id", ["u"]),
        ("memory_id", ["m"]),
        ("metadata", [{"a": 1}]),
        ("timestamp", ["2026-01-01"]),
        ("ttl_days", [3]),
        ("status", [RecordStatus.VALID]),
    ],
)
def test_a_list_is_no_value_of_one_memory(memory: AgentMemory, name: str, value: Any) -> None:
    """One memory has one value of each kind; the error names the argument as the caller wrote it."""
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
        memory.add_memory("text", **{name: value})
    assert memory.list_memories() == []


def test_a_memory_without_its_link_is_not_kept(memory: AgentMemory) -> None:
    """When the link that was asked for cannot be made, the memory is not stored either."""
    for name in ("a", "b"):
        memory.add_memory(name, memory_id=name)
    memory.link_records("a", "memory", "b", "memory", "supports", relation_id="taken")
    with pytest.raises(ConflictError):
        memory.add_memory("c", memory_id_to_link="a", link_type="refines", link_id="taken")
    assert [record.id for record in memory.list_memories()] == ["a", "b"]


def test_memories_are_listed_by_age_whatever_their_type(memory: AgentMemory) -> None:
    """A limit keeps the newest of all types together; a limit of 0 keeps none."""
    for number, kind in enumerate(("preference", "fact", "memory", "guideline")):
        memory.add_memory("text", memory_type=kind, memory_id=str(number), user_id="u")  # type: ignore[arg-type]  # all four are
    assert [record.id for record in memory.list_memories("u")] == ["0", "1", "2", "3"]
    assert [record.id for record in memory.list_memories("u", limit=2)] == ["2", "3"]
    assert memory.list_memories("u", limit=0) == []


def test_extraction_is_off_and_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    """Without a language model the client works and says so once; what is none is refused by name."""
    with (
        caplog.at_level(logging.INFO, "hitherto"),
        AgentMemory(":memory:", embedder=None, llm=None) as memory,
    ):
        memory.create_thread(user_id="u").add_messages([Message("user", "tea")])
    assert len([line for line in caplog.messages if "language model" in line]) == 1
    for name in ("llm", "memory_extraction_config", "pruner_llm", "image_input_limit_config"):
        with pytest.raises(ArgumentTypeError, match="must be"):
            AgentMemory(":memory:", embedder=None, **{name: object()})


def test_a_thread_without_user_or_agent_keeps_none(memory: AgentMemory) -> None:
    """A stored thread that belongs to nobody belongs to nobody whenever it is loaded."""
    memory.store.create_thread_record("t", None, None, None, {})
    assert (memory.get_thread("t").user_id, memory.get_thread("t").agent_id) == (None, None)
    assert [record.id for record in memory.list_threads(None)] == ["t"]


def test_links_of_the_client(memory: AgentMemory) -> None:
    """Links are made, changed and deleted; ends must be memories that are there."""
    for name in ("a", "b"):
        memory.add_memory(name, memory_id=name)
    link = memory.link_records("a", "memory", "b", "memory", "supports")
    assert memory.update_record_link(link, metadata={"w": 1}) == 1
    assert memory.update_record_link("absent", metadata={}) == 0
    with pytest.raises(NotFoundError):
        memory.link_records("a", "fact", "b", "memory", "supports")
    with pytest.raises(InvalidArgumentError):
        memory.link_records("a", "message", "b", "memory", "supports")
    with pytest.raises(InvalidArgumentError, match="relation_id"):
        memory.delete_record_link("a", "memory")
    assert memory.delete_record_link("a", "memory", "b", "memory", "supports") == 1
    assert memory.delete_record_link(relation_id=link) == 0


def test_search_reads_scope_from_keywords_or_one_value(memory: AgentMemory) -> None:
    """Both forms find the same; both at once are refused, and so is no user."""
    memory.add_memory("tea", user_id="u", memory_id="m")
    assert [item.id for item in memory.search("tea", scope=SearchScope("u"))] == ["m"]
    with pytest.raises(InvalidArgumentError, match="scope"):
        memory.search("tea", scope=SearchScope("u"), user_id="u")
    with pytest.raises(InvalidArgumentError, match="user_id"):
        memory.search("tea")


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": " "},
        {"max_results": 0},
        {"max_results": 1001},
        {"record_types": "fact"},
        {"record_types": ["rumour"]},
        {"num_hops": 6},
        {"metadata_filter": {"a": {"$gt": 1}}},
        {"token_budget": "many"},
    ],
)
def test_bad_searches_are_refused(memory: AgentMemory, arguments: dict[str, Any]) -> None:
    """A wrong argument of a search is an error, not an empty result."""
    with pytest.raises((ValueError, TypeError)):
        memory.search(**{"query": "tea", "user_id": "u", **arguments})


def test_everything_after_close_is_the_same_error(memory: AgentMemory) -> None:
    """After close every method of client and thread raises ClosedError; closing again does nothing."""
    thread = memory.create_thread(thread_id="t")
    memory.close()
    memory.close()
    calls = [
        lambda: memory.create_thread(),
        lambda: memory.get_thread("t"),
        lambda: memory.delete_thread("t"),
        lambda: memory.add_memory("x"),
        lambda: memory.delete_memory("x"),
        lambda: memory.add_user("u", "x"),
        lambda: memory.delete_user("u"),
        lambda: memory.search("x", user_id="u"),
        lambda: memory.list_memories(),
        lambda: memory.wait_for_memory_extraction(),
        lambda: thread.add_messages([Message("user", "x")]),
        lambda: thread.get_messages(),
        lambda: thread.search("x"),
    ]
    for call in calls:
        with pytest.raises(ClosedError):
            call()


def test_the_twins_and_the_asynchronous_context_manager(tmp_path: Path) -> None:
    """The client works under asyncio, with the same results."""

    async def program() -> list[str]:
        async with AgentMemory(tmp_path / "a.db", embedder=None) as memory:
            thread = await memory.create_thread_async(user_id="u")
            made = await thread.add_messages_async([Message("user", "green tea")])
            found = await memory.search_async("tea", user_id="u")
            assert [item.id for item in found] == made
            return [item.content for item in await thread.search_async("tea")]

    assert asyncio.run(program()) == ["green tea"]


def test_errors_never_name_what_is_stored_of_others(
    memory: AgentMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """A thread cannot reach, change or delete another thread's message, and learns nothing of it."""
    caplog.set_level(logging.DEBUG)
    mine = memory.create_thread(thread_id="mine", user_id="u1")
    other = memory.create_thread(thread_id="other", user_id="u2")
    (foreign,) = other.add_messages([Message("user", "the secret")])
    for call in (lambda: mine.get_message(foreign), lambda: mine.update_message(foreign, "x")):
        with pytest.raises(NotFoundError) as caught:
            call()
        assert "secret" not in str(caught.value)
    assert mine.delete_message(foreign) == 0
    assert "secret" not in caplog.text


@pytest.mark.parametrize("call", ["create_thread", "get_thread", "update_thread"])
def test_extraction_of_a_thread_needs_a_model(memory: AgentMemory, call: str) -> None:
    """What asks for extraction without a model is refused, and an unknown argument is a TypeError."""
    memory.create_thread(thread_id="t")
    method = getattr(memory, call)
    arguments: dict[str, Any] = {} if call == "create_thread" else {"thread_id": "t"}
    wanted = MemoryExtractionConfig(extract_memories=True)
    with pytest.raises(InvalidArgumentError, match="language model"):
        method(**arguments, memory_extraction_config=wanted)
    with (
        pytest.raises(InvalidArgumentError, match="extract_memories"),
        pytest.warns(DeprecationWarning, match="MemoryExtractionConfig"),
    ):
        method(**arguments, extract_memories=True)
    with pytest.raises(InvalidArgumentError, match="beside"):
        method(**arguments, memory_extraction_config=wanted, extract_memories=True)
    with pytest.raises(TypeError, match="colour"):
        method(**arguments, colour="red")
    method(**arguments, llm=None, memory_extraction_config=MemoryExtractionConfig(extract_memories=False))
