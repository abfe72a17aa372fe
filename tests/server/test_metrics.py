"""What is counted for Prometheus, in one process and in several, and that labels stay few."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi import APIRouter, FastAPI
from prometheus_client.parser import text_string_to_metric_families

from hitherto.errors import StoreError
from hitherto.server.auth import LockedOut, Overloaded, Unauthorized
from hitherto.server.metrics import AsgiApp, Message, Metrics, MetricsMiddleware, Receive, Scope, Send


def values(metrics: Metrics) -> dict[str, float]:
    """Return the samples of a scrape by name and labels, without the times at which counters began."""
    families = text_string_to_metric_families(metrics.render()[0].decode())
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_requests_are_counted_by_route() -> None:
    """A request counts once by method, template and status, and its time in a histogram."""
    metrics = Metrics()
    for status in (200, 200, 404):
        metrics.finish_request("GET", "/memory/{memory_id}", status, seconds=0.02)
    found = values(metrics)
    assert found["hitherto_requests_total['/memory/{memory_id}', '200', 'GET']"] == 2
    assert found["hitherto_requests_total['/memory/{memory_id}', '404', 'GET']"] == 1
    assert found["hitherto_request_seconds_bucket['/memory/{memory_id}', '0.01', 'GET']"] == 0
    assert found["hitherto_request_seconds_bucket['/memory/{memory_id}', '0.025', 'GET']"] == 3


def test_what_strangers_send_makes_no_labels() -> None:
    """Unknown methods and paths share one label each."""
    metrics = Metrics()
    for n in range(20):
        metrics.finish_request(f"M{n}", None, 405, seconds=0.0)
    assert values(metrics)["hitherto_requests_total['405', 'other', 'unmatched']"] == 20


def test_refusals_are_counted_by_reason() -> None:
    """Refusals are counted by reason, lock-outs among them."""
    metrics = Metrics()
    for error in (Unauthorized("wrong"), Unauthorized("missing"), LockedOut(3.0), Overloaded()):
        metrics.count_refusal(error)
    found = values(metrics)
    for reason in ("wrong", "missing", "locked", "overloaded"):
        assert found[f"hitherto_authentication_failures_total['{reason}']"] == 1


def test_searches_and_requests_in_flight() -> None:
    """Hits go into a histogram by kind; a request counts as in flight until it ends, however it ends."""
    metrics = Metrics()
    metrics.count_hits(3, kind="messages")
    assert values(metrics)["hitherto_search_hits_sum['messages']"] == 3
    flying = metrics.in_flight()
    flying.__enter__()
    assert values(metrics)["hitherto_requests_in_flight[]"] == 1
    error = ValueError("over")
    assert not flying.__exit__(ValueError, error, None)
    assert values(metrics)["hitherto_requests_in_flight[]"] == 0


async def test_the_store_is_asked_at_each_scrape(caplog: pytest.LogCaptureFixture) -> None:
    """Sizes are those of the moment; a store in trouble leaves them out and the rest stands."""
    sizes = {"fact": 1}
    metrics = Metrics(store_sizes=lambda: sizes, audit_lost=lambda: 7)
    sizes["fact"] = 2
    assert b'hitherto_store_records{kind="fact"} 2.0' in (await metrics.render_async())[0]
    assert values(metrics)["hitherto_audit_lines_lost_total[]"] == 7

    def broken() -> dict[str, int]:
        raise StoreError("the database is away")

    metrics = Metrics(store_sizes=broken)
    assert values(metrics)["hitherto_requests_in_flight[]"] == 0
    assert "could not be counted" in caplog.text


def test_applications_do_not_share_counts() -> None:
    """Each application has a registry of its own."""
    first, second = Metrics(), Metrics()
    first.finish_request("GET", "/", 200, seconds=0.1)
    assert "hitherto_requests_total['/', '200', 'GET']" not in values(second)


def _answering(status: int | None) -> AsgiApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = SimpleNamespace(path="/memory/{memory_id}")
        if status is None:
            raise RuntimeError("broken")
        await send({"type": "http.response.start", "status": status})
        await send({"type": "http.response.body", "body": b""})

    return app


async def _receive() -> Message:
    return {"type": "http.disconnect"}


async def test_the_middleware_counts_what_the_router_found() -> None:
    """Requests are counted by the route's template; one that fails counts as 500; what is no request is not counted."""
    metrics, sent = Metrics(), []

    async def send(message: Message) -> None:
        sent.append(message)

    await MetricsMiddleware(_answering(201), metrics)({"type": "http", "method": "PUT"}, _receive, send)
    with pytest.raises(RuntimeError):
        await MetricsMiddleware(_answering(None), metrics)({"type": "http", "method": "PUT"}, _receive, send)
    await MetricsMiddleware(_answering(200), metrics)({"type": "lifespan"}, _receive, send)
    found = values(metrics)
    assert len(sent) == 4
    assert found["hitherto_requests_total['/memory/{memory_id}', '201', 'PUT']"] == 1
    assert found["hitherto_requests_total['/memory/{memory_id}', '500', 'PUT']"] == 1
    assert found["hitherto_request_seconds_count['/memory/{memory_id}', 'PUT']"] == 2


async def test_the_route_of_a_fastapi_application_is_its_template() -> None:
    """The middleware finds the template of a route, also of one in an included router, and none for a wrong path."""
    router = APIRouter(prefix="/v1/memory")
    metrics, app = Metrics(), FastAPI()

    @router.get("/{memory_id}")
    async def read(memory_id: str) -> str:
        return memory_id

    app.include_router(router)
    counted = MetricsMiddleware(app, metrics)

    async def send(message: Message) -> None: ...

    for path in ("/v1/memory/m1", "/v1/memory/m2", "/wrong/m1"):
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [],
        }
        await counted(scope, _receive, send)
    found = values(metrics)
    assert found["hitherto_requests_total['/v1/memory/{memory_id}', '200', 'GET']"] == 2
    assert found["hitherto_requests_total['404', 'GET', 'unmatched']"] == 1


_WORKER = """
import sys
from hitherto.server.metrics import Metrics
metrics = Metrics(store_sizes=lambda: {"fact": 2})
flying = metrics.in_flight()
flying.__enter__()
metrics.finish_request("GET", "/", 200, seconds=0.1)
sys.stdout.write(metrics.render()[0].decode())
metrics.close()
"""


def test_one_worker_answers_for_all(tmp_path: Path) -> None:
    """With a common folder a scrape of one worker holds the counts of all, and the store's size once."""
    scrape = ""
    for _ in range(3):
        scrape = subprocess.run(
            [sys.executable, "-c", _WORKER],
            env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
    assert 'hitherto_requests_total{method="GET",route="/",status="200"} 3.0' in scrape
    assert "hitherto_requests_in_flight 1.0" in scrape
    assert scrape.count('hitherto_store_records{kind="fact"} 2.0') == 1
