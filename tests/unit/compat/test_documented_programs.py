"""What the original's documentation shows to work does so here; each program runs on both packages.

Retold from the examples of its methods, of its page in the package index, and of the notebooks published with it. What
needs an Oracle database's own models and policies, or a provider, is left out.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hitherto.compat.oracle import as_oracle_store
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder

pytest.importorskip("oracleagentmemory.core", reason="the reference package is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000000000400011ff4e4c40000000049454e44ae426082"
)
UNSAID = dict.fromkeys(("id", "scope", "entities", "timestamp", "valid_to", "importance"))


@dataclass(frozen=True)
class Package:
    """One of the two packages, and a store of it.

    Attributes:
        name: What its modules' names begin with.
        store: The store under its client.
        where: What stands in a program in place of the pool of connections.
    """

    name: str
    store: Any
    where: dict[str, Any]

    def __call__(self, module: str) -> Any:
        """Import a module."""
        return importlib.import_module(f"{self.name}.{module}")

    def client(self, **options: Any) -> Any:
        """Return a client that does not extract, unless the options have a model."""
        core = self("core")
        if "llm" not in options:
            options["memory_extraction_config"] = core.MemoryExtractionConfig(extract_memories=False)
        return core.OracleAgentMemory(**self.where, **options)

    def llm(self, *facts: str) -> Any:
        """Return a language model as a program writes one, which finds these facts in whatever it reads."""
        base: Any = self("apis.llms.llm")

        class Model(base.ILlm):  # type: ignore[misc]  # a class of either package
            def generate(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> Any:
                wanted = (response_json_schema or {}).get("properties", {})
                if "memories" in wanted:
                    found = [{**UNSAID, "text": fact, "record_type": "fact"} for fact in facts]
                    return base.LlmResponse(text=json.dumps({"thoughts": None, "memories": found}))
                if "summary" in wanted:
                    return base.LlmResponse(
                        text=json.dumps({"summary": "Damage, a screen, updates.", "topics": ["orders"]})
                    )
                return base.LlmResponse(text=json.dumps({"source_resolutions": {}}))

            async def generate_async(self, *args: Any, **kwargs: Any) -> Any:
                return self.generate(*args, **kwargs)

        return Model()


@pytest.fixture(params=["oracleagentmemory", "hitherto.compat.oracle"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Package]:
    """The original over our store in memory, and ours on a file."""
    if request.param == "oracleagentmemory":
        store = as_oracle_store(ReferenceStore())
        yield Package(request.param, store, {"store": store})
        return
    core = importlib.import_module(f"{request.param}.core")
    policy = core.SchemaPolicy.CREATE_IF_NECESSARY
    with core.OracleDBMemoryStore(embedder=None, pool=tmp_path / "memory.db", schema_policy=policy) as store:
        yield Package(request.param, store, {"connection": tmp_path / "memory.db"})


@pytest.fixture
def memory(package: Package) -> Iterator[Any]:
    """A client without extraction."""
    client = package.client()
    yield client
    client.close()


def ids(found: Any) -> list[str]:
    """Return the ids of records or results."""
    return [one.id for one in found]


def test_the_first_program(package: Package) -> None:
    """A conversation is kept and learnt from, a memory is added by hand, and both are found in the user's scope."""
    scope = package("apis.searchscope").SearchScope
    memory = package.client(llm=package.llm("The user drinks orange juice at breakfast."))
    thread = memory.create_thread(user_id="user_1")
    thread.add_messages(
        [
            {"role": "user", "content": "I have orange juice every morning. What goes with it?"},
            {"role": "assistant", "content": "Toast, or eggs."},
        ]
    )
    thread.add_memory("The user likes orange juice with toast.")
    memory.wait_for_memory_extraction(timeout=30)
    found = memory.search(query="orange juice", scope=scope(user_id="user_1"))
    assert {result.record.record_type for result in found} >= {"message", "memory", "fact"}
    assert all("orange juice" in result.content for result in found if result.record.record_type != "message")
    assert memory.search(query="orange juice", scope=scope(user_id="user_2")) == []
    memory.close()


