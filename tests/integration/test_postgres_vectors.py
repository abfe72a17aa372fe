"""Vectors in PostgreSQL: compared one by one among few, found through the index among many, never fewer than k."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.postgres import fresh

from hitherto.scope import Match, ResolvedScope
from hitherto.store.postgres import nearest as searching
from hitherto.store.postgres.store import PostgresStore
from hitherto.store.requests import StoreQuery
from hitherto.store.settings import SearchSettings

ROWS, DIMENSION = 4000, 16
RNG = np.random.default_rng(7)
VECTORS = RNG.normal(size=(ROWS, DIMENSION)).astype(np.float32)
QUERY = RNG.normal(size=DIMENSION).astype(np.float32)


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """Return a store of 4,000 vectors, of which the settings hold 500 to be few; one user in 100 has 40."""
    with fresh(search_settings=SearchSettings(exact_rows=500)) as opened:
        for start in range(0, ROWS, 1000):
            numbers = range(start, start + 1000)
            opened.add(
                [f"text {n}" for n in numbers],
                "fact",
                record_ids=[str(n) for n in numbers],
                user_ids=["large" if n % 2 else f"u{n % 100}" for n in numbers],
                agent_ids=["rare" if n % 200 == 0 else "common" for n in numbers],
                metadata=[{"tag": "rare" if n % 400 == 1 else "common"} for n in numbers],
                embeddings=list(VECTORS[start : start + 1000]),
            )
        opened.index_vectors()
        yield opened


def true_nearest(chosen: Any, k: int) -> list[str]:
    """Return the ids of the nearest of the chosen rows, by comparing all."""
    rows = [n for n in range(ROWS) if chosen(n)]
    units = VECTORS[rows] / np.linalg.norm(VECTORS[rows], axis=1, keepdims=True)
    return [str(rows[place]) for place in np.argsort(-(units @ QUERY))[:k]]


def ids(store: PostgresStore, k: int, **options: Any) -> list[str]:
    """Return the ids of a search by the vector alone."""
    return [record.id for record, _ in store.search(None, k, query_vector=QUERY, **options)]


def plan(store: PostgresStore, scope: ResolvedScope, user_no: int | None = None) -> tuple[bool, str]:
    """Return whether a search would go through the index, and the plan of its statement."""
    query = StoreQuery(10, datetime(2026, 1, 1, tzinfo=timezone.utc), vector=QUERY, scope=scope)
    wanted = searching.conditions(query, user_no)
    with store._read() as conn:
        driver = conn.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        indexed = searching.estimated_rows(driver, wanted) > 500
        statement, values = searching.statement_of(query, wanted, 64, indexed=indexed)
        return indexed, "\n".join(row[0] for row in driver.execute(b"EXPLAIN " + statement, values))


def test_many_candidates_are_found_through_the_index(store: PostgresStore) -> None:
    """Without a scope the plan walks the HNSW index of each partition, and finds nearly what comparing finds."""
    indexed, shown = plan(store, ResolvedScope())
    assert indexed
    assert "ix_vectors_hnsw_0" in shown
    assert "Order By: ((vector)::halfvec(16) <=>" in shown
    found = ids(store, 20)
    assert len(set(found) & set(true_nearest(lambda n: True, 20))) >= 18


def test_few_candidates_are_compared_one_by_one(store: PostgresStore) -> None:
    """An agent with 20 records among all is estimated as few: no index over vectors, and exactly the nearest."""
    indexed, shown = plan(store, ResolvedScope(agent=Match("rare", exact=True)))
    assert not indexed
    assert "halfvec" not in shown
    found = ids(store, 10, agent_id="rare", exact_agent_match=True)
    assert found == true_nearest(lambda n: n % 200 == 0, 10)


def test_a_users_search_touches_one_partition(store: PostgresStore) -> None:
    """With one user's number in the statement, only the user's partitions are in the plan."""
    with store._read() as conn:
        number = conn.exec_driver_sql("SELECT user_no FROM scopes WHERE user_id = 'large'").scalar()
    _, shown = plan(store, ResolvedScope(user=Match("large", exact=True)), number)
    assert ("entries_p0" in shown) != ("entries_p1" in shown)
    assert ("vectors_p0" in shown) != ("vectors_p1" in shown)


def test_never_fewer_than_k_when_k_qualify(store: PostgresStore) -> None:
    """Where a filter lets few through that are not near, all of them are found, up to k."""
    assert len(ids(store, 15, agent_id="rare", exact_agent_match=True)) == 15
    assert len(ids(store, 500, user_id="large", exact_user_match=True)) == 500
    found = ids(store, 10, metadata_filter={"tag": "rare"})
    assert found == true_nearest(lambda n: n % 400 == 1, 10)
    assert len(ids(store, 50, metadata_filter={"tag": "rare"})) == 10


def test_a_small_scope_is_ranked_as_ever(store: PostgresStore) -> None:
    """A user of 40 records is searched in memory, exactly."""
    found = ids(store, 10, user_id="u10", exact_user_match=True)
    assert found == true_nearest(lambda n: n % 100 == 10, 10)


def test_writes_go_on_while_the_index_is_built() -> None:
    """A build that waits for somebody's transaction keeps no writer waiting; then the index is whole."""
    with fresh() as store, psycopg.connect(store._url) as other:
        store.add(["x"], "fact", user_ids="u", embeddings=list(VECTORS[:1]))
        other.execute("LOCK TABLE vectors IN ROW EXCLUSIVE MODE")
        building = threading.Thread(target=store.index_vectors)
        building.start()
        with psycopg.connect(store._url, autocommit=True) as watching:
            until = time.monotonic() + 30
            while not watching.execute(
                "SELECT 1 FROM pg_stat_activity "
                "WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"
            ).fetchall():
                assert time.monotonic() < until
                time.sleep(0.02)
        store.add(["y"], "fact", user_ids="u", embeddings=list(VECTORS[1:2]))
        assert building.is_alive()
        other.rollback()
        building.join(60)
        with store._read() as conn:
            valid = conn.exec_driver_sql(
                "SELECT indisvalid FROM pg_index WHERE starts_with(indexrelid::regclass::text, 'ix_vectors_hnsw')"
            )
            assert valid.scalars().all() == [True] * 3
        store.index_vectors()
