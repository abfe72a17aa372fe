"""Scope, lifetime and metadata filter -> SQL conditions on ``records``; the only place that writes them.

A metadata filter becomes conditions on ``json_each`` of the stored JSON, because a path cannot name every key: a
key may hold quotes and dots. SQL reads numbers that are no 64-bit integers a little differently than Python does;
a condition on such a number lets close ones through, and says so, and the filter itself decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, column, exists, false, func, not_, or_, select, true

from hitherto.filters import AllOf, ArrayContains, ArrayContainsAny, Equals, Filter, HasFields, Not, Test
from hitherto.lifetime import format_time
from hitherto.scope import Match, ResolvedScope
from hitherto.store.requests import StoreQuery
from hitherto.store.sql.tables import NO_USER, records, scopes

_NUMBERS: Final = ("integer", "real")
_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in SQL.

    Attributes:
        clause: The condition.
        exact: Whether it holds for nothing else than what is meant; else it lets some others through.
    """

    clause: ColumnElement[bool]
    exact: bool


def search_clause(query: StoreQuery) -> ColumnElement[bool]:
    """Return which rows of ``records`` a search is about, apart from its metadata filter.

    Args:
        query: The search.
    """
    wanted = [
        scope_clause(query.scope),
        or_(records.c.expires_at.is_(None), records.c.expires_at > format_time(query.now)),
        records.c.searchable == 1,
    ]
    if query.record_types is not None:
        wanted.append(records.c.record_type.in_(sorted(query.record_types)))
    if not query.include_invalid:
        wanted.append(records.c.status == "valid")
    return and_(*wanted)


def scope_clause(scope: ResolvedScope) -> ColumnElement[bool]:
    """Return which rows of ``records`` lie within a scope.

    Args:
        scope: The scope.
    """
    wanted: list[ColumnElement[bool]] = [true()]
    if scope.user.exact:
        number = select(scopes.c.user_no).where(scopes.c.user_id == scope.user.id).scalar_subquery()
        wanted.append(records.c.user_no == (NO_USER if scope.user.id is None else number))
    wanted.extend(
        _same(dimension, one)
        for dimension, one in ((scope.agent, records.c.agent_id), (scope.thread, records.c.thread_id))
        if dimension.exact
    )
    return and_(*wanted)


def _same(match: Match, stored: ColumnElement[Any]) -> ColumnElement[bool]:
    return stored.is_(None) if match.id is None else stored == match.id


def filter_condition(wanted: Filter | None, stored: ColumnElement[Any]) -> Condition:
    """Return which JSON texts a metadata filter lets through.

    Args:
        wanted: The filter; None for what has no metadata.
        stored: The column with the JSON text, which may be NULL.

    Examples:
        >>> from hitherto.filters import parse_filter
        >>> filter_condition(parse_filter({"a": 1}), records.c.metadata).exact
        True
        >>> filter_condition(parse_filter({"a": 0.1}), records.c.metadata).exact
        False
    """
    if wanted is None:
        return Condition(stored.is_(None), exact=True)
    compiler = _Compiler()
    clause = compiler.fields(wanted.root, func.coalesce(stored, "{}"), loose=True)
    return Condition(clause, exact=compiler.exact)


class _Compiler:
    """Turns tests into conditions; where it cannot be exact it errs on the side that ``loose`` names."""

    def __init__(self) -> None:
        self.exact = True

    def fields(self, test: HasFields, stored: ColumnElement[Any], *, loose: bool) -> ColumnElement[bool]:
        return and_(true(), *(self._field(key, one, stored, loose=loose) for key, one in test.fields))

    def _field(self, key: str, test: Test, stored: ColumnElement[Any], *, loose: bool) -> ColumnElement[bool]:
        if isinstance(test, Not):
            return not_(self._field(key, test.test, stored, loose=not loose))
        if isinstance(test, AllOf):
            return and_(*(self._field(key, one, stored, loose=loose) for one in test.tests))
        item = _each(stored)
        return exists(
            select(1).select_from(item).where(item.c.key == key, self._holds(test, item, loose=loose))
        )

    def _holds(self, test: Test, item: Any, *, loose: bool) -> ColumnElement[bool]:
        if isinstance(test, HasFields):
            # What is no object is read as an empty one, so that json_each never sees broken JSON.
            whole = func.iif(item.c.type == "object", item.c.value, "{}")
            return and_(item.c.type == "object", self.fields(test, whole, loose=loose))
        if isinstance(test, (ArrayContains, ArrayContainsAny)):
            join = and_ if isinstance(test, ArrayContains) else or_
            whole = func.iif(item.c.type == "array", item.c.value, "[]")
            found = [self._has(whole, value, loose=loose) for value in test.values]
            return and_(item.c.type == "array", join(*found))
        assert isinstance(test, Equals)  # noqa: S101  Not and AllOf were taken apart above
        return self._equals(item, test.value, loose=loose)

    def _has(self, stored: ColumnElement[Any], value: object, *, loose: bool) -> ColumnElement[bool]:
        item = _each(stored)
        return exists(select(1).select_from(item).where(self._equals(item, value, loose=loose)))

    def _equals(self, item: Any, value: Any, *, loose: bool) -> ColumnElement[bool]:
        kind, stored = item.c.type, item.c.value
        if value is None or isinstance(value, bool):
            return bool_clause(kind == {None: "null", True: "true", False: "false"}[value])
        if isinstance(value, str):
            return and_(kind == "text", stored == value)
        if isinstance(value, (int, float)):
            return self._number(kind, stored, value, loose=loose)
        if isinstance(value, list):
            return self._list(kind, stored, value, loose=loose)
        return self._object(kind, stored, value, loose=loose)

    def _number(self, kind: Any, stored: Any, value: float, *, loose: bool) -> ColumnElement[bool]:
        if value == int(value) and abs(value) < 2**53:
            return and_(kind.in_(_NUMBERS), stored == int(value))
        self.exact = False
        if not loose:
            return false()
        near = float(min(max(value, -1e308), 1e308))
        low, high = sorted((near * (1 - _CLOSE), near * (1 + _CLOSE)))
        if abs(near) >= 1e300:
            return bool_clause(kind.in_(_NUMBERS))
        return and_(kind.in_(_NUMBERS), stored >= low, stored <= high)

    def _list(self, kind: Any, stored: Any, value: list[Any], *, loose: bool) -> ColumnElement[bool]:
        whole = func.iif(kind == "array", stored, "[]")
        parts = [kind == "array", func.json_array_length(whole) == len(value)]
        for place, one in enumerate(value):
            item = _each(whole)
            parts.append(
                exists(
                    select(1)
                    .select_from(item)
                    .where(item.c.key == place, self._equals(item, one, loose=loose))
                )
            )
        return and_(*parts)

    def _object(self, kind: Any, stored: Any, value: dict[str, Any], *, loose: bool) -> ColumnElement[bool]:
        whole = func.iif(kind == "object", stored, "{}")
        count = select(func.count()).select_from(_each(whole)).scalar_subquery()
        parts = [kind == "object", count == len(value)]
        for key, one in value.items():
            item = _each(whole)
            parts.append(
                exists(
                    select(1).select_from(item).where(item.c.key == key, self._equals(item, one, loose=loose))
                )
            )
        return and_(*parts)


def bool_clause(clause: Any) -> ColumnElement[bool]:
    """Return a comparison as a condition, for which SQLAlchemy has a wider type."""
    return and_(true(), clause)


def _each(stored: ColumnElement[Any]) -> Any:  # its columns are not known to the types of SQLAlchemy
    return func.json_each(stored).table_valued(column("key"), column("value"), column("type")).alias()
