"""What a store's public verbs hand to a backend: checked, complete and frozen.

The public verbs of :class:`~hitherto.store.base.MemoryStore` check and resolve their arguments once, for every
backend, into these values. A backend reads them and never checks again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hitherto.filters import Filter
from hitherto.messages import ImageMimeType, MessageContent
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import Record, RecordStatus
from hitherto.scope import ResolvedScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Chunk:
    """One indexed piece of a record.

    Attributes:
        text: What is searched by words.
        vector: What is searched by meaning, float32 of shape (dimension,), or None without an embedder.
    """

    text: str
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to store, complete but for its sequence number.

    Attributes:
        record_type: One of the known types.
        id: Its id, checked.
        content: A str; for a message maybe a tuple of parts; for a summary a JSON object; for an image its
            description or None; for a thread None.
        chunks: What is indexed; empty for what is never searched.
        thread_id: The thread, or None.
        user_id: The user, or None.
        agent_id: The agent, or None.
        role: The speaker, for messages.
        timestamp: The record's own time as it was given, or None.
        metadata: A JSON object, or None.
        status: Whether it holds.
        created_at: When it is stored, UTC.
        expires_at: From when on it is invisible, UTC, or None.
        mime_type: The format, for images.
        image: The encoded bytes, for images.
        message_id: The message that an image is part of, or None.
        runtime_config: A thread's settings.
        runtime_state: A thread's counters.
    """

    record_type: str
    id: str
    content: str | tuple[MessageContent, ...] | dict[str, Any] | None
    created_at: datetime
    chunks: tuple[Chunk, ...] = ()
    thread_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    role: str | None = None
    timestamp: str | None = None
    metadata: dict[str, Any] | None = None
    status: RecordStatus = RecordStatus.VALID
    expires_at: datetime | None = None
    mime_type: ImageMimeType | None = None
    image: bytes | None = None
    message_id: str | None = None
    runtime_config: dict[str, Any] | None = None
    runtime_state: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """What to change of one record; a field that is NOT_SET stays.

    Attributes:
        record_type: The record's type.
        id: The record's id.
        content: New content.
        chunks: New index entries; set whenever what is indexed changes.
        metadata: New metadata, as a whole.
        timestamp: New time of its own.
        expires_at: New expiry.
        status: New status, set by hand.
        mime_type: New image format.
        image: New image bytes.
        runtime_config: New settings of a thread.
        runtime_state: New counters of a thread.
        expected_revision: The ``$agent_memory.revision`` that a summary must still have (one without has 0), or
            None; where it has another, nothing is changed.
        images: The images of a message's new content. Those whose id it has already are changed (their bytes
            only if they come with any), others added, and those that are not among them deleted.
    """

    record_type: str
    id: str
    content: Any = NOT_SET
    chunks: tuple[Chunk, ...] | NotSetType = NOT_SET
    metadata: dict[str, Any] | None | NotSetType = NOT_SET
    timestamp: str | None | NotSetType = NOT_SET
    expires_at: datetime | None | NotSetType = NOT_SET
    status: RecordStatus | NotSetType = NOT_SET
    mime_type: ImageMimeType | NotSetType = NOT_SET
    image: bytes | NotSetType = NOT_SET
    runtime_config: dict[str, Any] | None | NotSetType = NOT_SET
    runtime_state: dict[str, Any] | None | NotSetType = NOT_SET
    expected_revision: int | None = None
    images: tuple[NewRecord, ...] | NotSetType = NOT_SET


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which records to list: those of one type, in order of creation, the newest ``limit`` of them.

    Attributes:
        record_type: The type.
        now: The present time; what has expired by then is not listed.
        limit: The most records to return, or None for all.
        before: Only records older than the one with this id, or NOT_SET.
        record_id: Only this record, or NOT_SET.
        thread_id: Only records with this thread id, None being records without one; NOT_SET for any.
        user_id: The same for the user.
        agent_id: The same for the agent.
        metadata_filter: Only records whose metadata match; None for records without metadata; NOT_SET for any.
        include_bytes: Whether images come with their bytes.
        any_memory: Whether all four types of memory are meant, record_type being "memory".
    """

    record_type: str
    now: datetime
    limit: int | None = None
    before: str | NotSetType = NOT_SET
    record_id: str | NotSetType = NOT_SET
    thread_id: str | None | NotSetType = NOT_SET
    user_id: str | None | NotSetType = NOT_SET
    agent_id: str | None | NotSetType = NOT_SET
    metadata_filter: Filter | None | NotSetType = NOT_SET
    include_bytes: bool = False
    any_memory: bool = False


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Which messages of a thread to list, oldest first.

    Attributes:
        thread_id: The thread.
        now: The present time.
        last_n: The newest so many, or None for all.
        start_seq_no: Only from this sequence number on, or None.
        end_seq_no: Only below this sequence number, or None.
        include_bytes: Whether image parts come with their bytes.
    """

    thread_id: str
    now: datetime
    last_n: int | None = None
    start_seq_no: int | None = None
    end_seq_no: int | None = None
    include_bytes: bool = False


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """A search, checked and resolved.

    Attributes:
        k: The number of hits wanted.
        now: The present time; what has expired by then does not exist.
        text: The query's words, or None.
        vector: The query's vector, float32 of shape (dimension,), or None.
        scope: Whose records.
        record_types: The types that qualify; None for every searchable type.
        metadata_filter: What their metadata must match, or None.
        include_invalid: Whether invalid records qualify.
        num_hops: How far links are followed from each hit, 0 to 5.
        max_linked_results: The most linked records for each hit.
        explain: Whether each hit says why it is there.
    """

    k: int
    now: datetime
    text: str | None = None
    vector: NDArray[np.float32] | None = None
    scope: ResolvedScope = field(default_factory=ResolvedScope)
    record_types: frozenset[str] | None = None
    metadata_filter: Filter | None = None
    include_invalid: bool = True
    num_hops: int = 0
    max_linked_results: int = 100
    explain: bool = False


