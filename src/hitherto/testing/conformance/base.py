"""What the parts of the suite stand on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hitherto.store.base import MemoryStore
from hitherto.testing.scripted import HashEmbedder


class ManualClock:
    """A clock that stands still until it is moved.

    Example:
        >>> clock = ManualClock()
        >>> before = clock()
        >>> clock.advance(days=1)
        >>> (clock() - before).days
        1
    """

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        """Return the present time."""
        return self._now

    def advance(self, **amount: float) -> None:
        """Move on by a ``timedelta`` of these arguments."""
        self._now += timedelta(**amount)


class ConformanceBase:
    """Fixtures of the suite; a backend overrides :meth:`make_store`."""

    persistent: ClassVar[bool] = False

    def make_store(self, folder: Path, **options: Any) -> MemoryStore:
        """Open a store, empty or with what was stored in the folder before.

        Args:
            folder: An empty folder of this test's own.
            **options: What every store takes.
        """
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return a clock that the test moves."""
        return ManualClock()

    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[MemoryStore]:
        """Return an empty store with an embedder and the test's clock."""
        with self.make_store(tmp_path, embedder=HashEmbedder(), clock=clock) as store:
            yield store


def ids(records: Any) -> list[str]:
    """Return the ids of records, or of the records in search results."""
    return [item[0].id if isinstance(item, tuple) else item.id for item in records]