def test_words_need_no_embedder(tmp_path: Path) -> None:
    """A store for words is opened here with the original's options; there it takes a database."""
    from hitherto.compat.oracle.core import (
        OracleAgentMemory,
        OracleDBMemoryStore,
        SchemaPolicy,
        SearchIndexSyncMode,
        SearchStrategy,
    )

    store = OracleDBMemoryStore(
        embedder=None,
        pool=tmp_path / "memory.db",
        schema_policy=SchemaPolicy.CREATE_IF_NECESSARY,
        memory_store_id="DEMO",
        search_strategy=SearchStrategy.KEYWORD,
        search_index_sync=SearchIndexSyncMode.ON_COMMIT,
    )
    with OracleAgentMemory(store=store, extract_memories=False) as memory:
        memory.add_memory("Invoice INV-7 is paid", memory_type="fact", user_id="u1")
        assert [one.content for one in memory.search("INV-7", user_id="u1")] == ["Invoice INV-7 is paid"]
    store.close()


def test_users_and_agents(memory: Any) -> None:
    """Profiles are added under their ids, listed by metadata, and deleted one by one."""
    assert memory.add_user("u1", "Wants short answers.", metadata={"source": "crm"}) == "u1"
    assert memory.add_agent("a1", "Support assistant", metadata={"source": "catalog"}) == "a1"
    assert ids(memory.list_users(metadata_filter={"source": "crm"}, limit=10)) == ["u1"]
    assert ids(memory.list_agents(metadata_filter={"source": "catalog"})) == ["a1"]
    assert memory.list_users(metadata_filter={"source": "web"}) == []
    assert (memory.delete_user("u1"), memory.delete_agent("a1")) == (1, 1)


def test_threads(memory: Any) -> None:
    """A thread is created, listed, opened again, changed for good, and deleted."""
    assert memory.create_thread(thread_id="c1", user_id="u1").thread_id == "c1"
    assert [record.thread_id for record in memory.list_threads(user_id="u1", limit=10)] == ["c1"]
    assert memory.get_thread("c1").user_id == "u1"
    changed = memory.update_thread(
        "c1", metadata={"flags": {"vip": True}}, message_shortening_input_token_limit=12_000
    )
    assert changed.message_shortening_input_token_limit == 12_000
    assert memory.get_thread("c1").metadata == {"flags": {"vip": True}}
    assert memory.delete_thread("c1") == 1


def test_messages(memory: Any) -> None:
    """Messages are added as dicts, read from thread and client, changed and deleted."""
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    [message_id] = thread.add_messages([{"role": "user", "content": "A draft"}])
    assert ids(memory.list_messages(thread_id="c1", limit=10)) == [message_id]
    assert thread.update_message(message_id, content="The text") == message_id
    assert thread.get_message(message_id).id == message_id
    assert thread.get_messages()[-1].content == "The text"
    assert (thread.delete_message("123"), thread.delete_message(message_id)) == (0, 1)


def test_memories(memory: Any) -> None:
    """Memories are added with ids of the caller's, changed, listed and deleted at both levels."""
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    assert thread.add_memory("First version", memory_id="m1") == "m1"
    assert thread.update_memory("m1", content="Second version") == "m1"
    assert memory.add_memory("Likes pizza.", user_id="u1", memory_id="m2") == "m2"
    assert ids(memory.list_memories(user_id="u1", limit=10)) == ["m1", "m2"]
    assert (thread.delete_memory("456"), thread.delete_memory("m1"), memory.delete_memory("m2")) == (0, 1, 1)


def test_links_at_both_levels(memory: Any) -> None:
    """A link is made, changed and deleted by its id, from the client and from the thread."""
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    thread.add_memory("a", memory_type="fact", memory_id="f1")
    thread.add_memory("b", memory_type="memory", memory_id="m1")
    for level in (memory, thread):
        link = level.link_records("f1", "fact", "m1", "memory", "refines")
        assert level.update_record_link(link, relation_type="supports") == 1
        assert level.delete_record_link(relation_id=link) == 1