@dataclass(frozen=True, slots=True)
class ArmScore:
    """What one arm of a search said of a hit.

    Attributes:
        rank: The hit's place in the arm, from 1, or None if the arm did not find it.
        score: The arm's own score: BM25 for words, cosine for meaning.
        weight: What the arm weighs in the fusion.
        contribution: What it added to the fused score.
    """

    rank: int | None
    score: float | None
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class HitExplanation:
    """Why a hit is where it is.

    Attributes:
        words: What the word arm said, or None if it did not run.
        meaning: What the vector arm said, or None if it did not run.
        bonuses: What else was added to the fused score, by name, such as "speaker" or "neighbours".
        preferred: The dimensions in which the hit has the preferred id.
        fused: The score by which the hits are ordered.
    """

    words: ArmScore | None
    meaning: ArmScore | None
    bonuses: dict[str, float]
    preferred: tuple[str, ...]
    fused: float


@dataclass(frozen=True, slots=True)
class StoreHit:
    """One hit of a search.

    Attributes:
        record: The record, with its linked records.
        distance: How far it is from the query: 0 is nearest, and smaller is nearer. Hits come in this order.
        explanation: Why it is there, if that was asked for.
    """

    record: Record
    distance: float
    explanation: HitExplanation | None = None


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A link to store.

    Attributes:
        id: Its id, checked.
        source_id: The record that it starts from.
        source_type: That record's type.
        target_id: The record that it points at.
        target_type: That record's type.
        relation_type: How the source stands to the target.
        opposite_type: How the target stands to the source.
        timestamp: When it came to hold, or None.
        metadata: A JSON object, or None.
        created_at: When it is stored, UTC.
    """

    id: str
    source_id: str
    source_type: str
    target_id: str
    target_type: str
    relation_type: str
    opposite_type: str
    timestamp: str | None
    metadata: dict[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RelationChanges:
    """What to change of one link; a field that is NOT_SET stays.

    Attributes:
        id: The link's id.
        relation_type: Its new kind.
        opposite_type: Its new reverse.
        timestamp: Its new time.
        metadata: Its new metadata, as a whole.
    """

    id: str
    relation_type: str | NotSetType = NOT_SET
    opposite_type: str | NotSetType = NOT_SET
    timestamp: str | None | NotSetType = NOT_SET
    metadata: dict[str, Any] | None | NotSetType = NOT_SET


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """Which links to list, in order of creation; a field that is NOT_SET does not restrict.

    Attributes:
        limit: The earliest so many, or None for all.
        relation_id: Only this link.
        relation_type: Only links of this kind.
        source_id: Only links that start from this record.
        source_type: Only links that start from this type.
        target_id: Only links that point at this record.
        target_type: Only links that point at this type.
        metadata_filter: Only links whose metadata match; None for links without metadata.
    """

    limit: int | None = None
    relation_id: str | NotSetType = NOT_SET
    relation_type: str | NotSetType = NOT_SET
    source_id: str | NotSetType = NOT_SET
    source_type: str | NotSetType = NOT_SET
    target_id: str | NotSetType = NOT_SET
    target_type: str | NotSetType = NOT_SET
    metadata_filter: Filter | None | NotSetType = NOT_SET
