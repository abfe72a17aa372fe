"""What a search asks the backend, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, InvalidFilterError, ModelError
from hitherto.scope import Match
from hitherto.store.base import SearchStrategy
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.settings import SearchSettings
from hitherto.store.sqlite.store import SQLiteStore

from .conftest import CountingEmbedder

VECTOR = [0.5] * 8


class Asked(list[StoreQuery]):
    """Remembers what a store's backend was asked."""

    def __call__(self, query: StoreQuery) -> list[StoreHit]:
        self.append(query)
        return []


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def open_store(file: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    opened: list[SQLiteStore] = []

    def open_with(**settings: Any) -> SQLiteStore:
        store = SQLiteStore(file, **settings)
        monkeypatch.setattr(store, "_search", asked)
        opened.append(store)
        return store

    yield open_with
    for store in opened:
        store.close()


@pytest.mark.parametrize(
    ("strategy", "text", "vector"),
    [
        (SearchStrategy.HYBRID, True, True),
        (SearchStrategy.KEYWORD, True, False),
        (SearchStrategy.VECTOR, False, True),
    ],
)
def test_a_strategy_says_what_is_looked_at(
    open_store: Any,
    asked: Asked,
    embedder: CountingEmbedder,
    strategy: SearchStrategy,
    text: bool,
    vector: bool,
) -> None:
    """Words, meaning or both; a model is asked only where its answer is used."""
    open_store(embedder=embedder, search_strategy=strategy).search("tea")
    assert (asked[0].text == "tea", asked[0].vector is not None) == (text, vector)
    assert embedder.asked == (["tea"] if vector else [])


def test_a_given_vector_is_not_made_again(open_store: Any, asked: Asked, embedder: CountingEmbedder) -> None:
    """With the query's vector at hand no model is asked, and a search without words is possible."""
    store = open_store(embedder=embedder)
    store.search("tea", query_vector=VECTOR)
    store.search(None, query_vector=np.array(VECTOR))
    assert embedder.asked == []
    assert [query.text for query in asked] == ["tea", None]


def test_without_an_embedder_words_alone_are_searched(open_store: Any, asked: Asked) -> None:
    """No model is made up: a hybrid search without an embedder is one by words."""
    open_store().search(" \0 tea \ud800 ")
    assert (asked[0].text, asked[0].vector) == ("\ufffd tea \ufffd", None)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"query": None}, InvalidArgumentError),
        ({"query": "  "}, InvalidArgumentError),
        ({"query": 3}, ArgumentTypeError),
        ({"k": 0}, InvalidArgumentError),
        ({"k": "3"}, ArgumentTypeError),
        ({"k": True}, ArgumentTypeError),
        ({"num_hops": 6}, InvalidArgumentError),
        ({"num_hops": -1}, InvalidArgumentError),
        ({"max_linked_results": -1}, InvalidArgumentError),
        ({"record_types": "memory"}, ArgumentTypeError),
        ({"record_types": 3}, ArgumentTypeError),
        ({"record_types": ["memoryy"]}, InvalidArgumentError),
        ({"record_types": [1]}, ArgumentTypeError),
        ({"metadata_filter": {"a": {"$gt": 1}}}, InvalidFilterError),
        ({"exact_user_match": True}, InvalidArgumentError),
        ({"exact_thread_match": True}, InvalidArgumentError),
        ({"user_id": ""}, InvalidArgumentError),
        ({"query_vector": [1.0]}, InvalidArgumentError),
        ({"query_vector": [float("nan")] * 8}, InvalidArgumentError),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(
    open_store: Any, asked: Asked, embedder: CountingEmbedder, given: dict[str, Any], error: type[Exception]
) -> None:
    """A bad argument is refused before any model or database is asked."""
    store = open_store(embedder=embedder)
    with pytest.raises(error):
        store.search(**{"query": "tea"} | given)
    assert (asked, embedder.asked) == ([], [])


@pytest.mark.parametrize("strategy", [SearchStrategy.VECTOR, SearchStrategy.KEYWORD])
def test_a_strategy_needs_what_it_looks_at(open_store: Any, strategy: SearchStrategy) -> None:
    """A search by words needs words, one by vectors a vector or an embedder."""
    store = open_store(search_strategy=strategy)
    with pytest.raises(InvalidArgumentError):
        store.search(
            *(("tea",) if strategy is SearchStrategy.VECTOR else (None,)),
            query_vector=(None if strategy is SearchStrategy.VECTOR else VECTOR),
        )


def test_an_id_filters_only_with_its_flag(open_store: Any, asked: Asked) -> None:
    """None with the flag asks for records without; an id without it only ranks; omitted is open."""
    open_store().search("tea", user_id=None, exact_user_match=True, thread_id="t")
    scope = asked[0].scope
    assert (scope.user, scope.thread, scope.agent) == (Match(None, exact=True), Match("t"), Match())


def test_types_that_are_never_searched_find_nothing(open_store: Any, asked: Asked) -> None:
    """Asking for threads alone finds nothing; an empty set is no restriction."""
    store = open_store()
    assert store.search("tea", record_types={"thread", "thread_summary"}) == []
    assert asked == []
    store.search("tea", record_types=[])
    store.search("tea", record_types=["fact", "thread"])
    assert [query.record_types for query in asked] == [None, frozenset({"fact"})]


def test_an_embedder_that_answers_nonsense_is_an_error(file: Path) -> None:
    """Vectors of a wrong shape, or that are no finite numbers, are never stored."""

    class Short(CountingEmbedder):
        def embed(self, texts: Any, *, is_query: bool = False) -> Any:
            return super().embed(texts)[:, :-1]

    class NotFinite(CountingEmbedder):
        def embed(self, texts: Any, *, is_query: bool = False) -> Any:
            return super().embed(texts) * np.inf

    class Text(CountingEmbedder):
        def embed(self, texts: Any, *, is_query: bool = False) -> Any:
            return [["down"]]

    class Ragged(CountingEmbedder):
        def embed(self, texts: Any, *, is_query: bool = False) -> Any:
            return [[1.0, 2.0], [1.0]]

    for bad in (Short(), NotFinite(), Text(), Ragged()):
        with SQLiteStore(file, embedder=bad) as store:
            with pytest.raises(ModelError):
                store.add(["x"], "fact")
            assert store.list("fact") == []


def test_a_hybrid_query_is_also_asked_by_its_topic(
    open_store: Any, asked: Asked, embedder: CountingEmbedder
) -> None:
    """The vector of what is asked about, without whom, is added; the settings say with which weight, 0 for none."""
    query = "What books has Melanie read?"
    open_store(embedder=embedder).search(query)
    assert embedder.asked == [query, "books read"]
    whole, about = (embedder.embed([text])[0] for text in (query, "books read"))
    sizes = np.linalg.norm(whole), np.linalg.norm(about)
    assert asked[0].vector == pytest.approx(whole + about * sizes[0] / sizes[1], abs=1e-5)
    embedder.asked.clear()
    open_store(embedder=embedder, search_settings=SearchSettings(topic_weight=0)).search(query)
    assert embedder.asked == [query]
