"""Searching by words in a scope too large to be held in memory: the database finds candidates, the process ranks them.

Rows that hold the query's rarest words come as keys with a bit for each word, and are ranked roughly. The best are
read with their neighbours in the thread, as are the records whose vectors are nearest, into a small shelf; this is
ranked as any, with what is known of the whole scope: how many rows there are and how long, how many hold each word,
and what cosine is common. Where fewer than k are found and there may be others, more are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sqlalchemy import text as sql_text

from hitherto.store.postgres.build import is_built
from hitherto.store.postgres.conditions import driver_of, of_found, of_ranked, of_thread
from hitherto.store.postgres.index import MOST_PASSING
from hitherto.store.postgres.nearest import VECTORS_INDEX, conditions, estimated_rows, nearest_rows
from hitherto.store.postgres.rough import rough_scores
from hitherto.store.postgres.sample import Sample, Samples, passing_shelf
from hitherto.store.postgres.words import Asked, Holders, find_holders, read_around
from hitherto.store.sql.entries import microseconds_of
from hitherto.store.sql.ranking import Part, Ranking, best_places
from hitherto.store.sql.reader import ScopeNames
from hitherto.store.sql.shelf import Names, Shelf
from hitherto.store.sql.shelf_search import Metadata, answered

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.store.requests import StoreHit, StoreQuery
    from hitherto.store.settings import SearchSettings
    from hitherto.store.sql.index_sql import Driver, IndexSql

MOST_HELD: Final = 30_000
"""Of so many rows at most keys are asked for at first."""
MOST_RANKED: Final = 400
"""So many of them at least are read and ranked."""
_MOST_NEAREST: Final = 200
_MOST_COMPARED: Final = 15_000
"""Above so many vectors the index is faster; what it misses of some hundred candidates does no harm."""
_WIDEN: Final = 8
_MANY: Final = 10
"""What stands in so many rows of a sample is counted there."""
# A search would wait for a compiler longer than for the statements.
_PREPARE: Final = sql_text("SELECT set_config('jit', 'off', true)")
_OWNERS: Final = "SELECT user_no, record_no FROM records WHERE record_no = ANY(?)"
_OF_SCOPE: Final = (
    "SELECT user_no, record_no FROM records WHERE searchable = 1 AND {column} = ?{user} LIMIT ?"
)

MakeRanking = Callable[["Driver", Shelf, "StoreQuery", "Part | None"], Ranking]
Keys = Sequence[tuple[int, int]]


@dataclass
class _Reach:
    """How much is asked for; more each time. ``indexed`` is None where vectors are not asked for at all."""

    held: int
    ranked: int
    nearest: int
    indexed: bool | None
    first: bool = True

    def widen(self) -> None:
        self.held *= _WIDEN
        self.ranked *= _WIDEN
        self.nearest *= _WIDEN
        self.indexed = False
        self.first = False


@dataclass(frozen=True, slots=True)
class _Found:
    """Keys of candidates, and whether there are no others."""

    keys: list[tuple[int, int]]
    complete: bool


class CandidateSearch:
    """Searches of scopes that do not fit in memory, in a store whose words are indexed.

    Args:
        sql: The database's SQL.
        settings: How things count.
        ranking: Makes what ranks a shelf.
    """

    def __init__(self, sql: IndexSql, settings: SearchSettings, ranking: MakeRanking) -> None:
        self._sql = sql
        self._settings = settings
        self._ranking = ranking
        self._samples = Samples()

    def clear(self) -> None:
        """Forget what is in memory."""
        self._samples.clear()

    def search(self, conn: Connection, query: StoreQuery, user_no: int | None) -> list[StoreHit]:
        """Return the records nearest to a query with a text, nearest first.

        Args:
            conn: A connection in a read transaction.
            query: What is searched.
            user_no: The one user who is searched, or None for all.
        """
        conn.execute(_PREPARE)
        driver = self._sql.driver(conn)
        sample = self._samples.of(driver, user_no, None if query.vector is None else query.vector.size)
        outer = self._ranking(driver, sample.shelf, query, None)
        counts = _frequencies(sample, outer.terms, query)
        metadata = Metadata(self._sql, conn, query.metadata_filter, user_no)
        few = _few(driver, query, metadata.passing, user_no)
        # All that qualifies is read; what a metadata filter leaves out still says how far scores are spread.
        alone = few is not None and metadata.passing is None
        reach = self._first_reach(conn, query, user_no, alone=alone)
        while True:
            holders = self._holders(conn, query, user_no, sample, counts, reach)
            words = self._by_words(holders, query, sample, counts, reach)
            meaning = (
                self._by_meaning(conn, query, user_no, reach) if not alone else _Found([], complete=True)
            )
            # Holders that are not among the few show how far words spread to neighbours.
            keys = [*(few or []), *words.keys, *meaning.keys]
            shelf = _shelf(driver, keys, sample, counts)
            numbers = np.array([number for _, number in keys], np.int64)
            part = Part(
                _with_neighbours(shelf, numbers), outer.mean_cosine, self._least_meaning(sample, outer)
            )
            ranking = self._ranking(driver, shelf, query, part)
            hits = answered(self._sql, driver, shelf, query, ranking, metadata)
            if len(hits) >= query.k or few is not None or (words.complete and meaning.complete):
                return hits
            reach.widen()

    def _least_meaning(self, sample: Sample, outer: Ranking) -> float | None:
        """Return the least score by meaning in the whole scope: the more rows, the further the last one is out."""
        least, mean = outer.least_meaning, outer.mean_cosine
        if least is None or mean is None:
            return None
        common = mean * (1 + self._settings.previous_meaning + self._settings.next_meaning)
        rows, size = sample.shelf.text.rows, sample.shelf.size
        # Of normally distributed scores the least goes with the root of the logarithm.
        return common - (common - least) * float(np.sqrt(np.log(max(rows, 2)) / np.log(max(size, 2))))

    def _first_reach(
        self, conn: Connection, query: StoreQuery, user_no: int | None, *, alone: bool
    ) -> _Reach:
        indexed: bool | None = None
        if query.vector is not None and not alone:
            rows = estimated_rows(driver_of(conn), conditions(query, user_no))
            has_index = is_built(conn, "vectors", VECTORS_INDEX)
            most = self._settings.exact_rows
            if rows <= (min(_MOST_COMPARED, most) if has_index else most):
                indexed = False
            elif has_index:
                indexed = True
        ranked = max(MOST_RANKED, 20 * query.k)
        return _Reach(max(MOST_HELD, ranked), ranked, max(_MOST_NEAREST, 10 * query.k), indexed)

    def _holders(
        self,
        conn: Connection,
        query: StoreQuery,
        user_no: int | None,
        sample: Sample,
        counts: dict[int, int],
        reach: _Reach,
    ) -> Holders:
        """Return rows that hold the rarest words, and note how many hold each of these."""
        most = self._settings.max_query_words
        words = _rarest(counts, reach.held)[:most]
        asked = Asked(
            words,
            _looked_for_in_dates(sample, words),
            of_ranked(query, user_no),
            of_found(query),
            None if reach.first else of_thread(query),
            reach.held,
        )
        holders = find_holders(driver_of(conn), asked)
        if reach.first:
            holding = np.count_nonzero(holders.rows["own"] + holders.rows["dated"], axis=0)
            for word, counted in zip(words, holding.tolist(), strict=True):
                counts[word] = counted if holders.complete else max(counted, counts[word])
        left_out = len(words) < min(len(counts), most)
        return replace(holders, complete=holders.complete and not left_out)

    def _by_words(
        self, holders: Holders, query: StoreQuery, sample: Sample, counts: Mapping[int, int], reach: _Reach
    ) -> _Found:
        """Return the best holders, and the best of those that are not found themselves but have neighbours."""
        rows = holders.rows
        scores = rough_scores(holders, sample, counts, self._settings)
        fits = rows["fits"] > 0
        places = [np.flatnonzero(fits)]
        if query.record_types is None or "message" in query.record_types:
            places.append(np.flatnonzero(~fits & (rows["thread"] != 0)))
        best = [
            where[best_places(scores[where], most)]
            for where, most in zip(places, (reach.ranked, reach.ranked // 4), strict=False)
        ]
        cut = any(kept.size < where.size for kept, where in zip(best, places, strict=True))
        chosen = rows[np.concatenate(best)]
        keys = zip(chosen["user_no"].tolist(), chosen["record_no"].tolist(), strict=True)
        return _Found(list(keys), complete=holders.complete and not cut)

    def _by_meaning(self, conn: Connection, query: StoreQuery, user_no: int | None, reach: _Reach) -> _Found:
        if query.vector is None:
            return _Found([], complete=True)
        if reach.indexed is None:
            return _Found([], complete=False)
        wanted = conditions(query, user_no)
        rows = nearest_rows(driver_of(conn), query, wanted, reach.nearest, indexed=reach.indexed)
        complete = not reach.indexed and len(rows) < reach.nearest
        return _Found([(row[0], row[1]) for row in rows], complete=complete)


def _frequencies(sample: Sample, words: Sequence[int], query: StoreQuery) -> dict[int, int]:
    """Return in how many rows of the scope each word stands, as far as a sample tells."""
    unexpired = sample.shelf.columns.expires > microseconds_of(query.now)
    rows = sample.shelf.text.rows
    return {
        word: min(round(sum(sample.held(word, unexpired)) * sample.step), rows)
        for word in dict.fromkeys(words)
    }


def _rarest(counts: Mapping[int, int], most: int) -> list[int]:
    """Return the rarest words, as many as stand in so many rows together: at least one.

    A record that holds none of them is beaten by those that hold a rare word.
    """
    chosen: list[int] = []
    total = 0
    for word in sorted(counts, key=counts.__getitem__):
        total += counts[word]
        if chosen and total > most:
            break
        chosen.append(word)
    return chosen


def _looked_for_in_dates(sample: Sample, words: Sequence[int]) -> set[int]:
    """Return the words that may stand in a date: by the sample, or because it says nothing of them."""
    everywhere = np.ones(sample.taken.size, np.bool_)
    found = {word: sample.held(word, everywhere) for word in words}
    return {word for word, (own, dated) in found.items() if dated or own < _MANY}


def _few(driver: Driver, query: StoreQuery, passing: list[int] | None, user_no: int | None) -> Keys | None:
    """Return the records among which all are that qualify, if an index finds them and they are few."""
    if passing is not None:
        if user_no is not None:
            return [(user_no, number) for number in passing]
        return [(row[0], row[1]) for row in driver.execute(_OWNERS, (passing,)).fetchall()]
    for column, match in (("thread_id", query.scope.thread), ("agent_id", query.scope.agent)):
        if match.exact and match.id is not None:
            user = "" if user_no is None else " AND user_no = ?"
            values: list[Any] = [match.id, *([] if user_no is None else [user_no]), MOST_PASSING + 1]
            rows = driver.execute(_OF_SCOPE.format(column=column, user=user), values).fetchall()
            if len(rows) <= MOST_PASSING:
                return [(row[0], row[1]) for row in rows]
    return None


def _shelf(driver: Driver, keys: Keys, sample: Sample, counts: Mapping[int, int]) -> Shelf:
    """Return the shelf of records and their neighbours, which knows the speakers and numbers of the whole scope."""
    names = ScopeNames(Names(), Names(), Names())
    whole = sample.shelf
    names.speakers.take([name for name, _ in whole.speakers.items()])
    unique = sorted(set(keys))
    batch = read_around(driver, [user for user, _ in unique], [number for _, number in unique], names)
    shelf = passing_shelf(batch, names)
    text = replace(shelf.text, rows=whole.text.rows, mean_length=whole.text.mean_length, holders=dict(counts))
    return replace(shelf, text=text, speaker_words=whole.speaker_words | shelf.speaker_words)


def _with_neighbours(shelf: Shelf, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return records with those that are ranked by their words: the message before, and two after."""
    rows = np.flatnonzero(np.isin(shelf.columns.record_no[:-1], numbers))
    following = shelf.next[rows]
    near = np.concatenate([rows, following, shelf.next[following], shelf.previous[rows]])
    return np.unique(shelf.columns.record_no[near[near >= 0]])
