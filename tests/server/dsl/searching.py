"""Documents at hand, and searches over them, for the tests of the query language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from hitherto.server.dsl import tree
from hitherto.server.dsl.body import parse_search
from hitherto.server.dsl.documents import CountedStatistics, Document
from hitherto.server.dsl.fields import MESSAGES, IndexMapping
from hitherto.server.dsl.plans import Neighbours, no_neighbours
from hitherto.server.dsl.run import Result, run
from hitherto.server.dsl.scoring import Profile

NOW = datetime(2024, 2, 10, 12, 30, tzinfo=timezone.utc)

MEMORY = {
    "1": {"create_time": "2024-02-01T08:00:00.000Z", "updated_time": "2024-02-09T08:00:00.000Z", "user": "alice",
          "name": "Conversation about NYC population", "additional_info": {"city": "Berlin", "tags": ["a", "b"]}},
    "2": {"create_time": "2024-02-02T08:00:00.000Z", "updated_time": "2024-02-03T08:00:00.000Z", "user": "bob",
          "name": "Test conversation for RAG pipeline", "application_type": "chat",
          "additional_info": {"n": 5, "deep": {"on": True}}},
    "3": {"create_time": "2024-02-03T23:04:15.554370024Z", "updated_time": "2024-02-03T23:04:15.554370024Z",
          "user": "alice", "name": "Conversation for a RAG pipeline"},
    "4": {"create_time": "2024-02-10T12:00:00.000Z", "updated_time": "2024-02-10T12:00:00.000Z", "user": "Alice"},
}  # fmt: skip

MESSAGE = {
    "1": {"memory_id": "m1", "create_time": "2024-02-01T08:00:00.000Z", "input": "How do I make an interaction?",
          "response": "Ask the assistant, then ask again.", "origin": "web", "trace_number": None},
    "2": {"memory_id": "m1", "create_time": "2024-02-02T08:00:00.000Z", "input": "the quick brown fox jumps",
          "response": "the lazy dog sleeps", "origin": "slack", "trace_number": 1, "parent_message_id": "1"},
    "3": {"memory_id": "m2", "create_time": "2024-02-03T08:00:00.000Z", "input": "the brown quick fox",
          "response": "quick quick quick", "trace_number": 2, "parent_message_id": "1"},
    "4": {"memory_id": "m2", "create_time": "2024-02-04T08:00:00.000Z", "response": "dog", "trace_number": 10},
}  # fmt: skip


def documents(sources: dict[str, dict[str, Any]]) -> list[Document]:
    """Make documents that were written one after the other."""
    return [
        Document(id, source, seq_no=order, order=order) for order, (id, source) in enumerate(sources.items())
    ]


def search(
    sources: dict[str, dict[str, Any]],
    body: dict[str, Any],
    *,
    mapping: IndexMapping = MESSAGES,
    scope: tree.Clause | None = None,
    profile: Profile = "3.x",
    neural: Neighbours = no_neighbours,
    among: Sequence[str] | None = None,
) -> Result:
    """Search an index that holds all sources; *among* narrows the documents that are handed in."""
    every = documents(sources)
    handed = [document for document in every if among is None or document.id in among]
    statistics = CountedStatistics.of(every, mapping)
    request = parse_search(body, mapping, now=NOW)
    return run(
        request, handed, statistics, mapping=mapping, now=NOW, scope=scope, profile=profile, neural=neural
    )


def ids(result: Result) -> list[str]:
    """Return the ids of the hits in order."""
    return [hit["_id"] for hit in result.hits]


def found(
    sources: dict[str, dict[str, Any]], query: dict[str, Any], *, mapping: IndexMapping = MESSAGES
) -> set[str]:
    """Return the ids of what a query finds."""
    return set(ids(search(sources, {"query": query, "size": 10_000}, mapping=mapping)))
