"""The original package's own client runs over our store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hitherto import ArgumentTypeError, MemoryStore, MissingExtraError
from hitherto.compat.oracle import activate, as_oracle_store
from hitherto.compat.oracle.activation import deactivate
from hitherto.store.opening import open_store
from hitherto.testing.reference import ReferenceStore

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("original"),
]


@pytest.fixture
def original() -> Any:
    """The original package, or a skipped test."""
    return pytest.importorskip("oracleagentmemory.core", reason="the reference package is not installed")


@pytest.fixture(params=["sqlite", "reference"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStore]:
    """A store in a file, and the one in memory."""
    opened = (
        open_store(tmp_path / "memory.db", embedder=None) if request.param == "sqlite" else ReferenceStore()
    )
    yield opened
    opened.close()


@pytest.fixture
def client(original: Any, store: MemoryStore) -> Any:
    """The original's client over our store, without extraction."""
    config = original.MemoryExtractionConfig(extract_memories=False)
    return original.OracleAgentMemory(store=as_oracle_store(store), memory_extraction_config=config)


def scripted(answer: Callable[[list[str]], dict[str, Any]]) -> Any:
    """Return a language model of the original's kind that answers by the properties it is asked for."""
    from tests.unit.compat.original_llm import ScriptedLlm

    return ScriptedLlm(lambda schema, prompt: answer(list(schema.get("properties", {}))))


def learned(properties: list[str]) -> dict[str, Any]:
    """Answer with one fact, no link, and a summary."""
    if "memories" in properties:
        empty = dict.fromkeys(("id", "scope", "entities", "timestamp", "valid_to", "importance"))
        return {
            "thoughts": None,
            "memories": [{**empty, "text": "Mia lives in Lisbon", "record_type": "fact"}],
        }
    if "summary" in properties:
        return {"summary": "Mia moved.", "topics": ["moving"]}
    return {"source_resolutions": {}}


def test_threads_and_messages(client: Any, store: MemoryStore) -> None:
    """Messages are added, read, changed and deleted; a thread is opened again and deleted with them."""
    thread = client.create_thread(thread_id="t1", user_id="mia", agent_id="a1", metadata={"k": 1})
    first, second = thread.add_messages(
        [{"role": "user", "content": "I moved to Lisbon"}, {"role": "assistant", "content": "Noted."}]
    )
    assert [(one.role, one.content) for one in thread.get_messages()] == [
        ("user", "I moved to Lisbon"),
        ("assistant", "Noted."),
    ]
    thread.update_message(first, "I moved to Braga")
    assert thread.get_message(first).content == "I moved to Braga"
    thread.delete_message(second)
    assert [one.id for one in store.list("message", thread_id="t1")] == [first]
    again = client.get_thread("t1")
    assert (again.user_id, again.agent_id) == ("mia", "a1")
    client.update_thread("t1", metadata={"k": 2})
    assert [one.metadata for one in client.list_threads("mia")] == [{"k": 2}]
    assert client.delete_thread("t1") == 1
    assert store.list("thread") == store.list("message") == []
    with pytest.raises(KeyError):
        client.get_thread("t1")


def test_images_in_messages(client: Any, store: MemoryStore, original: Any) -> None:
    """A message of text and an image comes back with both, in the original's own classes."""
    from oracleagentmemory.apis.message import ImageContent, ImageMimeType, Message, TextContent

    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360000000000400011ff4e4c40000000049454e44ae426082"
    )
    thread = client.create_thread(thread_id="t1", user_id="mia")
    parts = [TextContent("my cat"), ImageContent(png, ImageMimeType.PNG, "a grey cat")]
    [message_id] = thread.add_messages([Message("user", parts)])
    content = thread.get_message(message_id).content
    assert [type(part).__module__.split(".")[0] for part in content] == ["oracleagentmemory"] * 2
    assert (content[0].text, content[1].description, content[1].mime_type) == (
        "my cat",
        "a grey cat",
        ImageMimeType.PNG,
    )
    assert [image.content for image in store.list("image")] == ["a grey cat"]


