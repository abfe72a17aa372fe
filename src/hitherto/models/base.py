"""The interfaces of embedders, language models and rerankers.

They are protocols: any object with these methods will do. The asynchronous twin may be left out where a class
derives from one of the base classes, which run the blocking method in a worker thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hitherto.aio import awaitable
from hitherto.messages import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatMatrix: TypeAlias = NDArray[np.float32]

Prompt: TypeAlias = "str | Sequence[Message | Mapping[str, Any]]"
"""What a language model is asked: a text, or messages as :class:`Message` or ``{"role": ..., "content": ...}``."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What must be equal for two embedders' vectors to be comparable.

    Attributes:
        name: The model's name.
        dimension: The number of components of a vector.
        normalised: Whether its vectors have length 1.
    """

    name: str
    dimension: int
    normalised: bool

    def __str__(self) -> str:
        """Return a text for messages, such as "bge-small-en-v1.5 (384 dimensions, normalised)"."""
        return f"{self.name} ({self.dimension} dimensions, {'' if self.normalised else 'not '}normalised)"


class Embedder(ABC):
    """Turns texts into vectors.

    Subclasses implement :meth:`embed` and :attr:`embedding_dimension`.
    """

    @abstractmethod
    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed texts.

        Args:
            texts: The texts, in order.
            is_query: Whether they are queries; some models embed queries differently.

        Returns:
            A float32 array of shape (len(texts), embedding_dimension).

        Raises:
            ModelError: If the model fails.
        """

    embed_async = awaitable(embed, limiter_name="models")

    @property
    @abstractmethod
    def embedding_dimension(self) -> int:
        """The number of components of a vector."""

    @property
    def max_input_tokens(self) -> int | None:
        """The most tokens that are read of one text, or None for no bound; the rest is chunked or cut."""
        return None

    @property
    def fingerprint(self) -> Fingerprint:
        """What is stored with the data, to refuse vectors of another model."""
        return Fingerprint(type(self).__name__, self.embedding_dimension, normalised=False)


@dataclass(frozen=True, slots=True)
class LLMResponse:
    """What a language model answered.

    Attributes:
        text: The text, or the JSON text where a schema was given.
    """

    text: str


class LLM(ABC):
    """A language model.

    Subclasses implement :meth:`generate`.
    """

    @abstractmethod
    def generate(
        self, /, prompt: Prompt, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Answer a prompt.

        Args:
            prompt: A text, or a sequence of messages.
            response_json_schema: The JSON schema that the answer has to satisfy, or None for free text.
            **kwargs: Options of the model, such as ``max_tokens``.

        Returns:
            The answer.

        Raises:
            ModelError: If the model or its provider fails.
        """

    generate_async = awaitable(generate, limiter_name="models")


@dataclass(frozen=True, slots=True)
class RerankResponseResult:
    """One document's place in a reranking.

    Attributes:
        index: The document's index in the request.
        relevance_score: How relevant it is; larger is better.
        document: The document's text, if the reranker returns it.
    """

    index: int
    relevance_score: float
    document: str | None = None


@dataclass(frozen=True, slots=True)
class RerankResponse:
    """The answer of a reranker.

    Attributes:
        results: One result for each document.
    """

    results: list[RerankResponseResult]


class Reranker(ABC):
    """Judges how relevant documents are to a query.

    Subclasses implement :meth:`rerank`.
    """

    @abstractmethod
    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents.

        Args:
            query: The query.
            documents: The documents' texts.
            **kwargs: Options of the model.

        Returns:
            One result for each document, best first.

        Raises:
            ModelError: If the model or its provider fails.
        """

    rerank_async = awaitable(rerank, limiter_name="models")
