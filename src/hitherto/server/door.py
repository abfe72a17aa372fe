"""What each request passes before its route: its path is read, who sends it is found out, and it is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from hitherto.server.audit import Action, AuditLog
from hitherto.server.auth import AuthenticationError
from hitherto.server.binding import is_local_host
from hitherto.server.calls import on_error
from hitherto.server.metrics import Metrics
from hitherto.server.problems import too_many_connections

if TYPE_CHECKING:
    from hitherto.server.auth import Authenticator
    from hitherto.server.metrics import AsgiApp, Message, Receive, Scope, Send

FULL: Final = "full"
"""What stands in the state of a request that came on one connection too many."""

OPEN_PATHS: Final = ("/healthz", "/readyz")
"""What is answered to everybody: it says nothing but whether the server runs."""

_ACTIONS: Final = {action.name.lower(): action for action in Action}
"""By the name of the function that does it."""


class Door:
    """Reads the path as OpenSearch does, and lets nobody in who is not known.

    Routes are found by the path as it was sent, so that ``%2F`` within an id is part of the id; empty segments at its
    end are dropped.

    Args:
        app: What requests go to.
        authenticator: Who finds out who sends a request; None on a server without users.
        audit: Where it is written down who touched which memory.
        metrics: Where refusals are counted.
        local_only: Whether only requests to a name of this machine are let in. A page of the web can send requests to
            a server on the reader's machine, but under the name of its own site.
    """

    def __init__(
        self,
        app: AsgiApp,
        *,
        authenticator: Authenticator | None,
        audit: AuditLog,
        metrics: Metrics,
        local_only: bool,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._audit = audit
        self._metrics = metrics
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scope["original_path"] = raw
        scope["path"] = raw.decode("latin-1").rstrip("/") or "/"
        scope.setdefault("state", {})
        refusal = await self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._noted(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        if scope["state"].get(FULL):
            return await on_error(Request(scope), too_many_connections())
        if self._local_only and not is_local_host(_header(scope, b"host")):
            return PlainTextResponse("this server answers to names of this machine only\n", 421)
        if self._authenticator is None or scope["path"] in OPEN_PATHS:
            return None
        try:
            principal = await self._authenticator.authenticate_async(
                _header(scope, b"authorization"), _address(scope)
            )
        except AuthenticationError as error:
            self._metrics.count_refusal(error)
            return PlainTextResponse(str(error), error.status, dict(error.headers))
        scope["state"]["caller"] = principal.name
        return None

    async def _noted(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted = False

        def note(status: int) -> None:
            nonlocal noted
            action = _ACTIONS.get(getattr(scope.get("endpoint"), "__name__", ""))
            if action is not None and not noted:
                self._audit.record(action, status=status, address=_address(scope), **_touched(scope))
            noted = True

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Before it is sent: what was answered stands in the log, also after a crash.
                note(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            note(500)


def _touched(scope: Scope) -> dict[str, Any]:
    state = scope["state"]
    named = {**state.get("named", {}), **state.get("answered", {})}
    return {
        "user": state.get("caller"),
        "memory_id": named.get("memory_id"),
        "message_id": named.get("message_id"),
    }


def _header(scope: Scope, wanted: bytes) -> str | None:
    found = [value for name, value in scope["headers"] if name == wanted]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _address(scope: Scope) -> str | None:
    client = scope.get("client")
    return client[0] if client else None
