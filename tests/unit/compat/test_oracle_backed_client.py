"""Our client works on a store of the original package: on one of ours in disguise, and on one that owes us nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from hitherto import (
    AgentMemory,
    AlreadyStoredError,
    ArgumentTypeError,
    ConflictError,
    ImageContent,
    ImageMimeType,
    InvalidArgumentError,
    MemoryExtractionConfig,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
    MemoryStore,
    Message,
    MissingExtraError,
    NotFoundError,
    PendingRecordBatch,
    RecordStatus,
    StoreError,
    TextContent,
    TimeToLiveAnchor,
)
from hitherto.compat.oracle import as_oracle_store, from_oracle_store
from hitherto.compat.oracle.conversion import plain_filter
from hitherto.filters import parse_filter
from hitherto.store.jobs import PENDING, Job
from hitherto.testing.conformance.filters import FILTERS
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import TaskLLM

pytest.importorskip("oracleagentmemory.core", reason="the reference package is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000000000400011ff4e4c40000000049454e44ae426082"
)


@pytest.fixture(params=["ours", "plain"])
def theirs(request: pytest.FixtureRequest) -> Any:
    """A store of the original's kind."""
    if request.param == "ours":
        return as_oracle_store(ReferenceStore())
    from tests.unit.compat.plain_store import PlainStore

    return PlainStore()


@pytest.fixture
def plain() -> Any:
    """The store that owes us nothing."""
    from tests.unit.compat.plain_store import PlainStore

    return PlainStore()


@pytest.fixture
def store(theirs: Any) -> MemoryStore:
    """Our store over it."""
    return from_oracle_store(theirs)


@pytest.fixture
def memory(store: MemoryStore) -> Iterator[AgentMemory]:
    """A client without a language model."""
    with AgentMemory(store=store) as client:
        yield client


def test_users_and_agents(memory: AgentMemory) -> None:
    """Profiles are kept once, listed, and deleted with what belongs to them."""
    memory.add_user("mia", "Mia is a cellist")
    memory.add_agent("a1", "A helpful agent")
    with pytest.raises(ConflictError, match=r"a user_profile with the id 'mia' exists already"):
        memory.add_user("mia", "somebody else")
    memory.create_thread(thread_id="t1", user_id="mia").add_memory("Mia sails")
    assert [(one.id, one.content) for one in memory.list_users()] == [("mia", "Mia is a cellist")]
    assert [one.content for one in memory.list_agents()] == ["A helpful agent"]
    memory.delete_user("mia", cascade=True)
    assert memory.list_users() == memory.list_memories("mia") == memory.list_threads("mia") == []


def test_threads_and_messages(memory: AgentMemory) -> None:
    """Messages are added, read, changed, deleted and searched; a thread is opened again and deleted with them."""
    thread = memory.create_thread(thread_id="t1", user_id="mia", agent_id="a1", metadata={"k": 1})
    with pytest.raises(ConflictError, match="t1"):
        memory.create_thread(thread_id="t1", user_id="bo")
    first, second = thread.add_messages(
        [{"role": "user", "content": "I moved to Lisbon"}, {"role": "assistant", "content": "Noted."}]
    )
    assert [(one.role, one.content) for one in thread.get_messages()] == [
        ("user", "I moved to Lisbon"),
        ("assistant", "Noted."),
    ]
    assert [one.content for one in thread.get_messages(start=1)] == ["Noted."]
    thread.update_message(first, "I moved to Braga")
    assert [one.content for one in thread.search("Braga", record_types=["message"])][:1] == [
        "I moved to Braga"
    ]
    thread.delete_message(second)
    again = memory.get_thread("t1")
    assert (again.user_id, again.agent_id, again.metadata) == ("mia", "a1", {"k": 1})
    memory.update_thread("t1", metadata={"k": 2})
    assert [one.metadata for one in memory.list_threads("mia")] == [{"k": 2}]
    assert memory.delete_thread("t1") == 1
    assert memory.store.list("message") == []
    with pytest.raises(NotFoundError):
        memory.get_thread("t1")


