"""The order of hits: read from a request, checked against the index, and turned into keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from hitherto.errors import shown
from hitherto.server.dsl.dates import read_date, written
from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.errors import DslError, ShardError
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.parameters import Parameters, as_number
from hitherto.server.dsl.patience import go_on
from hitherto.server.dsl.plans import Plan
from hitherto.server.dsl.scoring import shortest

Order: TypeAlias = Literal["asc", "desc"]
Value: TypeAlias = "int | float | str | None"

MAX_LONG: Final = 2**63 - 1
_ORDERS: Final[tuple[Order, ...]] = ("asc", "desc")
_MODES: Final = ("min", "max", "sum", "avg", "median")


@dataclass(frozen=True, slots=True)
class SortField:
    """One key of the order.

    Attributes:
        field: The field, ``_score`` or ``_doc``.
        order: Which end comes first.
        missing: Where documents without the field stand: ``_first``, ``_last``, or as if they had this value.
        unmapped: Whether a field that does not exist counts as one that no document has.
        format: How dates are written among the hit's sort values, or None for milliseconds.
    """

    field: str
    order: Order = "asc"
    missing: str | float = "_last"
    unmapped: bool = False
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    Attributes:
        document: The document.
        score: Its score.
    """

    document: Document
    score: float


def read_sort(value: object) -> tuple[SortField, ...]:
    """Read the order of a request.

    Args:
        value: A field's name, an object, or a list of them.

    Returns:
        The keys; nothing if the order is that of the scores anyway.

    Raises:
        DslError: If it is malformed, or asks for scripts or distances.

    Examples:
        >>> [(key.field, key.order) for key in read_sort([{"updated_time": "desc"}, "_score"])]
        [('updated_time', 'desc'), ('_score', 'desc')]
    """
    items = value if isinstance(value, list) else [value]
    keys = tuple(key for item in items for key in _keys(item))
    return () if keys == (SortField("_score", "desc"),) else keys


def _keys(item: object) -> list[SortField]:
    if isinstance(item, str):
        return [_key(item, {})]
    if isinstance(item, Mapping):
        return [_key(str(field), how) for field, how in item.items()]
    raise DslError(
        f"malformed sort format, [sort] must be a field, an object or an array of them, got {shown(item)}"
    )


def _key(field: str, how: object) -> SortField:
    if field in {"_script", "_geo_distance"}:
        raise DslError(f"[sort] does not support [{field}]")
    given = Parameters("sort", {"order": how} if isinstance(how, str) else how)
    default: Order = "desc" if field == "_score" else "asc"
    if "nested" in given or "nested_path" in given:
        raise DslError(f"[sort] on [{field}] does not support [nested]: no field is nested")
    if "mode" in given:
        given.choice("mode", "min", _MODES)
    given.text("numeric_type")
    missing = given.scalar("missing")
    key = SortField(
        field,
        given.choice("order", default, _ORDERS),
        "_last" if missing is None or isinstance(missing, bool) else missing,
        given.text("unmapped_type") is not None,
        given.text("format"),
    )
    given.done()
    return key


