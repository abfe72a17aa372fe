"""Searching the SQLite store: shelves in memory are always as the file is, and codes find what vectors find."""

from __future__ import annotations

import logging
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hitherto.records import RecordStatus
from hitherto.store.base import SearchStrategy
from hitherto.store.settings import SearchSettings
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.scripted import HashEmbedder

from .conftest import CountingEmbedder, TurnedClock

WORDS = [
    "tea",
    "cello",
    "boat",
    "train",
    "piano",
    "garden",
    "bread",
    "river",
    "lamp",
    "stone",
    "cloud",
    "horse",
]


def ids(found: list[Any]) -> list[str]:
    return [record.id for record, _ in found]


def asked(store: SQLiteStore, **scope: Any) -> list[tuple[str, float]]:
    """Return the answers to a few questions, as ids and rounded distances."""
    return [
        (hit.record.id, round(hit.distance, 5))
        for query in ("tea garden", "What did Ana say of the cello?", "stone")
        for hit in store.search_hits(query, 8, **scope)
    ]


def change(store: SQLiteStore, dice: random.Random, known: list[str]) -> None:
    """Change the store in some way."""
    text = " ".join(dice.choices(WORDS, k=6)) + dice.choice([".", "?"])
    kind = dice.random()
    if kind < 0.6 or not known:
        place = str(dice.randint(1, 3))
        chunks = [[text, " ".join(dice.choices(WORDS, k=4))]] if dice.random() < 0.2 else [text]
        known += store.add(
            [text],
            "message",
            index_texts=chunks,
            user_ids=f"u{dice.randint(1, 2)}",
            thread_ids=f"t{place}",
            roles=dice.choice(["Ana", "user"]),
            timestamps=f"2026-05-{dice.randint(1, 28):02}T10:00:00Z",
            ttl_days=dice.choice([None, None, 1 / 24]),
        )
    elif kind < 0.8:
        store.update("message", dice.choice(known), content=text)
    else:
        store.delete("message", known.pop(dice.randrange(len(known))))


@pytest.mark.parametrize("exact_rows", [1, 150_000])
@pytest.mark.parametrize("seed", range(4))
def test_a_shelf_that_took_in_changes_equals_one_that_is_read_anew(
    file: Path, clock: TurnedClock, seed: int, exact_rows: int
) -> None:
    """After any changes, by whichever connection, a store that is open answers as one that was just opened."""
    dice, known = random.Random(seed), list[str]()
    options: dict[str, Any] = {
        "embedder": CountingEmbedder(),
        "clock": clock,
        "search_settings": SearchSettings(exact_rows=exact_rows),
    }
    scopes: list[dict[str, Any]] = [
        {"user_id": "u1", "exact_user_match": True},
        {"thread_id": "t2", "exact_thread_match": True},
        {},
    ]
    with SQLiteStore(file, **options) as opened, SQLiteStore(file, **options) as other:
        for step in range(60):
            change(dice.choice([opened, other]), dice, known)
            clock.turn(minutes=2)
            if step % 6 == 0:
                with SQLiteStore(file, **options) as fresh:
                    for scope in scopes:
                        assert asked(opened, **scope) == asked(fresh, **scope)


def test_codes_find_what_full_vectors_find(file: Path) -> None:
    """A scope that is scanned by codes returns the same nearest records, with the same distances."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(400, 64)).astype(np.float32)
    with SQLiteStore(file) as store:
        store.add([f"text {n}" for n in range(400)], "fact", embeddings=vectors, user_ids="u")
    queries = vectors[:20] + rng.normal(size=(20, 64)).astype(np.float32)
    answers = []
    for exact_rows in (1, 1000):
        settings = SearchSettings(exact_rows=exact_rows, rescored_rows=150)
        with SQLiteStore(file, search_settings=settings) as store:
            found = [
                store.search(None, 5, query_vector=query, user_id="u", exact_user_match=True)
                for query in queries
            ]
            answers.append([[(record.id, round(distance, 5)) for record, distance in one] for one in found])
    assert answers[0] == answers[1]


def test_a_small_cache_forgets_but_never_lies(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With hardly any memory every search reads its scope anew, and the log says so once."""
    with SQLiteStore(file, cache_bytes=1) as store, caplog.at_level(logging.WARNING, "hitherto.store"):
        store.add(["tea"], "fact", record_ids="a", user_ids="u")
        for _ in range(3):
            assert ids(store.search("tea", user_id="u", exact_user_match=True)) == ["a"]
    assert sum("cache_bytes" in message for message in caplog.messages) == 1