def test_the_same_message_again_is_named(memory: AgentMemory) -> None:
    """A retried request says that it was stored, and nothing is stored twice."""
    thread = memory.create_thread(thread_id="t1", user_id="mia")
    thread.add_messages([{"role": "user", "content": "I sail", "id": "m1"}])
    with pytest.raises(AlreadyStoredError, match="m1"):
        thread.add_messages([{"role": "user", "content": "I sail", "id": "m1"}])
    with pytest.raises(ConflictError, match="m1"):
        thread.add_messages([{"role": "user", "content": "I row", "id": "m1"}])
    assert [one.content for one in thread.get_messages()] == ["I sail"]


def test_images(memory: AgentMemory) -> None:
    """Images alone and in messages come back with their bytes, and change."""
    thread = memory.create_thread(thread_id="t1", user_id="mia")
    parts = [TextContent("my cat"), ImageContent(PNG, ImageMimeType.PNG, "a grey cat")]
    [message_id] = thread.add_messages([Message("user", parts)])
    text, image = thread.get_message(message_id).content
    assert (text.text, image.description, image.mime_type) == ("my cat", "a grey cat", ImageMimeType.PNG)  # type: ignore[union-attr]
    alone = memory.add_image(PNG, "a red bicycle", user_id="mia", metadata={"album": "street"})
    memory.update_image(alone, description="a green bicycle")
    [found] = memory.list_images(alone, user_id="mia", include_bytes=True)
    assert (found.content, found.bytes, found.metadata) == ("a green bicycle", PNG, {"album": "street"})
    assert {one.content for one in memory.list_images(user_id="mia")} == {"a grey cat", "a green bicycle"}
    assert memory.delete_image(alone) == 1


def test_memories_links_and_lifecycle(memory: AgentMemory) -> None:
    """A link that supersedes makes a memory invalid; of another kind, or gone, it is valid again."""
    thread = memory.create_thread(thread_id="t1", user_id="mia")
    new = thread.add_memory("Mia lives in Lisbon", memory_type="fact", metadata={"from": "mail"})
    old = memory.add_memory("Mia lives in Porto", memory_type="fact", user_id="mia")
    link = memory.link_records(new, "fact", old, "fact", "supersedes")

    def valid() -> dict[str, bool]:
        return {one.id: one.status is RecordStatus.VALID for one in memory.list_memories("mia")}

    assert valid() == {new: True, old: False}
    with pytest.raises(ConflictError, match="exists already"):
        memory.link_records(old, "fact", new, "fact", "supports")
    memory.update_record_link(link, relation_type="supports")
    [relation] = memory.store.list_relations()
    assert (relation.relation_type, relation.opposite_relation_type) == ("supports", "is_supported_by")
    assert valid() == {new: True, old: True}
    best = next(one for one in memory.search("Lisbon", user_id="mia", num_hops=1) if one.id == new)
    assert [linked.id for _, linked in best.linked_results] == [old]
    memory.update_record_link(link, relation_type="refines")
    memory.delete_record_link(relation_id=link)
    assert valid() == {new: True, old: True}
    memory.update_memory(old, "Mia lived in Porto", metadata={"k": 1})
    memory.delete_memory(new)
    assert [(one.content, one.metadata) for one in memory.list_memories("mia")] == [
        ("Mia lived in Porto", {"k": 1})
    ]


def test_searches_at_both_levels(memory: AgentMemory) -> None:
    """Scope, types and metadata restrict; nobody else's records are named."""
    thread = memory.create_thread(thread_id="t1", user_id="mia", agent_id="a1")
    cello = thread.add_memory("Mia plays the cello", memory_type="fact", metadata={"k": 1})
    memory.add_memory("Bo plays the cello too", memory_type="fact", user_id="bo")
    assert [one.id for one in thread.search("cello")] == [cello]
    assert [one.id for one in memory.search("cello", user_id="mia", metadata_filter={"k": 1})] == [cello]
    assert memory.search("cello", user_id="mia", metadata_filter={"k": 2}) == []
    assert memory.search("cello", user_id="mia", record_types=["preference"]) == []
    assert memory.search("cello", user_id="mia", explain=True)[0].explanation is not None
    with pytest.raises(InvalidArgumentError, match=r"unknown operator '\$gt'"):
        memory.search("cello", user_id="mia", metadata_filter={"k": {"$gt": 1}})


