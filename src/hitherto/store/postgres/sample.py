"""What is known of a large scope without reading it: some thousand of its rows, taken at random and kept for a while.

They tell how long rows are, how frequent a frequent word is, and what cosine is common; what is rare is counted.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto.store.postgres.words import read_around
from hitherto.store.sql.moment import Moment
from hitherto.store.sql.reader import ScopeNames, read_rows
from hitherto.store.sql.shelf import Names, Shelf, new_shelf
from hitherto.store.sql.vectors import code_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitherto.store.sql.index_sql import Driver
    from hitherto.store.sql.shelf import Batch

_NO_MOMENT: Final = Moment(0, ())
SIZE: Final = 4000
"""How many records are taken."""
_SPREAD: Final = 8
"""From how many times more records: those of one page say much the same."""
LASTS_S: Final = 600.0
_MOST_KEPT: Final = 16
_MOST_COUNTED: Final = 2_000_000
_SEED: Final = 7
_STORE: Final = "SELECT value FROM meta WHERE key = 'store_id'"
_USER_RECORDS: Final = "SELECT row_count FROM scopes WHERE user_no = ?"
_ALL_RECORDS: Final = "SELECT coalesce(sum(row_count), 0)::bigint FROM scopes"
# The same ones in every process, so that all answer alike.
_ANY_RECORDS: Final = (
    "SELECT user_no, record_no FROM entries TABLESAMPLE SYSTEM (?) REPEATABLE (7) WHERE chunk_no = 0"
)
_ENDS: Final = "SELECT min(record_no), max(record_no) FROM entries WHERE user_no = ?"
_USERS_RECORDS: Final = (
    "SELECT f.user_no, f.record_no FROM unnest(?::bigint[]) p (record_no) CROSS JOIN LATERAL ("
    "SELECT e.user_no, e.record_no FROM entries e WHERE e.user_no = ? AND e.record_no >= p.record_no "
    "ORDER BY e.record_no LIMIT 1) f"
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of a scope, with their neighbours.

    Attributes:
        shelf: The rows; its text has the number and the mean length of the whole scope's rows.
        taken: Which rows were taken at random; the others are their neighbours.
        own_length: How many words a row has, on average.
        store: The store's id.
        until: When it is taken anew, by the monotonic clock.
    """

    shelf: Shelf
    taken: NDArray[np.bool_]
    own_length: float
    store: str
    until: float

    def held(self, word: int, unexpired: NDArray[np.bool_]) -> tuple[int, int]:
        """Return how many of the rows that were taken hold a word among their own, and in their dates.

        Args:
            word: Its hash.
            unexpired: Which rows have not expired.
        """
        counted = self.taken & unexpired
        text = self.shelf.text
        return (
            int(counted[text.own.lookup(word)[0]].sum()),
            int(counted[text.dates.lookup(word)[0]].sum()),
        )

    @property
    def step(self) -> float:
        """How many rows of the scope each row stands for that was taken."""
        return self.shelf.text.rows / max(int(self.taken.sum()), 1)


class Samples:
    """The samples of the scopes that were searched lately."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int | None, Sample] = OrderedDict()
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()

    def of(self, driver: Driver, user_no: int | None, dimension: int | None) -> Sample:
        """Return the sample of a scope.

        Args:
            driver: A connection in a read transaction.
            user_no: The user, or None for the whole store.
            dimension: How many numbers the query's vector has, or None without one.
        """
        row = driver.execute(_STORE).fetchone()
        store = "" if row is None else row[0]
        # Under the lock: of searches that come at once one takes it, the others wait.
        with self._lock:
            sample = self._kept.get(user_no)
            if sample is None or not _serves(sample, store, dimension):
                sample = _taken(driver, user_no, store)
                self._kept[user_no] = sample
            self._kept.move_to_end(user_no)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return sample


def passing_shelf(batch: Batch, names: ScopeNames) -> Shelf:
    """Return a shelf that is never renewed.

    Args:
        batch: Its rows, with codes.
        names: The numbers of ids that they have.
    """
    return new_shelf(
        batch,
        moment=_NO_MOMENT,
        coded=True,
        agents=names.agents,
        threads=names.threads,
        speakers=names.speakers,
    )


def _serves(sample: Sample, store: str, dimension: int | None) -> bool:
    codes = sample.shelf.vectors
    fits = dimension is None or codes is None or codes.shape[1] == code_bytes(dimension)
    return fits and sample.store == store and time.monotonic() < sample.until


def _taken(driver: Driver, user_no: int | None, store: str) -> Sample:
    names = ScopeNames(Names(), Names(), Names())
    records = _records(driver, user_no)
    where, values = ("", []) if user_no is None else (" WHERE e.user_no = ?", [user_no])
    if records <= SIZE:
        batch = read_rows(driver, f"entries e{where}", values, names)
        taken = np.ones(batch.columns.record_no.size + 1, np.bool_)
        rows = batch.columns.record_no.size
    else:
        keys = _keys(driver, user_no, records)
        batch = read_around(driver, *_lists(keys), names)
        taken = np.isin(np.append(batch.columns.record_no, -1), keys[:, 1])
        rows = records
        if records <= _MOST_COUNTED:
            rows = driver.execute(f"SELECT count(*) FROM entries e{where}", values).fetchone()[0]  # noqa: S608  names of our own
    taken[-1] = False
    return _sample(batch, names, taken, rows, store)


def _sample(batch: Batch, names: ScopeNames, taken: NDArray[np.bool_], rows: int, store: str) -> Sample:
    shelf = passing_shelf(batch, names)
    some = taken.any()
    mean = float(shelf.text.lengths[taken].mean()) if some else 0.0
    own = float(shelf.columns.own_length[taken].mean()) if some else 0.0
    text = replace(shelf.text, rows=rows, mean_length=mean or 1.0)
    return Sample(replace(shelf, text=text), taken, own, store, time.monotonic() + LASTS_S)


def _records(driver: Driver, user_no: int | None) -> int:
    statement, values = (_ALL_RECORDS, ()) if user_no is None else (_USER_RECORDS, (user_no,))
    row = driver.execute(statement, values).fetchone()
    return 0 if row is None else int(row[0])


def _keys(driver: Driver, user_no: int | None, records: int) -> NDArray[np.int64]:
    random = np.random.default_rng(_SEED)
    if user_no is None:
        share = min(100.0, 100.0 * _SPREAD * SIZE / records)
        found = driver.execute(_ANY_RECORDS, (share,)).fetchall()
    else:
        first, last = driver.execute(_ENDS, (user_no,)).fetchone()
        places = random.integers(first or 0, last or 0, SIZE, endpoint=True)
        found = driver.execute(_USERS_RECORDS, (places.tolist(), user_no)).fetchall()
    keys = np.unique(np.array(found, np.int64).reshape(-1, 2), axis=0)
    if len(keys) > SIZE:
        keys = keys[np.sort(random.choice(len(keys), SIZE, replace=False))]
    return keys


def _lists(keys: NDArray[np.int64]) -> tuple[Sequence[Any], Sequence[Any]]:
    return keys[:, 0].tolist(), keys[:, 1].tolist()
