"""What the published OpenAPI document says of routes beside their paths."""

from __future__ import annotations

from typing import Any, Final

_TEXT: Final = {"type": "string"}
_OBJECT: Final = {"type": "object"}
_ERROR: Final = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": ["object", "string"]}, "status": {"type": "integer"}},
}
_COMMON: Final = (
    ("pretty", {"type": "boolean"}, "Indent the answer."),
    ("human", {"type": "boolean"}, "Accepted; answers have nothing that would be shown differently."),
    ("error_trace", {"type": "boolean"}, "Accepted; traces are never shown."),
    ("filter_path", _TEXT, "Only this part of the answer: paths with dots, separated by commas, * and **."),
    ("format", {"type": "string", "enum": ["json"]}, "The form of the answer."),
)
_PAGE: Final = (
    ("max_results", {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10}, "How many at most."),
    ("next_token", {"type": "integer", "minimum": 0, "default": 0}, "How many are left out before."),
)
_SOURCE: Final = (
    ("source", _TEXT, "The body, where a client cannot send one."),
    ("source_content_type", _TEXT, "Its type: application/json."),
)
_NAMED: Final = {"page": _PAGE, "source": _SOURCE}

NEW_MEMORY: Final = {
    "type": "object",
    "properties": {
        "name": {"type": ["string", "null"]},
        "application_type": {"type": ["string", "null"]},
        "additional_info": {"type": ["object", "null"]},
    },
}
MEMORY_UPDATE: Final = {"type": "object", "properties": {"name": _TEXT, "additional_info": _OBJECT}}
_SCALAR: Final = {"type": ["string", "number", "boolean", "null"]}
NEW_MESSAGE: Final = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("input", "prompt_template", "response", "origin"), _SCALAR),
        "additional_info": {"type": ["object", "string", "null"], "additionalProperties": _SCALAR},
        "parent_message_id": {"type": ["string", "null"]},
        "trace_number": {"type": ["integer", "null"], "minimum": -(2**31), "maximum": 2**31 - 1},
    },
}
MESSAGE_UPDATE: Final = {"type": "object", "properties": {"response": _TEXT, "additional_info": _OBJECT}}
SEARCH: Final = {"type": "object", "required": ["query"], "properties": {"query": _OBJECT}}


def documented(
    *,
    query: str | None = None,
    body: dict[str, Any] | None = None,
    required: bool = True,
    answer: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what a route's OpenAPI entry has beside its path.

    Args:
        query: Which parameters it takes beside the common ones: "page" or "source".
        body: The schema of its body, or None if it takes none.
        required: Whether there must be a body.
        answer: The schema of its answer.
    """
    parameters = [
        {"name": name, "in": "query", "schema": schema, "description": text, "required": False}
        for name, schema, text in (*_NAMED.get(query or "", ()), *_COMMON)
    ]
    entry: dict[str, Any] = {
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "Done",
                "content": {"application/json": {"schema": answer or _OBJECT}},
            },
            **{
                status: {"description": text, "content": {"application/json": {"schema": _ERROR}}}
                for status, text in (
                    ("400", "The request is wrong; the reason names what is"),
                    ("404", "There is no such memory or message"),
                    ("406", "The body is of another type than JSON"),
                    ("409", "Others kept changing the document"),
                    ("413", "The body is too long"),
                    ("503", "The store is busy"),
                )
            },
            "401": {
                "description": "Who are you? Or: not yours",
                "content": {"application/json": {}, "text/plain": {}},
            },
        },
    }
    if body is not None:
        entry["requestBody"] = {"required": required, "content": {"application/json": {"schema": body}}}
    return entry
