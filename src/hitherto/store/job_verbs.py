"""What may be done with the jobs of a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hitherto.aio import awaitable
from hitherto.store.jobs import JobTable
from hitherto.store.primitives import StorePrimitives

T = TypeVar("T")


class JobVerbs(StorePrimitives):
    """Jobs: what is still to be done for what was stored."""

    def read_jobs(self, look: Callable[[JobTable], T]) -> T:
        """Look at the jobs of the store; nobody who writes is kept waiting.

        Args:
            look: Returns what is wanted; it must change nothing.

        Returns:
            What it returns.

        Examples:
            >>> from hitherto.store.jobs import PENDING
            >>> from hitherto.store.opening import open_store
            >>> with open_store(":memory:", embedder=None) as store:
            ...     store.read_jobs(lambda jobs: jobs.count(states=PENDING))
            0
        """
        return self._read_jobs(look)

    read_jobs_async = awaitable(read_jobs)

    def transact_jobs(self, step: Callable[[JobTable], T]) -> T:
        """Do something with the jobs of the store, in one transaction.

        Args:
            step: What to do; see :mod:`hitherto.store.jobs` for the rules. An error undoes it.

        Returns:
            What the step returns.

        Examples:
            >>> from hitherto.store.jobs import PENDING
            >>> from hitherto.store.opening import open_store
            >>> with open_store(":memory:", embedder=None) as store:
            ...     store.transact_jobs(lambda jobs: jobs.count(states=PENDING))
            0
        """
        return self._transact_jobs(step)

    transact_jobs_async = awaitable(transact_jobs)
