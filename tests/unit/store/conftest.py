"""A store in a file, a clock that tests turn, and an embedder that counts."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hitherto.models.base import Embedder, Fingerprint
from hitherto.store.sqlite.store import SQLiteStore


class TurnedClock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **delta: float) -> None:
        self.now += timedelta(**delta)


class CountingEmbedder(Embedder):
    """Embeds each text as a random direction of its own, and remembers what it was asked."""

    def __init__(self, name: str = "counting", dimension: int = 8) -> None:
        self.name = name
        self.dimension = dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        self.asked.extend(texts)
        rows = [
            np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimension) for text in texts
        ]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    @property
    def embedding_dimension(self) -> int:
        return self.dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.name, self.dimension, normalised=False)


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(file: Path, clock: TurnedClock) -> Iterator[SQLiteStore]:
    with SQLiteStore(file, clock=clock) as opened:
        yield opened
