"""A first, rough ranking of many rows by how often they hold a query's words, before the best of them are read.

It is BM25 as ever, but of a row's neighbours only those are known that hold a word too: the nearest of them in the
thread are taken for neighbours, which overrates some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hitherto.store.sql.shelf import link_threads
from hitherto.store.sql.words import Postings, Text, word_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitherto.store.postgres.sample import Sample
    from hitherto.store.postgres.words import Holders
    from hitherto.store.settings import SearchSettings


def rough_scores(
    holders: Holders, sample: Sample, counts: Mapping[int, int], settings: SearchSettings
) -> NDArray[np.float32]:
    """Return a score for each row.

    Args:
        holders: The rows.
        sample: What is known of their scope.
        counts: How many rows of the scope hold each word.
        settings: How things count.
    """
    rows = holders.rows
    previous, following = _chain(rows)
    whole = sample.shelf.text
    # Of neighbours' lengths nothing is known: they count as those of most rows.
    lengths = np.append(rows["length"], 0).astype(np.float32) + np.float32(
        whole.mean_length - sample.own_length
    )
    text = Text(
        _postings(holders, "own"),
        _postings(holders, "dated"),
        previous,
        following,
        lengths,
        whole.rows,
        whole.mean_length,
        None,
        counts,
    )
    return word_scores(text, holders.words, settings).scores[:-1]


def _chain(rows: NDArray[np.void]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    previous = np.full(rows.size + 1, -1, np.int32)
    following = previous.copy()
    link_threads(rows.view(np.recarray), np.flatnonzero(rows["thread"] != 0), previous, following)
    return previous, following


def _postings(holders: Holders, field: str) -> Postings:
    counts = holders.rows[field]
    rows, places = np.nonzero(counts)
    often = counts[rows, places]
    hashes = np.array(holders.words, np.uint32)[places]
    return Postings(np.repeat(hashes, often), np.repeat(rows.astype(np.int32), often))
