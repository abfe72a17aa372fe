"""Vectors in memory: unit rows, codes, and products that do not depend on the place."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hitherto.store.sql import vectors
from hitherto.store.sql.ranking import best_places
from hitherto.store.sql.vectors import (
    bit_codes,
    cosines,
    differing_bits,
    estimated_cosines,
    exact_cosines,
    refined_cosines,
    unit_rows,
)


def made_up(rows: int, dimension: int, seed: int = 3) -> NDArray[np.float32]:
    return unit_rows(np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32))


def test_very_long_and_very_short_vectors_become_unit_vectors() -> None:
    """Numbers whose squares overflow or vanish in 32 bits still give a direction."""
    found = unit_rows(np.array([[3e30, 4e30], [3e-30, 4e-30]], np.float32))
    assert found == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]], np.float32))


@pytest.mark.parametrize("dimension", [1, 3, 64, 100, 384])
def test_bits_that_differ_are_the_signs_that_differ(dimension: int) -> None:
    """Counting on codes gives the number of different signs, for every dimension and across blocks."""
    rows = made_up(20_000, dimension)
    wanted = ((rows > 0) != (rows[7] > 0)).sum(axis=1)
    assert differing_bits(bit_codes(rows), bit_codes(rows[7:8])[0]).tolist() == wanted.tolist()


def test_estimates_are_near_the_cosines() -> None:
    """The angle that differing bits tell is right on average, and exact for the same and the opposite vector."""
    rows = made_up(500, 384)
    rows[1] = -rows[0]
    found = estimated_cosines(bit_codes(rows), rows[0])
    assert found[0] == pytest.approx(1, abs=1e-6)
    assert found[1] == pytest.approx(-1, abs=1e-6)
    assert float(np.abs(found - rows @ rows[0]).mean()) < 0.1


def test_the_finer_order_is_the_sum_of_the_query_with_signs() -> None:
    """The table of eight signs at a time adds up what a product with the signs would."""
    rows, query = made_up(50, 100), made_up(1, 100, seed=9)[0]
    wanted = np.where(rows > 0, 1, -1).astype(np.float32) @ query
    assert refined_cosines(bit_codes(rows), query) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("product", [cosines, exact_cosines])
def test_equal_vectors_have_equal_cosines_wherever_they_stand(product: object) -> None:
    """Two records with the same vector are equally near, so that their ids decide."""
    rows = made_up(1003, 37)
    rows[::17] = rows[0]
    assert callable(product)
    assert len(set(product(rows, made_up(1, 37, seed=5)[0])[::17].tolist())) == 1


def test_products_by_threads_and_by_rows_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large matrix is scored as a small one is."""
    rows, query = made_up(300, 64), made_up(1, 64, seed=5)[0]
    small = cosines(rows, query)
    monkeypatch.setattr(vectors, "_THREADS_PAY", 10)
    assert cosines(rows, query) == pytest.approx(small, abs=1e-6)


@pytest.mark.parametrize("values", ["different", "many equal", "sorted"])
@pytest.mark.parametrize("count", [1, 500, 20_000])
def test_the_best_of_very_many_are_the_best(values: str, count: int) -> None:
    """The bound that a sample suggests never loses one of the best, whatever the scores are like."""
    scores = np.random.default_rng(2).random(100_000).astype(np.float32)
    if values == "many equal":
        scores = np.round(scores, 1)
    elif values == "sorted":
        scores.sort()
    found = best_places(scores, count)
    assert len(set(found.tolist())) == count
    assert np.sort(scores[found]).tolist() == np.sort(scores)[-count:].tolist()
