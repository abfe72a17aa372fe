"""Words in memory: who holds a word, and BM25 over a message and its neighbours.

A scope's words are postings: for each word's hash, the rows that hold it. A row is ranked by five fields: its own
words, those of the message before, of the one before that, of the one after, and of its date. Only the first and
the last are stored. What a word in row ``i`` means for its neighbours is added when the word is looked up, by
following the order of the thread; so a new message changes nothing that is stored of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hitherto.store.settings import SearchSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_MERGE_AT = 8192
_MOST_COUNTED = 2**16 - 1
_SPARSE = 50
"""Where fewer than one row in so many is touched, sorting those rows is faster than looking at all."""


class Postings:
    """The rows that hold each word, by the word's hash.

    Words that were added lately stand apart, unsorted, and are merged once there are many.

    Args:
        hashes: The hashes of all words, uint32, with repetitions.
        rows: The row of each, int32.

    Examples:
        >>> postings = Postings(np.array([7, 9, 7, 7], np.uint32), np.array([0, 0, 1, 1], np.int32))
        >>> [part.tolist() for part in postings.lookup(7)]
        [[0, 1], [1, 2]]
    """

    def __init__(self, hashes: NDArray[np.uint32], rows: NDArray[np.int32]) -> None:
        self._tail: tuple[NDArray[np.uint32], NDArray[np.int32]] = (
            np.empty(0, np.uint32),
            np.empty(0, np.int32),
        )
        self._build(hashes, rows)

    def _build(self, hashes: NDArray[np.uint32], rows: NDArray[np.int32]) -> None:
        keys = (hashes.astype(np.uint64) << _SHIFT) | rows.astype(np.uint64)
        keys.sort()
        places = _changes(keys)
        # Two bytes for a count: a row in which a word stands more often gains nothing by it.
        self._counts = np.minimum(np.diff(places, append=keys.size), _MOST_COUNTED).astype(np.uint16)
        keys = keys[places]
        self._rows = (keys & _LOW).astype(np.int32)
        heads = (keys >> _SHIFT).astype(np.uint32)
        starts = _changes(heads)
        self._hashes = heads[starts]
        self._starts = np.append(starts, heads.size)

    @property
    def nbytes(self) -> int:
        """How much memory they take, in bytes."""
        return sum(
            part.nbytes for part in (self._rows, self._counts, self._hashes, self._starts, *self._tail)
        )

    def extended(self, hashes: NDArray[np.uint32], rows: NDArray[np.int32]) -> Postings:
        """Return postings with further words; these stay as they are, for those who are reading them.

        Args:
            hashes: The hashes of the words.
            rows: The row of each; none that the postings hold already.
        """
        new = object.__new__(Postings)
        new._rows, new._counts = self._rows, self._counts
        new._hashes, new._starts = self._hashes, self._starts
        new._tail = (np.concatenate([self._tail[0], hashes]), np.concatenate([self._tail[1], rows]))
        if new._tail[0].size > max(_MERGE_AT, self._rows.size // 8):
            known = np.repeat(np.repeat(self._hashes, np.diff(self._starts)), self._counts)
            return Postings(
                np.concatenate([known, new._tail[0]]),
                np.concatenate([np.repeat(self._rows, self._counts), new._tail[1]]),
            )
        return new

    def lookup(self, word_hash: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Return the rows that hold a word, in order, and how often each does.

        Args:
            word_hash: The word's hash.
        """
        wanted = np.uint32(word_hash)
        place = int(self._hashes.searchsorted(wanted))
        start = end = 0
        if place < self._hashes.size and self._hashes[place] == wanted:
            start, end = self._starts[place], self._starts[place + 1]
        found, counts = self._rows[start:end], self._counts[start:end]
        if self._tail[0].size:
            late, more = np.unique(self._tail[1][self._tail[0] == wanted], return_counts=True)
            if late.size:
                found = np.concatenate([found, late])
                counts = np.concatenate([counts, np.minimum(more, _MOST_COUNTED).astype(np.uint16)])
        return found, counts


