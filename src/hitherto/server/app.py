"""The application: routes, what they need, and how their errors are answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute

from hitherto.aio import run_in_thread
from hitherto.errors import HithertoError, InvalidArgumentError, shown
from hitherto.server import openapi
from hitherto.server.audit import AuditLog
from hitherto.server.auth import Authenticator
from hitherto.server.calls import PlainProblem, on_error, uri_of
from hitherto.server.door import Door
from hitherto.server.index.rest_index import RestIndex
from hitherto.server.metrics import Metrics, MetricsMiddleware
from hitherto.server.problems import Problem
from hitherto.server.routes import cluster, memories, messages
from hitherto.server.service import MemoryService
from hitherto.store.checks import check_callable, check_flag, check_instance, check_whole
from hitherto.store.settings import checked_timeout
from hitherto.store.sql.store import SqlMemoryStore

if TYPE_CHECKING:
    from hitherto.memory import AgentMemory
    from hitherto.server.envelope import Profile

MOST_BODY_BYTES: Final = 10 * 1024 * 1024
READ_TIMEOUT_S: Final = 60.0
MOST_CONNECTIONS: Final = 500
"""Less than the 1,024 files that most systems let a process have open, since the store needs some too."""
_ROUTERS: Final = (cluster.router, messages.by_id, memories.router, messages.router)
"""In the order in which they are asked."""
_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]


def create_app(
    memory: AgentMemory,
    *,
    authenticator: Authenticator | None = None,
    profile: Profile = "3.x",
    most_body_bytes: int = MOST_BODY_BYTES,
    read_timeout_s: float = READ_TIMEOUT_S,
    most_connections: int = MOST_CONNECTIONS,
    audit: AuditLog | None = None,
    local_only: bool = False,
    close_memory: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> FastAPI:
    """Make the application that serves a client's store.

    Args:
        memory: The client. Its store must be one on SQL: SQLite or PostgreSQL.
        authenticator: Who finds out who sends a request; None for a server without users, on which everybody sees
            everything.
        profile: Whose output and scores are given.
        most_body_bytes: How long a request's body may be.
        read_timeout_s: How long a request's body may take to arrive, in seconds; its head too, where connections are
            :class:`~hitherto.server.connections.BoundedConnection`.
        most_connections: How many of those may be open in one process.
        audit: Where it is written down who touched which memory; None for nowhere.
        local_only: Whether only requests to a name of this machine are answered, which keeps pages of the web away
            from a server without users.
        close_memory: Whether the client is closed when the application ends.
        progress: While what is stored already is taken in: called with how much is done, and how much there is.

    Returns:
        The application, for any ASGI server.

    Raises:
        InvalidArgumentError: If the store is of another kind, or the profile is unknown.

    Examples:
        >>> from fastapi.testclient import TestClient
        >>> from hitherto import AgentMemory
        >>> with AgentMemory(":memory:", embedder=None) as memory, TestClient(create_app(memory)) as client:
        ...     made = client.post("/_plugins/_ml/memory", json={"name": "trip"}).json()
        ...     client.get(f"/_plugins/_ml/memory/{made['memory_id']}").json()["name"]
        'trip'
    """
    _check_profile(profile)
    check_instance(authenticator, Authenticator, argument="authenticator")
    check_instance(audit, AuditLog, argument="audit")
    check_whole(most_body_bytes, argument="most_body_bytes", least=1)
    check_whole(most_connections, argument="most_connections", least=1)
    read_timeout_s = checked_timeout(read_timeout_s, argument="read_timeout_s")
    check_flag(local_only, argument="local_only")
    check_flag(close_memory, argument="close_memory")
    check_callable(progress, argument="progress")
    store = check_store(memory)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, object]]:
        yield {"read_timeout_s": read_timeout_s, "most_connections": most_connections}
        metrics.close()
        written.close()
        if close_memory:
            await run_in_thread(memory.close)

    from hitherto import __version__

    written = AuditLog(None) if audit is None else audit
    metrics = Metrics(audit_lost=lambda: written.lost)
    app = FastAPI(
        title="hitherto",
        summary="OpenSearch's Memory API over hitherto",
        version=__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url="/_openapi.json",
    )
    app.state.service = MemoryService(memory, RestIndex(store, progress=progress), profile)
    app.state.most_body_bytes = most_body_bytes
    app.state.read_timeout_s = read_timeout_s
    _add_routes(app)
    openapi.publish(app, with_users=authenticator is not None)
    app.state.metrics = metrics
    app.add_middleware(
        Door, authenticator=authenticator, audit=written, metrics=metrics, local_only=local_only
    )
    app.add_middleware(MetricsMiddleware, metrics=metrics)
    return app


def _check_profile(profile: str) -> None:
    if profile not in cluster.NUMBERS:
        raise InvalidArgumentError(
            f"profile must be one of {', '.join(cluster.NUMBERS)}, got {shown(profile)}", argument="profile"
        )


def _add_routes(app: FastAPI) -> None:
    for router in _ROUTERS:
        app.include_router(router)
    app.add_api_route("/{path:path}", _no_route, methods=_METHODS, include_in_schema=False)
    for kind in (Problem, HithertoError, Exception):
        app.add_exception_handler(kind, on_error)
    app.add_exception_handler(405, _other_method)


def check_store(memory: AgentMemory) -> SqlMemoryStore:
    """Return a client's store, if it is one that can be served.

    Args:
        memory: The client.

    Raises:
        InvalidArgumentError: If it is not.
    """
    store = getattr(memory, "store", memory)
    if not isinstance(store, SqlMemoryStore):
        raise InvalidArgumentError(
            f"memory must be an AgentMemory with a store on SQLite or PostgreSQL, got {shown(store)}",
            argument="memory",
        )
    return store


async def _other_method(request: Request, _: Exception) -> Response:
    """Answer a method that HTTP knows nothing of, or that no route takes."""
    try:
        return await _no_route(request, request.scope["path"])
    except PlainProblem as problem:
        return await on_error(request, problem)


async def _no_route(request: Request, path: str) -> Response:
    """Answer what no route takes: by the methods that the path does have, if any."""
    here = request.scope["path"]
    allowed = sorted(
        {
            method
            for router in _ROUTERS
            for route in router.routes
            if isinstance(route, APIRoute) and route.path_regex.match(here)
            for method in route.methods or ()
        }
    )
    if not allowed:
        raise PlainProblem(
            400,
            f"no handler found for uri [{uri_of(request)}] and method [{request.method}]",
            with_status=False,
        )
    if request.method == "OPTIONS":
        return Response(headers={"Allow": ", ".join(allowed)}, media_type="text/plain")
    raise PlainProblem(
        405,
        f"Incorrect HTTP method for uri [{uri_of(request)}] and method [{request.method}], "
        f"allowed: [{', '.join(allowed)}]",
        headers={"Allow": ", ".join(allowed)},
    )
