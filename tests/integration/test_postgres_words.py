"""Words in PostgreSQL in scopes that do not fit in memory: candidates from an index, ranked as ever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.postgres import fresh

from hitherto.records import RecordStatus
from hitherto.store.postgres import candidates
from hitherto.store.postgres.build import is_built
from hitherto.store.postgres.conditions import driver_of, of_found, of_ranked
from hitherto.store.postgres.store import PostgresStore
from hitherto.store.postgres.words import _HOW, INDEX_NAME, Asked, holders_statement
from hitherto.store.requests import StoreQuery
from hitherto.store.sql.entries import token_hash

ROWS, THREAD = 3000, 20
RNG = np.random.default_rng(3)
VECTORS = RNG.normal(size=(ROWS, 16)).astype(np.float32)
WORDS = [f"w{n}x" for n in range(400)]
SHARES = 1 / np.arange(1, 401)
TEXTS = [" ".join(RNG.choice(WORDS, 8, p=SHARES / SHARES.sum())) for _ in range(ROWS)]
QUERIES = ("w150x w260x", "w399x", "w200x w90x w330x", "w50x w301x")


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """Return a store of 3,000 messages whose shelf fits in memory; its words are indexed."""
    with fresh() as opened:
        for start in range(0, ROWS, 1000):
            numbers = range(start, start + 1000)
            opened.add(
                TEXTS[start : start + 1000],
                "message",
                record_ids=[str(n) for n in numbers],
                user_ids=[f"u{n // THREAD % 7}" for n in numbers],
                thread_ids=[f"t{n // THREAD}" for n in numbers],
                agent_ids=["rare" if n % 50 == 0 else "common" for n in numbers],
                roles=["user" if n % 2 else "assistant" for n in numbers],
                metadata=[{"tag": "rare" if n % 40 == 0 else "common"} for n in numbers],
                embeddings=list(VECTORS[start : start + 1000]),
            )
        opened.index_words()
        yield opened


@pytest.fixture(scope="module")
def small(store: PostgresStore) -> Iterator[PostgresStore]:
    """Return the same store with a cache in which nothing fits."""
    with PostgresStore(store._url, cache_bytes=1) as opened:
        yield opened


def found(store: PostgresStore, query: str, k: int = 10, **options: Any) -> list[tuple[str, float]]:
    """Return ids and distances of a search."""
    return [(record.id, distance) for record, distance in store.search(query, k, **options)]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"agent_id": "rare", "exact_agent_match": True},
        {"user_id": "u1", "exact_user_match": True},
        {"metadata_filter": {"tag": "rare"}},
        {"thread_id": "t7", "exact_thread_match": True},
    ],
)
def test_candidates_are_ranked_as_the_whole_scope(
    store: PostgresStore, small: PostgresStore, query: str, options: dict[str, Any]
) -> None:
    """By words both ways find as many records, at the same distances but for what counts are estimated."""
    expected, indexed = found(store, query, **options), found(small, query, **options)
    assert [one[1] for one in indexed] == pytest.approx([one[1] for one in expected], abs=2e-3)
    assert small._index._cache._shelves == {}  # type: ignore[attr-defined]  # the memory was not used


def test_a_hybrid_search_finds_nearly_the_same(store: PostgresStore, small: PostgresStore) -> None:
    """With a vector at least nine of ten are those that are found in memory."""
    common = 0
    for place, query in enumerate(QUERIES):
        options = {"query_vector": VECTORS[place]}
        expected = {name for name, _ in found(store, query, **options)}
        common += len(expected & {name for name, _ in found(small, query, **options)})
    assert common >= 9 * len(QUERIES)


def test_by_words_the_records_are_the_same(store: PostgresStore, small: PostgresStore) -> None:
    """At least nine of ten: which of two that are equally good comes first is the one thing estimates may change."""
    for query in QUERIES:
        expected, indexed = found(store, query), found(small, query)
        assert len({name for name, _ in expected} & {name for name, _ in indexed}) >= 9


def test_what_changes_is_seen_at_once(store: PostgresStore, small: PostgresStore) -> None:
    """A new message is found by the next search, a changed one by its new words, a deleted one never."""
    store.add(["zebra w1x"], "message", record_ids="new", user_ids="u1", thread_ids="t1", roles="user")
    assert found(small, "zebra")[0][0] == "new"
    store.update("message", "new", content="lemur w1x")
    assert found(small, "zebra") == []
    assert found(small, "lemur")[0][0] == "new"
    store.delete("message", "new")
    assert found(small, "lemur") == []


@pytest.mark.parametrize("most", [1, 5, 10_000])
def test_k_are_found_where_k_qualify(
    store: PostgresStore, small: PostgresStore, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Few that qualify among very many that hold the words are found, however few are asked for at first."""
    monkeypatch.setattr(candidates, "MOST_HELD", most)
    monkeypatch.setattr(candidates, "MOST_RANKED", most)
    monkeypatch.setattr(candidates, "MOST_PASSING", 2)
    names = [f"few-{n}" for n in range(12)]
    store.add(
        ["w0x w1x"] * 12,
        "fact",
        record_ids=names,
        agent_ids="few",
        statuses=[RecordStatus.INVALID] * 6 + [RecordStatus.VALID] * 6,
    )
    try:
        for options, count in (
            ({"record_types": ["fact"], "include_invalid_results": False}, 6),
            ({"record_types": ["fact"], "include_invalid_results": True}, 12),
            ({"agent_id": "few", "exact_agent_match": True, "include_invalid_results": True}, 12),
        ):
            given: dict[str, Any] = options
            expected = {name for name, _ in found(store, "w0x w1x", 12, **given)}
            assert {name for name, _ in found(small, "w0x w1x", 12, **given)} == expected
            assert len(expected) == count
    finally:
        for name in names:
            store.delete("fact", name)


