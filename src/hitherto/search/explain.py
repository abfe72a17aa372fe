"""Why a result is there: what each step of the search said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitherto.store.requests import HitExplanation

Verdict = Literal["protected", "kept", "assumed", "failed"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What each step of the search said of one result.

    Attributes:
        retrieval: Ranks and scores of the arms, fusion and preference; None where the store does not tell.
        retrieved_rank: The place in what the store returned, from 1.
        reranker_score: The reranker's score, or None if it did not see the result.
        reranked_rank: The place after reranking, from 1, or None without a reranker.
        pruning: "protected" from pruning, "kept" by a judgement, "assumed" relevant because its neighbours were,
            "failed" where a judgement could not be had; None without a pruner.
        pruning_decision: The judge's word, such as "keep" or "unlikely", or None.
    """

    retrieval: HitExplanation | None
    retrieved_rank: int
    reranker_score: float | None = None
    reranked_rank: int | None = None
    pruning: Verdict | None = None
    pruning_decision: str | None = None