def test_linked_results(memory: Any) -> None:
    """What replaced a preference is found with what it replaced; without invalid results the old ones are left out."""
    scope = {"user_id": "u1", "agent_id": "a1"}
    old, new, exact = (
        memory.add_memory(text, memory_type="preference", memory_id=name, **scope)
        for name, text in (
            ("p1", "Deliveries in the morning"),
            ("p2", "Deliveries in the afternoon"),
            ("p3", "Deliveries from two to five"),
        )
    )
    shipment = memory.add_memory(
        "Shipment RMA-1 replaces order 9", memory_type="fact", memory_id="f1", **scope
    )
    for source, kind, target, relation in (
        (new, "preference", old, "supersedes"),
        (exact, "preference", new, "refines"),
        (shipment, "fact", exact, "supports"),
    ):
        memory.link_records(
            source_record_id=source,
            source_record_type=kind,
            target_record_id=target,
            target_record_type="preference",
            relation_type=relation,
            metadata={"reason": "said so"},
        )
    direct = memory.search(query="RMA-1", num_hops=0, max_linked_results=5, **scope)
    hop = next(one for one in memory.search(query="RMA-1", num_hops=1, **scope) if one.id == shipment)
    assert all(len(one.linked_results) == 0 for one in direct)
    [(relation, linked)] = hop.linked_results
    assert (relation.relation_type, relation.metadata, linked.id) == (
        "supports",
        {"reason": "said so"},
        exact,
    )
    states = {one.id: one.status.value for one in memory.list_memories("u1")}
    assert states == {old: "invalid", new: "invalid", exact: "valid", shipment: "valid"}
    valid = memory.search(query="deliveries", include_invalid_results=False, **scope)
    assert not {old, new} & set(ids(valid))


def test_images(package: Package, memory: Any) -> None:
    """An image is found by its description; its bytes come only where they are asked for."""
    message: Any = package("apis.message")
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    kind = message.ImageMimeType.PNG
    assert (
        memory.add_image(PNG, description="a chart of timeouts", mime_type=kind, image_id="i1", user_id="u1")
        == "i1"
    )
    second = thread.add_image(PNG, description="a first draft", mime_type=kind)
    assert thread.update_image(second, description="a red button") == second
    assert ids(thread.list_images(limit=10)) == [second]
    found = memory.search("timeouts", user_id="u1", record_types=["image"])
    assert (found[0].id, found[0].content, found[0].record.bytes) == ("i1", "a chart of timeouts", None)
    [whole] = memory.list_images("i1", user_id="u1", include_bytes=True)
    assert whole.bytes == PNG
    parts = [message.TextContent("look"), message.ImageContent(PNG, kind, "the whole screen")]
    [told] = thread.add_messages([message.Message("user", parts)])
    text, image = thread.get_message(told).content
    assert (text.text, image.description, image.bytes) == ("look", "the whole screen", None)
    assert (thread.delete_image(second), memory.delete_image("i1")) == (1, 1)


def test_a_store_of_its_own(package: Package) -> None:
    """The store adds, reads, changes and deletes by type and id; days to live count from the record's own time."""
    store: Any = package.store
    ttl: Any = package("apis.ttl")
    batch = package("apis.memorystore").PendingRecordBatch
    assert store.add(["Kept as it is"], record_type="memory", record_ids="m1") == ["m1"]
    assert store.add(["Kept"], record_type="memory", index_texts=["found by zeppelin"], record_ids="m2") == [
        "m2"
    ]
    store.add(
        ["Long over"],
        record_type="memory",
        record_ids="m3",
        timestamps="2026-01-01T12:00:00+00:00",
        ttl_days=7,
        ttl_anchor=ttl.TimeToLiveAnchor.TIMESTAMP,
    )
    assert store.add_batches([batch(contents=["In a batch"], record_type="fact", record_ids="f1")]) == ["f1"]
    assert ids(store.list("memory", limit=5)) == ["m1", "m2"]
    assert store.search("zeppelin", 1, record_types={"memory"})[0][0].content == "Kept"
    assert store.update("memory", "m1", content="Changed") == 1
    assert store.get("memory", "m1").content == "Changed"
    assert (store.delete("memory", "m1"), store.delete("memory", "m1")) == (1, 0)
    assert store.add_user("u1", "Wants short answers.") == "u1"
    assert ids(store.list("user_profile", user_id=None, limit=10)) == ["u1"]
    assert store.list_thread_messages("c1") == []
    assert store.delete_thread("c1") == 0


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"source": "chat"}, "scalar all"),
        ({"review": {"status": "open"}}, "nested all"),
        ({"tags": ["live", "urgent"]}, "list all"),
        ({"tags": ["urgent", "live"]}, ""),
        ({"tags": {"$array_contains": "live"}}, "list all"),
        ({"tags": {"$array_contains_any": ["live", "old"]}}, "list all old"),
        (
            {"tags": {"$array_contains_any": ["live", "old"], "$not": {"$array_contains": "old"}}},
            "list all",
        ),
        ({"source": "chat", "review": {"status": "open"}, "tags": ["live", "urgent"]}, "all"),
    ],
    ids=str,
)
def test_metadata_filters_of_a_store(package: Package, wanted: Any, found: str) -> None:
    """Scalars, nested objects and whole lists are equal; operators look into lists; all conditions hold."""
    for name, metadata in (
        ("scalar", {"source": "chat"}),
        ("nested", {"review": {"status": "open"}}),
        ("list", {"tags": ["live", "urgent"]}),
        ("old", {"tags": ["old"]}),
        ("all", {"source": "chat", "review": {"status": "open"}, "tags": ["live", "urgent"]}),
    ):
        package.store.add(["pizza"], record_type="memory", record_ids=name, metadata=metadata)
    hits = package.store.search("pizza", k=9, metadata_filter=wanted)
    assert {record.id for record, _ in hits} == set(found.split())


