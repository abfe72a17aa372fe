"""The reference store passes the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitherto.testing.conformance import StoreConformance
from hitherto.testing.reference import ReferenceStore


class TestReferenceStore(StoreConformance):
    """The store in dicts and loops."""

    def make_store(self, folder: Path, **options: Any) -> ReferenceStore:
        """Return an empty store."""
        return ReferenceStore(**options)
