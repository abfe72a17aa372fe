"""The suite of every store, over a store of the original package, but for what that has no means to do.

Our own store is put under the original's interface (``as_oracle_store``), and that again under ours: what holds here
holds for both adapters.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitherto import MemoryStore
from hitherto.compat.oracle import as_oracle_store, from_oracle_store
from hitherto.testing.conformance import StoreConformance
from hitherto.testing.reference import ReferenceStore

pytest.importorskip("oracleagentmemory.core", reason="the reference package is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DOES_NOT_APPLY = {
    "test_blank_text_reaches_no_model": "the embedder is the other store's own",
    "test_erasing_a_user_counts_and_leaves_the_rest": "its interface has no erasing",
    "test_no_delete_leaves_a_row_behind": "its interface has neither erasing nor purging",
    "test_purging_deletes_what_has_expired": "its interface has no purging",
    "test_memories_of_all_types_are_listed_by_age": "its records do not say when they were stored",
}


class TestOracleBackedStore(StoreConformance):
    """Nothing is kept for another process: jobs live in memory, and the store is not opened by us."""

    @pytest.fixture(autouse=True)
    def _applies(self, request: pytest.FixtureRequest) -> None:
        """Skip what does not apply."""
        reason = DOES_NOT_APPLY.get(request.node.originalname)
        if reason is not None:
            pytest.skip(reason)

    def make_store(self, folder: Path, **options: Any) -> MemoryStore:
        """Return an empty store."""
        return from_oracle_store(as_oracle_store(ReferenceStore(**options)))


def test_what_is_left_out_is_in_the_suite() -> None:
    """Every name that is skipped is one of the suite's."""
    assert [name for name in DOES_NOT_APPLY if not hasattr(StoreConformance, name)] == []