def _changes(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places where sorted values begin to be others than before."""
    if not values.size:
        return np.empty(0, np.intp)
    return np.concatenate([[0], (values[1:] != values[:-1]).nonzero()[0] + 1])


@dataclass(frozen=True, slots=True)
class Text:
    """What BM25 needs of a scope.

    Attributes:
        own: Who holds which word.
        dates: Whose date holds which word.
        previous: For each row the row of the message before it, -1 for none; one more, -1, at the end.
        next: The same for the message after it.
        lengths: How many words all five fields of a row have; one more at the end.
        rows: How many rows are alive.
        mean_length: The mean of their lengths.
        alive: Which rows are alive, or None if all are; one more, False, at the end.
        holders: Where the rows are only a part of the scope: how many rows of the whole scope hold a word, by its
            hash. ``rows`` and ``mean_length`` are then those of the whole scope too.
    """

    own: Postings
    dates: Postings
    previous: NDArray[np.int32]
    next: NDArray[np.int32]
    lengths: NDArray[np.float32]
    rows: int
    mean_length: float
    alive: NDArray[np.bool_] | None
    holders: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the words of a query say of a scope.

    Attributes:
        scores: BM25 per row, 0 where no word is found; one more, 0, at the end.
        full_marks: What a row of mean length would score that held each of the query's words once. It makes
            scores comparable between queries.
    """

    scores: NDArray[np.float32]
    full_marks: float


def word_scores(text: Text, hashes: Sequence[int], settings: SearchSettings) -> WordScores:
    """Rank the rows of a scope by the words of a query.

    Args:
        text: The scope.
        hashes: The hashes of the query's words, each once.
        settings: What each field counts.
    """
    size = text.previous.size
    scores = np.zeros(size, np.float32)
    frequency = np.zeros(size, np.float32)
    full_marks = 0.0
    for word, own, dates in _rarest(text, hashes, settings.max_query_words):
        touched = _spread(frequency, text, own, dates, settings)
        found_in = _document_frequency(text, word, own, dates, touched.size)
        share = (text.rows - found_in + 0.5) / (found_in + 0.5)
        weight = float(np.log1p(max(share, 0.0)))
        full_marks += weight
        if touched.size:
            counts = frequency[touched]
            held_back = 1 - settings.b + settings.b / text.mean_length * text.lengths[touched]
            gains = weight * (settings.k1 + 1) * counts / (counts + settings.k1 * held_back)
            scores[touched] += gains.astype(np.float32)
            frequency[touched] = 0
    return WordScores(scores, full_marks)


_Found = tuple["NDArray[np.int32]", "NDArray[np.uint16]"]


def _rarest(text: Text, hashes: Sequence[int], most: int) -> list[tuple[int, _Found, _Found]]:
    found = [(item, text.own.lookup(item), text.dates.lookup(item)) for item in hashes]
    if len(found) > most:
        known = text.holders or {}
        # A word that nobody holds says nothing of one row against another: it goes last.
        found.sort(key=lambda one: known.get(one[0], one[1][0].size + one[2][0].size) or text.rows + 1)
    return found[:most]


def _document_frequency(text: Text, word: int, own: _Found, dates: _Found, touched: int) -> float:
    """Return in how many rows of the scope a word is found, be it in a neighbour."""
    if text.holders is None or word not in text.holders:
        return touched
    holding = np.union1d(own[0], dates[0])
    if text.alive is not None:
        holding = holding[text.alive[holding]]
    # How far a word spreads to neighbours is seen where it was read.
    spread = touched / holding.size if holding.size else 1.0
    return min(text.holders[word] * spread, float(text.rows))


def _spread(
    frequency: NDArray[np.float32], text: Text, own: _Found, dates: _Found, settings: SearchSettings
) -> NDArray[np.intp]:
    """Add one word's frequency in all five fields to zeros, and return the rows where it is found."""
    touched: list[NDArray[np.int32]] = []
    for (rows, counts), fields in (
        (own, _word_fields(text, settings)),
        (dates, ((settings.date_words, _itself),)),
    ):
        if text.alive is not None and rows.size:
            keep = text.alive[rows]
            rows, counts = rows[keep], counts[keep]
        if rows.size:
            for weight, move in fields:
                if weight:
                    # Each row has one successor, so no index comes twice but the last, which is cleared.
                    moved = move(rows)
                    frequency[moved] += np.float32(weight) * counts
                    touched.append(moved)
    frequency[-1] = 0
    if sum(moved.size for moved in touched) * _SPARSE < frequency.size:
        found = np.unique(np.concatenate(touched)) if touched else np.empty(0, np.intp)
        return found[found >= 0].astype(np.intp)
    return frequency.nonzero()[0]


_Move = Callable[["NDArray[np.int32]"], "NDArray[np.int32]"]


def _itself(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    return rows


def _word_fields(text: Text, settings: SearchSettings) -> tuple[tuple[float, _Move], ...]:
    return (
        (1.0, _itself),
        (settings.previous_words, lambda rows: text.next[rows]),
        (settings.before_previous_words, lambda rows: text.next[text.next[rows]]),
        (settings.next_words, lambda rows: text.previous[rows]),
    )


def field_lengths(
    own: NDArray[np.float32],
    dates: NDArray[np.float32],
    previous: NDArray[np.int32],
    following: NDArray[np.int32],
) -> NDArray[np.float32]:
    """Return how many words all five fields of each row have.

    Args:
        own: How many words a row has; one more, 0, at the end.
        dates: How many its date has; likewise.
        previous: The row before, -1 for none; one more, -1, at the end.
        following: The row after, likewise.
    """
    before = previous[previous]
    lengths: NDArray[np.float32] = own + dates + own[previous] + own[following] + own[before]
    return lengths
