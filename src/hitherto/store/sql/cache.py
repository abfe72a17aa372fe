"""Shelves kept in memory, each as new as the database is: least recently used, bounded in bytes.

Every search asks the database for its scope's version, which costs microseconds, and takes in what is newer than the
shelf; so what another process committed is found at once. A scope whose epoch changed is read anew.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import Final

from hitherto.store.sql.index_sql import Driver, IndexSql
from hitherto.store.sql.moment import Changes, user_changes
from hitherto.store.sql.reader import ScopeNames, read_batch, read_gone
from hitherto.store.sql.shelf import Names, Shelf, changed_shelf, new_shelf

log = logging.getLogger("hitherto.store")

_VECTOR_SIZE: Final = "SELECT {size} FROM vectors WHERE user_no = ? LIMIT 1"
_LARGEST_SHARE: Final = 0.75
"""How much of the cache one user's vectors may take in full precision."""


class ShelfCache:
    """The shelves of the scopes that were searched lately.

    Args:
        sql: The database's SQL.
        limit_bytes: How much memory they may take together.
        exact_rows: Up to so many rows a user's vectors are kept in full precision.
    """

    def __init__(self, sql: IndexSql, *, limit_bytes: int, exact_rows: int) -> None:
        self._sql = sql
        self._limit = limit_bytes
        self._exact_rows = exact_rows
        self._shelves: OrderedDict[int | None, Shelf] = OrderedDict()
        self._sizes: dict[int | None, int] = {}
        self._lock = threading.Lock()
        self._loading: dict[int | None, threading.Lock] = {}
        self._warned = False

    def shelf(self, driver: Driver, user_no: int | None) -> Shelf:
        """Return a scope as it is in the file, or newer.

        Args:
            driver: A connection in a read transaction.
            user_no: The user, or None for the whole store.
        """
        with self._lock:
            shelf = self._shelves.get(user_no)
            if shelf is not None:
                self._shelves.move_to_end(user_no)
            loading = self._loading.setdefault(user_no, threading.Lock())
        if shelf is not None and self._changes(driver, user_no, shelf).none:
            return shelf
        with loading:
            with self._lock:
                shelf = self._shelves.get(user_no)
            changes = self._changes(driver, user_no, shelf)
            if shelf is not None and changes.none:
                return shelf
            shelf = self._renewed(driver, user_no, shelf, changes)
            self._keep(user_no, shelf)
        return shelf

    def holds(self, user_no: int | None) -> bool:
        """Return whether a scope's shelf is kept, be it old.

        Args:
            user_no: The user, or None for the whole store.
        """
        with self._lock:
            return user_no in self._shelves

    def clear(self) -> None:
        """Forget all shelves."""
        with self._lock:
            self._shelves.clear()
            self._sizes.clear()

    def _changes(self, driver: Driver, user_no: int | None, shelf: Shelf | None) -> Changes:
        before = None if shelf is None else shelf.moment
        if user_no is None:
            return self._sql.store_changes(driver, before)
        return user_changes(driver, user_no, before)

    def _renewed(self, driver: Driver, user_no: int | None, shelf: Shelf | None, changes: Changes) -> Shelf:
        moment = changes.moment
        coded = user_no is None or not self._fits(driver, user_no, moment.rows)
        if shelf is not None and not changes.anew and shelf.coded == coded:
            names = ScopeNames(shelf.agents, shelf.threads, shelf.speakers)
            gone = read_gone(self._sql, driver, user_no, since=changes.since)
            batch = read_batch(self._sql, driver, user_no, names, since=changes.since, coded=coded)
            if (
                shelf.vectors is None
                or batch.vectors is None
                or shelf.vectors.shape[1] == batch.vectors.shape[1]
            ):
                renewed = changed_shelf(shelf, batch, gone, moment=moment)
                if not renewed.wasteful:
                    return renewed
        names = ScopeNames(Names(), Names(), Names())
        return new_shelf(
            read_batch(self._sql, driver, user_no, names, since=None, coded=coded),
            moment=moment,
            coded=coded,
            agents=names.agents,
            threads=names.threads,
            speakers=names.speakers,
        )

    def _fits(self, driver: Driver, user_no: int, rows: int) -> bool:
        if rows > self._exact_rows:
            return False
        found = driver.execute(_VECTOR_SIZE.format(size=self._sql.vector_bytes), (user_no,)).fetchone()
        return found is None or rows * found[0] <= self._limit * _LARGEST_SHARE

    def _keep(self, user_no: int | None, shelf: Shelf) -> None:
        with self._lock:
            self._shelves[user_no] = shelf
            self._shelves.move_to_end(user_no)
            self._sizes[user_no] = shelf.nbytes
            while sum(self._sizes.values()) > self._limit:
                dropped, _ = self._shelves.popitem(last=False)
                del self._sizes[dropped]
        if user_no not in self._shelves and not self._warned:
            self._warned = True
            log.warning(
                "a scope of %d rows takes %d MB in memory, cache_bytes is %d MB: it is read anew for each search",
                shelf.size,
                shelf.nbytes >> 20,
                self._limit >> 20,
            )
