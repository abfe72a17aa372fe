"""Single fields that a hit shows beside its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitherto.errors import shown
from hitherto.server.dsl.dates import written
from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.errors import PARSING, DslError, ShardError
from hitherto.server.dsl.fields import IndexMapping, Kind
from hitherto.server.dsl.parameters import Parameters


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field to show.

    Attributes:
        pattern: Its name; ``*`` stands for any characters.
        format: How dates are written, or None.
        indexed: Whether the indexed value is meant, which words do not have, rather than the stored one.
    """

    pattern: str
    format: str | None = None
    indexed: bool = False


def read_shown_fields(key: str, value: object) -> tuple[ShownField, ...]:
    """Read ``fields`` or ``docvalue_fields``.

    Args:
        key: Which of them.
        value: A list of names or of objects with ``field`` and ``format``.

    Returns:
        The fields.

    Raises:
        DslError: If it is malformed.
    """
    if not isinstance(value, list):
        raise DslError(f"[{key}] must be an array of fields, got {shown(value)}", type=PARSING)
    found = []
    for item in value:
        given = Parameters(key, {"field": item} if isinstance(item, str) else item)
        given.boolean("include_unmapped")
        found.append(ShownField(given.required_text("field"), given.text("format"), key == "docvalue_fields"))
        given.done()
    return tuple(found)


def field_values(
    document: Document, fields: Sequence[ShownField], mapping: IndexMapping
) -> dict[str, list[Any]]:
    """Return the values of fields of a document.

    Args:
        document: The document.
        fields: The fields.
        mapping: The index's mapping.

    Returns:
        A list of values for each field that the document has.

    Raises:
        ShardError: If the indexed value of a field of words is asked for.
    """
    found: dict[str, list[Any]] = {}
    for field in fields:
        for name in mapping.matching(field.pattern):
            values = _values(document, name, field, mapping.kind(name))
            if values:
                found[name] = values
    return found


def _values(document: Document, name: str, field: ShownField, kind: Kind | None) -> list[Any]:
    if kind is Kind.DATE:
        millis = document.millis(name)
        return [] if millis is None else [written(millis, field.format)]
    if field.format is not None and kind is not None and kind is not Kind.LONG:
        raise ShardError(f"Field [{name}] of type [{kind.value}] doesn't support formats.")
    if kind is Kind.LONG:
        number = document.number(name)
        return [] if number is None else [number]
    if kind in {Kind.TEXT, Kind.FLAT_OBJECT} and field.indexed:
        if "*" in field.pattern:
            return []
        raise ShardError(
            f"Fields of type [{kind.value}] have no values outside the source: [{name}]; "
            "ask for it by [fields]"
        )
    if kind is Kind.TEXT or (kind is Kind.FLAT_OBJECT and "." not in name):
        value = document.source.get(name)
        return [] if value in (None, {}) else [dict(value)] if isinstance(value, Mapping) else [value]
    return list(document.terms(name, kind))
