"""What the server tells Prometheus: requests, searches, refusals and the size of the store. No names, no ids.

Each application has a registry of its own. With several worker processes on one port a scrape meets only one of them:
set the environment variable PROMETHEUS_MULTIPROC_DIR to an empty folder before the workers start, and each of them
answers for all. What the store holds is read from the store at the scrape, and so is the same in every worker.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from hitherto._optional import require
from hitherto.aio import awaitable
from hitherto.errors import HithertoError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from hitherto.server.auth import AuthenticationError

log = logging.getLogger("hitherto.server")

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_HITS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 1000, 10_000)
UNMATCHED: Final = "unmatched"
"""The route of requests that no route answers: their paths are as many as somebody likes to send."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class Metrics:
    """Counts what an application does, and renders it for Prometheus.

    Args:
        store_sizes: Returns what the store holds, by kind; called at each scrape.
        audit_lost: Returns how many lines of the audit log were lost; called at each scrape.

    Raises:
        MissingExtraError: If prometheus-client is not installed.

    Examples:
        >>> metrics = Metrics(store_sizes=lambda: {"fact": 2})
        >>> metrics.finish_request("GET", "/_plugins/_ml/memory/{memory_id}", 200, seconds=0.004)
        >>> text, content_type = metrics.render()
        >>> [line for line in text.decode().splitlines() if line.startswith("hitherto_requests_total")]
        ['hitherto_requests_total{method="GET",route="/_plugins/_ml/memory/{memory_id}",status="200"} 1.0']
        >>> 'hitherto_store_records{kind="fact"} 2.0' in text.decode()
        True
    """

    def __init__(
        self,
        *,
        store_sizes: Callable[[], Mapping[str, int]] | None = None,
        audit_lost: Callable[[], int] | None = None,
    ) -> None:
        client = require("prometheus_client", extra="server")
        self._client = client
        self._store_sizes, self._audit_lost = store_sizes, audit_lost
        self._registry: CollectorRegistry = client.CollectorRegistry()
        options: dict[str, Any] = {"namespace": "hitherto", "registry": self._registry}
        self._requests = client.Counter("requests", "Requests.", ["method", "route", "status"], **options)
        self._seconds = client.Histogram(
            "request_seconds",
            "Seconds from a request to the end of its answer.",
            ["method", "route"],
            buckets=_SECONDS,
            **options,
        )
        self._in_flight = client.Gauge(
            "requests_in_flight", "Requests being answered.", multiprocess_mode="livesum", **options
        )
        self._hits = client.Histogram(
            "search_hits", "Hits that a search returned.", ["kind"], buckets=_HITS, **options
        )
        self._failures = client.Counter(
            "authentication_failures", "Requests that were not let in.", ["reason"], **options
        )

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request as being answered while the block runs."""
        self._in_flight.inc()
        try:
            yield
        finally:
            self._in_flight.dec()

    def finish_request(self, method: str, route: str | None, status: int, *, seconds: float) -> None:
        """Count a request that was answered.

        Args:
            method: Its method.
            route: The template of its route, never its path; None if there is no route.
            status: The status that answered it.
            seconds: How long that took.
        """
        method = method if method in _METHODS else "other"
        route = UNMATCHED if route is None else route
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_hits(self, hits: int, *, kind: str) -> None:
        """Count a search.

        Args:
            hits: How many hits it returned.
            kind: What was searched: "memories" or "messages".
        """
        self._hits.labels(kind).observe(hits)

    def count_refusal(self, error: AuthenticationError) -> None:
        """Count a request that was not let in, for want of credentials, wrong ones, or a lock-out.

        Args:
            error: What :class:`~hitherto.server.auth.Authenticator` raised.
        """
        self._failures.labels(error.reason).inc()

    def render(self) -> tuple[bytes, str]:
        """Return the answer to a scrape: its body and its content type. Reads the store."""
        registry = self._registry
        if _is_multiprocess():
            registry = self._client.CollectorRegistry()
            require("prometheus_client.multiprocess", extra="server").MultiProcessCollector(registry)
        text: bytes = self._client.generate_latest(registry)
        own = self._client.CollectorRegistry()
        own.register(_Callback(self._own_metrics))
        text += self._client.generate_latest(own)
        return text, self._client.CONTENT_TYPE_LATEST

    render_async = awaitable(render)

    def close(self) -> None:
        """Let go of this process's share of what all workers count together, when the worker ends."""
        if _is_multiprocess():
            require("prometheus_client.multiprocess", extra="server").mark_process_dead(os.getpid())

    def _own_metrics(self) -> Iterator[Metric]:
        core = require("prometheus_client.core", extra="server")
        if self._audit_lost is not None:
            yield core.CounterMetricFamily(
                "hitherto_audit_lines_lost",
                "Lines of the audit log that this worker could not write.",
                value=self._audit_lost(),
            )
        if self._store_sizes is None:
            return
        sizes = core.GaugeMetricFamily("hitherto_store_records", "Records in the store.", labels=["kind"])
        try:
            for kind, count in self._store_sizes().items():
                sizes.add_metric([kind], count)
        except HithertoError:  # a scrape tells what it can, above all while the store is in trouble
            log.exception("the store could not be counted")
        yield sizes


class _Callback:
    """Hands a function to a registry, which wants an object."""

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self.collect = collect


def _is_multiprocess() -> bool:
    return "PROMETHEUS_MULTIPROC_DIR" in os.environ


class MetricsMiddleware:
    """Counts and times the requests of an ASGI application.

    Args:
        app: The application; its router leaves the matched route in the scope, as FastAPI's does. A prefix belongs to
            the router: one that is given where the router is included is not part of the route's template.
        metrics: Where to count.
        route_of: Returns the template of the matched route from the scope.

    Examples:
        >>> import asyncio
        >>> async def app(scope, receive, send):
        ...     await send({"type": "http.response.start", "status": 204})
        >>> async def send(message): ...
        >>> metrics = Metrics()
        >>> counted = MetricsMiddleware(app, metrics)
        >>> asyncio.run(counted({"type": "http", "method": "GET"}, None, send))
        >>> b'requests_total{method="GET",route="unmatched",status="204"} 1.0' in metrics.render()[0]
        True
    """

    def __init__(
        self, app: AsgiApp, metrics: Metrics, *, route_of: Callable[[Scope], str | None] | None = None
    ) -> None:
        self._app, self._metrics = app, metrics
        self._route_of = _starlette_route if route_of is None else route_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begin = 500, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics.in_flight():
            try:
                await self._app(scope, receive, watched)
            finally:
                self._metrics.finish_request(
                    scope["method"], self._route_of(scope), status, seconds=time.perf_counter() - begin
                )


def _starlette_route(scope: Scope) -> str | None:
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else None