def test_memories_links_and_lifecycle(client: Any, store: MemoryStore) -> None:
    """Memories are kept and changed; a link that supersedes makes one invalid, without it it is valid again."""
    thread = client.create_thread(thread_id="t1", user_id="mia")
    new = thread.add_memory("Mia lives in Lisbon", memory_type="fact", metadata={"from": "mail"})
    old = client.add_memory("Mia lives in Porto", memory_type="fact", user_id="mia")
    link = client.link_records(new, "fact", old, "fact", "supersedes")
    assert {one.id: one.status.value for one in client.list_memories("mia")} == {new: "valid", old: "invalid"}
    [relation] = store.list_relations()
    assert (relation.id, relation.opposite_relation_type) == (link, "is_superseded_by")
    client.update_record_link(link, relation_type="supports")
    assert store.get("fact", old).status == "valid"  # type: ignore[union-attr]
    client.delete_record_link(relation_id=link)
    assert store.list_relations() == []
    client.update_memory(old, "Mia lived in Porto")
    assert client.delete_memory(new)
    assert [(one.id, one.content) for one in store.list("fact", user_id="mia")] == [
        (old, "Mia lived in Porto")
    ]


def test_searches_at_both_levels(client: Any) -> None:
    """Threads and the client find by words and scope, follow links, and name nobody else's records."""
    thread = client.create_thread(thread_id="t1", user_id="mia", agent_id="a1")
    cello = thread.add_memory("Mia plays the cello", memory_type="fact")
    teacher = thread.add_memory("Her teacher is Ana", memory_type="memory")
    client.add_memory("Bo plays the cello too", memory_type="fact", user_id="bo")
    client.link_records(cello, "fact", teacher, "memory", "supports")
    best = next(one for one in thread.search("cello", num_hops=1) if one.id == cello)
    assert [linked.id for _, linked in best.linked_results] == [teacher]
    assert "<relation_type>supports</relation_type>" in best.formatted_content
    assert {one.id for one in client.search("cello", user_id="mia")} == {cello}
    assert client.search("cello", user_id="mia", metadata_filter={"none": 1}) == []


def test_profiles(client: Any, store: MemoryStore) -> None:
    """Profiles are added, listed, and deleted with what belongs to them."""
    client.add_user("mia", "Mia is a cellist")
    client.add_agent("a1", "A helpful agent")
    client.create_thread(thread_id="t1", user_id="mia").add_memory("Mia sails")
    assert [one.id for one in client.list_users()] == ["mia"]
    assert [one.content for one in client.list_agents()] == ["A helpful agent"]
    client.delete_user("mia", cascade=True)
    assert store.list("user_profile") == store.list("memory") == store.list("thread") == []


def test_context_cards(client: Any) -> None:
    """A context card shows what the thread has."""
    thread = client.create_thread(thread_id="t1", user_id="mia")
    thread.add_messages([{"role": "user", "content": "I moved to Lisbon"}])
    card = str(thread.get_context_card())
    assert card.startswith("<context_card>")
    assert "I moved to Lisbon" in card


async def test_awaited_calls(client: Any, store: MemoryStore) -> None:
    """The asynchronous forms do the same."""
    thread = await client.create_thread_async(thread_id="t1", user_id="mia")
    await thread.add_messages_async([{"role": "user", "content": "I moved to Lisbon"}])
    assert [one.content for one in await thread.search_async("Lisbon")] == ["I moved to Lisbon"]
    assert [one.content for one in store.list("message")] == ["I moved to Lisbon"]


