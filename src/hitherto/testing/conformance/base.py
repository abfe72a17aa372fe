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

    Examples:
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
    """Fixtures of the suite; a backend overrides :meth:`make_store` and says what it can.

    Attributes:
        persistent: Whether what is stored in a folder is there when a store is opened in it again.
        program: Python source that makes ``store`` from ``folder``, a Path, in another process; None for a store
            that only one process opens.
    """

    persistent: ClassVar[bool] = False
    program: ClassVar[str | None] = None

    def make_store(self, folder: Path, **options: Any) -> MemoryStore:
        """Open a store, empty or with what was stored in the folder before.

        Args:
            folder: An empty folder of this test's own.
            **options: What every store takes.
        """
        raise NotImplementedError

    def leftovers(self, store: MemoryStore) -> list[str]:
        """Return a line for each row in the store's tables that belongs to a record which is gone.

        A backend that keeps vectors, words, links or images apart from its records overrides this and looks at its
        tables past the store.

        Args:
            store: A store that :meth:`make_store` made.
        """
        return []

    @pytest.fixture
    def kept(self) -> None:
        """Skip a test that needs a store which keeps its data."""
        if not self.persistent:
            pytest.skip("what this store holds ends with it")

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