def test_relations_of_a_store(package: Package) -> None:
    """A relation is found by its id or by its ends, listed by metadata, changed and deleted."""
    store: Any = package.store
    store.add(["new", "old"], record_type="memory", record_ids=["new", "old"])
    store.add(["proof"], record_type="fact", record_ids="proof")
    [first] = store.add_relations("new", "memory", "old", "memory", "supersedes")
    store.add_relations("proof", "fact", "new", "memory", "supports", metadata={"source": "manual"})
    assert store.get_relation(relation_id=first).target_record_id == "old"
    ends = store.get_relation("proof", "fact", "new", "memory", "supports")
    assert ends.opposite_relation_type == "is_supported_by"
    listed = store.list_relations(
        source_record_id="proof", relation_type="supports", metadata_filter={"source": "manual"}
    )
    assert ids(listed) == [ends.id]
    assert store.get("memory", "old").status.value == "invalid"
    assert store.update_relations(first, relation_types="supports") == [first]
    assert store.delete_relations(first) == 1


def test_a_context_card(memory: Any) -> None:
    """The card holds what is relevant, at most so much of it, and of a type at least so much."""
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    thread.add_memory("Likes pizza", memory_id="m1")
    thread.add_messages([{"role": "user", "content": "What about pizza?"}])
    assert "Likes pizza" in thread.get_context_card().content
    card = thread.get_context_card(max_relevant_results=4, min_relevant_results_by_type={"memory": 1})
    assert "m1" in [result.id for result in card.relevant_results]
    assert len(card.relevant_results) <= 4
    none = thread.get_context_card(metadata_filter={"source": "chat"})
    assert "Likes pizza" not in none.content


def test_summaries_and_cards_are_plain_objects(package: Package, memory: Any) -> None:
    """A summary is its text; a card without anything in it is empty."""
    core: Any = package("core")
    summary = core.OracleSummary(content="Plan the trip.")
    assert (summary.content, str(summary), summary.formatted_content) == ("Plan the trip.",) * 3
    assert core.OracleContextCard(summary="").formatted_content == ""
    card = core.OracleContextCard(summary="before", topics=["travel"])
    assert "<topics>" in card.formatted_content
    assert "before" in card.content
    thread = memory.create_thread(thread_id="c1", user_id="u1")
    thread.add_messages([{"role": "assistant", "content": "To be summarised"}])
    assert "To be summarised" in thread.get_summary().content


def test_configurations(package: Package) -> None:
    """What a program sets is what it reads back."""
    core: Any = package("core")
    config = core.MemoryExtractionConfig(
        extract_memories=True,
        memory_extraction_image_context=core.MemoryExtractionImageContext.CAPTION,
        extraction_mode=core.MemoryExtractionMode.BACKGROUND,
        background_extraction_queue_full_behavior=core.BackgroundExtractionQueueFullBehavior.WAIT_THEN_RAISE,
        background_extraction_queue_put_timeout_seconds=10.0,
        memory_link_extraction_mode=core.MemoryLinkExtractionMode.POST_EXTRACTION,
        memory_link_extraction_token_limit=8_000,
    )
    assert config.memory_link_extraction_token_limit == 8_000
    limits = core.ImageInputLimitConfig(max_raw_image_bytes=16 * 1024 * 1024, max_images_per_llm_request=200)
    assert limits.max_images_per_llm_request == 200
    event = package("observability.event").Event(
        event_id="ev_1", component="thread", event_name="thread.search.started"
    )
    assert event.to_observability_dict()["event_name"] == "thread.search.started"


