"""Each backend gives what the reference store gives, whatever is done to both."""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, settings
from tests.postgres import emptied

from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.machine import store_machine


def in_memory(**options: Any) -> SQLiteStore:
    """Return an empty embedded store."""
    return SQLiteStore(":memory:", **options)


class TestSQLite(store_machine(in_memory).TestCase):  # type: ignore[misc]
    """Any sequence of calls gives the same on both stores."""

    settings = settings(
        stateful_step_count=25,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],  # to explain takes minutes
    )


class TestPostgres(store_machine(emptied).TestCase):  # type: ignore[misc]
    """Any sequence of calls gives the same on PostgreSQL."""

    settings = settings(
        max_examples=10,  # each call goes to a server
        stateful_step_count=25,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    )
