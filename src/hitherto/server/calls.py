"""A request as it came: its parameters and body checked for what its route takes, and its answer written."""

from __future__ import annotations

import difflib
import json
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from fastapi import Request, Response

from hitherto.aio import LimiterName, run_in_thread
from hitherto.errors import HithertoError
from hitherto.server.envelope import filtered
from hitherto.server.problems import Problem, illegal, problem_of

if TYPE_CHECKING:
    from hitherto.server.service import MemoryService

log = logging.getLogger("hitherto.server")

COMMON: Final = ("pretty", "human", "error_trace", "filter_path", "format")
"""The parameters that every route takes."""
JSON: Final = "application/json; charset=UTF-8"
_SWITCHES: Final = ("pretty", "human", "error_trace")


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose parameters and body its route takes.

    Attributes:
        request: The request.
        params: The parameters of its URL.
        raw: Its body.
        caller: The user who sent it, or None on a server without users.
        ids: The ids in its path, decoded.
    """

    request: Request
    params: Mapping[str, str]
    raw: bytes
    caller: str | None
    ids: Mapping[str, str]

    def whole(self, name: str, default: int) -> int:
        """Return a parameter that is an integer of 32 bits.

        Args:
            name: The parameter.
            default: What it is if it is not given.

        Raises:
            Problem: If it is no such number.
        """
        text = self.params.get(name)
        if text is None:
            return default
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (
            digits.isascii() and digits.isdigit() and len(digits) <= 10 and -(2**31) <= int(text) < 2**31
        ):
            raise Problem(400, "number_format_exception", f'For input string: "{text}"')
        return int(text)


def uri_of(request: Request) -> str:
    """Return a request's path with its query, as it came."""
    raw: bytes = request.scope.get("original_path", request.scope["path"].encode())
    query = request.scope["query_string"].decode("latin-1")
    return raw.decode("latin-1") + (f"?{query}" if query else "")


async def read_call(
    request: Request, *, params: Iterable[str] = (), body: bool = False, most_bytes: int | None = None
) -> Call:
    """Read a request.

    Args:
        request: The request.
        params: The parameters that its route takes beside the common ones.
        body: Whether its route takes a body.
        most_bytes: How long the body may be; by default what the application says.

    Raises:
        Problem: If it has a parameter or a body that its route does not take, or one that is not allowed.
    """
    path = uri_of(request).partition("?")[0]
    given = dict(request.query_params)
    _check_params(given, {*params, *COMMON}, path)
    limit = request.app.state.most_body_bytes if most_bytes is None else most_bytes
    raw = await _in_time(request, limit)
    if raw and not body:
        raise illegal(f"request [{request.method} {path}] does not support having a body")
    if raw:
        _check_content_type(request.headers.get("content-type"))
    ids = {name: unquote(value) for name, value in request.path_params.items()}
    request.scope["state"]["named"] = ids
    return Call(request, given, raw, request.scope["state"].get("caller"), ids)


async def answer(call: Call, verb: Callable[[MemoryService], Any], *, writes: bool = False) -> Response:
    """Run a verb in a worker thread, and write what it returns.

    Args:
        call: The request.
        verb: What it asks for.
        writes: Whether it writes, which may call a model.
    """
    service = call.request.app.state.service
    # Reads and writes stand in one queue: each of the two would keep the other waiting while it has threads of its own.
    queue: LimiterName = "models" if writes and service.has_llm else "requests"
    body = await run_in_thread(lambda: verb(service), limiter_name=queue)
    call.request.scope["state"]["answered"] = {
        name: body[name] for name in ("memory_id", "message_id") if name in body
    }
    return respond(call.request, 200, body)


