"""The same program through the original's client over our store, and through our client over another: equal stores."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitherto import (
    LLM,
    AgentMemory,
    HithertoError,
    LLMResponse,
    MemoryExtractionConfig,
    MemoryExtractionMode,
    MemoryStore,
)
from hitherto.compat.oracle import as_oracle_store
from hitherto.testing.reference import ReferenceStore

original = pytest.importorskip("oracleagentmemory.core", reason="the reference package is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")

USERS = ("mia", "bo")
THREADS = ("t1", "t2", "t3")
TYPES = ("memory", "fact", "guideline", "preference")
WORDS = ("cello", "walnut", "lisbon", "river", "sail", "winter")
KINDS = ("supersedes", "contradicts", "refines", "supports", "duplicates", "knows")

NOBODY = ("nobody", "fact")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
metadata = st.none() | st.fixed_dictionaries({"k": st.sampled_from([1, "a", None, True])})
numbers = st.integers(0, 7)
plain_steps = (
    st.tuples(st.just("create_thread"), st.sampled_from(THREADS), st.sampled_from(USERS), metadata),
    st.tuples(st.just("add_messages"), st.sampled_from(THREADS), st.lists(texts, min_size=1, max_size=3)),
    st.tuples(st.just("update_message"), st.sampled_from(THREADS), numbers, texts),
    st.tuples(st.just("delete_message"), st.sampled_from(THREADS), numbers),
    st.tuples(st.just("add_memory"), st.sampled_from(USERS), st.sampled_from(TYPES), texts, metadata),
    st.tuples(st.just("thread_memory"), st.sampled_from(THREADS), st.sampled_from(TYPES), texts),
    st.tuples(st.just("update_memory"), numbers, texts),
    st.tuples(st.just("delete_memory"), numbers),
    st.tuples(st.just("link"), numbers, numbers, st.sampled_from(KINDS)),
    st.tuples(st.just("unlink"), numbers),
    st.tuples(st.just("search"), st.sampled_from(USERS), texts, st.integers(0, 2)),
    st.tuples(st.just("thread_search"), st.sampled_from(THREADS), texts, st.integers(0, 2)),
    st.tuples(st.just("delete_thread"), st.sampled_from(THREADS)),
)
items = st.fixed_dictionaries(
    {
        "text": texts,
        "record_type": st.sampled_from(TYPES),
        "timestamp": st.none() | st.just("2026-03-01T00:00:00+00:00"),
        "importance": st.none() | st.integers(1, 5),
        "scope": st.sampled_from([None, "user", "environment"]),
        "entities": st.none() | st.just(["Mia"]),
    }
)
learning_steps = st.tuples(
    st.just("learn"),
    st.sampled_from(THREADS[:2]),
    st.lists(texts, min_size=1, max_size=3),
    st.lists(items, min_size=1, max_size=2),
    st.none() | st.sampled_from(KINDS[:-1]),
)
summaries = st.tuples(st.just("summary"), st.sampled_from(THREADS))


class Script:
    """What both language models answer at the moment: the same memories, links and summaries."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.kind: str | None = None
        self.known: dict[str, str] = {}

    def answer(self, schema: dict[str, Any], prompt: str) -> dict[str, Any]:
        """Return an answer to a request of either package, by its schema."""
        wanted = schema.get("properties", {})
        if "memories" in wanted:
            empty = dict.fromkeys(("id", "valid_to"))
            return {"thoughts": None, "memories": [{**empty, **item} for item in self.items]}
        if "summary" in wanted:
            return {"summary": "Said before.", "topics": ["talk"]}
        sources = wanted["source_resolutions"]["properties"]
        # The oldest memory that both were shown.
        target = next((made for made in self.known if made in prompt and made not in sources), None)
        if target is None or self.kind is None:
            return {"source_resolutions": {}}
        links = [{"target_memory_id": target, "link_type": self.kind}]
        return {
            "source_resolutions": {
                one: {"updated_source_memory_text": None, "links": links} for one in sources
            }
        }


