"""Rerankers of providers, behind the request that Cohere, Jina, vLLM, TEI and llama.cpp share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitherto.errors import InvalidArgumentError, ModelOutputError, shown
from hitherto.events import observed
from hitherto.models.base import Reranker, RerankResponse, RerankResponseResult
from hitherto.models.http import DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT_S, Provider


@observed("reranker")
class HttpReranker(Reranker):
    """Asks a server's ``/rerank``.

    Args:
        model: The model's name, as the server knows it.
        api_base: The URL up to ``/v1`` or what stands before ``/rerank``.
        api_key: The key, or None; it is sent, and neither shown nor logged.
        timeout_s: How long to wait for one answer, in seconds.
        max_attempts: How often one request is sent at most.
        **options: What goes into each request.

    Raises:
        InvalidArgumentError: If a value is not allowed.
        MissingExtraError: If httpx is not installed.

    Examples:
        >>> HttpReranker("rerank-v3.5", "https://api.example.com/v2", api_key="secret")
        HttpReranker('rerank-v3.5', 'https://api.example.com/v2')
    """

    def __init__(
        self,
        model: str,
        api_base: str,
        *,
        api_key: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_attempts: int = DEFAULT_ATTEMPTS,
        **options: Any,
    ) -> None:
        self._model = check_model_name(model)
        self._api_base = api_base
        self._options = options
        self._provider = Provider(
            api_base, api_key=api_key, timeout_s=timeout_s, max_attempts=max_attempts, extra="rerank"
        )

    def __repr__(self) -> str:
        """Return model and URL; never the key."""
        return f"HttpReranker({self._model!r}, {self._api_base!r})"

    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents.

        Args:
            query: The query.
            documents: The documents' texts; without any, nothing is sent.
            **kwargs: Options of this request, such as ``top_n``.

        Returns:
            The server's results, best first.

        Raises:
            ModelError: If the server refuses the request, or fails at every attempt.
            ModelOutputError: If the answer names no documents with scores.
        """
        if not documents:
            return RerankResponse([])
        body = {
            "model": self._model,
            "query": query,
            "documents": list(documents),
            **self._options,
            **kwargs,
        }
        return read_rerank_answer(self._provider.post("/rerank", body), len(documents))

    def close(self) -> None:
        """Close the connections."""
        self._provider.close()


def check_model_name(model: object) -> str:
    """Return a model's name.

    Raises:
        InvalidArgumentError: If it is no str, or empty.
    """
    if not isinstance(model, str) or not model:
        raise InvalidArgumentError(f"model must be a name, got {shown(model)}", argument="model")
    return model


def read_rerank_answer(answer: object, count: int) -> RerankResponse:
    """Read what a reranking server answered.

    Args:
        answer: Decoded JSON: ``{"results": [...]}``, ``{"data": [...]}`` or the list itself, each item with ``index``
            and ``relevance_score`` or ``score``.
        count: How many documents were sent.

    Returns:
        The results, best first; equal ones in the order of the documents.

    Raises:
        ModelOutputError: If it is none of these, an index is out of range or named twice, or a score is no number.

    Examples:
        >>> read_rerank_answer({"results": [{"index": 1, "relevance_score": 0.9}]}, 2).results[0].index
        1
    """
    items: Any = answer
    if isinstance(answer, dict):
        items = answer.get("results", answer.get("data"))
    if not isinstance(items, list):
        raise ModelOutputError(f'a reranker must answer with {{"results": [...]}}, got {shown(answer)}')
    results = [_result(item, count) for item in items]
    if len({result.index for result in results}) != len(results):
        raise ModelOutputError("a reranker must name each index at most once")
    return RerankResponse(sorted(results, key=lambda result: (-result.relevance_score, result.index)))


def _result(item: object, count: int) -> RerankResponseResult:
    index = item.get("index") if isinstance(item, dict) else None
    score = item.get("relevance_score", item.get("score")) if isinstance(item, dict) else None
    if type(index) is not int or not 0 <= index < count:
        raise ModelOutputError(f"a reranker must name indexes from 0 to {count - 1}, got {shown(index)}")
    if isinstance(score, bool) or not isinstance(score, (int, float)) or score != score:
        raise ModelOutputError(f"a reranker must give numbers as scores, got {shown(score)}")
    return RerankResponseResult(index, float(score))
