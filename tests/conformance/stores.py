"""The stores that recorded behaviour is compared with."""

from __future__ import annotations

from typing import Any

from hitherto.store.base import MemoryStore
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.reference import ReferenceStore


def in_memory(**options: Any) -> SQLiteStore:
    """Return an empty embedded store."""
    return SQLiteStore(":memory:", **options)


STORES: dict[str, Any] = {"reference": ReferenceStore, "sqlite": in_memory}


def opened(name: str, **options: Any) -> MemoryStore:
    """Return an empty store of that name."""
    store: MemoryStore = STORES[name](**options)
    return store
