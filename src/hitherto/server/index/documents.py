"""A thread as a memory's document, one or two messages as an interaction's: what a record is to a REST client.

What REST has a name for and a message or thread has not is kept in its metadata under that name. Other metadata, that
of a program, is shown as additional information, and is found by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from hitherto.messages import content_text
from hitherto.store.sql.rows import content_from_columns

MEMORY_INDEX: Final = ".plugins-ml-memory-meta"
MESSAGE_INDEX: Final = ".plugins-ml-memory-message"

INTERACTION: Final = "interaction"
"""The key in the metadata of a record that a REST client wrote: the id of the message that it belongs to."""

_MEMORY_KEYS: Final[Mapping[str, type]] = {"name": str, "application_type": str, "additional_info": dict}
_MESSAGE_KEYS: Final[Mapping[str, type]] = {
    "prompt_template": str,
    "origin": str,
    "additional_info": dict,
    "parent_message_id": str,
    "trace_number": int,
    "response": str,
    INTERACTION: str,
}


class Row(Protocol):
    """A row of the store's table of records."""

    id: str
    record_no: int
    thread_id: str | None
    role: str | None
    content: str | None
    content_form: str | None
    metadata: str | None
    created_at: str


def rest_time(stored: str) -> str:
    """Return a stored time as REST shows it: UTC, ``Z``, 3 to 6 digits of a second.

    Args:
        stored: ISO 8601 in UTC with an offset.

    Examples:
        >>> rest_time("2026-01-02T03:04:05.120000+00:00"), rest_time("2026-01-02T03:04:05.123450+00:00")
        ('2026-01-02T03:04:05.120Z', '2026-01-02T03:04:05.12345Z')
    """
    seconds, _, rest = stored.partition("+")[0].partition(".")
    return f"{seconds}.{(rest.rstrip('0')).ljust(3, '0')}Z"


def metadata_of(row: Row) -> dict[str, Any]:
    """Return a record's metadata, {} for none."""
    found = None if row.metadata is None else json.loads(row.metadata)
    return found if isinstance(found, dict) else {}


def memory_source(row: Row, *, user: str | None, updated_at: str) -> dict[str, Any]:
    """Return a thread as the document of a memory.

    Args:
        row: The thread's record.
        user: Its user, or None.
        updated_at: When it or its messages changed last, as stored.
    """
    fields, extra = _split(metadata_of(row), _MEMORY_KEYS)
    return {
        "create_time": rest_time(row.created_at),
        "updated_time": rest_time(updated_at),
        **_present("name", fields.get("name")),
        **_present("user", user),
        **_present("application_type", _said(fields.get("application_type"))),
        **_present("additional_info", _information(fields, extra)),
    }


def message_source(
    question: Row | None, answer: Row | None, *, memory_id: str, updated_at: str
) -> dict[str, Any]:
    """Return a question and its answer as the document of a message; the keys that are null on purpose too.

    Args:
        question: The record that holds the input, and all but the response; None for a response alone.
        answer: The record that holds the response, or None.
        memory_id: The thread.
        updated_at: When either changed last, as stored.
    """
    first = question if question is not None else answer
    assert first is not None  # noqa: S101  a message without any record is deleted
    fields, extra = _split(metadata_of(first), _MESSAGE_KEYS)
    parent, number = trace_of(fields)
    origin = _said(fields.get("origin"))
    if origin is None and INTERACTION not in fields and first.role not in ("user", "assistant"):
        origin = first.role
    response = fields.get("response") if answer is None else _text(answer)
    return {
        "memory_id": memory_id,
        "create_time": rest_time(first.created_at),
        "updated_time": rest_time(updated_at),
        **_present("input", _said(None if question is None else _text(question))),
        **_present("prompt_template", _said(fields.get("prompt_template"))),
        **_present("response", _said(response)),
        **_present("origin", origin),
        **_present("additional_info", _information(fields, extra)),
        "parent_message_id": parent,
        "trace_number": number,
    }


def trace_of(metadata: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the parent and the number of a trace, or a pair of None for an ordinary message.

    Args:
        metadata: A message's metadata.

    Examples:
        >>> trace_of({"parent_message_id": "m1", "trace_number": 2}), trace_of({"trace_number": 2})
        (('m1', 2), (None, None))
    """
    parent, number = metadata.get("parent_message_id"), metadata.get("trace_number")
    if isinstance(parent, str) and isinstance(number, int) and not isinstance(number, bool):
        return parent, number
    return None, None


def owner_of(row: Row) -> str | None:
    """Return the id of the message that a REST client wrote a record for, or None for a record of a program.

    Args:
        row: A message's record.
    """
    found = metadata_of(row).get(INTERACTION)
    return found if isinstance(found, str) else None


def _split(metadata: dict[str, Any], known: Mapping[str, type]) -> tuple[dict[str, Any], dict[str, Any]]:
    fields = {key: value for key, value in metadata.items() if _fits(value, known.get(key))}
    return fields, {key: value for key, value in metadata.items() if key not in fields}


def _fits(value: object, wanted: type | None) -> bool:
    return wanted is not None and isinstance(value, wanted) and not isinstance(value, bool)


def _information(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any] | None:
    return {**extra, **fields.get("additional_info", {})} or None


def _text(row: Row) -> str:
    return content_text(content_from_columns(row.content, row.content_form))


def _said(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


def _present(key: str, value: object) -> dict[str, Any]:
    return {} if value is None else {key: value}
