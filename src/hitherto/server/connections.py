"""Connections that cannot be held for ever: a request's head has a time to arrive in, and there is a bound on how many.

uvicorn closes a connection that is silent behind an answer, but waits for ever for the first request of a connection,
and for the rest of a head that has begun. The time for a body is kept where the body is read.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from hitherto.server.app import MOST_CONNECTIONS, READ_TIMEOUT_S
from hitherto.server.door import FULL

_REFUSAL_S: Final = 2.0
"""How long a connection too many may take to send the head of the request that is refused."""


class BoundedConnection(H11Protocol):
    """A connection of uvicorn's with the bounds that the application was made with.

    The application hands them on as the state of its lifespan.
    """

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._head_s = float(self.app_state.get("read_timeout_s", READ_TIMEOUT_S))
        if len(self.connections) > self.app_state.get("most_connections", MOST_CONNECTIONS):
            # It is read all the same: what is refused before it is read is seen by the client as a broken connection.
            self.app_state = {**self.app_state, FULL: True}
            self._head_s = min(self._head_s, _REFUSAL_S)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that is not complete by it has no more time than it had."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        super().connection_lost(exc)
        self._unwatch()

    def _watch(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn does not say that there may be none
        if cycle is not None and not cycle.response_complete:
            self._unwatch()
        elif self._head is None:
            self._head = self.loop.call_later(self._head_s, self._too_slow)

    def _unwatch(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        self._head = None
        self.transport.close()
