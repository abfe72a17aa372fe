"""Memories: create, list, get, update, delete, search."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from hitherto.server import openapi
from hitherto.server.bodies import read_new_memory, read_update
from hitherto.server.calls import answer, read_call
from hitherto.server.routes.paging import SOURCE, read_page, search_body

MEMORY = "/_plugins/_ml/memory"
ID = ("memory_id",)

router = APIRouter(tags=["memories"])


@router.post(
    MEMORY, openapi_extra=openapi.documented("MemoryMade", body="NewMemory", required=False, refusals=[502])
)
async def create_memory(request: Request) -> Response:
    """Create a memory."""
    call = await read_call(request, body=True)
    new = read_new_memory(call.raw)
    return await answer(call, lambda service: service.create_memory(new, call.caller), writes=True)


@router.get(MEMORY, openapi_extra=openapi.documented("Memories", query="page"))
async def list_memories(request: Request) -> Response:
    """List memories, the last changed first."""
    call = await read_call(request, params=("max_results", "next_token"))
    skip, most = read_page(call, "memories")
    return await answer(call, lambda service: service.list_memories(call.caller, skip=skip, most=most))


@router.get(
    MEMORY + "/_search",
    openapi_extra=openapi.documented(
        "FoundMemories", query="source", body="Search", required=False, refusals=[404]
    ),
)
@router.post(
    MEMORY + "/_search",
    openapi_extra=openapi.documented("FoundMemories", query="source", body="Search", refusals=[404]),
)
async def search_memories(request: Request) -> Response:
    """Search memories."""
    call = await read_call(request, params=SOURCE, body=True)
    body = search_body(call)
    return await answer(call, lambda service: service.search_memories(body, call.caller))


@router.get(MEMORY + "/{memory_id}", openapi_extra=openapi.documented("Memory", ids=ID, refusals=[404]))
async def get_memory(request: Request) -> Response:
    """Get a memory."""
    call = await read_call(request)
    return await answer(call, lambda service: service.get_memory(call.ids["memory_id"], call.caller))


@router.put(
    MEMORY + "/{memory_id}",
    openapi_extra=openapi.documented("Updated", ids=ID, body="MemoryUpdate", refusals=[404, 409, 502]),
)
async def update_memory(request: Request) -> Response:
    """Put a partial document over a memory: its name and additional information."""
    call = await read_call(request, body=True)
    given = read_update(call.raw, what="conversation", texts=("name",))
    return await answer(
        call, lambda service: service.update_memory(call.ids["memory_id"], given, call.caller), writes=True
    )


@router.delete(
    MEMORY + "/{memory_id}", openapi_extra=openapi.documented("Deleted", ids=ID, refusals=[404, 502])
)
async def delete_memory(request: Request) -> Response:
    """Delete a memory with all its messages and traces."""
    call = await read_call(request)
    return await answer(
        call, lambda service: service.delete_memory(call.ids["memory_id"], call.caller), writes=True
    )