def test_the_least_recently_searched_scope_is_dropped_first(file: Path) -> None:
    """Memory stays within its bound, and what is asked for often stays in it."""
    with SQLiteStore(file, cache_bytes=4000) as store:
        for number in range(30):
            store.add(["tea with milk"], "fact", record_ids=f"f{number}", user_ids=f"u{number}")
        for number in range(30):
            for user in ("u0", f"u{number}"):
                assert len(store.search("tea", user_id=user, exact_user_match=True)) == 1
        cache = store._index._cache  # type: ignore[attr-defined]  # looks inside
        assert sum(cache._sizes.values()) <= 4000
        assert 1 in cache._sizes


@pytest.mark.parametrize("strategy", list(SearchStrategy))
def test_every_text_is_a_legal_query(file: Path, strategy: SearchStrategy) -> None:
    """Quotes, operators, other scripts and very long texts are only words, if that."""
    with SQLiteStore(file, embedder=CountingEmbedder(), search_strategy=strategy) as store:
        store.add(["tea", "an umbrella"], "fact")
        for query in (
            '"',
            "NEAR(a, 2) OR *",
            "tea AND NOT",
            "🦜🦜",
            "%_\\",
            "é" * 10,
            "tea " * 25_000,
            "我喜欢茶",
        ):
            assert isinstance(store.search(query), list)


def test_what_is_filtered_by_does_not_use_up_the_hits(store: SQLiteStore) -> None:
    """As many records as are asked for are found whenever so many match the filter, however far down they are."""
    count = 700
    store.add(
        [f"tea {'tea ' * (place % 7)}" for place in range(count)],
        "fact",
        metadata=[{"rare": place % 70 == 0} for place in range(count)],
    )
    found = store.search("tea", 10, metadata_filter={"rare": True})
    assert len(found) == 10
    assert all(record.metadata == {"rare": True} for record, _ in found)
    assert len(store.search("tea", 50, metadata_filter={"rare": True})) == 10


def test_otherwise_equal_records_come_by_type_and_id(store: SQLiteStore) -> None:
    """Ties are broken by type, then id, also where more are tied than are returned."""
    store.add(["tea"] * 120, "memory", record_ids=[f"m{place:03}" for place in reversed(range(120))])
    store.add(["tea"], "fact", record_ids="z")
    assert ids(store.search("tea", 4)) == ["z", "m000", "m001", "m002"]


def test_a_preferred_id_ranks_only_among_equals(store: SQLiteStore) -> None:
    """An id without its exact flag lifts a record above equal ones, never above a better one."""
    store.add(["tea"] * 2, "fact", record_ids=["a", "b"], user_ids=["u1", "u2"])
    store.add(["tea tea"], "fact", record_ids="c", user_ids="u3")
    assert ids(store.search("tea", user_id="u2")) == ["c", "b", "a"]
    hits = store.search_hits("tea", user_id="u2", explain=True)
    assert [hit.explanation.preferred for hit in hits if hit.explanation] == [(), ("user",), ()]


