"""The bodies that go in and out, as the published OpenAPI document has them: JSON schemas by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    """Return a schema that stands for a named one.

    Args:
        name: The name, one of SCHEMAS.

    Raises:
        KeyError: If there is none of that name.

    Examples:
        >>> ref("Memory")
        {'$ref': '#/components/schemas/Memory'}
    """
    if name not in SCHEMAS:
        raise KeyError(name)
    return _ref(name)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return an object that has these keys and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _maybe(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_TEXT: Final[Schema] = {"type": "string"}
_ID: Final[Schema] = {"type": "string", "minLength": 1}
_WHOLE: Final[Schema] = {"type": "integer"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_FLAG: Final[Schema] = {"type": "boolean"}
_FREE: Final[Schema] = {"type": "object"}
_TIME: Final[Schema] = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}Z$",
    "description": "A moment in UTC.",
}
_INFORMATION: Final[Schema] = {"type": "object", "description": "Whatever the client keeps here."}
_NUMBER_OF_TRACE: Final[Schema] = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
_SCALAR: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}
_SHARDS: Final = _object({"total": _COUNT, "successful": _COUNT, "failed": _COUNT}, {"skipped": _COUNT})
_NEXT: Final[Mapping[str, Schema]] = {
    "next_token": {**_COUNT, "description": "Where the next page begins; only if this one is full."}
}
_MESSAGE_TEXTS: Final = ("input", "prompt_template", "response", "origin")

_REQUESTS: Final[Mapping[str, Schema]] = {
    "NewMemory": {
        "type": "object",
        "properties": {
            "name": _maybe(_TEXT),
            "application_type": _maybe(_TEXT),
            "additional_info": _maybe(_INFORMATION),
        },
    },
    "MemoryUpdate": {"type": "object", "properties": {"name": _TEXT, "additional_info": _INFORMATION}},
    "NewMessage": {
        "type": "object",
        "properties": {
            **dict.fromkeys(_MESSAGE_TEXTS, _SCALAR),
            "additional_info": {"type": ["object", "string", "null"], "additionalProperties": _SCALAR},
            "parent_message_id": _maybe(_TEXT),
            "trace_number": _maybe(_NUMBER_OF_TRACE),
        },
        "description": "One text or additional_info must say something. A trace has a parent and a number.",
    },
    "MessageUpdate": {"type": "object", "properties": {"response": _TEXT, "additional_info": _INFORMATION}},
    "Search": {
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": {"type": "object", "minProperties": 1, "maxProperties": 1, "description": "One clause."},
            "from": _COUNT,
            "size": _COUNT,
            "sort": {"type": ["string", "object", "array"]},
            "search_after": _list({"type": ["string", "number", "boolean", "null"]}),
            "_source": {"type": ["boolean", "string", "array", "object"]},
            "min_score": {"type": "number"},
            "track_total_hits": {"type": ["boolean", "integer"], "minimum": -1},
            "track_scores": _FLAG,
            "post_filter": {"type": "object", "minProperties": 1, "maxProperties": 1},
            "terminate_after": _COUNT,
            "highlight": _FREE,
            "fields": {"type": "array"},
            "docvalue_fields": {"type": "array"},
            "timeout": _TEXT,
        },
    },
}

_ANSWERS: Final[Mapping[str, Schema]] = {
    "MemoryMade": _object({"memory_id": _ID}),
    "MessageMade": _object({"message_id": _ID}),
    "Memory": _object(
        {"memory_id": _ID, "create_time": _TIME, "updated_time": _TIME, "name": _maybe(_TEXT)},
        {"user": _TEXT, "additional_info": _INFORMATION},
    ),
    "Message": _object(
        {"memory_id": _ID, "message_id": _ID, "create_time": _TIME},
        {
            "updated_time": _TIME,
            # Null where they are empty only in the output of 2.x.
            **dict.fromkeys(_MESSAGE_TEXTS, _maybe(_TEXT)),
            "additional_info": _INFORMATION,
            "parent_message_id": _TEXT,
            "trace_number": _WHOLE,
        },
    ),
    "Memories": _object({"memories": _list(_ref("Memory"))}, _NEXT),
    "Messages": _object({"messages": _list(_ref("Message"))}, _NEXT),
    "Traces": _object({"traces": _list(_ref("Message"))}, _NEXT),
    "Updated": _object(
        {
            "_index": _TEXT,
            "_id": _ID,
            "_version": {"type": "integer", "minimum": 1},
            "result": {"type": "string", "const": "updated"},
            "forced_refresh": _FLAG,
            "_shards": _SHARDS,
            "_seq_no": _COUNT,
            "_primary_term": _COUNT,
        }
    ),
    "Deleted": _object({"success": {"type": "boolean", "const": True}}),
}


def _found(source: Schema) -> Schema:
    """Return the answer to a search whose documents are of this kind."""
    hit = _object(
        {
            "_index": _TEXT,
            "_id": _ID,
            "_version": {"type": "integer", "minimum": 1},
            "_seq_no": _COUNT,
            "_primary_term": _COUNT,
            "_score": {"type": ["number", "null"], "minimum": 0},
            "_source": source,
        },
        {
            "sort": _list({"type": ["string", "number", "boolean", "null"]}),
            "highlight": {"type": "object", "additionalProperties": _list(_TEXT)},
            "fields": {"type": "object", "additionalProperties": {"type": "array"}},
            "matched_queries": _list(_TEXT),
        },
    )
    total = _object({"value": _COUNT, "relation": {"type": "string", "enum": ["eq", "gte"]}})
    hits = _object({"max_score": {"type": ["number", "null"]}, "hits": _list(hit)}, {"total": total})
    return _object(
        {"took": _COUNT, "timed_out": _FLAG, "_shards": _SHARDS, "hits": hits}, {"terminated_early": _FLAG}
    )


# A search may ask for a part of each document, so that none of its keys are required.
_SEARCHES: Final[Mapping[str, Schema]] = {
    "FoundMemories": _found(
        _object(
            {},
            {
                "create_time": _TIME,
                "updated_time": _TIME,
                "name": _maybe(_TEXT),
                "user": _maybe(_TEXT),
                "application_type": _maybe(_TEXT),
                "additional_info": _maybe(_INFORMATION),
            },
        )
    ),
    "FoundMessages": _found(
        _object(
            {},
            {
                "memory_id": _ID,
                "create_time": _TIME,
                "updated_time": _TIME,
                **dict.fromkeys(_MESSAGE_TEXTS, _maybe(_TEXT)),
                "additional_info": _maybe(_INFORMATION),
                "parent_message_id": _maybe(_TEXT),
                "trace_number": _maybe(_WHOLE),
            },
        )
    ),
}

_CAUSE: Final[Schema] = {
    "type": "object",
    "required": ["type", "reason"],
    "properties": {
        "type": _TEXT,
        "reason": _TEXT,
        "line": _COUNT,
        "col": _COUNT,
        "index": _TEXT,
        "caused_by": {
            "type": "object",
            "required": ["type", "reason"],
            "properties": {"type": _TEXT, "reason": _TEXT},
        },
    },
    "description": "Further keys say where it is wrong.",
}
_ERRORS: Final[Mapping[str, Schema]] = {
    "Cause": _CAUSE,
    "Error": _object(
        {
            "error": {
                "allOf": [_ref("Cause")],
                "type": "object",
                "required": ["root_cause"],
                "properties": {"root_cause": {**_list(_ref("Cause")), "minItems": 1}},
            },
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
        }
    ),
    "PlainError": _object({"error": _TEXT}, {"status": {"type": "integer", "minimum": 400, "maximum": 599}}),
}

_CLUSTER: Final[Mapping[str, Schema]] = {
    "Info": _object(
        {
            "name": _TEXT,
            "cluster_name": _TEXT,
            "cluster_uuid": _TEXT,
            "version": _object(
                {
                    **dict.fromkeys(("distribution", "number", "build_type", "build_hash"), _TEXT),
                    "build_date": _maybe(_TEXT),
                    "build_snapshot": _FLAG,
                    "lucene_version": _maybe(_TEXT),
                    "minimum_wire_compatibility_version": _TEXT,
                    "minimum_index_compatibility_version": _TEXT,
                }
            ),
            "tagline": _TEXT,
        }
    ),
    "Health": {
        "type": "object",
        "required": ["cluster_name", "status", "timed_out", "number_of_nodes"],
        "properties": {
            "cluster_name": _TEXT,
            "status": {"type": "string", "enum": ["green", "yellow", "red"]},
            "timed_out": _FLAG,
            "number_of_nodes": _COUNT,
        },
        "additionalProperties": {"type": ["integer", "number", "boolean"]},
    },
    "Indices": _list(
        _object(dict.fromkeys(("health", "status", "index", "pri", "rep", "docs.count"), _TEXT)),
    ),
}

SCHEMAS: Final[Mapping[str, Schema]] = {**_REQUESTS, **_ANSWERS, **_SEARCHES, **_ERRORS, **_CLUSTER}
"""Every named schema."""