async def test_a_case_from_report_to_correction(package: Package) -> None:
    """Messages with metadata are learnt from, a policy is found by its parts, a preference is corrected."""
    core: Any = package("core")
    message = package("apis.thread").Message
    created_at = package("core.retention").TimeToLiveAnchor.CREATED_AT
    case = {"tenant": "acme", "tags": ["returns", "damage"], "review": {"status": "approved"}, "note": 1}
    memory = core.OracleAgentMemory(
        **package.where,
        llm=package.llm("ORDER-7 arrived with a broken screen."),
        memory_extraction_config=core.MemoryExtractionConfig(
            memory_extraction_frequency=1,
            memory_extraction_window=-1,
            memory_extraction_inherit_message_metadata=["tenant", "tags", "review"],
            memory_extraction_custom_instructions="Keep orders, drop greetings.",
        ),
    )
    thread = memory.create_thread(
        thread_id="case-1",
        user_id="u1",
        agent_id="a1",
        metadata={"status": "open"},
        context_card_token_limit=6_000,
        context_card_type_search_concurrency=4,
    )
    parts = ["Damage is reported within 14 days.", "A replacement is sent with a label."]
    await package.store.add_async(
        contents=["\n\n".join(parts)],
        record_type="guideline",
        index_texts=[parts],
        record_ids="policy",
        user_ids="u1",
        agent_ids="a1",
        metadata={"code": "RET-14D", "version": 3},
        ttl_days=365,
        ttl_anchor=created_at,
    )
    await thread.add_memory_async(
        "Updates by SMS, please.", memory_type="preference", memory_id="contact", metadata=case, ttl_days=180
    )
    await thread.add_messages_async(
        [
            message(role="user", content="ORDER-7 has a broken screen."),
            message(role="assistant", content="I look."),
        ],
        metadata=case,
    )
    await thread.wait_for_memory_extraction_async(timeout=30)
    exact = {"exact_user_match": True, "exact_agent_match": True, "exact_thread_match": True}
    [learnt] = await thread.search_async(
        "broken screen",
        **exact,
        record_types=["memory", "fact"],
        metadata_filter={
            "tenant": "acme",
            "tags": {"$array_contains": "damage"},
            "review": {"status": "approved"},
            "note": {"$not": 1},
        },
    )
    assert learnt.content == "ORDER-7 arrived with a broken screen."
    both = await memory.search_async(
        "replacement label damage", user_id="u1", agent_id="a1", record_types=["guideline"]
    )
    assert [(one.id, one.content) for one in both] == [("policy", "\n\n".join(parts))]
    card = await thread.get_context_card_async(
        fallback_message_count=6,
        max_relevant_results=8,
        max_recent_messages=4,
        min_relevant_results_by_type={"preference": 1, "guideline": 1, "fact": 1},
    )
    assert {"policy", "contact", learnt.id} <= {one.id for one in card.relevant_results}
    await thread.update_memory_async(
        "contact",
        content="Updates by e-mail.",
        metadata={"tenant": "acme"},
        ttl_days=180,
        ttl_anchor=created_at,
    )
    [corrected] = await thread.search_async("updates", **exact, record_types=["preference"])
    assert (corrected.id, corrected.content, corrected.metadata) == (
        "contact",
        "Updates by e-mail.",
        {"tenant": "acme"},
    )
    changed = [*parts, "Urgent cases come first."]
    assert package.store.update("guideline", "policy", text="\n\n".join(changed), index_text=changed) == 1
    [again] = await memory.search_async("urgent", user_id="u1", agent_id="a1", record_types=["guideline"])
    assert again.content.endswith("Urgent cases come first.")
    assert (
        await thread.get_summary_async(except_last=1, token_budget=300)
    ).content == "Damage, a screen, updates."
    assert memory.update_thread("case-1", metadata={"status": "closed"}).metadata == {"status": "closed"}
    memory.close()


