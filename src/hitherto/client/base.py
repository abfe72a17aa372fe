"""What the verbs of a client stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitherto.session import Session

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore


class ClientVerbs:
    """Verbs that need an open session."""

    _session: Session

    @property
    def store(self) -> MemoryStore:
        """The store that the client works on.

        Raises:
            ClosedError: If the client was closed.
        """
        return self._session.store
