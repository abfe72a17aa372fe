"""Searching a store: writing the index, and answering from shelves in memory.

A search reads the database only to see that its shelf is current, to check the metadata of the best candidates if
there is a filter, and to fetch the records that it returns.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hitherto.store.base import SearchStrategy
from hitherto.store.fusion import DIGITS
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.settings import SearchSettings
from hitherto.store.sql import entries
from hitherto.store.sql.cache import ShelfCache
from hitherto.store.sql.index_sql import Driver, IndexSql
from hitherto.store.sql.ranking import Part, Ranked, Ranking
from hitherto.store.sql.reader import read_vectors
from hitherto.store.sql.rows import RECORD_COLUMNS, IndexRow, record_from_row
from hitherto.store.sql.shelf import Shelf
from hitherto.store.sql.tables import NO_USER

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.filters import Filter
    from hitherto.records import Record

DEFAULT_CACHE_BYTES = 256 * 2**20
_USER_NO = "SELECT user_no FROM scopes WHERE user_id = ?"


def _row_type() -> Any:  # a named tuple whose fields only the table knows
    return namedtuple("Row", [stored.name for stored in RECORD_COLUMNS])  # noqa: PYI024


_Row = _row_type()
_LEAST_CHECKED = 128
_WIDEN = 4


class ShelfSearch:
    """The search index of one store.

    Args:
        sql: The database's SQL.
        strategy: What a search looks at.
        cache_bytes: How much memory shelves may take together.
        settings: How things count.
    """

    def __init__(
        self,
        sql: IndexSql,
        *,
        strategy: SearchStrategy,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        settings: SearchSettings | None = None,
    ) -> None:
        self._sql = sql
        self._strategy = strategy
        self._settings = SearchSettings() if settings is None else settings
        self._cache_bytes = cache_bytes
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._cache = ShelfCache(
            self._sql, limit_bytes=self._cache_bytes, exact_rows=self._settings.exact_rows
        )

    def add(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Index records that were just stored.

        Args:
            conn: A connection in a write transaction.
            rows: The records.
            version: The transaction's version.
        """
        entries.insert(self._sql, self._sql.driver(conn), rows, version)

    def remove(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Forget records.

        Args:
            conn: A connection in a write transaction.
            rows: The records.
            version: The transaction's version.
        """
        entries.delete(self._sql.driver(conn), rows)

    def touch(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Take note of what records are filtered by now.

        Args:
            conn: A connection in a write transaction.
            rows: The records.
            version: The transaction's version.
        """
        entries.touch(self._sql.driver(conn), rows, version)

    def put_vectors(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Replace the vectors of records.

        Args:
            conn: A connection in a write transaction.
            rows: The records, with their vectors.
            version: The transaction's version.
        """
        entries.put_vectors(self._sql, self._sql.driver(conn), rows, version)

    def drop_vectors(self, conn: Connection, version: int) -> None:
        """Delete all vectors.

        Args:
            conn: A connection in a write transaction.
            version: The transaction's version.
        """
        entries.drop_vectors(self._sql.driver(conn))
        self._cache.clear()

    def erase(self, conn: Connection) -> None:
        """Forget what is in memory; in the file nothing is left of a row that was removed.

        Args:
            conn: A connection in a write transaction.
        """
        self._cache.clear()

    def search(self, conn: Connection, query: StoreQuery) -> list[StoreHit]:
        """Return the records nearest to a query, nearest first, without linked records.

        Args:
            conn: A connection in a read transaction.
            query: What is searched.
        """
        exists, user_no = _scope_user(self._sql, self._sql.driver(conn), query)
        if not exists:
            return []
        if self._pid != os.getpid():
            # A lock that another thread held when this process was forked would never be released here.
            self._start()
        return self._search_within(conn, query, user_no)

    def _search_within(self, conn: Connection, query: StoreQuery, user_no: int | None) -> list[StoreHit]:
        driver = self._sql.driver(conn)
        shelf = self._cache.shelf(driver, user_no)
        ranking = self._ranking(driver, shelf, query)
        metadata = Metadata(self._sql, conn, query.metadata_filter, user_no)
        return answered(self._sql, driver, shelf, query, ranking, metadata)

    def _ranking(self, driver: Driver, shelf: Shelf, query: StoreQuery, part: Part | None = None) -> Ranking:
        return Ranking(
            shelf,
            query,
            self._settings,
            blended=self._strategy is SearchStrategy.HYBRID,
            read_vectors=partial(_vectors, self._sql, driver, shelf, query),
            part=part,
        )


def answered(
    sql: IndexSql, driver: Driver, shelf: Shelf, query: StoreQuery, ranking: Ranking, metadata: Metadata
) -> list[StoreHit]:
    """Return the best records of a shelf, best first: k, or all that qualify.

    Args:
        sql: The database's SQL.
        driver: A connection in a read transaction.
        shelf: The scope, or a part of it.
        query: The search.
        ranking: What ranks the shelf.
        metadata: What checks the metadata filter.
    """
    if metadata.passing is not None:
        ranking.keep(metadata.passing)
    count = query.k if query.metadata_filter is None else max(_LEAST_CHECKED, 4 * query.k)
    while True:
        ranked = ranking.best(count)
        chosen, found = _choose(sql, driver, shelf, query, ranked, metadata)
        if len(chosen) >= query.k or ranked.complete:
            return _hits(driver, shelf, query, ranking, ranked, chosen[: query.k], found)
        count = max(count, ranked.rows.size) * _WIDEN


def _scope_user(sql: IndexSql, driver: Driver, query: StoreQuery) -> tuple[bool, int | None]:
    """Return whether the scope can hold anything, and the one user that it is in; None for several."""
    user, thread = query.scope.user, query.scope.thread
    if user.exact:
        if user.id is None:
            return True, NO_USER
        row = driver.execute(_USER_NO, (user.id,)).fetchone()
        return (False, None) if row is None else (True, row[0])
    if thread.exact and thread.id is not None:
        rows = driver.execute(sql.thread_users, (thread.id,)).fetchall()
        return (False, None) if not rows else (True, rows[0][0] if len(rows) == 1 else None)
    return True, None


def _vectors(
    sql: IndexSql, driver: Driver, shelf: Shelf, query: StoreQuery, rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    assert query.vector is not None  # noqa: S101  asked for by the vector arm only
    return read_vectors(sql, driver, shelf.columns, rows, query.vector.size)


def _choose(
    sql: IndexSql, driver: Driver, shelf: Shelf, query: StoreQuery, ranked: Ranked, metadata: Metadata
) -> tuple[list[int], dict[int, Record]]:
    """Return the places of the hits in their order, and the records of at least those that are wanted."""
    numbers = shelf.columns.record_no[ranked.rows].tolist()
    users = shelf.columns.user_no[ranked.rows].tolist()
    places = [place for place, matches in enumerate(metadata.among(numbers, users)) if matches]
    found: dict[int, Record] = {}
    scores = np.round(ranked.fused.scores[ranked.places], DIGITS).tolist()
    keys = None
    if len(places) > 4 * query.k:
        keys = {number: tuple(key) for number, *key in sql.ids(driver, *_among(places, numbers, users))}
    if keys is None:
        found = _fetch(sql, driver, *_among(places, numbers, users))
        keys = {number: (record.record_type, record.id) for number, record in found.items()}
    places = [place for place in places if numbers[place] in keys]
    preferred = _preferred(driver, shelf, query, ranked)
    places.sort(key=lambda place: (-scores[place], -len(preferred[place]), keys[numbers[place]]))
    places = places[: query.k]
    if not found:
        found = _fetch(sql, driver, *_among(places, numbers, users))
    return places, found


def _among(places: Sequence[int], *columns: Sequence[int]) -> list[list[int]]:
    return [[column[place] for place in places] for column in columns]


def _fetch(sql: IndexSql, driver: Driver, numbers: Sequence[int], users: Sequence[int]) -> dict[int, Record]:
    """Return records by number."""
    rows = map(_Row._make, sql.fetch(driver, numbers, users))
    return {row.record_no: record_from_row(row, user_id=row.user_id) for row in rows}


class Metadata:
    """Checks candidates against the metadata filter of one search, each once.

    Args:
        sql: The database's SQL.
        conn: A connection in a read transaction.
        wanted: The filter, or None.
        user_no: The one user that is searched, or None.
    """

    def __init__(self, sql: IndexSql, conn: Connection, wanted: Filter | None, user_no: int | None) -> None:
        self._sql = sql
        self._conn = conn
        self._wanted = wanted
        self.passing = None if wanted is None else sql.passing(conn, wanted, user_no)
        self._known: dict[int, bool] = {}

    def among(self, numbers: Sequence[int], users: Sequence[int]) -> list[bool]:
        """Return of each record whether its metadata match."""
        if self._wanted is None:
            return [True] * len(numbers)
        new = {number: user for number, user in zip(numbers, users, strict=True) if number not in self._known}
        if new:
            allowed = self._sql.matching(self._conn, self._wanted, list(new), list(new.values()))
            self._known.update((number, number in allowed) for number in new)
        return [self._known[number] for number in numbers]


def _preferred(driver: Driver, shelf: Shelf, query: StoreQuery, ranked: Ranked) -> list[tuple[str, ...]]:
    """Return in which dimensions each candidate has the id that is preferred."""
    found: list[list[str]] = [[] for _ in range(ranked.rows.size)]
    scope = query.scope
    if scope.user.preferred_id is not None:
        row = driver.execute(_USER_NO, (scope.user.preferred_id,)).fetchone()
        theirs = shelf.columns.user_no[ranked.rows] == (-1 if row is None else row[0])
        for place in np.flatnonzero(theirs).tolist():
            found[place].append("user")
    for name, match, names, stored in (
        ("agent", scope.agent, shelf.agents, shelf.columns.agent),
        ("thread", scope.thread, shelf.threads, shelf.columns.thread),
    ):
        if match.preferred_id is not None:
            for place in np.flatnonzero(stored[ranked.rows] == names.number(match.preferred_id)).tolist():
                found[place].append(name)
    return [tuple(item) for item in found]


def _hits(
    driver: Driver,
    shelf: Shelf,
    query: StoreQuery,
    ranking: Ranking,
    ranked: Ranked,
    chosen: Sequence[int],
    found: dict[int, Record],
) -> list[StoreHit]:
    places = ranked.places[list(chosen)] if chosen else ranked.places[:0]
    distances = ranked.fused.distances(places).tolist()
    preferred = _preferred(driver, shelf, query, ranked) if query.explain else []
    hits = []
    for place, among, distance in zip(chosen, places.tolist(), distances, strict=True):
        row = int(ranked.rows[place])
        explanation = None
        if query.explain:
            words_rank, meaning_rank = ranking.ranks(row)
            explanation = ranked.fused.explanation(
                among, words_rank=words_rank, meaning_rank=meaning_rank, preferred=preferred[place]
            )
        record = found[int(shelf.columns.record_no[row])]
        hits.append(StoreHit(record, distance, explanation))
    return hits
