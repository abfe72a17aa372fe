"""A client over an empty store of each backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hitherto import AgentMemory


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentMemory]:
    """Return a client without an embedder over an empty store, on each backend."""
    if request.param == "sqlite":
        with AgentMemory(tmp_path / "served.db", embedder=None) as client:
            yield client
        return
    from tests import postgres

    with postgres.fresh() as store, AgentMemory(store=store) as client:
        yield client
