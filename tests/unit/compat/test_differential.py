"""The same program through the original's client over our store, and through our client over another: equal stores."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitherto import AgentMemory, HithertoError, MemoryExtractionConfig, MemoryStore
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
steps = st.one_of(
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


class Run:
    """Runs steps on one client; ids are numbered as they are made, so that two runs can be compared.

    Args:
        client: The original's client, or ours.
        store: The store under it.
    """

    def __init__(self, client: Any, store: MemoryStore) -> None:
        self.client, self.store = client, store
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

    def step(self, name: str, *arguments: Any) -> Any:
        """Run a step; return what came of it."""
        try:
            return self.name(getattr(self, name)(*arguments))
        except (HithertoError, ValueError, TypeError, KeyError, LookupError) as error:
            return next(
                kind.__name__ for kind in (TypeError, KeyError, ValueError) if isinstance(error, kind)
            )

    def create_thread(self, thread_id: str, user_id: str, metadata: Any) -> Any:
        """Begin a thread."""
        self.client.create_thread(thread_id=thread_id, user_id=user_id, agent_id="a", metadata=metadata)

    def add_messages(self, thread_id: str, contents: list[str]) -> Any:
        """Add messages."""
        thread = self.client.get_thread(thread_id)
        roles = ("user", "assistant")
        added = thread.add_messages(
            [{"role": roles[n % 2], "content": text} for n, text in enumerate(contents)]
        )
        self.messages += [self.made(one) for one in added]
        return added

    def update_message(self, thread_id: str, number: int, text: str) -> Any:
        """Change a message."""
        thread = self.client.get_thread(thread_id)
        return bool(thread.update_message(nth(self.messages, number), text))

    def delete_message(self, thread_id: str, number: int) -> Any:
        """Delete a message."""
        thread = self.client.get_thread(thread_id)
        return thread.delete_message(nth(self.messages, number))

    def add_memory(self, user_id: str, kind: str, text: str, metadata: Any) -> Any:
        """Add a memory of a user."""
        made = self.client.add_memory(text, memory_type=kind, user_id=user_id, metadata=metadata)
        self.memories.append((self.made(made), kind))

    def thread_memory(self, thread_id: str, kind: str, text: str) -> Any:
        """Add a memory of a thread."""
        made = self.client.get_thread(thread_id).add_memory(text, memory_type=kind)
        self.memories.append((self.made(made), kind))

    def update_memory(self, number: int, text: str) -> Any:
        """Change a memory."""
        return bool(self.client.update_memory(nth(self.memories, number, NOBODY)[0], text))

    def delete_memory(self, number: int) -> Any:
        """Delete a memory."""
        return self.client.delete_memory(nth(self.memories, number, NOBODY)[0])

    def link(self, source: int, target: int, kind: str) -> Any:
        """Link two memories."""
        ends = (*nth(self.memories, source, NOBODY), *nth(self.memories, target, NOBODY))
        self.links.append(self.made(self.client.link_records(*ends, kind)))

    def unlink(self, number: int) -> Any:
        """Delete a link."""
        return self.client.delete_record_link(relation_id=nth(self.links, number))

    def search(self, user_id: str, query: str, hops: int) -> Any:
        """Search a user's records."""
        return self.found(self.client.search(query, user_id=user_id, num_hops=hops, max_results=100))

    def thread_search(self, thread_id: str, query: str, hops: int) -> Any:
        """Search as a thread."""
        return self.found(self.client.get_thread(thread_id).search(query, num_hops=hops, max_results=100))

    def found(self, results: Any) -> Any:
        """Return results in an order that does not depend on their ids, which break ties."""
        return sorted(self.name([found(one) for one in results]), key=lambda one: (one[2], repr(one)))

    def delete_thread(self, thread_id: str) -> Any:
        """Delete a thread."""
        return self.client.delete_thread(thread_id)

    def state(self) -> Any:
        """Return what the store holds, without times and settings, which differ."""
        unset: dict[str, Any] = {"runtime_config": None, "runtime_state": None}
        kept = [
            dataclasses.replace(one, timestamp=None, **(unset if kind == "thread" else {}))
            for kind in ("thread", "message", *TYPES)
            for one in self.store.list(kind, limit=None)
        ]
        links = [dataclasses.replace(one, created_at="") for one in self.store.list_relations(limit=None)]
        return self.name(kept), self.name(links)


def nth(items: list[Any], number: int, nobody: Any = "nobody") -> Any:
    """Return one of the items, or what nobody has."""
    return items[number % len(items)] if items else nobody


def found(result: Any) -> Any:
    """Return what can be compared of a result."""
    linked = sorted((relation.relation_type, *found(one)[1:]) for relation, one in result.linked_results)
    return result.id, result.content, round(result.distance, 9), str(result.status), result.metadata, linked


def clients() -> tuple[Run, Run]:
    """Return the original's client and ours, each over a store of its own."""
    first, second = ReferenceStore(), ReferenceStore()
    off = original.MemoryExtractionConfig(extract_memories=False)
    theirs = original.OracleAgentMemory(store=as_oracle_store(first), memory_extraction_config=off)
    ours = AgentMemory(store=second, memory_extraction_config=MemoryExtractionConfig(extract_memories=False))
    return Run(theirs, first), Run(ours, second)


BEGINNING = (("create_thread", "t1", "mia", None), ("create_thread", "t2", "bo", {"k": 1}))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=4, max_size=30))
def test_both_clients_do_the_same(program: list[tuple[Any, ...]]) -> None:
    """Every step has the same result or kind of error, and in the end the same is stored."""
    theirs, ours = clients()
    for step in (*BEGINNING, *program):
        assert theirs.step(*step) == ours.step(*step), step
    assert theirs.state() == ours.state()