def test_extraction_links_summary_and_card(store: MemoryStore) -> None:
    """A scripted model's memories are stored with their source, linked, summarised, and shown in a card."""

    def link(messages: list[dict[str, Any]]) -> dict[str, Any]:
        text = messages[-1]["content"]
        source, target = (text.split(f'<{tag} id="')[1].split('"')[0] for tag in ("new_memory", "candidate"))
        links = [{"target_memory_id": target, "link_type": "supersedes"}]
        return {"source_resolutions": {source: {"updated_source_memory_text": None, "links": links}}}

    model = TaskLLM(
        extract={"memories": [{"text": "Mia lives in Lisbon", "record_type": "fact"}]},
        link=link,
        summarise={"summary": "Mia moved.", "topics": ["moving"]},
    )
    config = MemoryExtractionConfig(
        memory_extraction_frequency=1,
        extraction_mode=MemoryExtractionMode.INLINE,
        memory_link_extraction_mode=MemoryLinkExtractionMode.POST_EXTRACTION,
    )
    with AgentMemory(store=store, llm=model, memory_extraction_config=config) as memory:
        old = memory.add_memory("Mia lives in Porto", memory_type="fact", user_id="mia", agent_id="a1")
        thread = memory.create_thread(thread_id="t1", user_id="mia", agent_id="a1")
        thread.add_messages([{"role": "user", "content": "I moved to Lisbon"}])
        found = {one.content: one.status.value for one in memory.list_memories("mia")}
        assert found == {"Mia lives in Lisbon": "valid", "Mia lives in Porto": "invalid"}
        assert [one.target_record_id for one in store.list_relations()] == [old]
        assert "Mia moved." in str(thread.get_summary())
        assert "Mia lives in Lisbon" in str(thread.get_context_card())
        thread.add_messages([{"role": "user", "content": "And I sail"}])
        assert "Mia moved." in str(thread.get_summary())


def test_work_in_the_background_is_done_before_closing(store: MemoryStore) -> None:
    """A job that waits is finished when the client is closed, though nothing keeps it beyond the process."""
    model = TaskLLM(extract={"memories": [{"text": "Mia sails", "record_type": "fact"}]}, delay_s=0.05)
    config = MemoryExtractionConfig(
        memory_extraction_frequency=1, extraction_mode=MemoryExtractionMode.BACKGROUND
    )
    with AgentMemory(store=store, llm=model, memory_extraction_config=config) as memory:
        memory.create_thread(user_id="mia").add_messages([{"role": "user", "content": "I sail"}])
    assert [one.content for one in store.list("fact")] == ["Mia sails"]
    assert store.read_jobs(lambda table: table.count(states=PENDING)) == 0


async def test_awaited_calls(memory: AgentMemory) -> None:
    """The asynchronous forms do the same."""
    thread = await memory.create_thread_async(thread_id="t1", user_id="mia")
    await thread.add_messages_async([{"role": "user", "content": "I moved to Lisbon"}])
    assert [one.content for one in await thread.search_async("Lisbon")] == ["I moved to Lisbon"]


def test_expiry_is_the_other_stores(plain: Any) -> None:
    """Days to live go there as they came, and what it hides is gone."""
    with AgentMemory(store=from_oracle_store(plain)) as memory:
        memory.add_memory("tea", user_id="mia", memory_id="m1", ttl_days=2)
        memory.add_memory(
            "cake",
            user_id="mia",
            memory_id="m2",
            timestamp="2026-01-01T00:00:00+00:00",
            ttl_days=9,
            ttl_anchor=TimeToLiveAnchor.TIMESTAMP,
        )
        memory.update_memory("m2", ttl_days=5)
        assert memory.store.record_expiration("memory", "m1") == plain.now + timedelta(days=2)
        plain.now += timedelta(days=2)
        assert [one.id for one in memory.list_memories("mia")] == ["m2"]
        # A store may forget the zone.
        plain._get_record_expiration = lambda *key: datetime(2026, 1, 9)
        assert memory.store.record_expiration("memory", "m2") == datetime(2026, 1, 9, tzinfo=timezone.utc)
        with pytest.raises(InvalidArgumentError, match="ttl must be whole days"):
            memory.add_memory("tea", user_id="mia", ttl_days=0.5)


