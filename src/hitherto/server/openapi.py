"""What the published OpenAPI document says of routes beside their paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hitherto.server.schemas import SCHEMAS, Schema, ref

if TYPE_CHECKING:
    from fastapi import FastAPI

_Parameter = tuple[str, Schema, str]

_TEXT: Final[Schema] = {"type": "string"}
_ID: Final[Schema] = {"type": "string", "minLength": 1}
_FLAG: Final[Schema] = {"type": "boolean"}
_DURATION: Final[Schema] = {"type": "string", "examples": ["30s"]}
_COMMON: Final[tuple[_Parameter, ...]] = (
    ("pretty", _FLAG, "Indent the answer."),
    ("human", _FLAG, "Accepted; answers have nothing that would be shown differently."),
    ("error_trace", _FLAG, "Accepted; traces are never shown."),
    (
        "filter_path",
        _TEXT,
        "Only this part of the answer: paths with dots, separated by commas, * and **. Keys that are otherwise "
        "required are then left out too.",
    ),
    ("format", {"type": "string", "enum": ["json"]}, "The form of the answer."),
)
_NAMED: Final[Mapping[str, tuple[_Parameter, ...]]] = {
    "page": (
        (
            "max_results",
            {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10},
            "How many at most.",
        ),
        ("next_token", {"type": "integer", "minimum": 0, "default": 0}, "How many are left out before."),
    ),
    "source": (
        ("source", _TEXT, "The body, where a client cannot send one."),
        ("source_content_type", {"type": "string", "enum": ["application/json"]}, "Its type."),
    ),
    "health": (
        ("level", _TEXT, "Accepted; there is one level."),
        ("local", _FLAG, "Accepted; there is one node."),
        ("timeout", _DURATION, "Accepted; the answer is never waited for."),
        ("wait_for_status", _TEXT, "Accepted; the status is green, or the request fails."),
        ("wait_for_nodes", _TEXT, "Accepted; there is one node."),
        ("cluster_manager_timeout", _DURATION, "Accepted."),
    ),
    "columns": (
        ("v", _FLAG, "Begin with the names of the columns."),
        ("h", _TEXT, "Which columns, separated by commas."),
        ("s", _TEXT, "Accepted; rows are in the order of names."),
        ("health", _TEXT, "Accepted; all indices are green."),
        ("bytes", _TEXT, "Accepted; sizes are not shown."),
        ("expand_wildcards", _TEXT, "Accepted."),
    ),
}

_JSON: Final = "application/json"
_PLAIN: Final = {"text/plain": {"schema": _TEXT}}
_ERROR: Final = {_JSON: {"schema": ref("Error")}}
_BARE_ERROR: Final = {_JSON: {"schema": ref("PlainError")}}
_REFUSALS: Final[Mapping[int, tuple[str, Mapping[str, Any]]]] = {
    400: ("The request is wrong; the reason names what is.", _ERROR),
    401: ("Without credentials, with wrong ones, or to what is another user's.", {**_ERROR, **_PLAIN}),
    404: ("There is no such memory or message.", _ERROR),
    406: ("The body is of another type than JSON.", _BARE_ERROR),
    408: ("The body did not arrive in time.", _ERROR),
    409: ("Others kept changing the document.", _ERROR),
    413: ("The body is too long.", _ERROR),
    421: ("The server is open, and the Host header names another machine.", _PLAIN),
    429: ("Too many wrong passwords came before; Retry-After says how long to wait.", _PLAIN),
    500: ("The server failed; its log says more.", _ERROR),
    502: ("The language model that extracts memories failed.", _ERROR),
    503: (
        "The store is busy, too many connections are open, or too many passwords are being verified.",
        {**_ERROR, **_PLAIN},
    ),
}
_ALWAYS: Final = (400, 401, 408, 421, 429, 500, 503)
_WITH_BODY: Final = (406, 413)


def documented(
    answer: str | None,
    *,
    ids: Iterable[str] = (),
    query: str | None = None,
    body: str | None = None,
    required: bool = True,
    refusals: Iterable[int] = (),
    text: bool = False,
) -> dict[str, Any]:
    """Return what a route's OpenAPI entry has beside its path.

    Args:
        answer: The named schema of its answer; None if that has no body of JSON.
        ids: The ids in its path.
        query: Which parameters it takes beside the common ones: a name of the table.
        body: The named schema of its body, or None if it takes none.
        required: Whether there must be a body.
        refusals: With which statuses it may answer besides those of all routes.
        text: Whether it answers with text, maybe beside JSON.

    Examples:
        >>> sorted(documented("Memory", ids=["memory_id"], refusals=[404])["responses"])
        ['200', '400', '401', '404', '408', '421', '429', '500', '503']
    """
    given = (*_NAMED[query], *_COMMON) if query else _COMMON
    content = {**({_JSON: {"schema": ref(answer)}} if answer else {}), **(_PLAIN if text else {})}
    entry: dict[str, Any] = {
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": _ID} for name in ids),
            *(
                {"name": name, "in": "query", "schema": schema, "description": said, "required": False}
                for name, schema, said in given
            ),
        ],
        "responses": {
            "200": {"description": "Done.", **({"content": content} if content else {})},
            **_refused({*_ALWAYS, *refusals, *(_WITH_BODY if body else ())}),
        },
    }
    if body is not None:
        entry["requestBody"] = {"required": required, "content": {_JSON: {"schema": ref(body)}}}
    return entry


def plain(said: str, *, refusals: Iterable[int], open_to_all: bool = False) -> dict[str, Any]:
    """Return the OpenAPI entry of a route for those who watch the server: no parameters, an answer of text.

    Args:
        said: What the answer says.
        refusals: With which statuses it may answer besides.
        open_to_all: Whether it needs no credentials where others do.
    """
    return {
        "responses": {"200": {"description": said, "content": _PLAIN}, **_refused(refusals)},
        **({"security": []} if open_to_all else {}),
    }


def publish(app: FastAPI, *, with_users: bool) -> None:
    """Complete the document that an application publishes: the named schemas, and how to say who one is.

    Args:
        app: The application, with all its routes.
        with_users: Whether requests need credentials.
    """
    components: dict[str, Any] = {"schemas": dict(SCHEMAS)}
    document = app.openapi()
    if with_users:
        components["securitySchemes"] = {
            "basic": {
                "type": "http",
                "scheme": "basic",
                "description": "Name and password, or name and API key.",
            },
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
        }
        document["security"] = [{"basic": []}, {"bearer": []}]
    document["components"] = components


def _refused(statuses: Iterable[int]) -> dict[str, Any]:
    return {
        str(status): {"description": _REFUSALS[status][0], "content": dict(_REFUSALS[status][1])}
        for status in sorted(statuses)
    }
