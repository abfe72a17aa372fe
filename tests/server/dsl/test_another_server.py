"""The query language beside a server that others wrote to answer as OpenSearch does: same hits, same order.

The other server's scores are not Lucene's: it weighs lengths otherwise, so all its scores differ by a factor. Their
values are tested elsewhere against the formula; here it is their order.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from osmem_server import OsmemError, OsmemServer
from tests.server.dsl import generated
from tests.server.dsl.generated import corpus, leaves, queries, scored_queries, sorts
from tests.server.dsl.searching import search

from hitherto.server.dsl.fields import MESSAGES

Scores = dict[str, float]

DOCUMENTS = corpus(7)
ORDER_DIFFERS: dict[str, tuple[dict[str, Any], str]] = {
    "match fuzzy": (
        {"match": {"input": {"query": "tea", "fuzziness": "AUTO"}}},
        "Lucene gives near terms one frequency; the other server weighs each by its own",
    ),
    "fuzzy": (
        {"fuzzy": {"input": {"value": "tea"}}},
        "Lucene gives near terms one frequency; the other server weighs each by its own",
    ),
    "match_phrase": (
        {"match_phrase": {"input": {"query": "tea fado", "slop": 3}}},
        "in Lucene a phrase counts less the further its words are apart; there it does not",
    ),
    "match_phrase_prefix": (
        {"match_phrase_prefix": {"input": {"query": "the te"}}},
        "Lucene weighs a phrase by all terms that its end may be; the other server by the one that was found",
    ),
    "multi_match prefix": (
        {"multi_match": {"query": "tea tea Teas", "type": "bool_prefix", "fields": ["input", "response"]}},
        "bool_prefix adds words' weights to constants, which are not of the other server's scale",
    ),
    "multi_match crossing": (
        {"multi_match": {"query": "tea", "type": "cross_fields", "fields": ["input", "response"]}},
        "Lucene gives a term one frequency in all fields; the other server weighs fields one by one",
    ),
    "simple_query_string": (
        {"simple_query_string": {"query": "tea", "fields": ["input", "response"]}},
        "OpenSearch adds what the fields give; the other server takes the best",
    ),
}
"""Kinds of clauses where only the hits are compared: an example, and why."""

bounded = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    """Searches the documents on the other server."""
    try:
        server = OsmemServer.start(japanese=False)
    except OsmemError as error:
        pytest.skip(f"no server for this platform: {error}")

    def send(method: str, path: str, body: str) -> dict[str, Any]:
        request = urllib.request.Request(
            server.url + path,
            data=body.encode(),
            method=method,
            headers={"Content-Type": "application/x-ndjson" if "_bulk" in path else "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    with server, server.process.stdout or nullcontext():
        fields: dict[str, dict[str, Any]] = {
            name: {"type": kind.value} for name, kind in MESSAGES.fields.items()
        }
        for name in ("create_time", "updated_time"):
            fields[name]["format"] = "strict_date_time||epoch_millis"
        one_shard = {"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}}
        send("PUT", "/messages", json.dumps(one_shard))
        lines = [
            json.dumps(line)
            for name, source in DOCUMENTS.items()
            for line in ({"index": {"_index": "messages", "_id": name}}, source)
        ]
        assert not send("POST", "/_bulk?refresh=true", "\n".join([*lines, ""]))["errors"]
        yield lambda body: send("POST", "/messages/_search", json.dumps(body))


Ask = Callable[[dict[str, Any]], dict[str, Any]]


def both(ask: Ask, query: dict[str, Any]) -> tuple[Scores, Scores]:
    """Return the scores by id here and there."""
    body = {"query": query, "size": 1000}
    theirs = ask(body)["hits"]["hits"]
    return (
        {hit["_id"]: hit["_score"] for hit in search(DOCUMENTS, body).hits},
        {hit["_id"]: hit["_score"] for hit in theirs},
    )


def turned(one: Scores, other: Scores) -> list[tuple[str, str]]:
    """Return the pairs of which the first is before the second by one's scores, and not by the other's."""
    return [
        (first, second)
        for first in one
        for second in one
        if one[first] > one[second] * (1 + 1e-5) and not other[first] > other[second]
    ]


@pytest.mark.parametrize("kind", leaves)
def test_a_clause(kind: str, ask: Ask) -> None:
    """Each kind of clause finds the same documents, in the same order unless the table says why not."""

    @bounded
    @given(leaves[kind])
    def same(query: dict[str, Any]) -> None:
        ours, theirs = both(ask, query)
        assert ours.keys() == theirs.keys()
        if kind not in ORDER_DIFFERS:
            assert turned(ours, theirs) == turned(theirs, ours) == []

    same()


@bounded
@given(query=queries)
def test_clauses_together(query: dict[str, Any], ask: Ask) -> None:
    """Clauses that are combined find the same documents."""
    ours, theirs = both(ask, query)
    assert ours.keys() == theirs.keys()


@bounded
@given(query=scored_queries)
def test_scores_together(query: dict[str, Any], ask: Ask) -> None:
    """The order of scores that are added and compared is the same."""
    ours, theirs = both(ask, query)
    assert ours.keys() == theirs.keys()
    assert turned(ours, theirs) == turned(theirs, ours) == []


@bounded
@given(sort=sorts, start=st.integers(0, 70), size=st.integers(1, 70))
def test_sorted_pages(sort: list[Any], start: int, size: int, ask: Ask) -> None:
    """Pages of sorted hits are the same, with the same values."""
    body = {"query": {"match_all": {}}, "sort": sort, "from": start, "size": size}
    ours, theirs = search(DOCUMENTS, body).hits, ask(body)["hits"]["hits"]
    assert [(hit["_id"], hit["sort"]) for hit in ours] == [(hit["_id"], hit["sort"]) for hit in theirs]


@pytest.mark.parametrize("kind", ORDER_DIFFERS)
def test_the_order_differs_still(kind: str, ask: Ask) -> None:
    """What the table leaves out is left out for a reason."""
    ours, theirs = both(ask, ORDER_DIFFERS[kind][0])
    assert turned(ours, theirs) + turned(theirs, ours)


def test_the_documents_are_of_one_length() -> None:
    """What the other server makes of lengths plays no part."""
    assert {
        len(source[field].split()) for source in DOCUMENTS.values() for field in generated.TEXT_FIELDS
    } == {5}