class OurModel(LLM):
    """A language model of ours that answers by a script."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def generate(self, /, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> LLMResponse:
        """Answer."""
        return LLMResponse(json.dumps(self._script.answer(response_json_schema or {}, str(prompt))))


class Run:
    """Runs steps on one client; ids are numbered as they are made, so that two runs can be compared.

    Args:
        client: The original's client, or ours.
        store: The store under it.
        script: What its language model answers, if it has one.
    """

    def __init__(self, client: Any, store: MemoryStore, script: Script | None = None) -> None:
        self.client, self.store, self.script = client, store, script
        self.awaited = False
        self.names: dict[str, str] = {}
        self.messages: list[str] = []
        self.memories: list[tuple[str, str]] = []
        self.links: list[str] = []

    def name(self, value: Any) -> Any:
        """Return a value with each made id replaced by its name."""
        if isinstance(value, str):
            for made, name in self.names.items():
                value = value.replace(made, name)
            return value
        if isinstance(value, (list, tuple)):
            return [self.name(item) for item in value]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {one.name: self.name(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return value

    def made(self, value: str) -> str:
        """Note an id that was made."""
        self.names[value] = f"#{len(self.names)}"
        return value

    def call(self, target: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method, or await its twin, as the step wants it."""
        if not self.awaited:
            return getattr(target, name)(*args, **kwargs)

        async def waiting() -> Any:
            return await getattr(target, f"{name}_async")(*args, **kwargs)

        return asyncio.run(waiting())

    def thread(self, thread_id: str) -> Any:
        """Open a thread."""
        return self.call(self.client, "get_thread", thread_id)

    def step(self, awaited: bool, name: str, *arguments: Any) -> Any:
        """Run a step; return what came of it."""
        self.awaited = awaited
        try:
            return self.name(getattr(self, name)(*arguments))
        except (HithertoError, ValueError, TypeError, KeyError, LookupError) as error:
            return next(
                kind.__name__ for kind in (TypeError, KeyError, ValueError) if isinstance(error, kind)
            )

    def create_thread(self, thread_id: str, user_id: str, metadata: Any) -> Any:
        """Begin a thread."""
        self.call(
            self.client,
            "create_thread",
            thread_id=thread_id,
            user_id=user_id,
            agent_id="a",
            metadata=metadata,
        )

    def add_messages(self, thread_id: str, contents: list[str]) -> Any:
        """Add messages."""
        thread = self.thread(thread_id)
        roles = ("user", "assistant")
        added = self.call(
            thread,
            "add_messages",
            [{"role": roles[n % 2], "content": text} for n, text in enumerate(contents)],
        )
        self.messages += [self.made(one) for one in added]
        return added

    def update_message(self, thread_id: str, number: int, text: str) -> Any:
        """Change a message."""
        thread = self.thread(thread_id)
        return bool(self.call(thread, "update_message", nth(self.messages, number), text))

    def delete_message(self, thread_id: str, number: int) -> Any:
        """Delete a message."""
        thread = self.thread(thread_id)
        return self.call(thread, "delete_message", nth(self.messages, number))

    def add_memory(self, user_id: str, kind: str, text: str, metadata: Any) -> Any:
        """Add a memory of a user."""
        made = self.call(
            self.client, "add_memory", text, memory_type=kind, user_id=user_id, metadata=metadata
        )
        self.memories.append((self.made(made), kind))

    def thread_memory(self, thread_id: str, kind: str, text: str) -> Any:
        """Add a memory of a thread."""
        made = self.call(self.thread(thread_id), "add_memory", text, memory_type=kind)
        self.memories.append((self.made(made), kind))

    def update_memory(self, number: int, text: str) -> Any:
        """Change a memory."""
        return bool(self.call(self.client, "update_memory", nth(self.memories, number, NOBODY)[0], text))

    def delete_memory(self, number: int) -> Any:
        """Delete a memory."""
        return self.call(self.client, "delete_memory", nth(self.memories, number, NOBODY)[0])

    def link(self, source: int, target: int, kind: str) -> Any:
        """Link two memories."""
        ends = (*nth(self.memories, source, NOBODY), *nth(self.memories, target, NOBODY))
        self.links.append(self.made(self.call(self.client, "link_records", *ends, kind)))

    def unlink(self, number: int) -> Any:
        """Delete a link."""
        return self.call(self.client, "delete_record_link", relation_id=nth(self.links, number))

    def search(self, user_id: str, query: str, hops: int) -> Any:
        """Search a user's records."""
        return self.found(
            self.call(self.client, "search", query, user_id=user_id, num_hops=hops, max_results=100)
        )

    def thread_search(self, thread_id: str, query: str, hops: int) -> Any:
        """Search as a thread."""
        return self.found(self.call(self.thread(thread_id), "search", query, num_hops=hops, max_results=100))

    def found(self, results: Any) -> Any:
        """Return results in an order that does not depend on their ids, which break ties."""
        return sorted(self.name([found(one) for one in results]), key=lambda one: (one[2], repr(one)))

    def delete_thread(self, thread_id: str) -> Any:
        """Delete a thread."""
        return self.call(self.client, "delete_thread", thread_id)

    def learn(
        self, thread_id: str, contents: list[str], found: list[dict[str, Any]], kind: str | None
    ) -> Any:
        """Add messages of which the language model wants something remembered."""
        assert self.script is not None
        self.script.items, self.script.known = self.unheard(found), self.names
        # Where there are more memories than candidates for links, ids decide which ones are.
        self.script.kind = kind if len(self.memories) < 5 else None
        try:
            return self.add_messages(thread_id, contents)
        finally:
            self.script.items, self.script.kind = [], None
            self.note_learned()

    def unheard(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what is to be remembered in words that nobody used before: of the same again, ours keeps one."""
        return [
            {**item, "text": f"{item['text']} {len(self.names)} {place}"} for place, item in enumerate(found)
        ]

    def note_learned(self) -> None:
        """Note the ids of memories and links that the language model made, in an order that does not depend on them."""
        known = [one for kind in TYPES for one in self.store.list(kind) if one.id not in self.names]
        for one in sorted(known, key=lambda one: str(one.content)):
            self.memories.append((self.made(one.id), one.record_type))
        links = [one for one in self.store.list_relations() if one.id not in self.names]
        for link in sorted(links, key=lambda link: self.name(link.source_record_id)):
            self.links.append(self.made(link.id))

    def summary(self, thread_id: str) -> Any:
        """Summarise a thread."""
        return str(self.call(self.thread(thread_id), "get_summary"))

    def state(self) -> Any:
        """Return what the store holds, without times and settings, which differ."""
        unset: dict[str, Any] = {"runtime_config": None, "runtime_state": None}
        kept = [
            dataclasses.replace(one, **comparable(one), **(unset if kind == "thread" else {}))
            for kind in ("thread", "message", *TYPES)
            for one in self.store.list(kind, limit=None)
        ]
        links = [dataclasses.replace(one, created_at="") for one in self.store.list_relations(limit=None)]
        summaries = [one.content for one in self.store.list("thread_summary") if one.status == "valid"]
        return self.name(kept), self.name(links), summaries[-1:]


def comparable(record: Any) -> dict[str, Any]:
    """Return what is compared of a record's time and metadata: not when it was stored, nor by whom."""
    told = record.timestamp if str(record.timestamp).startswith("2026-03-01") else None
    return {"timestamp": told, "metadata": said(record.metadata)}


def said(metadata: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return metadata without what only ours writes of extracted memories."""
    own = dict((metadata or {}).get("$agent_memory") or {})
    for name in ("source_message_ids", "prompt"):
        own.pop(name, None)
    rest = {key: value for key, value in (metadata or {}).items() if key != "$agent_memory"}
    return {**rest, "$agent_memory": own} if own else rest or None


def nth(items: list[Any], number: int, nobody: Any = "nobody") -> Any:
    """Return one of the items, or what nobody has."""
    return items[number % len(items)] if items else nobody


def found(result: Any) -> Any:
    """Return what can be compared of a result."""
    linked = sorted((relation.relation_type, *found(one)[1:]) for relation, one in result.linked_results)
    return (
        result.id,
        result.content,
        round(result.distance, 9),
        str(result.status),
        said(result.metadata),
        linked,
    )


def clients() -> tuple[Run, Run]:
    """Return the original's client and ours, each over a store of its own."""
    first, second = ReferenceStore(), ReferenceStore()
    off = original.MemoryExtractionConfig(extract_memories=False)
    theirs = original.OracleAgentMemory(store=as_oracle_store(first), memory_extraction_config=off)
    ours = AgentMemory(store=second, memory_extraction_config=MemoryExtractionConfig(extract_memories=False))
    return Run(theirs, first), Run(ours, second)


def learning_clients() -> tuple[Run, Run]:
    """Return both clients, each with a language model that answers the same."""
    from tests.unit.compat.original_llm import ScriptedLlm

    first, second, heard, read = ReferenceStore(), ReferenceStore(), Script(), Script()
    theirs = original.OracleAgentMemory(
        store=as_oracle_store(first),
        llm=ScriptedLlm(heard.answer),
        memory_extraction_config=original.MemoryExtractionConfig(
            extraction_mode=original.MemoryExtractionMode.INLINE
        ),
    )
    ours = AgentMemory(
        store=second,
        llm=OurModel(read),
        memory_extraction_config=MemoryExtractionConfig(extraction_mode=MemoryExtractionMode.INLINE),
    )
    return Run(theirs, first, heard), Run(ours, second, read)


def assert_same(theirs: Run, ours: Run, program: list[tuple[bool, tuple[Any, ...]]]) -> None:
    """Run a program on both, and compare every result and what is stored in the end."""
    for awaited, step in (*BEGINNING, *program):
        assert theirs.step(awaited, *step) == ours.step(awaited, *step), step
    assert theirs.state() == ours.state()


BEGINNING = (
    (False, ("create_thread", "t1", "mia", None)),
    (True, ("create_thread", "t2", "bo", {"k": 1})),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.booleans(), st.one_of(*plain_steps)), min_size=4, max_size=30))
def test_both_clients_do_the_same(program: list[tuple[bool, tuple[Any, ...]]]) -> None:
    """Every step, called or awaited, has the same result or kind of error, and in the end the same is stored."""
    assert_same(*clients(), program)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.booleans(), learning_steps), min_size=2, max_size=4),
    st.lists(st.tuples(st.booleans(), st.one_of(learning_steps, summaries, *plain_steps)), max_size=20),
)
def test_both_clients_learn_the_same(
    beginning: list[tuple[bool, tuple[Any, ...]]], program: list[tuple[bool, tuple[Any, ...]]]
) -> None:
    """With the same answers of a language model both store the same memories, links and summary."""
    assert_same(*learning_clients(), [*beginning, *program])