def test_extraction_with_links_and_summary(original: Any, store: MemoryStore) -> None:
    """The original extracts, links and summarises by a scripted model, and all of it is in our store."""
    memory = original.OracleAgentMemory(store=as_oracle_store(store), llm=scripted(learned))
    config = original.MemoryExtractionConfig(
        memory_extraction_frequency=1,
        memory_extraction_window=4,
        extraction_mode=original.MemoryExtractionMode.INLINE,
    )
    thread = memory.create_thread(thread_id="t1", user_id="mia", memory_extraction_config=config)
    thread.add_messages([{"role": "user", "content": "I moved to Lisbon"}])
    assert [(one.content, one.user_id) for one in store.list("fact")] == [("Mia lives in Lisbon", "mia")]
    assert "Mia moved." in str(thread.get_summary())
    [summary] = store.list("thread_summary")
    assert summary.content == {"text": "Mia moved.", "topics": ["moving"]}


def test_a_summary_is_made_once_and_anew_after_a_change(original: Any, store: MemoryStore) -> None:
    """A summary that covers the thread is read, not made; a changed message makes it invalid."""
    asked: list[str] = []

    def answer(properties: list[str]) -> dict[str, Any]:
        asked.extend(name for name in properties if name == "summary")
        return learned(properties)

    config = original.MemoryExtractionConfig(extraction_mode=original.MemoryExtractionMode.INLINE)
    memory = original.OracleAgentMemory(
        store=as_oracle_store(store), llm=scripted(answer), memory_extraction_config=config
    )
    thread = memory.create_thread(thread_id="t1", user_id="mia")
    [message] = thread.add_messages([{"role": "user", "content": "I moved to Lisbon"}])
    assert [str(thread.get_summary()), str(thread.get_summary())] == ["Mia moved."] * 2
    assert len(asked) == 1
    assert [one.status.value for one in store.list("thread_summary")] == ["valid"]
    thread.update_message(message, "I moved to Braga")
    assert [one.status.value for one in store.list("thread_summary")] == ["invalid"]
    assert str(thread.get_summary()) == "Mia moved."
    assert len(asked) == 2


def test_memories_expire_with_their_messages(original: Any, store: MemoryStore) -> None:
    """What was learnt from a message lives no longer than the message."""
    config = original.MemoryExtractionConfig(extraction_mode=original.MemoryExtractionMode.INLINE)
    memory = original.OracleAgentMemory(
        store=as_oracle_store(store), llm=scripted(learned), memory_extraction_config=config
    )
    thread = memory.create_thread(thread_id="t1", user_id="mia")
    [message] = thread.add_messages([{"role": "user", "content": "I moved to Lisbon"}], ttl_days=3)
    [fact] = store.list("fact")
    assert store.record_expiration("fact", fact.id) == store.record_expiration("message", message) is not None


def test_what_the_original_wrote_ours_goes_on_with(client: Any, store: MemoryStore) -> None:
    """A thread that the original began is opened and searched by our client."""
    from hitherto import AgentMemory

    client.create_thread(thread_id="t1", user_id="mia").add_messages([{"role": "user", "content": "I sail"}])
    thread = AgentMemory(store=store).get_thread("t1")
    assert [one.content for one in thread.search("sail")] == ["I sail"]


def test_a_thing_that_is_no_store_is_refused() -> None:
    """Only a store of ours is taken."""
    with pytest.raises(ArgumentTypeError, match=r"store must be a MemoryStore, got 'memory\.db'"):
        as_oracle_store("memory.db")  # type: ignore[arg-type]


def test_without_the_original_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only our own modules answer to the name, what to install is said."""
    monkeypatch.setitem(__import__("sys").modules, "oracleagentmemory", None)
    with pytest.raises(MissingExtraError, match="pip install oracleagentmemory"):
        as_oracle_store(ReferenceStore())


def test_activate_leaves_the_original_alone() -> None:
    """Where the original is installed, its name is not taken."""
    with pytest.raises(ValueError, match=r"is installed; uninstall it, or import hitherto\.compat\.oracle"):
        activate()
    deactivate()
