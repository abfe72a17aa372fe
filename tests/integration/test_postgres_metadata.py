"""Metadata in PostgreSQL: kept as they came, found through a GIN index, and never fewer found than match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy.dialects import postgresql
from tests.postgres import fresh

from hitherto import SQLiteStore
from hitherto.errors import InvalidArgumentError, InvalidFilterError
from hitherto.filters import parse_filter
from hitherto.store.postgres.index import passing_statement
from hitherto.store.postgres.store import PostgresStore
from hitherto.store.settings import SearchSettings
from hitherto.store.sql.store import SqlMemoryStore

ROWS = 6000
RARE = {"place": {"city": "Oslo"}, "tags": {"$array_contains": "work"}}
FILTERS: tuple[dict[str, Any], ...] = (
    RARE,
    {"n": 4711},
    {"n": {"$not": 4711}},
    {"place": {"city": {"$not": "Bergen"}}},
    {"tags": {"$array_contains_any": ["rest", "nothing"]}},
    {"n": 2**53 + 1},
)
VECTORS = np.random.default_rng(5).normal(size=(ROWS, 8)).astype(np.float32)


def fill(store: SqlMemoryStore) -> None:
    """Store 6,000 facts of one user, of which 12 are in Oslo and have to do with work."""
    for start in range(0, ROWS, 2000):
        numbers = range(start, start + 2000)
        store.add(
            [f"number {n % 7} and {n % 11}" for n in numbers],
            "fact",
            record_ids=[str(n) for n in numbers],
            user_ids="u",
            metadata=[
                {
                    "n": n if n % 1000 else 2.0**53 + 2 * (n // 1000),
                    "tags": ["work", "rest"][n % 2 :],
                    "place": {"city": "Oslo" if n % 500 == 0 else "Bergen"},
                }
                for n in numbers
            ],
            embeddings=list(VECTORS[start : start + 2000]),
        )


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """Return a store with a large scope."""
    with fresh() as opened:
        fill(opened)
        with opened._write() as conn:
            conn.exec_driver_sql("ANALYZE records")
        yield opened


@pytest.fixture(scope="module")
def embedded() -> Iterator[SQLiteStore]:
    """Return the same in a file."""
    with SQLiteStore(":memory:") as opened:
        fill(opened)
        yield opened


def test_a_rare_value_is_found_through_the_index(store: PostgresStore) -> None:
    """Where few of a scope's records pass, the plan asks the GIN index for them."""
    wanted = parse_filter(RARE)
    assert wanted is not None
    with store._read() as conn:
        number = conn.exec_driver_sql("SELECT user_no FROM scopes WHERE user_id = 'u'").scalar_one()
        statement = passing_statement(wanted, number)
        assert statement is not None
        shown = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
        plan = "\n".join(row[0] for row in conn.exec_driver_sql(f"EXPLAIN {shown}".replace("%", "%%")))
    assert "Bitmap Index Scan" in plan
    assert "metadata_json @>" in plan


@pytest.mark.parametrize("wanted", FILTERS)
@pytest.mark.parametrize("k", [5, 40])
def test_a_filtered_search_is_that_of_the_embedded_store(
    store: PostgresStore, embedded: SQLiteStore, wanted: dict[str, Any], k: int
) -> None:
    """Whether few or many pass, both backends return the same records with the same distances."""
    for options in ({"query_vector": VECTORS[3] + VECTORS[500]}, {}):
        found, expected = (
            [
                (record.id, distance)
                for record, distance in one.search(
                    None if options else "number 3",
                    k,
                    user_id="u",
                    exact_user_match=True,
                    metadata_filter=wanted,
                    **options,
                )
            ]
            for one in (store, embedded)
        )
        assert found == expected


def test_k_are_found_among_codes(store: PostgresStore) -> None:
    """In a scope that is held as codes a rare value is found as often as it is there."""
    settings = SearchSettings(exact_rows=100, rescored_rows=50)
    with PostgresStore(store._url, search_settings=settings) as coded:
        for options in ({"query": "number"}, {"query": None, "query_vector": VECTORS[3]}):
            found = coded.search(k=20, user_id="u", metadata_filter=RARE, **options)
            assert {record.id for record, _ in found} == {str(n) for n in range(0, ROWS, 500)}


def test_json_comes_back_as_it_was_handed_in(store: PostgresStore) -> None:
    """The order of keys and the form of numbers stay; what jsonb cannot hold is refused as everywhere."""
    given = {"z": 1.0, "a": [1e300, -0.0, 2**70, 5e-324], "": {"b": 1, "a": None}}
    store.add(["x"], "guideline", record_ids="j", metadata=given)
    found = store.get("guideline", "j")
    assert found is not None
    assert repr(found.metadata) == repr(given)
    for refused in ({"a": "\0"}, {"a": "\ud800"}, {"a": float("nan")}):
        with pytest.raises((InvalidArgumentError, ValueError)):
            store.add(["x"], "guideline", metadata=refused)
    with pytest.raises(InvalidFilterError):
        store.search("x", 3, metadata_filter={"a": "\ud800"})
