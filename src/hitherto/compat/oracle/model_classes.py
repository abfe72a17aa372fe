"""The base classes of embedders and rerankers with the other package's defaults, for classes that programs derive."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hitherto.models.base import Embedder, Reranker, RerankResponse


class IEmbedder(Embedder):
    """Turns texts into vectors; one that does not say how long they are is asked for one, once.

    Every embedder of hitherto counts as an instance.

    Examples:
        >>> import numpy as np
        >>> class Mine(IEmbedder):
        ...     def embed(self, texts, *, is_query=False):
        ...         return np.ones((len(texts), 3), dtype=np.float32)
        >>> Mine().embedding_dimension
        3
    """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return True if cls is IEmbedder and Embedder in subclass.__mro__ else NotImplemented

    @property
    def embedding_dimension(self) -> int:
        """The number of components of a vector."""
        found: int | None = getattr(self, "_found_dimension", None)
        if found is None:
            found = self._found_dimension = int(self.embed(["dimension"]).shape[1])
        return found


class IReranker(Reranker):
    """Judges how relevant documents are to a query; a subclass may implement the awaitable method alone.

    Every reranker of hitherto counts as an instance.
    """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return True if cls is IReranker and Reranker in subclass.__mro__ else NotImplemented

    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents by the awaitable method, in an event loop of its own."""

        async def scored() -> RerankResponse:
            return await self.rerank_async(query, documents, **kwargs)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(scored())
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, scored()).result()

    @abstractmethod
    async def rerank_async(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents; see :meth:`hitherto.models.base.Reranker.rerank`."""
