"""Drafts: records whose vectors are still to be made, so that one call embeds all texts of a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, ModelError, shown
from hitherto.notset import NOT_SET
from hitherto.records import SEARCHABLE_TYPES
from hitherto.store.checks import check_text, check_vector
from hitherto.store.index_text import MAX_CHUNKS, embedded_text, message_words, split_text
from hitherto.store.requests import Chunk, NewRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hitherto.models.base import Embedder


@dataclass(frozen=True, slots=True)
class Draft:
    """A record with its chunks, and the texts to embed for those chunks that have no vector yet.

    Attributes:
        record: The record.
        embed: For each chunk the text to embed, or None where the vector is given.
    """

    record: NewRecord
    embed: tuple[str | None, ...]


def draft_chunks(
    record: NewRecord, *, index_text: Any, embedding: Any, max_input_tokens: int | None
) -> Draft:
    """Return a draft of a record: what is indexed for it, by its own content or by texts and vectors given.

    Args:
        record: The record without chunks.
        index_text: What is indexed instead of the content: a str, several, None or NOT_SET for the content.
        embedding: A vector, one per text, None or NOT_SET to have them made.
        max_input_tokens: The most tokens that the embedder reads, or None.

    Raises:
        InvalidArgumentError: If the numbers of texts and vectors differ, or there are too many.
    """
    if record.record_type not in SEARCHABLE_TYPES:
        return Draft(record, ())
    vectors = _vectors(embedding)
    # Given vectors fix the number of chunks, so that a long text is not cut.
    texts = _index_texts(record, index_text, None if vectors else max_input_tokens)
    if vectors and len(vectors) != len(texts):
        raise InvalidArgumentError(
            f"embeddings must have one vector per indexed text ({len(texts)}), got {len(vectors)}",
            argument="embeddings",
        )
    if len(texts) > MAX_CHUNKS:
        raise InvalidArgumentError(
            f"index_texts must have at most {MAX_CHUNKS} texts per record, got {len(texts)}",
            argument="index_texts",
        )
    chunks = tuple(Chunk(text, vectors[place] if vectors else None) for place, text in enumerate(texts))
    embed = tuple(None if vectors or not text.strip() else _embed_text(record, text) for text in texts)
    return Draft(replace(record, chunks=chunks), embed)


def _index_texts(record: NewRecord, index_text: Any, max_input_tokens: int | None) -> tuple[str, ...]:
    if index_text is NOT_SET or index_text is None:
        words = message_words(record.content) if isinstance(record.content, (str, tuple)) else ""
        return split_text(words, max_input_tokens=max_input_tokens)
    if isinstance(index_text, (list, tuple)):
        if not index_text:
            raise InvalidArgumentError(
                "index_texts must have a text per record, got none", argument="index_texts"
            )
        return tuple(check_text(text, argument="index_texts") for text in index_text)
    return split_text(check_text(index_text, argument="index_texts"), max_input_tokens=max_input_tokens)


def _embed_text(record: NewRecord, text: str) -> str:
    if record.record_type != "message":
        return text
    name = (record.metadata or {}).get("name")
    return embedded_text(
        text, role=record.role, timestamp=record.timestamp, name=name if isinstance(name, str) else None
    )


def _vectors(embedding: Any) -> list[NDArray[np.float32]]:
    if embedding is NOT_SET or embedding is None:
        return []
    if not hasattr(embedding, "__len__"):
        raise ArgumentTypeError(
            f"embeddings must hold vectors, got {shown(embedding)}", argument="embeddings"
        )
    nested = len(embedding) > 0 and hasattr(embedding[0], "__len__")
    return [check_vector(vector, argument="embeddings") for vector in (embedding if nested else [embedding])]


def embed_drafts(drafts: Sequence[Draft], embedder: Embedder | None) -> list[NewRecord]:
    """Return the records with their vectors, made by one call of the embedder.

    Args:
        drafts: The drafts.
        embedder: What makes vectors, or None to go without.

    Raises:
        InvalidArgumentError: If a given vector has another dimension than the embedder's, or than another one.
        ModelError: If the embedder fails or answers in another shape.
    """
    wanted = [text for draft in drafts for text in draft.embed if text is not None]
    _check_dimensions(drafts, None if embedder is None else embedder.embedding_dimension)
    if embedder is None or not wanted:
        return [draft.record for draft in drafts]
    made = iter(embed_texts(embedder, wanted))
    records = []
    for draft in drafts:
        chunks = tuple(
            chunk if text is None else Chunk(chunk.text, next(made))
            for chunk, text in zip(draft.record.chunks, draft.embed, strict=True)
        )
        records.append(replace(draft.record, chunks=chunks))
    return records


def _check_dimensions(drafts: Sequence[Draft], dimension: int | None) -> None:
    for draft in drafts:
        for chunk in draft.record.chunks:
            if chunk.vector is None:
                continue
            if dimension is None:
                dimension = chunk.vector.size
            if chunk.vector.size != dimension:
                raise InvalidArgumentError(
                    f"embeddings must have {dimension} components, got {chunk.vector.size}",
                    argument="embeddings",
                )


def embed_texts(embedder: Embedder, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
    """Embed texts and check what comes back.

    Args:
        embedder: The embedder.
        texts: At least one text.
        is_query: Whether they are queries.

    Returns:
        A float32 array of shape (len(texts), dimension).

    Raises:
        ModelError: If the answer is no matrix of numbers, has another shape or is not finite.
    """
    import numpy as np

    answer = embedder.embed(texts, is_query=is_query)
    try:
        matrix = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"embedder {shown(type(embedder).__name__)} must return rows of numbers, all of one length, "
            f"got {shown(answer)}"
        ) from error
    wanted = (len(texts), embedder.embedding_dimension)
    if matrix.shape != wanted:
        raise ModelError(
            f"embedder {shown(type(embedder).__name__)} must return shape {wanted}, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ModelError(f"embedder {shown(type(embedder).__name__)} returned vectors that are not finite")
    return matrix