async def test_threads_keep_apart_what_is_asked_exactly(memory: Any) -> None:
    """An exact thread leaves out what another one says; what was learnt stays when its message goes."""
    first, second = (
        memory.create_thread(thread_id=name, user_id="u1", agent_id="a1") for name in ("t1", "t2")
    )
    [told] = await first.add_messages_async([{"role": "user", "content": "We debug the scope."}])
    mine = await first.add_memory_async(
        "The scope is too wide.", memory_type="fact", metadata={"tenant": "acme"}
    )
    other = await second.add_memory_async(
        "The scope is right.", memory_type="fact", metadata={"tenant": "acme"}
    )
    options = {"record_types": ["fact"], "metadata_filter": {"tenant": "acme"}, "max_results": 10}
    exact = await first.search_async("scope", exact_thread_match=True, **options)
    wide = await first.search_async("scope", exact_thread_match=False, **options)
    assert (ids(exact), set(ids(wide))) == ([mine], {mine, other})
    short = await first.add_memory_async("A callback is due.", ttl_days=7)
    await first.update_memory_async(short, ttl_days=30)
    assert (await first.delete_memory_async(short), await first.delete_message_async(told)) == (1, 1)
    assert ids(await first.search_async("scope", exact_thread_match=True, **options)) == [mine]
    for thread in (first, second):
        await thread.wait_for_memory_extraction_async(timeout=30)
    assert [await memory.delete_thread_async(name) for name in ("t1", "t2")] == [1, 1]


def test_another_customers_record_stays_hidden(memory: Any) -> None:
    """A record that says just what is asked is not found for another user."""
    memory.add_user("u2", "Another customer.", metadata={"tenant": "other"})
    hidden = memory.add_memory("Platinum order damaged", memory_type="fact", user_id="u2", agent_id="a1")
    exact = {"exact_user_match": True, "exact_agent_match": True}
    assert memory.search("platinum order", user_id="u1", agent_id="a1", record_types=["fact"], **exact) == []
    assert ids(
        memory.search("platinum order", user_id="u2", agent_id="a1", record_types=["fact"], **exact)
    ) == [hidden]
    assert memory.delete_user("u2", cascade=True) == 1
    assert memory.list_memories("u2") == []


def test_an_embedder_that_a_program_writes(package: Package) -> None:
    """A class that only embeds is asked how long its vectors are, and the client takes it."""
    base = package("apis.embedders.embedder").IEmbedder

    class Mine(base):  # type: ignore[misc, valid-type]  # a class of either package
        def embed(self, texts: list[str], *, is_query: bool = False) -> Any:
            return np.asarray(HashEmbedder(16).embed(texts), dtype=np.float32)

        async def embed_async(self, texts: list[str], *, is_query: bool = False) -> Any:
            return self.embed(texts, is_query=is_query)

    mine = Mine()
    assert mine.embedding_dimension == mine.embedding_dimension == 16
    memory = package.client(embedder=mine)
    memory.add_memory("Likes pizza", user_id="u1", memory_id="m1")
    assert ids(memory.search("pizza", user_id="u1")) == ["m1"]
    memory.close()


async def test_a_reranker_that_a_program_writes(package: Package) -> None:
    """A class that only has the awaitable method orders the results, called and awaited."""
    core: Any = package("core")
    base: Any = package("apis.reranker")

    class LongestFirst(base.IReranker):  # type: ignore[misc]  # a class of either package
        async def rerank_async(self, query: str, documents: list[str], **kwargs: Any) -> Any:
            results = [
                base.RerankResponseResult(index=place, relevance_score=len(text))
                for place, text in enumerate(documents)
            ]
            return base.RerankResponse(results=sorted(results, key=lambda one: -one.relevance_score))

    memory = package.client(search_config=core.TopKMemorySearchConfig(reranker=LongestFirst(), max_results=5))
    for name, text in (("m1", "tea"), ("m2", "tea with milk"), ("m3", "tea with milk and sugar")):
        memory.add_memory(text, user_id="u1", memory_id=name)
    assert ids(await memory.search_async("tea", user_id="u1")) == ["m3", "m2", "m1"]
    assert ids(memory.search("tea", user_id="u1")) == ["m3", "m2", "m1"]
    memory.close()
