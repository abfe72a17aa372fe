"""What holds for every test and every docstring example: no network, an empty working directory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitherto.testing.network import block_network


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forbid every connection and name look-up that leaves this machine, unless the test is marked so."""
    if request.node.get_closest_marker("network") or request.node.get_closest_marker("llm"):
        yield
        return
    with block_network():
        yield


@pytest.fixture(autouse=True)
def _own_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test and doctest in an empty folder, so that an example may name a plain file."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _event_loop_of_its_own() -> Iterator[None]:
    """Give each test a loop that is closed again: LiteLLM's blocking calls take it, or make one and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
