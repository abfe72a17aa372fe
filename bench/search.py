"""Measures searches in a store: python bench/search.py --records 10000 100000 [--backend postgres --url URL].

A store of 1,000 users, one of whom has a tenth of all records: messages of made-up words in threads of 20, with
clustered vectors of 384 numbers. Each shape of search runs beside a floor: NumPy's product of the query with a
matrix that is in memory already, and the database's look-up of ten rows by their key. In PostgreSQL each size has a
schema of its own, which is built only where absent. Nothing leaves this machine and the server that is named.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from hitherto.store.sql.store import SqlMemoryStore
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.text import STOP_WORDS

DIMENSION = 384
USERS = 1000
HEAVY = "user-0"
BATCH = 1000
VOCABULARY = 20_000
STOPPED = 100
THREAD = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One measured shape.

    Attributes:
        records: How many records the store has.
        shape: What was done.
        p50_ms: The median, in milliseconds.
        p99_ms: The 99th percentile.
        floor_ms: The median of the floor that ran beside it, or None.
        recall: The share of the true ten nearest among those found, or None where the search is exact.
    """

    records: int
    shape: str
    p50_ms: float
    p99_ms: float
    floor_ms: float | None = None
    recall: float | None = None


class World:
    """Made-up records, the same in every run.

    Args:
        records: How many.
        seed: What the random numbers start from.
    """

    def __init__(self, records: int, seed: int = 7) -> None:
        self.records = records
        self._random = np.random.default_rng(seed)
        self._centres = self._random.normal(size=(200, DIMENSION)).astype(np.float32)
        ranks = np.arange(1, VOCABULARY + 1)
        self._weights = np.cumsum(1 / ranks)
        self._weights /= self._weights[-1]
        # The most frequent words of a language are those that a query is asked without.
        self._words = [
            *sorted(STOP_WORDS)[:STOPPED],
            *(f"w{number}x" for number in range(VOCABULARY - STOPPED)),
        ]

    def vectors(self, count: int) -> NDArray[np.float32]:
        """Return vectors around common centres."""
        centres = self._centres[self._random.integers(0, len(self._centres), count)]
        noise = self._random.normal(size=(count, DIMENSION)).astype(np.float32)
        found = centres + 0.9 * noise
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def texts(self, count: int, *, length: int = 14) -> list[str]:
        """Return texts whose words are as frequent as words are."""
        picked = np.searchsorted(self._weights, self._random.random((count, length)))
        return [" ".join([self._words[number] for number in row]) for row in picked.tolist()]

    def users(self) -> list[str]:
        """Return whose each record is: every tenth the heavy user's, the others' in threads."""
        numbers = 1 + (np.arange(self.records) // THREAD) % (USERS - 1)
        numbers[::10] = 0
        return [f"user-{number}" for number in numbers.tolist()]


def build(store: SqlMemoryStore, world: World, progress: Progress) -> tuple[list[float], NDArray[np.float32]]:
    """Store a world; return the seconds of each batch, and the heavy user's vectors."""
    task = progress.add_task(f"storing {world.records:,} records", total=world.records)
    users, seconds, heavy = world.users(), [], []
    turn: dict[str, int] = {}
    for start in range(0, world.records, BATCH):
        whose = users[start : start + BATCH]
        vectors = world.vectors(len(whose))
        threads = []
        for user in whose:
            turn[user] = turn.get(user, -1) + 1
            threads.append(f"{user}/{turn[user] // THREAD}")
        texts = world.texts(len(whose))
        begin = time.perf_counter()
        store.add(
            texts,
            "message",
            embeddings=vectors,
            user_ids=whose,
            thread_ids=threads,
            roles=["user", "assistant"] * (len(whose) // 2),
            timestamps=[f"2026-0{1 + start % 9}-11T09:00:00Z"] * len(whose),
            metadata=[{"batch": start // BATCH % 50}] * len(whose),
        )
        seconds.append(time.perf_counter() - begin)
        heavy.append(vectors[[user == HEAVY for user in whose]])
        progress.advance(task, len(whose))
    return seconds, np.concatenate(heavy)


def timed(call: Callable[[], object], *, times: int) -> list[float]:
    """Return how long each of several calls took, in milliseconds."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        found.append((time.perf_counter() - begin) * 1000)
    return found


def line(
    world: World, shape: str, found: list[float], floor: list[float] | None = None, **more: float
) -> Line:
    """Return a measured shape."""
    return Line(
        world.records,
        shape,
        round(float(np.percentile(found, 50)), 3),
        round(float(np.percentile(found, 99)), 3),
        None if floor is None else round(float(np.percentile(floor, 50)), 3),
        **more,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where the store of one size is.

    Attributes:
        path: The file, or the name of what is kept beside a schema.
        url: The schema's URL; None for a file.
    """

    path: Path
    url: str | None = None

    def opened(self, **options: object) -> SqlMemoryStore:
        """Open the store."""
        if self.url is None:
            return SQLiteStore(self.path, durability="normal", **options)
        from hitherto.store.postgres.store import PostgresStore

        return PostgresStore(self.url, **options)

    def is_built(self) -> bool:
        """Return whether the store is there, with the vectors of the heavy user beside it."""
        if not self.path.with_suffix(".npy").exists():
            return False
        with self.opened() as store:
            return bool(store.statistics()["records"])


def place_of(folder: Path, records: int, url: str | None) -> Place:
    """Return the place of a size, making its schema where there is to be one."""
    if url is None:
        return Place(folder / f"{records}.db")
    import psycopg

    schema = f"bench_{records}"
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    mark = "&" if "?" in url else "?"
    return Place(folder / f"postgres-{records}.db", f"{url}{mark}options=-csearch_path%3D{schema},public")


def floor_of(place: Place, matrix: NDArray[np.float32], world: World) -> Callable[[], object]:
    """Return the floor: one product, the ten best, ten rows by key."""
    questions, look_up = iter_vectors(world), _look_up(place)

    def run() -> object:
        scores = matrix @ next(questions)
        return look_up((np.argpartition(-scores, 10)[:10] + 1).tolist())

    return run


def _look_up(place: Place) -> Callable[[list[int]], object]:
    if place.url is None:
        lite = sqlite3.connect(place.path)
        query = f"SELECT * FROM records WHERE record_no IN ({','.join('?' * 10)})"
        return lambda numbers: lite.execute(query, numbers).fetchall()
    import psycopg

    conn = psycopg.connect(place.url, autocommit=True)
    return lambda numbers: conn.execute(
        "SELECT * FROM records WHERE record_no = ANY(%s)", (numbers,)
    ).fetchall()


def iter_vectors(world: World) -> Iterator[NDArray[np.float32]]:
    """Yield new query vectors for ever."""
    while True:
        yield from world.vectors(64)


def iter_texts(world: World) -> Iterator[str]:
    """Yield new queries of eight words for ever."""
    while True:
        yield from world.texts(64, length=8)


def scoped(user: str | None) -> dict[str, object]:
    """Return the arguments that restrict a search to a user, or to nothing."""
    return {} if user is None else {"user_id": user, "exact_user_match": True}


def measure(place: Place, world: World, heavy: NDArray[np.float32], *, times: int) -> Iterator[Line]:
    """Measure every shape in a store that was built."""
    vectors, texts = iter_vectors(world), iter_texts(world)
    opened = []
    for _ in range(5):
        begin = time.perf_counter()
        store = place.opened()
        opened.append((time.perf_counter() - begin) * 1000)
        store.close()
    yield line(world, "open", opened)
    first = []
    for _ in range(5):
        with place.opened() as store:
            first += timed(lambda: store.search(None, query_vector=next(vectors), **scoped(HEAVY)), times=1)
    yield line(world, "first search of the heavy user", first)
    with place.opened(cache_bytes=2**30) as store:
        yield from _warm(store, place, world, heavy, vectors, texts, times=times)


def _warm(store, place, world, heavy, vectors, texts, *, times):
    middle = [f"user-{1 + number % (USERS - 1)}" for number in range(50)]
    for user in [HEAVY, *middle]:
        store.search(next(texts), query_vector=next(vectors), **scoped(user))
    floor = floor_of(place, heavy, world)
    shapes = {
        "heavy user, hybrid": lambda: store.search(next(texts), query_vector=next(vectors), **scoped(HEAVY)),
        "heavy user, vector": lambda: store.search(None, query_vector=next(vectors), **scoped(HEAVY)),
        "heavy user, words": lambda: store.search(next(texts), **scoped(HEAVY)),
        "heavy user, hybrid, metadata (2 %)": lambda: store.search(
            next(texts), query_vector=next(vectors), metadata_filter={"batch": 3}, **scoped(HEAVY)
        ),
    }
    for shape, call in shapes.items():
        more = {} if "vector" not in shape else {"recall": _recall(store, heavy, vectors)}
        yield line(world, shape, timed(call, times=times), timed(floor, times=times), **more)
    users = iter(middle * (times // 10))
    yield line(
        world,
        "median user, hybrid",
        timed(
            lambda: store.search(next(texts), query_vector=next(vectors), **scoped(next(users))), times=times
        ),
    )
    yield line(world, "unscoped, first search", timed(lambda: store.search(next(texts)), times=1))
    count = max(times // 5, 20)
    for shape, call in {
        "unscoped, vector": lambda: store.search(None, query_vector=next(vectors)),
        "unscoped, hybrid": lambda: store.search(next(texts), query_vector=next(vectors)),
        "unscoped, words": lambda: store.search(next(texts)),
    }.items():
        more = {} if "vector" not in shape else {"recall": _recall_of_all(store, vectors)}
        yield line(world, shape, timed(call, times=count), **more)


def measure_indexed(place: Place, world: World, *, times: int) -> Iterator[Line]:
    """Measure searches of all users through the indexes, with a cache that holds nothing."""
    vectors, texts = iter_vectors(world), iter_texts(world)
    with place.opened(cache_bytes=1) as store:
        yield line(world, "building the index of words", timed(store.index_words, times=1))
        yield line(world, "building the index of vectors", timed(store.index_vectors, times=1))
        yield line(
            world, "indexed, unscoped, first search", timed(lambda: store.search(next(texts)), times=1)
        )
        count = max(times // 5, 20)
        for shape, call in {
            "indexed, unscoped, words": lambda: store.search(next(texts)),
            "indexed, unscoped, hybrid": lambda: store.search(next(texts), query_vector=next(vectors)),
        }.items():
            yield line(world, shape, timed(call, times=count))


def _recall(store, heavy, vectors) -> float:
    query = "SELECT r.id FROM records r JOIN scopes s ON s.user_no = r.user_no WHERE s.user_id = ? ORDER BY r.record_no"
    with store._read() as conn:
        numbers = store._index_sql.driver(conn).execute(query, (HEAVY,)).fetchall()
    ids = [row[0] for row in numbers]
    hits = []
    for _ in range(20):
        query = next(vectors)
        best = {ids[place] for place in np.argsort(-(heavy @ query))[:10].tolist()}
        found = {record.id for record, _ in store.search(None, query_vector=query, **scoped(HEAVY))}
        hits.append(len(best & found) / 10)
    return round(float(np.mean(hits)), 3)


def _recall_of_all(store, vectors) -> float:
    queries = np.stack([next(vectors) for _ in range(50)])
    sql = store._index_sql
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    after = 0
    while True:
        query = (
            f"SELECT r.record_no, r.id, {sql.vector} FROM records r JOIN vectors v ON v.user_no = r.user_no "
            "AND v.record_no = r.record_no WHERE r.record_no > ? ORDER BY r.record_no LIMIT 20000"
        )
        with store._read() as conn:
            block = sql.driver(conn).execute(query, (after,)).fetchall()
        if not block:
            break
        after = block[-1][0]
        matrix = sql.unpack_vectors([row[2] for row in block])
        scores = queries @ matrix.T
        for number, row in enumerate(scores):
            top = np.argpartition(-row, 10)[:10].tolist()
            best[number] = sorted(best[number] + [(float(row[place]), block[place][1]) for place in top])[
                -10:
            ]
    hits = []
    for query, true in zip(queries, best, strict=True):
        found = {record.id for record, _ in store.search(None, query_vector=query)}
        hits.append(len(found & {name for _, name in true}) / 10)
    return round(float(np.mean(hits)), 3)


def print_table(lines: list[Line]) -> None:
    """Print lines as a Markdown table."""
    print("| records | shape | p50 ms | p99 ms | floor ms | recall@10 |\n|---|---|---|---|---|---|")
    for item in lines:
        floor = "" if item.floor_ms is None else f"{item.floor_ms:.2f}"
        recall = "" if item.recall is None else f"{item.recall:.3f}"
        print(
            f"| {item.records:,} | {item.shape} | {item.p50_ms:.2f} | {item.p99_ms:.2f} | {floor} | {recall} |"
        )


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000], help="sizes of stores")
    parser.add_argument("--times", type=int, default=200, help="searches of each shape")
    parser.add_argument("--folder", type=Path, help="where to keep the stores; built only where absent")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--backend", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--url", help="with --backend postgres: the database")
    parser.add_argument("--indexed", action="store_true", help="with --backend postgres: by its indexes too")
    given = parser.parse_args()
    if (given.backend == "postgres") != (given.url is not None):
        parser.error("--backend postgres and --url belong together")
    if given.indexed and given.url is None:
        parser.error("--indexed wants --backend postgres")
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as temporary, Progress(disable=given.json) as progress:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for records in given.records:
            world, place = World(records), place_of(folder, records, given.url)
            kept = place.path.with_suffix(".npy")
            if not place.is_built():
                with place.opened(schema_policy="recreate") as store:
                    seconds, heavy = build(store, world, progress)
                np.save(kept, heavy)
                lines.append(line(world, f"adding {BATCH:,} records", [item * 1000 for item in seconds]))
            lines.extend(measure(place, world, np.load(kept), times=given.times))
            if given.indexed:
                lines.extend(measure_indexed(place, world, times=given.times))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            lines.append(Line(records, "peak memory of the benchmark, MB", round(peak, 1), round(peak, 1)))
    if given.json:
        print(json.dumps([asdict(item) for item in lines], indent=1))
    else:
        print_table(lines)


if __name__ == "__main__":
    main()