class Sorter:
    """Orders hits by the keys of a request.

    Args:
        keys: The keys; none for the scores.
        plan: The plan of the search.

    Raises:
        ShardError: If a field is not mapped, or cannot be sorted by.
    """

    def __init__(self, keys: Sequence[SortField], plan: Plan) -> None:
        self._plan = plan
        self._keys = [(key, self._kind(key)) for key in keys]
        self._values = [self._value(key, kind) for key, kind in self._keys]

    def sorted(self, hits: Sequence[Hit]) -> list[Hit]:
        """Order hits; equal ones in the order of writing.

        Args:
            hits: The hits.
        """
        if not self._keys:
            return sorted(hits, key=lambda hit: (-hit.score, hit.document.order))
        ordered = sorted(hits, key=lambda hit: hit.document.order)
        for (key, kind), value in reversed(list(zip(self._keys, self._values, strict=True))):
            go_on()
            place = _places(key, kind)
            places = {id(hit): place(value(hit)) for hit in ordered}
            ordered.sort(key=lambda hit: places[id(hit)], reverse=key.order == "desc")
        return ordered

    def after(self, hits: Sequence[Hit], values: Sequence[object]) -> list[Hit]:
        """Leave out the hits up to a place.

        Args:
            hits: Ordered hits.
            values: The sort values of the last hit that was seen.

        Raises:
            DslError: If the values do not fit the keys.
        """
        if len(values) != len(self._keys):
            raise DslError(
                f"search_after has {len(values)} value(s) but sort has {len(self._keys)}.",
            )
        seen = [self._seen(key, kind, value) for (key, kind), value in zip(self._keys, values, strict=True)]
        return [hit for hit in hits if self._compared(hit, seen) > 0]

    def values(self, hit: Hit) -> list[Value]:
        """Return the sort values of a hit as they are shown.

        Args:
            hit: The hit.
        """
        return [
            self._shown(key, kind, value(hit))
            for (key, kind), value in zip(self._keys, self._values, strict=True)
        ]

    def _kind(self, key: SortField) -> Kind | None:
        if key.field in {"_score", "_doc"}:
            return Kind.LONG
        kind = self._plan.mapping.kind(key.field)
        if kind is None and not key.unmapped:
            raise ShardError(
                f"No mapping found for [{key.field}] in order to sort on", type="query_shard_exception"
            )
        if kind is Kind.TEXT:
            raise ShardError(
                f"Text fields are not optimised for operations that require per-document field data like aggregations "
                f"and sorting, so these operations are disabled by default. [{key.field}] has no keyword field to "
                "sort on instead."
            )
        if kind is Kind.FLAT_OBJECT:
            raise ShardError(f"Sorting by field [{key.field}] of type [flat_object] is not supported")
        return kind

    def _value(self, key: SortField, kind: Kind | None) -> Callable[[Hit], Value]:
        field = key.field
        if field == "_score":
            return lambda hit: hit.score
        if field == "_doc":
            return lambda hit: hit.document.order
        if kind is Kind.DATE:
            return lambda hit: hit.document.millis(field)
        if kind is Kind.LONG:
            return lambda hit: hit.document.number(field)
        if kind is Kind.INDEX:
            return lambda hit: self._plan.mapping.index
        return lambda hit: min(hit.document.terms(field, kind), default=None)

    def _seen(self, key: SortField, kind: Kind | None, value: object) -> Value:
        if value is None or kind in {Kind.KEYWORD, Kind.ID, Kind.INDEX, None}:
            if value is not None and not isinstance(value, str):
                raise DslError(
                    f"Failed to parse search_after value for field [{key.field}]: {shown(value)} is no text"
                )
            return value
        number = as_number(value)
        if number is not None:
            return None if abs(number) >= MAX_LONG else number
        if kind is Kind.DATE:
            return read_date(value, now=self._plan.now, format=key.format).first
        raise DslError(
            f"Failed to parse search_after value for field [{key.field}]: {shown(value)} is no number"
        )

    def _compared(self, hit: Hit, seen: Sequence[Value]) -> int:
        for (key, kind), value, before in zip(self._keys, self._values, seen, strict=True):
            place = _places(key, kind)
            one, other = place(value(hit)), place(before)
            if one != other:
                return (1 if one > other else -1) * (1 if key.order == "asc" else -1)
        return 0

    def _shown(self, key: SortField, kind: Kind | None, value: Value) -> Value:
        if value is None and kind in {Kind.DATE, Kind.LONG}:
            return MAX_LONG if (key.missing == "_last") == (key.order == "asc") else -MAX_LONG - 1
        if kind is Kind.DATE and key.format is not None and isinstance(value, int):
            return written(value, key.format)
        return shortest(value) if key.field == "_score" and isinstance(value, float) else value


def _places(key: SortField, kind: Kind | None) -> Callable[[Value], tuple[int, Any]]:
    """Return what values are compared by: what is missing stands at its end whichever way the rest is ordered."""
    low_first = (key.missing == "_first") == (key.order == "asc")
    instead: tuple[int, Any] = (-1, 0) if low_first else (1, 0)
    if key.missing not in {"_first", "_last"}:
        number = as_number(key.missing)
        known = kind not in {Kind.DATE, Kind.LONG} or number is not None
        instead = (
            (0, str(key.missing) if number is None or kind is Kind.KEYWORD else number) if known else instead
        )
    return lambda value: instead if value is None else (0, value)
