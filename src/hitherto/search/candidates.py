"""Asking the store for candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitherto.records import Record
from hitherto.search.explain import Explanation, Verdict

if TYPE_CHECKING:
    from hitherto.search.request import SearchRequest
    from hitherto.store.base import MemoryStore
    from hitherto.store.requests import HitExplanation


@dataclass(slots=True)
class Candidate:
    """A record on its way through the steps of a search, and what they said of it.

    Attributes:
        record: The record.
        distance: How far it is from the query, as the store says.
        rank: Its place in what the store returned, from 1.
        retrieval: Why the store returned it, or None.
        reranker_score: What the reranker said.
        reranked_rank: Its place after reranking, from 1.
        pruning: What became of it when pruning.
        pruning_decision: The judge's word.
    """

    record: Record
    distance: float
    rank: int
    retrieval: HitExplanation | None = None
    reranker_score: float | None = None
    reranked_rank: int | None = None
    pruning: Verdict | None = None
    pruning_decision: str | None = None

    def explanation(self) -> Explanation:
        """Return what the steps said."""
        return Explanation(
            self.retrieval,
            self.rank,
            self.reranker_score,
            self.reranked_rank,
            self.pruning,
            self.pruning_decision,
        )


def retrieve(store: MemoryStore, request: SearchRequest, k: int) -> list[Candidate]:
    """Return the store's hits as candidates, in its order, at most k of them.

    Args:
        store: The store; where it has no ``search_hits``, its ``search`` is asked.
        request: What is searched.
        k: How many are wanted.
    """
    scope = request.scope
    options: dict[str, Any] = {
        "user_id": scope.user.id,
        "agent_id": scope.agent.id,
        "thread_id": scope.thread.id,
        "exact_user_match": scope.user.exact,
        "exact_agent_match": scope.agent.exact,
        "exact_thread_match": scope.thread.exact,
        "record_types": None if request.record_types is None else set(request.record_types),
        "metadata_filter": request.metadata_filter,
        "include_invalid_results": request.include_invalid_results,
        "num_hops": request.num_hops,
        "max_linked_results": request.max_linked_results,
    }
    if hasattr(store, "search_hits"):
        hits = store.search_hits(request.query, k, explain=request.explain, **options)
        found = [(hit.record, hit.distance, hit.explanation) for hit in hits]
    else:
        found = [(record, distance, None) for record, distance in store.search(request.query, k, **options)]
    return [
        Candidate(record, distance, rank, explanation)
        for rank, (record, distance, explanation) in enumerate(found[:k], 1)
    ]
