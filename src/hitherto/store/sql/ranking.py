"""Ranking the rows of a shelf: what qualifies, what each arm says of it, and the order that follows.

Filters come before the cut: a row that does not qualify is not scored, and what is spread over 0 to 1 is spread
over the rows that do. Where a record has several chunks, the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hitherto.scope import Match, ResolvedScope
from hitherto.store.fusion import Arm, Fused, fuse, single
from hitherto.store.requests import StoreQuery
from hitherto.store.settings import SearchSettings
from hitherto.store.sql.entries import MESSAGE, TYPE_NUMBERS, TYPES, microseconds_of, token_hash
from hitherto.store.sql.shelf import Names, Shelf
from hitherto.store.sql.vectors import (
    cosines,
    estimated_cosines,
    exact_cosines,
    refined_cosines,
)
from hitherto.store.sql.words import word_scores
from hitherto.text import query_words, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ABSENT = -2.0
"""Below every cosine: of a row without a vector."""
_REFINED = 3
"""How many times more rows are taken by bits than are scored in full."""
_SAMPLED_FROM = 50_000
_SAMPLE_STEP = 61
_MARGIN = 1e-5
"""More than rounding can move a score."""

ReadVectors = Callable[["NDArray[np.intp]"], "NDArray[np.float32]"]


def qualifying(shelf: Shelf, query: StoreQuery) -> NDArray[np.bool_]:
    """Return which rows a search is about, one more place at the end being False.

    Args:
        shelf: The scope.
        query: The search.
    """
    columns = shelf.columns
    mask = columns.expires > microseconds_of(query.now)
    if shelf.text.alive is not None:
        mask &= shelf.text.alive
    if query.record_types is not None:
        wanted = np.zeros(len(TYPES), np.bool_)
        wanted[[TYPE_NUMBERS[name] for name in query.record_types]] = True
        mask &= wanted[columns.kind]
    if not query.include_invalid:
        mask &= columns.valid
    for match, names, column in _dimensions(shelf, query.scope):
        if match.exact:
            mask &= column == names.number(match.id)
    mask[-1] = False
    return mask


def _dimensions(shelf: Shelf, scope: ResolvedScope) -> tuple[tuple[Match, Names, NDArray[np.int32]], ...]:
    return (
        (scope.agent, shelf.agents, shelf.columns.agent),
        (scope.thread, shelf.threads, shelf.columns.thread),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """What a shelf is a part of, where it holds candidates of a scope and their neighbours only.

    Attributes:
        candidates: The numbers of the records that are ranked; of the others not all neighbours are there.
        mean_cosine: The mean cosine of the whole scope, as far as it is known.
        least_meaning: The least score by meaning of what qualifies there, likewise.
    """

    candidates: NDArray[np.int64]
    mean_cosine: float | None = None
    least_meaning: float | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order.

    Attributes:
        rows: Their rows, one per record, best first; equal ones in any order.
        fused: Their scores, in order of ``places``.
        places: The place of each row among the fused candidates.
        complete: Whether there are no others.
    """

    rows: NDArray[np.intp]
    fused: Fused
    places: NDArray[np.intp]
    complete: bool


