"""Pure parts of the reference store: cosine where there are vectors, else the share of words found; reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hitherto.records import Record
from hitherto.scope import record_scope
from hitherto.store.requests import Chunk, StoreQuery
from hitherto.text import query_words, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OWN = "$agent_memory"
REASON = "invalidation_reason"


def distance_of(chunks: Sequence[Chunk], query: StoreQuery) -> float | None:
    """Return the distance of the nearest chunk, or None where nothing of the query is found."""
    found = []
    for chunk in chunks:
        if query.vector is not None and chunk.vector is not None:
            found.append(1.0 - _cosine(chunk.vector, query.vector))
        elif query.vector is None and query.text is not None:
            asked = set(query_words(query.text))
            shared = asked & set(words(chunk.text))
            if shared:
                found.append(1.0 - len(shared) / (len(asked) + 1))
    return min(found, default=None)


def _cosine(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    norm = float((left @ left) ** 0.5 * (right @ right) ** 0.5)
    return float(left @ right) / norm if norm else 0.0


def preference_of(record: Record, query: StoreQuery) -> int:
    """Return in how many dimensions a record has the preferred id."""
    matches = (query.scope.user, query.scope.agent, query.scope.thread)
    return sum(
        match.preferred_id is not None and match.preferred_id == value
        for match, value in zip(matches, record_scope(record), strict=True)
    )


def with_reason(metadata: dict[str, Any] | None, reason: str | None) -> dict[str, Any] | None:
    """Return metadata with the reason of an invalidation put in, or taken out for None."""
    own = (metadata or {}).get(OWN)
    inner = {key: value for key, value in own.items() if key != REASON} if isinstance(own, dict) else {}
    if reason is not None:
        return {**(metadata or {}), OWN: {**inner, REASON: reason}}
    if not isinstance(own, dict) or REASON not in own:
        return metadata
    rest = {key: value for key, value in (metadata or {}).items() if key != OWN}
    return {**rest, OWN: inner} if inner else rest or None
