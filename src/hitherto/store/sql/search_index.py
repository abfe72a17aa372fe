"""What a SQL backend's search offers to the writes and reads that all SQL backends share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hitherto.store.requests import StoreHit, StoreQuery

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hitherto.store.sql.rows import IndexRow


class SearchIndex(Protocol):
    """Words and vectors of records, kept in the same database and written in the same transaction.

    ``version`` is the writing transaction's number. A change of what is indexed is a remove with the old texts
    and an add with the new ones.
    """

    def add(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Index records that were just stored, and what changes for their neighbours in a thread."""

    def remove(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Forget records that are about to be deleted or changed, and refresh their neighbours."""

    def touch(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Take note that status or expiry of records changed, their texts being the same."""

    def put_vectors(self, conn: Connection, rows: Sequence[IndexRow], version: int) -> None:
        """Replace the vectors of records, their words being the same."""

    def drop_vectors(self, conn: Connection, version: int) -> None:
        """Delete all vectors."""

    def erase(self, conn: Connection) -> None:
        """Make sure that nothing of what was removed is left in any structure."""

    def search(self, conn: Connection, query: StoreQuery) -> list[StoreHit]:
        """Return the k nearest records, without linked records."""
