"""The arguments of a search, checked and resolved into one frozen value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.filters import parse_filter
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import RECORD_CLASSES
from hitherto.scope import ResolvedScope
from hitherto.search.config import DEFAULT_RESULTS, MAX_RESULTS, MemorySearchConfig, TopKMemorySearchConfig
from hitherto.store.checks import check_flag


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, checked.

    Attributes:
        query: The query, without outer white space.
        scope: Whose records.
        config: How it goes on after retrieval.
        max_results: The most results.
        record_types: The types that qualify; None for every searchable one.
        metadata_filter: What metadata must match, or None.
        include_invalid_results: Whether invalid records qualify.
        num_hops: How far links are followed.
        max_linked_results: The most linked records for each result.
        token_budget: The hard budget, or None.
        soft_token_budget: The soft budget, or None.
        explain: Whether each result says why it is there.
    """

    query: str
    scope: ResolvedScope
    config: MemorySearchConfig
    max_results: int = DEFAULT_RESULTS
    record_types: frozenset[str] | None = None
    metadata_filter: dict[str, Any] | None = None
    include_invalid_results: bool = True
    num_hops: int = 0
    max_linked_results: int = 100
    token_budget: int | None = None
    soft_token_budget: int | None = None
    explain: bool = False


def build_request(
    query: object,
    scope: ResolvedScope,
    config: MemorySearchConfig,
    *,
    max_results: object = NOT_SET,
    record_types: object = NOT_SET,
    metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
    include_invalid_results: bool | NotSetType = NOT_SET,
    num_hops: int | NotSetType = NOT_SET,
    max_linked_results: int | NotSetType = NOT_SET,
    token_budget: object = NOT_SET,
    soft_token_budget: object = NOT_SET,
    explain: bool = False,
) -> SearchRequest:
    """Check the arguments of a search.

    What the call gives wins over the configuration; that wins over the defaults.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If an argument is not allowed.
    """
    wanted = {} if metadata_filter is NOT_SET else metadata_filter
    parse_filter(wanted)
    return SearchRequest(
        query=_query(query),
        scope=scope,
        config=config,
        max_results=_max_results(max_results, config),
        record_types=_record_types(record_types),
        metadata_filter=wanted or None,
        include_invalid_results=check_flag(
            include_invalid_results, argument="include_invalid_results", default=True
        ),
        num_hops=0 if num_hops is NOT_SET else num_hops,
        max_linked_results=100 if max_linked_results is NOT_SET else max_linked_results,
        token_budget=read_budget(token_budget, config.token_budget, "token_budget"),
        soft_token_budget=read_budget(soft_token_budget, config.soft_token_budget, "soft_token_budget"),
        explain=check_flag(explain, argument="explain"),
    )


def _query(query: object) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InvalidArgumentError(
            f"query must be a text that is not blank, got {shown(query)}", argument="query"
        )
    return query.strip()


def _max_results(value: Any, config: MemorySearchConfig) -> int:
    if value is NOT_SET or value is None:
        configured = config.max_results if isinstance(config, TopKMemorySearchConfig) else NOT_SET
        return DEFAULT_RESULTS if configured is NOT_SET else configured
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if not 1 <= count <= MAX_RESULTS:
        raise InvalidArgumentError(
            f"max_results must be a number from 1 to {MAX_RESULTS}, got {shown(value)}",
            argument="max_results",
        )
    return count


def _record_types(value: object) -> frozenset[str] | None:
    if value is NOT_SET:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentTypeError(
            f"record_types must be several types, such as ['fact'], got {shown(value)}",
            argument="record_types",
        )
    found = set()
    for item in value:
        if not isinstance(item, str):
            raise ArgumentTypeError(
                f"record_types must hold strings, got {shown(item)}", argument="record_types"
            )
        name = item.strip()
        if name not in RECORD_CLASSES:
            raise InvalidArgumentError(
                f"record_types must hold some of {', '.join(sorted(RECORD_CLASSES))}, got {shown(name)}",
                argument="record_types",
            )
        found.add(name)
    return frozenset(found)


def read_budget(value: Any, configured: int | None | NotSetType, name: str) -> int | None:
    """Return a token budget: what the call gives, or else the configuration.

    Args:
        value: What the call gives, or NOT_SET; None for no bound.
        configured: The configuration's, or NOT_SET.
        name: The argument's name, for the error.

    Raises:
        InvalidArgumentError: If it is no number.

    Examples:
        >>> read_budget(NOT_SET, 500, "token_budget"), read_budget(None, 500, "token_budget")
        (500, None)
    """
    if value is NOT_SET:
        return configured if isinstance(configured, int) else None
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(
            f"{name} must be a number of tokens or None, got {shown(value)}", argument=name
        ) from None
