"""Words in memory: postings, and BM25 over a message's five fields."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from hitherto.store.settings import SearchSettings
from hitherto.store.sql.words import Postings, Text, field_lengths, word_scores

PLAIN = SearchSettings(previous_words=0, before_previous_words=0, next_words=0, date_words=0)


def flat(rows: list[list[int]]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    hashes = np.array([word for row in rows for word in row], np.uint32)
    owners = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
    return hashes, owners


def text_of(rows: list[list[int]], *, chain: bool = False, dates: list[list[int]] | None = None) -> Text:
    """Return rows as a scope; with a chain they are one thread."""
    size = len(rows)
    dates = [[] for _ in rows] if dates is None else dates
    previous = np.full(size + 1, -1, np.int32)
    following = previous.copy()
    if chain:
        previous[1:size] = np.arange(size - 1)
        following[: size - 1] = np.arange(1, size)
    own = np.array([*map(len, rows), 0], np.float32)
    dated = np.array([*map(len, dates), 0], np.float32)
    lengths = field_lengths(own, dated, previous, following)
    return Text(
        Postings(*flat(rows)),
        Postings(*flat(dates)),
        previous,
        following,
        lengths,
        size,
        float(lengths[:-1].mean()) or 1.0,
        None,
    )


def bm25(
    rows: list[Counter[int]], lengths: list[float], query: list[int], k1: float, b: float
) -> list[float]:
    """Return BM25 as it is written in the books, over weighted frequencies."""
    mean = sum(lengths) / len(rows)
    scores = [0.0] * len(rows)
    for word in query:
        held = sum(1 for row in rows if row[word])
        weight = math.log(1 + (len(rows) - held + 0.5) / (held + 0.5))
        for place, row in enumerate(rows):
            frequency = row[word]
            if frequency:
                scores[place] += (
                    weight * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * lengths[place] / mean))
                )
    return scores


def test_a_word_is_found_where_it_stands_and_as_often() -> None:
    """A look-up returns each row that holds a word once, with how often it does."""
    postings = Postings(*flat([[5, 7, 5], [7], [], [5]]))
    rows, counts = postings.lookup(5)
    assert (rows.tolist(), counts.tolist()) == ([0, 3], [2, 1])
    assert postings.lookup(6)[0].size == 0


def test_the_greatest_hash_is_found() -> None:
    """A hash of all ones is a word as any other."""
    rows, counts = Postings(*flat([[2**32 - 1], [0, 2**32 - 1]])).lookup(2**32 - 1)
    assert (rows.tolist(), counts.tolist()) == ([0, 1], [1, 1])


def test_no_words_at_all_are_legal() -> None:
    """An empty scope answers every look-up with nothing."""
    assert Postings(*flat([])).lookup(1)[0].size == 0


@pytest.mark.parametrize("more", [3, 20_000])
def test_words_added_later_are_found_with_the_earlier_ones(more: int) -> None:
    """Adding words gives what building at once would, both before and after they are merged."""
    first, later = [[1, 2], [2]], [[2, 2, 3]] + [[9]] * more
    hashes, rows = flat(later)
    extended = Postings(*flat(first)).extended(hashes, rows + np.int32(2))
    whole = Postings(*flat(first + later))
    for word in (1, 2, 3, 9, 4):
        for got, wanted in zip(extended.lookup(word), whole.lookup(word), strict=True):
            assert got.tolist() == wanted.tolist()


def test_adding_words_leaves_the_old_postings_as_they_are() -> None:
    """A search that reads postings while others are added sees none of the new."""
    old = Postings(*flat([[1]]))
    old.extended(np.array([1], np.uint32), np.array([1], np.int32))
    assert old.lookup(1)[0].tolist() == [0]


def test_scores_are_those_of_bm25() -> None:
    """Without context a row is ranked by BM25 over its own words."""
    rows = [[1, 2, 3, 4], [1, 1, 5], [2], [6, 7, 8, 9, 1, 2]]
    got = word_scores(text_of(rows), [1, 2, 99], PLAIN).scores
    wanted = bm25([Counter(row) for row in rows], [len(row) for row in rows], [1, 2], PLAIN.k1, PLAIN.b)
    assert got[:-1] == pytest.approx(wanted, rel=1e-5)
    assert got[-1] == 0


def test_a_message_is_ranked_by_its_neighbours_and_date_too() -> None:
    """The five fields count what the settings say, in frequency, document frequency and length."""
    rows, dates = [[1, 2], [3], [1, 1], [4], [5]], [[8], [8], [], [9], []]
    settings = SearchSettings()
    fields = {0: 1.0, -1: settings.previous_words, -2: settings.before_previous_words, 1: settings.next_words}
    counted: list[Counter[int]] = []
    lengths = []
    for place in range(len(rows)):
        frequency: Counter[int] = Counter()
        length = len(dates[place])
        for step, weight in fields.items():
            if 0 <= place + step < len(rows):
                length += len(rows[place + step])
                for word in rows[place + step]:
                    frequency[word] += weight  # type: ignore[assignment]  # counts are weights here
        for word in dates[place]:
            frequency[word] += settings.date_words  # type: ignore[assignment]
        counted.append(frequency)
        lengths.append(float(length))
    got = word_scores(text_of(rows, chain=True, dates=dates), [1, 8], settings).scores
    assert got[:-1] == pytest.approx(bm25(counted, lengths, [1, 8], settings.k1, settings.b), rel=1e-5)


def test_few_rows_among_many_score_as_they_would_among_few() -> None:
    """The way of a rare word in a large scope gives what the way of a common word gives."""
    rows = [[2]] * 5000
    rows[17], rows[4000] = [1, 2], [1, 1]
    got = word_scores(text_of(rows, chain=True), [1], SearchSettings()).scores
    assert np.flatnonzero(got).tolist() == [16, 17, 18, 19, 3999, 4000, 4001, 4002]


def test_of_too_many_words_the_rarest_are_looked_up() -> None:
    """A query of more words than are looked up drops the common ones, not those at its end."""
    text = text_of([[1, 2], [1, 3], [1]])
    settings = SearchSettings(max_query_words=1, previous_words=0)
    assert word_scores(text, [1, 3], settings).scores[:-1].nonzero()[0].tolist() == [1]


def test_a_word_that_nobody_holds_lowers_what_the_best_row_is_worth() -> None:
    """Full marks count every word of the query, so that a row with one of two is no full hit."""
    text = text_of([[1], [2]])
    one, two = word_scores(text, [1], PLAIN), word_scores(text, [1, 99], PLAIN)
    assert two.scores.tolist() == one.scores.tolist()
    assert two.full_marks > one.full_marks


def test_dead_rows_are_not_found_and_tell_nothing_of_their_neighbours() -> None:
    """What is deleted or expired has no words, neither for itself nor as context."""
    from dataclasses import replace

    text = replace(text_of([[1], [2], [3]], chain=True), alive=np.array([True, False, True, False]))
    assert word_scores(text, [2], SearchSettings()).scores.nonzero()[0].tolist() == []