def test_what_has_expired_is_not_found_and_takes_no_place() -> None:
    """Of many that hold a word the one that is left is found."""
    now = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    with fresh(cache_bytes=1, clock=lambda: now[0]) as store:
        store.add(["w0x"] * 30, "fact", record_ids=[f"gone-{n}" for n in range(30)], ttl_days=1)
        store.add(["w0x stays"], "fact", record_ids="stays")
        store.index_words()
        assert len(found(store, "w0x")) == 10
        now[0] += timedelta(days=2)
        assert [name for name, _ in found(store, "w0x")] == ["stays"]


def test_without_the_index_the_whole_scope_is_read() -> None:
    """A store whose words are not indexed answers as ever, however small its cache."""
    with fresh(cache_bytes=1) as store:
        store.add(["w0x", "w1x w2x"], "fact", record_ids=["a", "b"])
        before = found(store, "w1x")
        store.index_words()
        assert [name for name, _ in before] == [name for name, _ in found(store, "w1x")] == ["b"]


def test_the_plan_uses_the_index(store: PostgresStore) -> None:
    """The statement that finds the rows which hold a word asks the index of each partition."""
    query = StoreQuery(10, datetime(2026, 1, 1, tzinfo=timezone.utc), text="w399x")
    asked = Asked([token_hash("w399x")], (), of_ranked(query, None), of_found(query), None, 100)
    statement, values = holders_statement(asked)
    with store._read() as conn:
        rows = driver_of(conn).execute(b"EXPLAIN " + statement, values, prepare=False).fetchall()
    shown = "\n".join(row[0] for row in rows)
    assert "ix_entries_words_0" in shown
    assert "ix_entries_words_1" in shown


def test_who_may_only_read_searches_by_candidates_and_who_is_bound_in_memory(store: PostgresStore) -> None:
    """SELECT is enough for candidates; behind row-level security the old way finds the user's own rows alone."""
    store.isolate_users()
    with store.for_user("u1") as bound:
        bound._index._cache_bytes = 1  # type: ignore[attr-defined]  # so that every scope is too large
        assert {record.user_id for record, _ in bound.search("w50x", 10)} == {"u1"}
    with PostgresStore(store._url, cache_bytes=1, read_only=True, schema_policy="require_existing") as reader:
        assert len(found(reader, "w50x")) == 10


def test_the_index_is_built_once_and_completed(store: PostgresStore) -> None:
    """A second call does nothing; what an interrupted one left out, or left unfinished, is built."""
    store.index_words()
    with psycopg.connect(store._url, autocommit=True) as conn:
        conn.execute(f"DROP INDEX {INDEX_NAME}")
        # As it is left by a build that was interrupted in the second partition, the first being done.
        conn.execute(b"CREATE INDEX ix_entries_words_0 ON entries_p0 " + _HOW.encode())
        conn.execute(b"CREATE INDEX ix_entries_words_1 ON entries_p1 " + _HOW.encode())
        conn.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_entries_words_1'::regclass"
        )
    with store._read() as read:
        assert not is_built(read, "entries", INDEX_NAME)
    store.index_words()
    with store._read() as read:
        assert is_built(read, "entries", INDEX_NAME)
        assert is_built(read, "entries_p1", "ix_entries_words_1")
