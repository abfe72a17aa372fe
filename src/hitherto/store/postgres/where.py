"""Metadata filters -> conditions on jsonb, which a GIN index answers; the filter itself decides in the end.

A condition lets through all that the filter does, and little else. Equality becomes containment, which is exact for
texts, bools, null, and numbers that floats and decimals have in common. What is kept as text, with the order of its
keys and the form of its numbers, is the record's ``metadata``; PostgreSQL derives ``metadata_json`` from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    String,
    Table,
    and_,
    cast,
    column,
    false,
    func,
    literal,
    not_,
    or_,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB

from hitherto.characters import is_storable
from hitherto.filters import AllOf, ArrayContains, ArrayContainsAny, Equals, Filter, HasFields, Not, Test

_EXACT_BELOW: Final = 2**53
_LARGEST: Final = 10**4000
"""Python writes no integer that is much longer, so none is stored."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A condition that holds for all that a filter lets through.

    Attributes:
        clause: The condition.
        exact: Whether it holds for nothing else.
        indexed: Whether the index on the column can find what meets it.
    """

    clause: ColumnElement[bool]
    exact: bool = True
    indexed: bool = False


def narrowed(wanted: Filter | None, table: Table) -> Narrowed:
    """Return the condition for a filter.

    Args:
        wanted: The filter; None for what has no metadata.
        table: The table with the columns ``metadata`` and ``metadata_json``.

    Examples:
        >>> from hitherto.filters import parse_filter
        >>> from hitherto.store.sql.tables import records
        >>> found = narrowed(parse_filter({"a": 1}), records)
        >>> found.exact, found.indexed
        (True, True)
        >>> narrowed(parse_filter({"a": [1]}), records).exact
        False
    """
    if wanted is None:
        return Narrowed(table.c.metadata.is_(None))
    stored = column("metadata_json", JSONB, _selectable=table)
    return _all([_test(stored, (key,), test) for key, test in wanted.root.fields])


def _test(stored: ColumnElement[Any], path: Sequence[str], test: Test) -> Narrowed:
    if isinstance(test, Not):
        return _negated(_test(stored, path, test.test))
    if isinstance(test, AllOf):
        return _all([_test(stored, path, one) for one in test.tests])
    if isinstance(test, HasFields):
        # That it is an object has to be said where all that is said of its fields is what they are not.
        inner = [_test(stored, (*path, key), one) for key, one in test.fields]
        return _all([_contains(stored, path, {}), *inner])
    if isinstance(test, ArrayContains):
        return _all([_element(stored, path, value) for value in test.values])
    if isinstance(test, ArrayContainsAny):
        return _any([_element(stored, path, value) for value in test.values])
    assert isinstance(test, Equals)  # noqa: S101  there is no other test
    return _any([_contains(stored, path, form) for form in _forms(test.value)], exact=_is_exact(test.value))


def _element(stored: ColumnElement[Any], path: Sequence[str], value: Any) -> Narrowed:
    return _any([_contains(stored, path, [form]) for form in _forms(value)], exact=_is_exact(value))


def _contains(stored: ColumnElement[Any], path: Sequence[str], value: Any) -> Narrowed:
    if not all(map(is_storable, path)):
        return Narrowed(false())
    for key in reversed(path):
        value = {key: value}
    document = cast(literal(json.dumps(value, ensure_ascii=False), String), JSONB)
    return Narrowed(and_(true(), stored.op("@>", return_type=Boolean())(document)), indexed=True)


def _forms(value: Any) -> list[Any]:
    """Return how a value may be stored, or what anything that equals it contains; nothing if it cannot be."""
    if isinstance(value, str):
        return [value] if is_storable(value) else []
    if isinstance(value, list):
        parts = [_forms(item) for item in value]
        # Of an element with two forms nothing is asked.
        return [[forms[0] for forms in parts if len(forms) == 1]] if all(parts) else []
    if isinstance(value, dict):
        fields = {key: _forms(item) for key, item in value.items()}
        if not all(fields.values()) or not all(map(is_storable, fields)):
            return []
        return [{key: forms[0] for key, forms in fields.items() if len(forms) == 1}]
    if isinstance(value, bool) or value is None or _is_exact(value):
        return [value]
    # A large float is stored by its shortest digits, which are those of another integer.
    whole = int(value)
    return [form for form in (whole, _as_float(whole)) if form is not None and abs(whole) < _LARGEST]


def _as_float(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _is_exact(value: Any) -> bool:
    """Return whether containment of a value means that it is equal."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return not isinstance(value, (list, dict))
    return abs(value) < _EXACT_BELOW or (isinstance(value, float) and not value.is_integer())


def _negated(inner: Narrowed) -> Narrowed:
    if not inner.exact:
        return Narrowed(true(), exact=False)
    # Where there are no metadata the comparison is null.
    return Narrowed(not_(func.coalesce(inner.clause, false(), type_=Boolean())))


def _all(parts: Sequence[Narrowed]) -> Narrowed:
    return Narrowed(
        and_(true(), *(part.clause for part in parts)),
        exact=all(part.exact for part in parts),
        indexed=any(part.indexed for part in parts),
    )


def _any(parts: Sequence[Narrowed], *, exact: bool = True) -> Narrowed:
    return Narrowed(
        or_(false(), *(part.clause for part in parts)),
        exact=exact and all(part.exact for part in parts),
        indexed=bool(parts) and all(part.indexed for part in parts),
    )
