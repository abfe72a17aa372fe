"""Reranking: another model judges the candidates again."""

from __future__ import annotations

import math
import warnings
from typing import Any

from hitherto.errors import ModelError, ModelOutputError, shown
from hitherto.messages import content_text
from hitherto.notset import NOT_SET
from hitherto.records import MessageRecord, Record
from hitherto.search.candidates import Candidate
from hitherto.search.config import MemorySearchConfig, RerankingSearchConfig


def wanted_candidates(config: MemorySearchConfig, max_results: int) -> int:
    """Return how many candidates to retrieve: more than are wanted, where a reranker may see more."""
    if not isinstance(config, RerankingSearchConfig) or config.reranker in (NOT_SET, None):
        return max_results
    limit = config.reranker_max_candidates
    return max_results if limit is NOT_SET else max(max_results, limit)


def rerank(query: str, candidates: list[Candidate], config: MemorySearchConfig) -> list[Candidate]:
    """Return the candidates in the order of the configured reranker.

    It sees the texts of the first ``reranker_max_candidates``; those without a text and those beyond come after, in
    the order of retrieval. Equal scores keep the order of retrieval.

    Args:
        query: The query.
        candidates: The candidates, in the order of retrieval.
        config: With a reranker, or none.

    Raises:
        ModelOutputError: If the reranker's answer is not one finite score for each document.
        Exception: Whatever the reranker raises.
    """
    if not isinstance(config, RerankingSearchConfig) or config.reranker is NOT_SET or config.reranker is None:
        return candidates
    limit = config.reranker_max_candidates
    head = candidates if limit is NOT_SET else candidates[:limit]
    texts = [
        _text(candidate.record, with_speaker=config.reranker_shows_speaker is True) for candidate in head
    ]
    seen = [candidate for candidate, text in zip(head, texts, strict=True) if text.strip()]
    blank = [candidate for candidate, text in zip(head, texts, strict=True) if not text.strip()]
    if not seen:
        return candidates
    try:
        response = config.reranker.rerank(query, [text for text in texts if text.strip()])
        scores = _scores(response, len(seen))
    except Exception as error:
        if config.reranker_on_error != "keep":
            raise
        warnings.warn(
            f"the reranker failed, the retrieved order is kept: {error}", RuntimeWarning, stacklevel=4
        )
        return candidates
    for candidate, score in zip(seen, scores, strict=True):
        candidate.reranker_score = score
    order = _order(seen, scores, 1.0 if config.reranker_blend is NOT_SET else config.reranker_blend)
    ranked = [*order, *blank, *candidates[len(head) :]]
    for rank, candidate in enumerate(ranked, 1):
        candidate.reranked_rank = rank
    return ranked


def _order(seen: list[Candidate], scores: list[float], blend: float) -> list[Candidate]:
    if blend < 1.0:
        near = _shares([1.0 - float(candidate.distance) for candidate in seen])
        judged = _scaled(scores)
        scores = [blend * new + (1.0 - blend) * old for new, old in zip(judged, near, strict=True)]
    places = sorted(range(len(seen)), key=lambda place: -scores[place])
    return [seen[place] for place in places]


def _text(record: Record, *, with_speaker: bool) -> str:
    text = content_text(record.content)
    speaker = record.role if with_speaker and isinstance(record, MessageRecord) else None
    return f"{speaker}: {text}" if speaker and text.strip() else text


def _shares(values: list[float]) -> list[float]:
    best = max(values)
    return [value / best if best > 0 else 1.0 for value in values]


def _scaled(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    return [1.0 if high == low else (value - low) / (high - low) for value in values]


def _scores(response: Any, count: int) -> list[float]:
    results = getattr(response, "results", None)
    if not isinstance(results, (list, tuple)):
        raise ModelError(f"a reranker must return a RerankResponse, got {shown(response)}")
    scores: dict[int, float] = {}
    for item in results:
        index, score = getattr(item, "index", None), _number(getattr(item, "relevance_score", None))
        if type(index) is not int or not 0 <= index < count or index in scores:
            raise ModelOutputError(
                f"a reranker must name each index from 0 to {count - 1} once, got {shown(index)}"
            )
        if score is None:
            raise ModelOutputError(
                f"a reranker must give finite scores, got {shown(getattr(item, 'relevance_score', None))}"
            )
        scores[index] = score
    if len(scores) != count:
        raise ModelOutputError(f"a reranker must score all {count} documents, got {len(scores)} scores")
    return [scores[index] for index in range(count)]


def _number(value: object) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # what cannot be a number raises
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