def respond(
    request: Request, status: int, body: Any, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Write a body as JSON, as the request wants it.

    Args:
        request: The request.
        status: The HTTP status.
        body: The body.
        headers: Further headers.
    """
    wanted = request.query_params.get("filter_path")
    if wanted:
        body = filtered(body, wanted.split(","))
    pretty = request.query_params.get("pretty", "false") != "false"
    text = json.dumps(
        body, ensure_ascii=False, indent=2 if pretty else None, separators=None if pretty else (",", ":")
    )
    return Response(
        text + ("\n" if pretty else ""),
        status,
        headers={"content-type": JSON, **(headers or {})},
    )


async def on_error(request: Request, error: Exception) -> Response:
    """Answer what went wrong; what nobody foresaw is logged, and the answer says nothing of it.

    Args:
        request: The request.
        error: What was raised.
    """
    if isinstance(error, HithertoError):
        if (found := problem_of(error)).status >= 500:
            log.error("%s %s: %s", request.method, request.scope["path"], error)
    elif isinstance(error, Problem):
        found = error
    else:
        log.exception("%s %s failed", request.method, request.scope["path"], exc_info=error)
        found = Problem(500, "exception", "the server failed; its log says more")
    return respond(request, found.status, found.to_dict(), headers=found.headers)


def _check_params(given: Mapping[str, str], known: set[str], path: str) -> None:
    unknown = sorted(given.keys() - known)
    if unknown:
        told = []
        for name in unknown:
            near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.8)
            told.append(f"[{name}]" + (f" -> did you mean [{near[0]}]?" if near else ""))
        word = "parameter" if len(unknown) == 1 else "parameters"
        raise illegal(f"request [{path}] contains unrecognized {word}: {', '.join(told)}")
    for name in _SWITCHES:
        if given.get(name, "") not in ("", "true", "false"):
            raise illegal(f"Failed to parse value [{given[name]}] as only [true] or [false] are allowed.")
    if given.get("format", "json") != "json":
        raise illegal(f"format must be [json], got [{given['format']}]")


async def _in_time(request: Request, limit: int) -> bytes:
    from anyio import fail_after

    seconds = request.app.state.read_timeout_s
    try:
        with fail_after(seconds):
            return await _read_body(request, limit)
    except TimeoutError:
        # Without the rest of the body nobody can tell where the next request would begin.
        raise Problem(
            408,
            "timeout_exception",
            f"the body must arrive within {seconds:g} seconds",
            headers={"Connection": "close"},
        ) from None


async def _read_body(request: Request, limit: int) -> bytes:
    said = request.headers.get("content-length", "0")
    if said.isdigit() and int(said) > limit:
        raise _too_large(limit)
    parts, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            # Nobody reads this answer; but half a body must not be taken for a whole one.
            raise Problem(400, "parse_exception", "the body ended too early")
        size += len(message.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    raw = b"".join(parts)
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if not raw or packed in ("", "identity"):
        return raw
    if packed != "gzip":
        raise illegal(f"Content-Encoding must be [gzip] or none, got [{packed}]")
    return _unpacked(raw, limit)


def _unpacked(raw: bytes, limit: int) -> bytes:
    """Unpack a body; never more of it than may be sent, since a few bytes can hold gigabytes."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        body = decoder.decompress(raw, limit + 1)
    except zlib.error as error:
        raise illegal(f"the body is not gzip, as its Content-Encoding says: {error}") from None
    if len(body) > limit:
        raise _too_large(limit)
    if not decoder.eof or decoder.unused_data:
        raise illegal("the body must be gzip data from beginning to end, as its Content-Encoding says")
    return body


def _too_large(limit: int) -> Problem:
    return Problem(413, "content_too_long_exception", f"the body must have at most {limit} bytes")


class PlainProblem(Problem):
    """A problem that OpenSearch answers with a bare text instead of an envelope."""

    def __init__(
        self, status: int, text: str, *, with_status: bool = True, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, "exception", text, headers=headers)
        self._with_status = with_status

    def to_dict(self) -> dict[str, Any]:
        """Return the answer's body."""
        return {"error": self.reason, **({"status": self.status} if self._with_status else {})}


def _check_content_type(header: str | None) -> None:
    if header is None:
        raise PlainProblem(406, "Content-Type header is missing")
    media = header.partition(";")[0].strip().lower()
    if media != "application/json":
        raise PlainProblem(406, f"Content-Type header [{header}] is not supported")
