"""A search, step by step: retrieve, rerank, prune, fit the budget. A newcomer starts reading here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hitherto.notset import NOT_SET
from hitherto.records import Record
from hitherto.scope import ResolvedScope
from hitherto.search import budget
from hitherto.search.candidates import Candidate, retrieve
from hitherto.search.config import MemorySearchConfig
from hitherto.search.prune import prune
from hitherto.search.request import SearchRequest, build_request
from hitherto.search.rerank import rerank, wanted_candidates
from hitherto.search.result import SearchResult, SearchResultFormatConfig

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

LINKED_DISTANCE = 1.0
"""The distance of a record that was not found by the query but by a link."""


def search(
    store: MemoryStore, query: str, scope: ResolvedScope, config: MemorySearchConfig, **options: Any
) -> list[SearchResult]:
    """Search a store.

    Args:
        store: The store.
        query: The query.
        scope: Whose records.
        config: How the search goes on after retrieval.
        **options: What :func:`~hitherto.search.request.build_request` takes.

    Returns:
        The results, best first.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If an argument is not allowed.
        ModelOutputError: If a reranker answers nonsense.
    """
    request = build_request(query, scope, config, **options)
    candidates = retrieve(store, request, wanted_candidates(config, request.max_results))
    candidates = rerank(request.query, candidates, config)[: request.max_results]
    candidates = prune(request.query, candidates, config)
    return budget.fit(
        (_result(candidate, request) for candidate in candidates),
        token_budget=request.token_budget,
        soft_token_budget=request.soft_token_budget,
        count=budget.estimate_tokens if config.token_counter is NOT_SET else config.token_counter,
    )


def _result(candidate: Candidate, request: SearchRequest) -> SearchResult:
    shown = SearchResultFormatConfig(include_invalid_results=request.include_invalid_results)
    return SearchResult(
        candidate.distance,
        candidate.record,
        linked_results=_linked(candidate.record, shown),
        format_config=shown,
        explanation=candidate.explanation() if request.explain else None,
    )


def _linked(record: Record, shown: SearchResultFormatConfig) -> list[tuple[Any, SearchResult]]:
    return [
        (
            relation,
            SearchResult(LINKED_DISTANCE, child, linked_results=_linked(child, shown), format_config=shown),
        )
        for relation, child in record.linked_results
    ]
