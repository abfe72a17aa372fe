"""The verbs of a store that search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hitherto.aio import awaitable
from hitherto.characters import storable
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.filters import parse_filter
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import SEARCHABLE_TYPES, Record
from hitherto.scope import SearchScope, resolve_for_store
from hitherto.store.checks import check_flag, check_record_type, check_vector, check_whole
from hitherto.store.drafts import embed_texts
from hitherto.store.primitives import SearchStrategy, StorePrimitives
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.settings import SearchSettings
from hitherto.text import query_topic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hitherto.models.base import Embedder

MAX_HOPS = 5


class SearchVerbs(StorePrimitives):
    """Searching."""

    _topic_weight: float = SearchSettings().topic_weight

    def search(
        self,
        query: str | None,
        k: int = 10,
        *,
        query_vector: Sequence[float] | NDArray[np.float32] | None = None,
        thread_id: str | None | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        exact_user_match: bool = False,
        exact_agent_match: bool = False,
        exact_thread_match: bool = False,
        record_types: Iterable[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        num_hops: int = 0,
        max_linked_results: int = 100,
        include_invalid_results: bool = True,
    ) -> list[tuple[Record, float]]:
        """Return the records nearest to a query, nearest first, with their distances.

        Args:
            query: A text, or None with query_vector.
            k: How many.
            query_vector: The query's vector, if it is known already.
            thread_id: A thread; it only ranks unless exact_thread_match is True.
            user_id: A user, likewise.
            agent_id: An agent, likewise.
            exact_user_match: Whether only records of that user (None: of no user) qualify.
            exact_agent_match: The same for the agent.
            exact_thread_match: The same for the thread.
            record_types: Only these types; None or empty for every searchable type.
            metadata_filter: Only records whose metadata match; None for any.
            num_hops: How far links are followed from each memory found, 0 to 5.
            max_linked_results: The most linked records for each.
            include_invalid_results: Whether invalid records qualify.

        Returns:
            Pairs of a record, with its linked records, and its distance.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If an argument is not allowed, or an exact flag comes without an id.

        Examples:
            >>> from hitherto.testing.reference import ReferenceStore
            >>> store = ReferenceStore()
            >>> _ = store.add(["Ana plays the cello", "Bo sails"], "fact", record_ids=["f1", "f2"])
            >>> [record.id for record, distance in store.search("cello", 1)]
            ['f1']
        """
        hits = self.search_hits(
            query,
            k,
            query_vector=query_vector,
            thread_id=thread_id,
            user_id=user_id,
            agent_id=agent_id,
            exact_user_match=exact_user_match,
            exact_agent_match=exact_agent_match,
            exact_thread_match=exact_thread_match,
            record_types=record_types,
            metadata_filter=metadata_filter,
            num_hops=num_hops,
            max_linked_results=max_linked_results,
            include_invalid_results=include_invalid_results,
        )
        return [(hit.record, hit.distance) for hit in hits]

    search_async = awaitable(search, limiter_name="models")

    def search_hits(
        self,
        query: str | None,
        k: int = 10,
        *,
        query_vector: Sequence[float] | NDArray[np.float32] | None = None,
        thread_id: str | None | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        exact_user_match: bool = False,
        exact_agent_match: bool = False,
        exact_thread_match: bool = False,
        record_types: Iterable[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        num_hops: int = 0,
        max_linked_results: int = 100,
        include_invalid_results: bool = True,
        explain: bool = False,
    ) -> list[StoreHit]:
        """Search as :meth:`search` does, and return hits that can say why they are there.

        Args:
            query: As for search.
            k: As for search.
            query_vector: As for search.
            thread_id: As for search.
            user_id: As for search.
            agent_id: As for search.
            exact_user_match: As for search.
            exact_agent_match: As for search.
            exact_thread_match: As for search.
            record_types: As for search.
            metadata_filter: As for search.
            num_hops: As for search.
            max_linked_results: As for search.
            include_invalid_results: As for search.
            explain: Whether each hit has its explanation.

        Returns:
            The hits, nearest first.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If an argument is not allowed, or an exact flag comes without an id.
        """
        types = _searched_types(record_types)
        scope = SearchScope(
            user_id=user_id,
            agent_id=agent_id,
            thread_id=thread_id,
            exact_user_match=check_flag(exact_user_match, argument="exact_user_match"),
            exact_agent_match=check_flag(exact_agent_match, argument="exact_agent_match"),
            exact_thread_match=check_flag(exact_thread_match, argument="exact_thread_match"),
        )
        request = StoreQuery(
            k=check_whole(k, argument="k", least=1),
            now=self._now(),
            scope=resolve_for_store(scope),
            record_types=types,
            metadata_filter=parse_filter(metadata_filter),
            include_invalid=check_flag(include_invalid_results, argument="include_invalid_results"),
            num_hops=check_whole(num_hops, argument="num_hops", least=0, most=MAX_HOPS),
            max_linked_results=check_whole(max_linked_results, argument="max_linked_results", least=0),
            explain=check_flag(explain, argument="explain"),
        )
        text, vector = self._question(query, query_vector)
        if types is not None and not types:
            return []
        return self._search(replace(request, text=text, vector=vector))

    search_hits_async = awaitable(search_hits, limiter_name="models")

    def _question(self, query: object, query_vector: object) -> tuple[str | None, NDArray[np.float32] | None]:
        text, vector = _query_text(query), None
        if query_vector is not None:
            dimension = None if self._embedder is None else self._embedder.embedding_dimension
            vector = check_vector(query_vector, argument="query_vector", dimension=dimension)
        if text is None and vector is None:
            raise InvalidArgumentError("query or query_vector must be given, got neither", argument="query")
        if self._search_strategy is SearchStrategy.KEYWORD:
            if text is None:
                raise InvalidArgumentError(
                    "query must be given for a search by words, got None", argument="query"
                )
            return text, None
        if vector is None and self._embedder is not None and text is not None:
            vector = self._embedded_query(self._embedder, text)
        if self._search_strategy is SearchStrategy.HYBRID:
            return text, vector
        if vector is None:
            raise InvalidArgumentError(
                "query_vector must be given for a search by vectors in a store without an embedder",
                argument="query_vector",
            )
        return None, vector

    def _embedded_query(self, embedder: Embedder, text: str) -> NDArray[np.float32]:
        """Return a query's vector; in a hybrid search with that of its topic, which says nothing of whom."""
        hybrid = self._search_strategy is SearchStrategy.HYBRID and self._topic_weight > 0
        topic = query_topic(text) if hybrid else ""
        if not topic:
            alone: NDArray[np.float32] = embed_texts(embedder, [text], is_query=True)[0]
            return alone
        whole, about = embed_texts(embedder, [text, topic], is_query=True)
        # The embedder need not return unit vectors, and the weight is one of directions.
        share = self._topic_weight * float((whole @ whole) ** 0.5) / (float((about @ about) ** 0.5) or 1.0)
        found: NDArray[np.float32] = whole + about * share
        return found


def _query_text(query: object) -> str | None:
    if query is None:
        return None
    if not isinstance(query, str):
        raise ArgumentTypeError(f"query must be a str or None, got {shown(query)}", argument="query")
    text = storable(query).strip()
    if not text:
        raise InvalidArgumentError(f"query must not be blank, got {shown(query)}", argument="query")
    return text


def _searched_types(record_types: object) -> frozenset[str] | None:
    if record_types is None:
        return None
    if isinstance(record_types, str) or not isinstance(record_types, Iterable):
        raise ArgumentTypeError(
            f"record_types must be an iterable of types or None, got {shown(record_types)}",
            argument="record_types",
        )
    given = {check_record_type(name, argument="record_types") for name in record_types}
    # Threads and summaries are never searched: asking for nothing else finds nothing.
    return frozenset(given & SEARCHABLE_TYPES) if given else None
