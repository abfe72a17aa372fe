"""The body of a search request: its keys, each checked, as one typed value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hitherto.errors import shown
from hitherto.server.dsl import parse_query_strings, parse_regexps, parse_terms, parse_texts, tree
from hitherto.server.dsl.errors import PARSING, DslError, ShardError, locate
from hitherto.server.dsl.fields import IndexMapping
from hitherto.server.dsl.highlight import Highlight, read_highlight
from hitherto.server.dsl.parameters import Parameters, as_number
from hitherto.server.dsl.parse import QueryParser
from hitherto.server.dsl.shown_fields import ShownField, read_shown_fields
from hitherto.server.dsl.sort import SortField, read_sort
from hitherto.server.dsl.source import SourceFilter, read_source

MAX_WINDOW: Final = 10_000
COUNTED_BY_DEFAULT: Final = 10_000
MAX_NESTING: Final = 100
"""How deep a query may be; texts of a query language count with what they mean."""
CLAUSE_MODULES: Final = (parse_query_strings, parse_regexps, parse_terms, parse_texts)
"""Modules that register how clauses are read."""

_REFUSED: Final = frozenset(
    {
        "aggregations", "aggs", "collapse", "derived", "explain", "indices_boost", "pit", "profile", "rescore",
        "script_fields", "search_pipeline", "slice", "suggest", "verbose_pipeline",
    }
)  # fmt: skip
_TIME: Final = re.compile(r"(-1|\d{1,9}(\.\d{1,9})?(d|h|m|s|ms|micros|nanos))\Z")


@dataclass(frozen=True, slots=True)
class SearchBody:
    """A search request that reads well.

    Attributes:
        query: What is asked for.
        start: How many hits are left out at the beginning.
        size: How many are shown.
        sort: The keys of the order; empty for the scores.
        search_after: The sort values of the last hit that was seen, or None.
        source: What is shown of a document.
        min_score: The least score of a hit, or None.
        track_total_hits: How many hits are counted; None for all of them, 0 for none.
        track_scores: Whether hits have scores though they are ordered by something else.
        post_filter: What hits must match besides, or None.
        terminate_after: After how many hits searching ends; 0 for never.
        highlight: The fields whose texts are marked, or None.
        fields: Single fields that are shown beside the source.
    """

    query: tree.Clause
    start: int = 0
    size: int = 10
    sort: tuple[SortField, ...] = ()
    search_after: tuple[Any, ...] | None = None
    source: SourceFilter = field(default_factory=SourceFilter)
    min_score: float | None = None
    track_total_hits: int | None = COUNTED_BY_DEFAULT
    track_scores: bool = False
    post_filter: tree.Clause | None = None
    terminate_after: int = 0
    highlight: Highlight | None = None
    fields: tuple[ShownField, ...] = ()


@dataclass
class _Draft:
    """What has been read of a body so far."""

    parser: QueryParser
    found: dict[str, Any] = field(default_factory=dict)


def parse_search(
    body: object, mapping: IndexMapping, *, now: datetime, raw: bytes | None = None
) -> SearchBody:
    """Read the body of a search request.

    Args:
        body: The parsed JSON.
        mapping: The mapping of the index that is searched.
        now: The present moment.
        raw: The bytes of the body, to tell line and column of an error.

    Returns:
        The request.

    Raises:
        DslError: If a key or clause is unknown, of the wrong type, or not supported.

    Examples:
        >>> from hitherto.lifetime import utc_now
        >>> from hitherto.server.dsl.fields import MESSAGES
        >>> parse_search({"query": {"match_all": {}}, "size": 3}, MESSAGES, now=utc_now()).size
        3
    """
    if not isinstance(body, Mapping):
        raise DslError(
            f"Expected [START_OBJECT] but found {_token(body)}", type=PARSING, metadata={"line": 1, "col": 1}
        )
    draft = _Draft(QueryParser(mapping, now, body, raw))
    for key, value in body.items():
        if key in _KEYS:
            _KEYS[key](draft, key, value)
        elif key in _REFUSED:
            _refuse(draft, key, value)
        elif key not in _IGNORED:
            raise DslError(
                f"Unknown key for a {_token(value)} in [{key}].",
                type=PARSING,
                metadata=locate(body, raw, key),
            )
    if "query" not in draft.found:
        raise DslError("inner bool query clause cannot be null")
    return _checked(SearchBody(**draft.found))


def _checked(search: SearchBody) -> SearchBody:
    for query in (search.query, search.post_filter):
        if query is not None and query.depth() > MAX_NESTING:
            raise DslError(
                f"The nested depth of the query exceeds the maximum nested depth of [{MAX_NESTING}]"
            )
    window = search.start + search.size
    if window > MAX_WINDOW:
        raise ShardError(
            f"Result window is too large, from + size must be less than or equal to: [{MAX_WINDOW}] but was "
            f"[{window}]. See the scroll api for a more efficient way to request large data sets. This limit can be "
            "set by changing the [index.max_result_window] index level setting."
        )
    if search.search_after is not None:
        if not search.sort:
            raise DslError("Sort must contain at least one field.")
        if search.start:
            raise DslError("`from` parameter must be set to 0 when `search_after` is used.")
    return search


def _token(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "VALUE_BOOLEAN", False: "VALUE_BOOLEAN", None: "VALUE_NULL"}[value]
    if isinstance(value, (int, float)):
        return "VALUE_NUMBER"
    return (
        "VALUE_STRING"
        if isinstance(value, str)
        else "START_ARRAY"
        if isinstance(value, list)
        else "START_OBJECT"
    )


def _refuse(draft: _Draft, key: str, value: object) -> None:
    if value in (False, None, [], {}):
        return
    raise DslError(
        f"[{key}] is not supported", type=PARSING, metadata=locate(draft.parser.body, draft.parser.raw, key)
    )


def _query(draft: _Draft, key: str, value: object) -> None:
    if value is not None:
        draft.found[key] = draft.parser.clause(value)


def _window(draft: _Draft, key: str, value: object) -> None:
    number = as_number(value)
    if number is None or not float(number).is_integer():
        raise DslError(f"[{key}] must be a whole number, got {shown(value)}", type=PARSING)
    if number < 0 and not (key == "from" and number == -1):
        raise DslError(f"[{key}] parameter cannot be negative, found [{int(number)}]")
    draft.found["start" if key == "from" else key] = max(int(number), 0)


def _sort(draft: _Draft, key: str, value: object) -> None:
    draft.found[key] = read_sort(value)


def _source(draft: _Draft, key: str, value: object) -> None:
    draft.found["source"] = read_source(value)


def _search_after(draft: _Draft, key: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, list) or not value:
        raise DslError(f"[search_after] must be an array of sort values, got {shown(value)}", type=PARSING)
    for item in value:
        if item is not None and not isinstance(item, (str, int, float)):
            raise DslError(f"Can't handle [search_after] field value of type [{_token(item)}]")
    draft.found[key] = tuple(value)


def _least_score(draft: _Draft, key: str, value: object) -> None:
    number = as_number(value)
    if number is None:
        raise DslError(f"[min_score] must be a number, got {shown(value)}", type=PARSING)
    draft.found[key] = float(number)


def _total(draft: _Draft, key: str, value: object) -> None:
    if value in ("true", "false"):
        value = value == "true"
    if isinstance(value, bool):
        draft.found[key] = None if value else 0
        return
    number = as_number(value)
    if number is None or not float(number).is_integer() or number < -1:
        raise DslError(
            f"[track_total_hits] parameter must be positive or equals to -1, got {shown(value)}",
        )
    draft.found[key] = None if number == -1 else int(number)


def _boolean(draft: _Draft, key: str, value: object) -> None:
    draft.found[key] = Parameters("search", {key: value}).boolean(key)


def _terminate_after(draft: _Draft, key: str, value: object) -> None:
    draft.found[key] = Parameters("search", {key: value}).integer(key, 0)


def _timeout(draft: _Draft, key: str, value: object) -> None:
    if not isinstance(value, str) or not _TIME.match(value):
        raise DslError(
            f"failed to parse setting [timeout] with value [{shown(value)}] as a time value: unit is missing or "
            "unrecognized"
        )


def _highlight(draft: _Draft, key: str, value: object) -> None:
    draft.found[key] = read_highlight(value, draft.parser)


def _fields(draft: _Draft, key: str, value: object) -> None:
    draft.found["fields"] = (*draft.found.get("fields", ()), *read_shown_fields(key, value))


def _stored_fields(draft: _Draft, key: str, value: object) -> None:
    # No field is stored apart from the source, which is always shown.
    if not isinstance(value, (str, list)) or not all(isinstance(item, str) for item in value):
        raise DslError(
            f"[stored_fields] must be a field or an array of fields, got {shown(value)}", type=PARSING
        )


def _flag(draft: _Draft, key: str, value: object) -> None:
    Parameters("search", {key: value}).boolean(key)


_KEYS: Final[dict[str, Callable[[_Draft, str, Any], None]]] = {
    "_source": _source,
    "docvalue_fields": _fields,
    "fields": _fields,
    "from": _window,
    "highlight": _highlight,
    "include_named_queries_score": _flag,
    "min_score": _least_score,
    "post_filter": _query,
    "query": _query,
    "search_after": _search_after,
    "seq_no_primary_term": _flag,
    "size": _window,
    "sort": _sort,
    "stored_fields": _stored_fields,
    "terminate_after": _terminate_after,
    "timeout": _timeout,
    "track_scores": _boolean,
    "track_total_hits": _total,
    "version": _flag,
}
_IGNORED: Final = frozenset({"ext", "stats"})
