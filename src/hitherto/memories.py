"""Memories and the links between them: what a client and a thread do alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError, shown
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import Record, RecordStatus, ScopedRecord
from hitherto.relations import OPPOSITE_TYPES, RecordRelation, check_link_type, check_memory_type
from hitherto.scope import check_id
from hitherto.store.checks import check_flag, check_metadata, check_timestamp, named_as

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

MemoryType = Literal["memory", "guideline", "fact", "preference"]
LinkType = Literal["supersedes", "contradicts", "refines", "supports", "duplicates"]

MEMORY_ORDER: Final = ("fact", "guideline", "memory", "preference")


@dataclass(frozen=True, slots=True)
class LinkWish:
    """A link that a new memory is to have, as the arguments of ``add_memory`` say it.

    Attributes:
        target_id: The memory that it points at.
        kind: Its kind.
        id: Its id, or NOT_SET.
        timestamp: When it came to hold, or NOT_SET.
        metadata: Its metadata, or NOT_SET.
    """

    target_id: str
    kind: str
    id: str | NotSetType
    timestamp: str | None | NotSetType
    metadata: dict[str, Any] | None | NotSetType


def read_link(
    memory_id_to_link: Any, link_type: Any, link_id: Any, link_timestamp: Any, link_metadata: Any
) -> LinkWish | None:
    """Return the link that the arguments of ``add_memory`` ask for, or None.

    Raises:
        InvalidArgumentError: If the target and the kind do not come together, or the kind is not built in.
    """
    details = (link_id, link_timestamp, link_metadata)
    if memory_id_to_link is NOT_SET and link_type is NOT_SET and all(item is NOT_SET for item in details):
        return None
    if memory_id_to_link is NOT_SET or link_type is NOT_SET:
        raise InvalidArgumentError(
            "memory_id_to_link and link_type must be given together, and link details only with both; got "
            f"memory_id_to_link={shown(memory_id_to_link)}, link_type={shown(link_type)}",
            argument="memory_id_to_link",
        )
    kind = check_link_type(link_type, argument="link_type")
    # Here, so that nothing is stored that would have to go again when its link is refused.
    if link_id not in (NOT_SET, None):
        check_id(link_id, argument="link_id")
    if link_timestamp is not NOT_SET:
        check_timestamp(link_timestamp, argument="link_timestamp")
    if link_metadata is not NOT_SET:
        check_metadata(link_metadata, argument="link_metadata")
    return LinkWish(memory_id_to_link, kind, link_id, link_timestamp, link_metadata)


def read_linking(autonomous_linking: object) -> bool:
    """Return whether links of a new memory are looked for, where there is a language model.

    Raises:
        ArgumentTypeError: If it is neither a bool nor None.
    """
    return autonomous_linking is None or check_flag(
        autonomous_linking, argument="autonomous_linking", default=True
    )


def find_memory(store: MemoryStore, memory_id: object, *, thread_id: str | None = None) -> Record | None:
    """Return a memory of any type, or None.

    Args:
        store: The store.
        memory_id: Its id; what is no legal id names no memory.
        thread_id: The thread that it has to belong to, or None for any.
    """
    if not isinstance(memory_id, str) or not memory_id:
        return None
    found = (store.get(kind, memory_id) for kind in MEMORY_ORDER)
    record = next((item for item in found if item is not None), None)
    return record if record is None or _belongs(record, thread_id) else None


def _belongs(record: Record, thread_id: str | None) -> bool:
    return thread_id is None or (isinstance(record, ScopedRecord) and record.thread_id == thread_id)


def known_memory(store: MemoryStore, memory_id: object, *, thread_id: str | None = None) -> Record:
    """Return a memory.

    Raises:
        NotFoundError: If there is none of that id, or it belongs to another thread.
    """
    record = find_memory(store, memory_id, thread_id=thread_id)
    if record is None:
        raise NotFoundError(f"there is no memory {shown(memory_id)}{_within(thread_id)}")
    return record


def _within(thread_id: str | None) -> str:
    return "" if thread_id is None else f" in thread {shown(thread_id)}"


def add_memory(
    store: MemoryStore,
    content: str,
    *,
    memory_type: str,
    memory_id: str | None | NotSetType,
    scope: Mapping[str, str | None],
    link: LinkWish | None,
    within: str | None,
    **fields: Any,
) -> str:
    """Store a memory, and a link from it to an earlier one.

    Args:
        store: The store.
        content: What it says.
        memory_type: Its type.
        memory_id: Its id; None, "" or NOT_SET to have one made.
        scope: The scope ids that were given, by name.
        link: The link, or None. The dimensions of the scope that were not given are the target's.
        within: The thread that the target has to belong to, or None for any.
        **fields: Further fields of the store's ``add``, singular; what is NOT_SET is left out.

    Returns:
        The memory's id.

    Raises:
        InvalidArgumentError: If memory_type is none of the four, or a field is not allowed.
        NotFoundError: If the target of the link is not there.
        ConflictError: If the id is taken.
    """
    check_memory_type(memory_type, argument="memory_type")
    _check_content(content)
    _check_fields({name: value for name, value in {**scope, **fields}.items() if value is not NOT_SET})
    owner = dict(scope)
    target = None if link is None else _target(store, link.target_id, scope, within)
    if target is not None:
        owner = {name: getattr(target, name) for name in ("user_id", "agent_id", "thread_id")} | owner
    given = {name: value for name, value in {**owner, **fields}.items() if value is not NOT_SET}
    if memory_id is not NOT_SET and memory_id not in (None, ""):
        given["record_id"] = check_id(memory_id, argument="memory_id")
    # Each value in a list of one: a list that came as the value of one memory must not pass for one per memory.
    columns = {_PLURAL.get(name, name): [given[name]] for name in given}
    with named_as(_SINGULAR):
        (new_id,) = store.add([content], memory_type, **columns)
    if link is not None and target is not None:
        try:
            _link(store, (new_id, memory_type), target, link)
        except BaseException:
            # A memory without its link would say the opposite of what was asked: both of them hold.
            store.delete(memory_type, new_id)
            raise
    return new_id


def _target(
    store: MemoryStore, target_id: str, scope: Mapping[str, str | None], within: str | None
) -> ScopedRecord:
    target = known_memory(store, target_id, thread_id=within)
    if within is not None and scope.get("thread_id") != within:
        raise NotFoundError(
            f"there is no memory {shown(target_id)} in thread {shown(scope.get('thread_id'))}, where the new one goes; "
            "a thread links its own memories only"
        )
    assert isinstance(target, ScopedRecord)  # noqa: S101  all four types of memories are
    return target


def _check_fields(given: Mapping[str, Any]) -> None:
    for name in ("user_id", "agent_id", "thread_id"):
        if given.get(name) is not None:
            check_id(given[name], argument=name)
    timestamp = given.get("timestamp")
    if timestamp is not None and not isinstance(timestamp, str):
        raise ArgumentTypeError(
            f"timestamp must be a str or None, got {shown(timestamp)}", argument="timestamp"
        )
    status = given.get("status", RecordStatus.VALID)
    if not isinstance(status, RecordStatus):
        raise ArgumentTypeError(f"status must be a RecordStatus, got {shown(status)}", argument="status")


def _link(store: MemoryStore, source: tuple[str, str], target: Record, link: LinkWish) -> None:
    store.add_relations(
        *source,
        target.id,
        target.record_type,
        link.kind,
        opposite_relation_types=OPPOSITE_TYPES[link.kind],
        relation_ids=link.id,
        timestamps=link.timestamp,
        metadata=link.metadata,
    )


_PLURAL: Final = {
    "user_id": "user_ids",
    "agent_id": "agent_ids",
    "thread_id": "thread_ids",
    "record_id": "record_ids",
    "timestamp": "timestamps",
    "status": "statuses",
    "index_text": "index_texts",
    "embedding": "embeddings",
    "relation_id": "relation_ids",
    "relation_type": "relation_types",
    "opposite_relation_type": "opposite_relation_types",
    "source_record_id": "source_record_ids",
    "target_record_id": "target_record_ids",
}


_SINGULAR: Final = {**{plural: name for name, plural in _PLURAL.items()}, "contents": "content"}


def _check_content(content: object) -> None:
    if not isinstance(content, str) or not content.strip():
        raise InvalidArgumentError(
            f"content must be a text that is not blank, got {shown(content)}", argument="content"
        )


def update_memory(store: MemoryStore, memory_id: str, *, within: str | None, **changes: Any) -> str:
    """Change a memory; fields that are NOT_SET stay, and so do its creation time and expiry.

    Args:
        store: The store.
        memory_id: Its id.
        within: The thread that it has to belong to, or None for any.
        **changes: New values.

    Raises:
        InvalidArgumentError: If the new content is blank.
        NotFoundError: If it is not there.
    """
    if changes.get("content", NOT_SET) is not NOT_SET:
        _check_content(changes["content"])
    record = known_memory(store, memory_id, thread_id=within)
    given = {name: value for name, value in changes.items() if value is not NOT_SET}
    if given and not store.update(record.record_type, record.id, **given):
        raise NotFoundError(f"there is no memory {shown(memory_id)}{_within(within)}")
    return record.id


def delete_memory(store: MemoryStore, memory_id: str, *, within: str | None) -> int:
    """Delete a memory and the links that touch it; return 1, or 0 if it is not there."""
    record = find_memory(store, memory_id, thread_id=within)
    return 0 if record is None else store.delete(record.record_type, record.id)


def link_records(
    store: MemoryStore,
    source: tuple[str, str],
    target: tuple[str, str],
    relation_type: str,
    *,
    within: str | None,
    **fields: Any,
) -> str:
    """Link two memories.

    Args:
        store: The store.
        source: Id and type of the memory that the link starts from.
        target: Id and type of the memory that it points at.
        relation_type: How the source stands to the target; a built-in kind or a label of your own.
        within: The thread that both have to belong to, or None for any.
        **fields: ``opposite_relation_type``, ``relation_id``, ``timestamp``, ``metadata``.

    Returns:
        The link's id.

    Raises:
        InvalidArgumentError: If an end is no memory, or there is such a link already.
        NotFoundError: If an end is not there.
    """
    _check_ends(store, source, target, within)
    options = {_PLURAL.get(name, name): value for name, value in fields.items()}
    with named_as(_SINGULAR):
        return store.add_relations(*source, *target, relation_type, **options)[0]


def _check_ends(
    store: MemoryStore, source: tuple[object, str], target: tuple[object, str], within: str | None
) -> None:
    for name, (record_id, record_type) in (("source", source), ("target", target)):
        check_memory_type(record_type, argument=f"{name}_record_type")
        record = store.get(record_type, record_id) if isinstance(record_id, str) and record_id else None
        if record is None or not _belongs(record, within):
            raise NotFoundError(f"there is no {record_type} {shown(record_id)}{_within(within)}")


def update_link(store: MemoryStore, relation_id: str, *, within: str | None, **fields: Any) -> int:
    """Change a link; fields that are NOT_SET stay. Return 1, or 0 if there is no such link.

    Raises:
        InvalidArgumentError: If nothing is to be changed.
        NotFoundError: If the link, or an end of it, belongs to another thread.
    """
    if within is not None:
        relation = store.get_relation(relation_id=relation_id)
        if relation is None:
            return 0
        _check_belongs(store, relation, within)
    changes = {_PLURAL.get(name, name): fields[name] for name in fields}
    with named_as(_SINGULAR):
        return len(store.update_relations(relation_id, **changes))


def _check_belongs(store: MemoryStore, relation: RecordRelation, within: str) -> None:
    ends = (
        store.get(relation.source_record_type, relation.source_record_id),
        store.get(relation.target_record_type, relation.target_record_id),
    )
    if not all(record is not None and _belongs(record, within) for record in ends):
        raise NotFoundError(f"there is no link {shown(relation.id)}{_within(within)}")


def delete_link(
    store: MemoryStore,
    relation_id: str | NotSetType,
    ends: tuple[Any, Any, Any, Any, Any],
    *,
    within: str | None,
) -> int:
    """Delete a link, named by its id or by both ends and its kind; return 1, or 0 if it is not there.

    Raises:
        InvalidArgumentError: If neither the id alone nor all five others are given.
        NotFoundError: If the link, or an end of it, belongs to another thread.
    """
    given = sum(item is not NOT_SET for item in ends)
    if (relation_id is NOT_SET) == (given == 0) or given not in (0, 5):
        raise InvalidArgumentError(
            "a link is named by relation_id alone, or by source_record_id, source_record_type, target_record_id, "
            f"target_record_type and relation_type together; got {given} of these five"
            f"{'' if relation_id is NOT_SET else ' and relation_id'}",
            argument="relation_id",
        )
    if relation_id is not NOT_SET:
        relation = store.get_relation(relation_id=relation_id)
    else:
        source_id, source_type, target_id, target_type, kind = ends
        _check_ends(store, (source_id, source_type), (target_id, target_type), within)
        relation = store.get_relation(source_id, source_type, target_id, target_type, kind)
    if relation is None:
        return 0
    if within is not None:
        _check_belongs(store, relation, within)
    return store.delete_relations(relation.id)