def test_memories_are_listed_by_their_timestamps(plain: Any) -> None:
    """Of all types together the newest are those with the latest times; a page ends before its first."""
    store = from_oracle_store(plain)
    for day, kind in (("03", "fact"), ("01", "memory"), ("02", "preference")):
        store.add([kind], kind, record_ids=day, timestamps=f"2026-01-{day}")
    assert [one.id for one in store.list_memories(limit=2)] == ["02", "03"]
    assert [one.id for one in store.list_memories(limit=2, before="02")] == ["01"]
    with pytest.raises(NotFoundError, match="before must be the id of a memory in this list, got 'x'"):
        store.list_memories(before="x")


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_a_filter_is_written_as_it_was_read(wanted: dict[str, Any]) -> None:
    """What the other store gets means the same."""
    assert parse_filter(plain_filter(parse_filter(wanted))) == parse_filter(wanted)


def test_what_it_cannot_do_says_what_to_do_instead(plain: Any) -> None:
    """Erasing and purging are errors that name the store."""
    store = from_oracle_store(plain)
    with pytest.raises(StoreError, match=r"\(PlainStore\) cannot erase a user .* cascade=True"):
        store.erase_user("mia")
    with pytest.raises(StoreError, match=r"\(PlainStore\) cannot purge what has expired"):
        store.purge_expired()


def test_a_failing_database_is_a_store_error(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its driver raises is the cause."""

    def fails(*args: Any, **kwargs: Any) -> None:
        raise OSError("the listener is down")

    monkeypatch.setattr(plain, "search", fails)
    with pytest.raises(StoreError, match="PlainStore failed: the listener is down") as caught:
        from_oracle_store(plain).search("tea")
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize(
    ("error", "expected"), [(KeyError("x"), NotFoundError), (TypeError("x"), ArgumentTypeError)]
)
def test_its_errors_become_ours(
    error: Exception, expected: type[Exception], plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller catches the same errors on every store."""

    def fails(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr(plain, "get", fails)
    with pytest.raises(expected, match="x"):
        from_oracle_store(plain).get("fact", "f1")


def test_a_refused_write_leaves_no_job(plain: Any) -> None:
    """Records and jobs go together: what is refused leaves no job, and what a job refuses is not stored."""
    store = from_oracle_store(plain)
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    job = Job(
        thread_id="t1", id="j1", kind="extract", user_id=None, payload={}, created_at=now, updated_at=now
    )

    def refuse(table: Any) -> None:
        raise LookupError("no")

    def batch(record_id: str) -> PendingRecordBatch:
        return PendingRecordBatch(contents=["tea"], record_type="fact", record_ids=record_id, user_ids="mia")

    store.add_batches([batch("f1")])
    with pytest.raises(AlreadyStoredError):
        store.add_batches([batch("f1")], also=lambda table: table.put(job))
    with pytest.raises(LookupError):
        store.add_batches([batch("f2")], also=refuse)
    assert store.update("fact", "absent", content="x", also=lambda table: table.put(job)) == 0
    assert store.read_jobs(lambda table: table.count(states=PENDING)) == 0
    assert [one.id for one in store.list("fact")] == ["f1"]
    assert store.update("fact", "f1", also=lambda table: table.put(job)) == 1
    assert store.read_jobs(lambda table: table.get("j1")) == job


def test_a_thing_that_is_no_store_of_theirs_is_refused() -> None:
    """Only a store of the original is taken."""
    with pytest.raises(
        ArgumentTypeError, match="must be an OracleMemoryStore of the package oracleagentmemory"
    ):
        from_oracle_store(ReferenceStore())  # type: ignore[arg-type]


def test_without_the_original_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said."""
    monkeypatch.setitem(__import__("sys").modules, "oracleagentmemory", None)
    with pytest.raises(MissingExtraError, match=r"from_oracle_store\(\) needs the original package"):
        from_oracle_store(object())  # type: ignore[arg-type]
