"""Measures one partition of a large PostgreSQL store: python bench/partition.py --url URL --records 100000.

The store, which is built anew, has one partition and users of 100 records each. For users whom the process has not
seen, and then again for the same, a hybrid search is timed; so is adding one record. With the sizes of the tables
these are the figures that docs/scaling.md multiplies.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from search import DIMENSION, World

from hitherto.store.postgres.store import PostgresStore

EACH = 100
TABLES = ("records", "entries", "vectors", "scopes", "ids", "thread_users")


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="a database or schema, whose store is deleted")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=300, help="how many users are searched")
    given = parser.parse_args()
    world = World(given.records)
    with PostgresStore(given.url, partitions=1, schema_policy="recreate") as store:
        for start in range(0, given.records, 1000):
            store.add(
                world.texts(1000),
                "message",
                embeddings=world.vectors(1000),
                user_ids=[f"user-{(start + place) // EACH}" for place in range(1000)],
                thread_ids=[f"thread-{(start + place) // 20}" for place in range(1000)],
            )
        with store._write() as conn:
            conn.exec_driver_sql("ANALYZE")
            sizes = {table: conn.exec_driver_sql(_size(table)).scalar() / given.records for table in TABLES}
    chosen = np.random.default_rng(3).permutation(given.records // EACH)[: given.users].tolist()
    texts, vectors = world.texts(given.users, length=8), world.vectors(given.users)
    with PostgresStore(given.url) as store:

        def search(place: int) -> object:
            return store.search(
                texts[place],
                query_vector=vectors[place],
                user_id=f"user-{chosen[place]}",
                exact_user_match=True,
            )

        def add(place: int) -> object:
            return store.add(
                [texts[place]],
                "message",
                embeddings=vectors[place][None, :],
                user_ids=f"user-{chosen[place]}",
            )

        report = {
            "records": given.records,
            "dimension": DIMENSION,
            "bytes_per_record": {table: round(float(size)) for table, size in sizes.items()},
            "first_search_ms": _median(search, given.users),
            "further_search_ms": _median(search, given.users),
            "add_one_ms": _median(add, given.users),
        }
    print(json.dumps(report, indent=1))


def _size(table: str) -> str:
    parts = f"SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('{table}')"
    return f"SELECT coalesce(({parts}), pg_total_relation_size('{table}'))"


def _median(call: Callable[[int], object], times: int) -> list[float]:
    """Return the median and the 99th percentile of calls, in milliseconds."""
    found = []
    for place in range(times):
        begin = time.perf_counter()
        call(place)
        found.append((time.perf_counter() - begin) * 1000)
    return [round(float(np.percentile(found, share)), 2) for share in (50, 99)]


if __name__ == "__main__":
    main()