def best_places(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the best scores, in any order.

    Args:
        scores: The scores.
        count: How many; all if there are no more.

    Examples:
        >>> sorted(best_places(np.array([0.1, 0.9, 0.5, 0.2], np.float32), 2).tolist())
        [1, 2]
    """
    if scores.size <= count:
        return np.arange(scores.size)
    if scores.size > _SAMPLED_FROM and count * 8 < scores.size:
        # Few pass a bound that a sample suggests, and to choose among few is faster than to part them all.
        sample = scores[::_SAMPLE_STEP]
        share = min(sample.size, 2 * count * sample.size // scores.size + 10)
        bound = np.partition(sample, sample.size - share)[sample.size - share]
        places = np.flatnonzero(scores >= bound)
        if count <= places.size < scores.size // 2:
            return places[np.argpartition(scores[places], places.size - count)[-count:]]
    return np.argpartition(scores, scores.size - count)[-count:]


def _top(scores: NDArray[np.float32], rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    return rows[best_places(scores[rows], count)]


class Ranking:
    """A search over one shelf.

    Args:
        shelf: The scope.
        query: The search, with what is searched by: a text, a vector or both.
        settings: How things count.
        blended: Whether the search fuses; else the one arm decides alone.
        read_vectors: Returns the full vectors of rows, for a shelf of codes.
        part: What else is known, if the shelf is a part of its scope.
    """

    def __init__(
        self,
        shelf: Shelf,
        query: StoreQuery,
        settings: SearchSettings,
        *,
        blended: bool,
        read_vectors: ReadVectors,
        part: Part | None = None,
    ) -> None:
        self._shelf = shelf
        self._query = query
        self._settings = settings
        self._blended = blended
        self._read_vectors = read_vectors
        self._part = part
        self._mask = qualifying(shelf, query)
        if part is not None:
            self._mask &= np.isin(shelf.columns.record_no, part.candidates)
        # Words and vectors of what has expired say nothing of their neighbours either.
        unexpired = shelf.columns.expires > microseconds_of(query.now)
        self._unexpired = None if unexpired.all() else unexpired
        self._full_marks = 0.0
        self.terms: list[int] = []
        """The hashes of the words that are looked for."""
        self.mean_cosine: float | None = None
        self._named: list[int] = []
        self._cosines: NDArray[np.float32] = np.empty(0, np.float32)
        self._meaning_range: tuple[float, float] | None = None
        self._best_meaning = _ABSENT
        self.words = self._score_words()
        self.meaning = self._score_meaning()
        found = np.zeros(self._mask.size, np.bool_)
        if self.words is not None:
            found |= self.words > 0
        if self.meaning is not None:
            found |= self.meaning > _ABSENT
        self._mask &= found & (shelf.columns.chunk_no == 0) if shelf.extra.size else found
        self._kept = self._mask

    def _score_words(self) -> NDArray[np.float32] | None:
        text = self._query.text
        if text is None:
            return None
        terms = query_words(text)
        if self._blended:
            said = set(words(text))
            named = [(number, name) for number, name in self._shelf.speaker_words.items() if name & said]
            self._named = [number for number, _ in named]
            # A name in a text is mostly that of the one who is spoken to.
            names = frozenset[str]().union(*(name for _, name in named))
            terms = [term for term in terms if term not in names] or terms
        shelf_text = self._shelf.text
        if self._unexpired is not None:
            alive = self._unexpired if shelf_text.alive is None else self._unexpired & shelf_text.alive
            shelf_text = replace(shelf_text, alive=alive)
        self.terms = [token_hash(term) for term in terms]
        found = word_scores(shelf_text, self.terms, self._settings)
        self._full_marks = found.full_marks
        scores: NDArray[np.float32] = found.scores * self._mask
        return self._best_chunks(scores)

    def _score_meaning(self) -> NDArray[np.float32] | None:
        shelf, vector = self._shelf, self._query.vector
        if vector is None or shelf.vectors is None or not self._mask.any():
            return None
        unit = vector / (float(np.linalg.norm(vector.astype(np.float64))) or 1.0)
        self._unit = unit.astype(np.float32)
        found: NDArray[np.float32] = np.zeros(self._mask.size, np.float32)
        if shelf.coded:
            found[:-1] = estimated_cosines(shelf.vectors[: shelf.size], self._unit)
        else:
            found[:-1] = cosines(shelf.vectors[: shelf.size], self._unit)
        self._cosines = self._filled(found)
        scores: NDArray[np.float32] = self._smoothed(self._cosines)
        scores[~(self._mask & shelf.columns.has_vector)] = _ABSENT
        return self._best_chunks(scores)

    @property
    def _known(self) -> NDArray[np.bool_]:
        """Which rows have a vector and have not gone: they tell something of their neighbours and of the mean."""
        known = self._shelf.columns.has_vector
        for limit in (self._shelf.text.alive, self._unexpired):
            known = known if limit is None else known & limit
        return known

    def _filled(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give rows without a vector, and a neighbour that is not there, the mean: neither near nor far.

        With 0 instead, the first and the last message of every thread, and all memories, would lose to the rest.
        """
        known = self._known
        count = int(np.count_nonzero(known))
        # In float64, where the sum hardly depends on the order in which the rows were read.
        total = float((cosines[known] if count < self._shelf.size else cosines[:-1]).sum(dtype=np.float64))
        mean = total / max(count, 1)
        if self._part is not None and self._part.mean_cosine is not None:
            mean = self._part.mean_cosine
        self.mean_cosine = mean
        if count < self._shelf.size:
            cosines[~known] = mean
        cosines[-1] = mean
        return cosines

    def _smoothed(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self._smooths:
            copied: NDArray[np.float32] = cosines.copy()
            return copied
        shelf, settings = self._shelf, self._settings
        found: NDArray[np.float32] = cosines + np.float32(settings.previous_meaning) * cosines[shelf.previous]
        found += np.float32(settings.next_meaning) * cosines[shelf.next]
        return found

    @property
    def _smooths(self) -> bool:
        return self._blended and self._query.text is not None

    def _best_chunks(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        extra = self._shelf.extra
        if extra.size:
            np.maximum.at(scores, self._shelf.lead[extra], scores[extra])
        return scores

    def keep(self, numbers: Sequence[int]) -> None:
        """Choose among some records only, scored by what is known of all that qualify.

        Args:
            numbers: The records' numbers.
        """
        if self._shelf.coded and self.meaning is not None and self._mask.any():
            pool = self._pool(0)
            self._best_meaning = float(self._exact(pool)[0].max(initial=_ABSENT))
        self._kept = self._mask & np.isin(self._shelf.columns.record_no, np.asarray(numbers, np.int64))

    def best(self, count: int) -> Ranked:
        """Return the best records, and all that are as good as the last of them.

        Args:
            count: How many.
        """
        if not self._kept.any():
            none = np.empty(0, np.intp)
            return Ranked(none, single(None, None), none, complete=True)
        rows = self._pool(count)
        if not self._shelf.coded and rows.size > 4 * count:
            rough = self._fused(rows, exact=False).scores
            last = np.partition(rough, rows.size - count)[rows.size - count]
            rows = rows[rough >= last - _MARGIN]
        fused = self._fused(rows, exact=True)
        order = np.argsort(-fused.scores, kind="stable")
        if order.size > count:
            last = np.round(fused.scores[order[count - 1]], 9)
            order = order[np.round(fused.scores[order], 9) >= last]
        return Ranked(rows[order], fused, order, complete=order.size >= int(self._kept.sum()))

    def _pool(self, count: int) -> NDArray[np.intp]:
        rows = np.flatnonzero(self._kept)
        most = max(self._settings.rescored_rows, 4 * count)
        if not self._shelf.coded or rows.size <= most:
            return rows
        picks = []
        if self.words is not None:
            found = rows[self.words[rows] > 0]
            picks.append(_top(self.words, found, max(most // 5, 4 * count)))
        if self.meaning is not None:
            picks.append(self._refined(_top(self.meaning, rows, _REFINED * most), most))
        return np.unique(np.concatenate(picks))

    def _refined(self, rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
        """Return the best of the rows that are best by the bits of their codes."""
        codes, meaning = self._shelf.vectors, self.meaning
        assert codes is not None and meaning is not None  # noqa: S101  asked for by the vector arm only
        finer = refined_cosines(codes[rows], self._unit)
        # What neighbours and other chunks added to the estimate stays.
        scale = float(np.abs(finer).max()) or 1.0
        finer = finer / scale * float(self._cosines[rows].max()) + (meaning[rows] - self._cosines[rows])
        return rows[best_places(finer, most)]

    def _fused(self, rows: NDArray[np.intp], *, exact: bool) -> Fused:
        arm = None if self.words is None else self._words_arm(self.words, rows)
        other = None if self.meaning is None else self._meaning_arm(self.meaning, rows, exact=exact)
        if not self._blended or self._query.text is None:
            return single(arm, None if arm is not None else other)
        return fuse(arm, other, self._settings, self._bonuses(rows))

    def _words_arm(self, scores: NDArray[np.float32], rows: NDArray[np.intp]) -> Arm:
        found = scores[rows].astype(np.float64)
        relevance = found / (found + self._full_marks) if self._full_marks else np.zeros(found.size)
        found[found == 0] = np.nan
        return Arm(found, 0.0, float(scores.max()), relevance)

    def _meaning_arm(self, scores: NDArray[np.float32], rows: NDArray[np.intp], *, exact: bool) -> Arm:
        low, high = self._range if self._blended else (0.0, 0.0)
        found = scores[rows].astype(np.float64)
        relevance = found
        if exact:
            found, relevance = self._exact(rows)
            if self._shelf.coded:
                high = max(float(found.max(initial=low)), low, self._best_meaning)
        found = np.where(found > _ABSENT, found, np.nan)
        return Arm(found, low, high, np.clip(relevance, 0, 1))

    @property
    def _range(self) -> tuple[float, float]:
        """The least and the greatest score of those that qualify, by what was known of all before any was read."""
        if self._meaning_range is None:
            assert self.meaning is not None  # noqa: S101  asked for by the vector arm only
            among = self.meaning[self._mask & (self.meaning > _ABSENT)]
            low, high = (float(among.min()), float(among.max())) if among.size else (0.0, 0.0)
            if self._part is not None and self._part.least_meaning is not None:
                low = min(low, self._part.least_meaning)
            self._meaning_range = (low, high)
        return self._meaning_range

    @property
    def least_meaning(self) -> float | None:
        """The least score by meaning of what qualifies, or None where nothing that qualifies has a vector."""
        return None if self.meaning is None or not (self.meaning > _ABSENT).any() else self._range[0]

    def _exact(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of records in full precision, and their cosines."""
        shelf = self._shelf
        lead = self._with_chunks(rows)
        wanted = lead
        # In a shelf of codes a neighbour's estimate has to do: reading its vector costs as much as a candidate's.
        if self._smooths and not shelf.coded:
            wanted = np.unique(np.concatenate([lead, shelf.previous[lead], shelf.next[lead]]))
        cosines = self._cosines.copy() if shelf.coded else self._cosines
        wanted = wanted[(wanted >= 0) & self._known[wanted]]
        cosines[wanted] = self._exact_cosines(wanted)
        scores = cosines[lead].astype(np.float64)
        if self._smooths:
            scores = (
                scores
                + self._settings.previous_meaning * cosines[shelf.previous[lead]]
                + self._settings.next_meaning * cosines[shelf.next[lead]]
            )
        absent = ~shelf.columns.has_vector[lead]
        scores[absent] = _ABSENT
        own = np.where(absent, _ABSENT, cosines[lead].astype(np.float64))
        if not shelf.extra.size:
            return scores, own
        places = np.searchsorted(rows, shelf.lead[lead])
        best, nearest = np.full(rows.size, _ABSENT), np.full(rows.size, _ABSENT)
        np.maximum.at(best, places, scores)
        np.maximum.at(nearest, places, own)
        return best, nearest

    def _with_chunks(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        extra = self._shelf.extra
        if not extra.size:
            return rows
        return np.concatenate([rows, extra[np.isin(self._shelf.lead[extra], rows)]])

    def _exact_cosines(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        vectors = self._shelf.vectors
        if self._shelf.coded:
            return exact_cosines(self._read_vectors(rows), self._unit)
        assert vectors is not None  # noqa: S101  the vector arm runs only with vectors
        return exact_cosines(vectors[rows], self._unit)

    def _bonuses(self, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
        columns, settings = self._shelf.columns, self._settings
        bonuses = {"question": -settings.question_penalty * columns.question[rows].astype(np.float64)}
        if len(self._named) == 1:
            theirs = (columns.speaker[rows] == self._named[0]) & (columns.kind[rows] == MESSAGE)
            bonuses["speaker"] = settings.speaker_bonus * theirs.astype(np.float64)
        return bonuses

    def ranks(self, row: int) -> tuple[int | None, int | None]:
        """Return a record's rank in the word arm and in the vector arm, None where the arm did not find it.

        Args:
            row: The record's row.
        """
        words_rank = meaning_rank = None
        if self.words is not None and self.words[row] > 0:
            words_rank = 1 + int(((self.words > self.words[row]) & self._mask).sum())
        if self.meaning is not None and self.meaning[row] > _ABSENT:
            meaning_rank = 1 + int(((self.meaning > self.meaning[row]) & self._mask).sum())
        return words_rank, meaning_rank
