"""Empty clients on the backend under test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tests import postgres

from hitherto import AgentMemory
from hitherto.store.postgres.store import PostgresStore

_chosen: ContextVar[str] = ContextVar("chosen", default="sqlite")
_opened: list[PostgresStore] = []


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Have clients opened on a backend, and close what the block leaves open."""
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)
        while _opened:
            _opened.pop().close()


def empty_client(**options: Any) -> AgentMemory:
    """Return a client of an empty store without an embedder; closing it closes the store.

    Args:
        **options: As AgentMemory takes them.
    """
    if _chosen.get() == "sqlite":
        return AgentMemory(":memory:", embedder=None, **options)
    of_store = {name: options.pop(name) for name in ("memory_retention_config", "clock") if name in options}
    in_use = any(not store._engine._closed for store in _opened)
    store = (postgres.fresh if in_use else postgres.emptied)(embedder=None, **of_store)
    _opened.append(store)
    memory = AgentMemory(store=store, **options)
    memory._session._owns_store = True
    return memory
