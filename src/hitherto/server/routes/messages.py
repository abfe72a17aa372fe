"""Messages and traces: create, list, get, update, search."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from hitherto.server import openapi
from hitherto.server.bodies import read_new_message, read_update
from hitherto.server.calls import answer, read_call
from hitherto.server.routes.memories import MEMORY
from hitherto.server.routes.paging import SOURCE, read_page, search_body

# Its paths begin with a word where others have an id, so that these routes come first.
by_id = APIRouter(tags=["messages"])
router = APIRouter(tags=["messages"])


@by_id.get(MEMORY + "/message/{message_id}", openapi_extra=openapi.documented())
async def get_message(request: Request, message_id: str) -> Response:
    """Get a message or trace."""
    call = await read_call(request)
    return await answer(call, lambda service: service.get_message(call.ids["message_id"], call.caller))


@by_id.put(MEMORY + "/message/{message_id}", openapi_extra=openapi.documented(body=openapi.MESSAGE_UPDATE))
async def update_message(request: Request, message_id: str) -> Response:
    """Put a partial document over a message: its response and additional information."""
    call = await read_call(request, body=True)
    given = read_update(call.raw, what="interaction", texts=("response",))
    return await answer(
        call, lambda service: service.update_message(call.ids["message_id"], given, call.caller), writes=True
    )


@by_id.get(MEMORY + "/message/{message_id}/traces", openapi_extra=openapi.documented(query="page"))
async def list_traces(request: Request, message_id: str) -> Response:
    """List the traces of a message."""
    call = await read_call(request, params=("max_results", "next_token"))
    skip, most = read_page(call, "traces")
    return await answer(
        call,
        lambda service: service.list_traces(call.ids["message_id"], call.caller, skip=skip, most=most),
    )


@router.post(MEMORY + "/{memory_id}/messages", openapi_extra=openapi.documented(body=openapi.NEW_MESSAGE))
async def create_message(request: Request, memory_id: str) -> Response:
    """Create a message, or with a parent and a number a trace."""
    call = await read_call(request, body=True)
    new = read_new_message(call.raw)
    return await answer(
        call, lambda service: service.create_message(call.ids["memory_id"], new, call.caller), writes=True
    )


@router.get(MEMORY + "/{memory_id}/messages", openapi_extra=openapi.documented(query="page"))
async def list_messages(request: Request, memory_id: str) -> Response:
    """List the messages of a memory, oldest first, without traces."""
    call = await read_call(request, params=("max_results", "next_token"))
    skip, most = read_page(call, "interactions")
    return await answer(
        call,
        lambda service: service.list_messages(call.ids["memory_id"], call.caller, skip=skip, most=most),
    )


@router.get(
    MEMORY + "/{memory_id}/_search",
    openapi_extra=openapi.documented(query="source", body=openapi.SEARCH, required=False),
)
@router.post(
    MEMORY + "/{memory_id}/_search", openapi_extra=openapi.documented(query="source", body=openapi.SEARCH)
)
async def search_messages(request: Request, memory_id: str) -> Response:
    """Search the messages and traces of a memory."""
    call = await read_call(request, params=SOURCE, body=True)
    body = search_body(call)
    return await answer(
        call, lambda service: service.search_messages(call.ids["memory_id"], body, call.caller)
    )