def test_the_best_chunk_of_a_record_counts(store: SQLiteStore) -> None:
    """A record of many chunks is as near as its nearest chunk, and is found once."""
    near, far = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    store.add(["long", "short"], "fact", record_ids=["long", "short"], index_texts=[["x", "y"], ["z"]],
              embeddings=[[far, near], [[0.8, 0.6, 0.0]]])  # fmt: skip
    found = store.search(None, query_vector=near)
    assert [(record.id, round(distance, 6)) for record, distance in found] == [("long", 0.0), ("short", 0.2)]


def test_what_has_expired_says_nothing_of_its_neighbours(store: SQLiteStore, clock: TurnedClock) -> None:
    """The words of an expired message no longer lead to the message after it."""
    scope = {"user_ids": "u", "thread_ids": "t", "roles": "user"}
    store.add(["my cello"], "message", ttl_days=1 / 24, **scope)
    store.add(["thank you"], "message", record_ids="after", **scope)
    assert "after" in ids(store.search("cello"))
    clock.turn(hours=2)
    assert store.search("cello") == []


def test_context_never_crosses_users(store: SQLiteStore) -> None:
    """A message is not found by the words of another user's message in a thread of the same name."""
    store.add(
        ["my cello", "good day"], "message", record_ids=["a", "b"], user_ids=["u1", "u2"], thread_ids="t"
    )
    assert ids(store.search("cello")) == ["a"]


def test_a_speaker_that_is_named_is_preferred_and_not_searched_for(store: SQLiteStore) -> None:
    """A query that names one speaker prefers what that speaker said to what was said to them."""
    store.add(
        ["Ana, do you like tea?", "I like tea."],
        "message",
        record_ids=["to", "from"],
        roles=["Bo", "Ana"],
        user_ids="u",
        thread_ids="t",
    )
    assert ids(store.search("Does Ana like tea?"))[0] == "from"


def test_status_and_types_restrict_before_the_cut(store: SQLiteStore) -> None:
    """Invalid records and other types do not take the place of those that qualify."""
    store.add(["tea tea"] * 20, "fact", statuses=RecordStatus.INVALID)
    store.add(["tea and other things"], "memory", record_ids="m")
    assert ids(store.search("tea", 1, include_invalid_results=False)) == ["m"]
    assert ids(store.search("tea", 1, record_types=["memory"])) == ["m"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_locks(store: SQLiteStore) -> None:
    """A child that is forked while a thread of its parent is loading a shelf searches all the same."""
    store.add(["tea"], "fact", record_ids="a")
    store.search("tea")
    cache = store._index._cache  # type: ignore[attr-defined]  # takes the lock of another thread
    with cache._lock:
        child = os.fork()
        if not child:
            signal.alarm(20)
            os._exit(0 if ids(store.search("tea")) == ["a"] else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("seed", [3, 20])
def test_a_store_that_was_open_all_the_while_scores_as_one_that_was_just_opened(
    tmp_path: Path, seed: int
) -> None:
    """In whichever order rows came, were changed and went, the scores are the same to the last digit."""
    chance, name = random.Random(seed), tmp_path / "a.db"
    words = ["tea", "jazz", "rain", "moss", "fern", "oak"]

    def scores(store: SQLiteStore) -> list[tuple[str, float]]:
        found = store.search("tea rain jazz", 100, user_id="u", exact_user_match=True)
        return [(record.id, score) for record, score in found]

    with SQLiteStore(name, embedder=HashEmbedder()) as store:
        for n in range(60):
            text = " ".join(chance.choices(words, k=chance.randrange(2, 9)))
            store.add(
                [text], "message", record_ids=str(n), user_ids="u", thread_ids=chance.choice(["t1", "t2"])
            )
            if chance.random() < 0.4:
                store.delete("message", str(chance.randrange(n + 1)))
            if chance.random() < 0.3:
                store.update(
                    "message", str(chance.randrange(n + 1)), content=" ".join(chance.choices(words, k=5))
                )
            watched = scores(store)
            with SQLiteStore(name, embedder=HashEmbedder()) as fresh:
                assert scores(fresh) == watched
