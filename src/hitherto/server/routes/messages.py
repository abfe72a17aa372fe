"""Messages and traces: create, list, get, update, search."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from hitherto.server import openapi
from hitherto.server.bodies import read_new_message, read_update
from hitherto.server.calls import answer, read_call
from hitherto.server.routes.memories import ID as MEMORY_ID
from hitherto.server.routes.memories import MEMORY
from hitherto.server.routes.paging import SOURCE, read_page, search_body

ID = ("message_id",)

# Its paths begin with a word where others have an id, so that these routes come first.
by_id = APIRouter(tags=["messages"])
router = APIRouter(tags=["messages"])


@by_id.get(
    MEMORY + "/message/{message_id}", openapi_extra=openapi.documented("Message", ids=ID, refusals=[404])
)
async def get_message(request: Request) -> Response:
    """Get a message or trace."""
    call = await read_call(request)
    return await answer(call, lambda service: service.get_message(call.ids["message_id"], call.caller))


@by_id.put(
    MEMORY + "/message/{message_id}",
    openapi_extra=openapi.documented("Updated", ids=ID, body="MessageUpdate", refusals=[404, 409, 502]),
)
async def update_message(request: Request) -> Response:
    """Put a partial document over a message: its response and additional information."""
    call = await read_call(request, body=True)
    given = read_update(call.raw, what="interaction", texts=("response",))
    return await answer(
        call, lambda service: service.update_message(call.ids["message_id"], given, call.caller), writes=True
    )


@by_id.get(
    MEMORY + "/message/{message_id}/traces",
    openapi_extra=openapi.documented("Traces", ids=ID, query="page", refusals=[404]),
)
async def list_traces(request: Request) -> Response:
    """List the traces of a message."""
    call = await read_call(request, params=("max_results", "next_token"))
    skip, most = read_page(call, "traces")
    return await answer(
        call,
        lambda service: service.list_traces(call.ids["message_id"], call.caller, skip=skip, most=most),
    )


@router.post(
    MEMORY + "/{memory_id}/messages",
    openapi_extra=openapi.documented("MessageMade", ids=MEMORY_ID, body="NewMessage", refusals=[404, 502]),
)
async def create_message(request: Request) -> Response:
    """Create a message, or with a parent and a number a trace."""
    call = await read_call(request, body=True)
    new = read_new_message(call.raw)
    return await answer(
        call, lambda service: service.create_message(call.ids["memory_id"], new, call.caller), writes=True
    )


@router.get(
    MEMORY + "/{memory_id}/messages",
    openapi_extra=openapi.documented("Messages", ids=MEMORY_ID, query="page", refusals=[404]),
)
async def list_messages(request: Request) -> Response:
    """List the messages of a memory, oldest first, without traces."""
    call = await read_call(request, params=("max_results", "next_token"))
    skip, most = read_page(call, "interactions")
    return await answer(
        call,
        lambda service: service.list_messages(call.ids["memory_id"], call.caller, skip=skip, most=most),
    )


@router.get(
    MEMORY + "/{memory_id}/_search",
    openapi_extra=openapi.documented(
        "FoundMessages", ids=MEMORY_ID, query="source", body="Search", required=False, refusals=[404]
    ),
)
@router.post(
    MEMORY + "/{memory_id}/_search",
    openapi_extra=openapi.documented(
        "FoundMessages", ids=MEMORY_ID, query="source", body="Search", refusals=[404]
    ),
)
async def search_messages(request: Request) -> Response:
    """Search the messages and traces of a memory."""
    call = await read_call(request, params=SOURCE, body=True)
    body = search_body(call)
    return await answer(
        call, lambda service: service.search_messages(call.ids["memory_id"], body, call.caller)
    )
