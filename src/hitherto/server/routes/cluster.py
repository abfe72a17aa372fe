"""What clients ask a server before they use it: who it is, whether it is well, what it has."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from hitherto.aio import run_in_thread
from hitherto.server import openapi
from hitherto.server.calls import Call, read_call, respond
from hitherto.server.envelope import Profile
from hitherto.server.index.documents import MEMORY_INDEX, MESSAGE_INDEX

NUMBERS: Final[dict[Profile, str]] = {"3.x": "3.3.0", "2.x": "2.18.0"}
"""The version that clients take the server for, by profile."""

router = APIRouter(tags=["cluster"])


@router.get("/", openapi_extra=openapi.documented("Info"))
async def info(request: Request) -> Response:
    """Say what server this is, and which version's interface it has."""
    call = await read_call(request)
    service = request.app.state.service
    store_id = await run_in_thread(lambda: service.memory.store.memory_store_id)
    return respond(call.request, 200, _info(store_id, service.profile))


@router.head("/", response_class=Response, openapi_extra=openapi.documented(None))
async def ping(request: Request) -> Response:
    """Say that the server is there."""
    await read_call(request)
    return Response(status_code=200)


@router.get("/_cluster/health", openapi_extra=openapi.documented("Health", query="health"))
async def cluster_health(request: Request) -> Response:
    """Say whether the server can read its store: one node, so green or an error."""
    call = await read_call(
        request,
        params=("level", "local", "timeout", "wait_for_status", "wait_for_nodes", "cluster_manager_timeout"),
    )
    await run_in_thread(request.app.state.service.check)
    return respond(call.request, 200, _HEALTH)


@router.get("/_cat/indices", openapi_extra=openapi.documented("Indices", query="columns", text=True))
async def cat_indices(request: Request) -> Response:
    """List the two indices, with the number of the caller's documents; as text, or with format=json."""
    call = await read_call(request, params=("v", "h", "s", "health", "bytes", "expand_wildcards"))
    service = request.app.state.service
    counts = await run_in_thread(lambda: service.count(call.caller))
    rows = [
        {"health": "green", "status": "open", "index": name, "pri": "1", "rep": "0", "docs.count": str(count)}
        for name, count in zip((MEMORY_INDEX, MESSAGE_INDEX), counts, strict=True)
        if count is not None
    ]
    return respond(call.request, 200, rows) if "format" in call.params else _as_text(call, rows)


@router.get(
    "/healthz",
    response_class=PlainTextResponse,
    openapi_extra=openapi.plain("It runs.", refusals=[421], open_to_all=True),
)
async def healthz() -> Response:
    """Say that the process runs."""
    return PlainTextResponse("ok\n")


@router.get(
    "/readyz",
    response_class=PlainTextResponse,
    openapi_extra=openapi.plain("The store answers.", refusals=[421, 500, 503], open_to_all=True),
)
async def readyz(request: Request) -> Response:
    """Say whether requests can be served: the store answers."""
    await run_in_thread(request.app.state.service.check)
    return PlainTextResponse("ready\n")


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    openapi_extra=openapi.plain(
        "What was counted, in the form of Prometheus.", refusals=[401, 421, 429, 500, 503]
    ),
)
async def metrics(request: Request) -> Response:
    """Count what the server did, for Prometheus; nothing of it says whose."""
    text, kind = await request.app.state.metrics.render_async()
    return Response(text, headers={"content-type": kind})


def _info(store_id: str, profile: Profile) -> dict[str, Any]:
    from hitherto import __version__

    number = NUMBERS[profile]
    return {
        "name": "hitherto",
        "cluster_name": "hitherto",
        "cluster_uuid": store_id,
        "version": {
            "distribution": "hitherto",
            "number": number,
            "build_type": "python",
            "build_hash": __version__,
            "build_date": None,
            "build_snapshot": False,
            "lucene_version": None,
            "minimum_wire_compatibility_version": number,
            "minimum_index_compatibility_version": number,
        },
        "tagline": f"hitherto {__version__} serves the Memory API of OpenSearch {number}",
    }


_HEALTH: Final = {
    "cluster_name": "hitherto",
    "status": "green",
    "timed_out": False,
    "number_of_nodes": 1,
    "number_of_data_nodes": 1,
    "discovered_master": True,
    "discovered_cluster_manager": True,
    "active_primary_shards": 2,
    "active_shards": 2,
    "relocating_shards": 0,
    "initializing_shards": 0,
    "unassigned_shards": 0,
    "delayed_unassigned_shards": 0,
    "number_of_pending_tasks": 0,
    "number_of_in_flight_fetch": 0,
    "task_max_waiting_in_queue_millis": 0,
    "active_shards_percent_as_number": 100.0,
}


def _as_text(call: Call, rows: list[dict[str, str]]) -> Response:
    wanted = [name for name in call.params.get("h", "").split(",") if name]
    columns = wanted or ["health", "status", "index", "pri", "rep", "docs.count"]
    lines = [[row.get(name, "") for name in columns] for row in rows]
    if call.params.get("v", "false") != "false":
        lines.insert(0, columns)
    widths = [max((len(line[place]) for line in lines), default=0) for place in range(len(columns))]
    text = "".join(
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        for line in lines
    )
    return PlainTextResponse(text)
