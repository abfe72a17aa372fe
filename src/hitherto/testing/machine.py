"""A state machine that compares any store with the reference store, call by call.

```python
class TestMyStore(store_machine(lambda **options: MyStore(**options)).TestCase):
    settings = settings(max_examples=50)
```

Each step is a call with drawn arguments to both stores, which must return the same or raise the same error. After
each step both must hold the same records and links. Distances are not compared: how near is near is a store's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hitherto.errors import HithertoError
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.notset import NOT_SET
from hitherto.records import RECORD_CLASSES, MessageRecord, Record, RecordStatus
from hitherto.relations import OPPOSITE_TYPES
from hitherto.store.base import MemoryStore
from hitherto.testing import strategies
from hitherto.testing.conformance.base import ManualClock
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder

MakeStore: TypeAlias = Callable[..., MemoryStore]

_MEMORY_TYPES = st.sampled_from(("memory", "fact", "guideline", "preference"))
_TYPES = st.sampled_from(tuple(sorted(RECORD_CLASSES)))
_IDS = st.sampled_from(("1", "2", "3", "4", "5", "6"))
_LINK_IDS = st.sampled_from(("l1", "l2", "l3", "l4"))
_USERS = st.sampled_from((None, "u1", "u10"))
_AGENTS = st.sampled_from((None, "a1"))
_THREADS = st.sampled_from((None, "t1", "t2"))
_KINDS = st.sampled_from((*sorted(OPPOSITE_TYPES), "echoes"))
_LIVES = st.sampled_from((NOT_SET, None, 0, 0.5, 1, 3))
_SCOPE = {"user_id": _USERS, "agent_id": _AGENTS, "thread_id": _THREADS}
_OWNERS = st.fixed_dictionaries({f"{name}s": values for name, values in _SCOPE.items()})


def plain(value: Any) -> Any:
    """Return a value without what each store numbers for itself: the sequence numbers of messages."""
    if isinstance(value, MessageRecord):
        return replace(value, seq_no=0)
    if isinstance(value, Record):
        linked = tuple((relation, plain(child)) for relation, child in value.linked_results)
        return replace(value, linked_results=linked)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def exact(value: Any) -> Any:
    """Return a value in a form that tells 1 from 1.0 and True, and -0.0 from 0."""
    if isinstance(value, Record):
        return [type(value).__name__, *(exact(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    return {key: exact(item) for key, item in value.items()} if isinstance(value, dict) else repr(value)


class StoreMachine(RuleBasedStateMachine):
    """Runs every call on a store and on the reference."""

    make_store: MakeStore

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        options = {"embedder": HashEmbedder(16), "clock": self.clock}
        self.store = type(self).make_store(**options)
        self.reference = ReferenceStore(**options)

    def teardown(self) -> None:
        """Close the store."""
        self.store.close()

    def both(self, call: Callable[[MemoryStore], Any]) -> Any:
        """Do the same on both stores and compare what comes; return it."""
        expected, found = (self._outcome(call, store) for store in (self.reference, self.store))
        assert exact(found) == exact(expected), f"the store gave {found!r}, the reference {expected!r}"
        return found

    @staticmethod
    def _outcome(call: Callable[[MemoryStore], Any], store: MemoryStore) -> Any:
        try:
            return plain(call(store))
        except HithertoError as error:
            return type(error).__name__

    @rule(
        kind=_MEMORY_TYPES,
        record_id=_IDS,
        text=strategies.sentences(),
        metadata=strategies.metadata(),
        ttl_days=_LIVES,
        owner=_OWNERS,
    )
    def add_memory(self, kind: str, record_id: str, text: str, owner: dict[str, Any], **given: Any) -> None:
        """Add a memory."""
        self.both(lambda store: store.add([text], kind, record_ids=[record_id], **owner, **given))

    @rule(record_id=_IDS, text=strategies.texts(), metadata=strategies.metadata(), owner=_OWNERS)
    def add_message(self, record_id: str, text: str, metadata: Any, owner: dict[str, Any]) -> None:
        """Add a message."""
        given = {"record_ids": [record_id], "roles": "user", "metadata": metadata, **owner}
        self.both(lambda store: store.add([text], "message", **given))

    @rule(record_id=_IDS, image_id=_IDS, description=strategies.sentences(), ttl_days=_LIVES, user_id=_USERS)
    def add_picture(
        self, record_id: str, image_id: str, description: str, ttl_days: Any, user_id: Any
    ) -> None:
        """Add a message with an image in it."""
        image = ImageContent(b"\x89PNG\r\n\x1a\n", ImageMimeType.PNG, description, id=image_id)
        content = (TextContent("look", id="p"), image)
        self.both(
            lambda store: store.add(
                [content],
                "message",
                record_ids=[record_id],
                roles="user",
                thread_ids="t1",
                user_ids=user_id,
                ttl_days=ttl_days,
            )
        )

    @rule(name=st.sampled_from(("u1", "u10")), text=strategies.sentences())
    def add_user(self, name: str, text: str) -> None:
        """Add a user's profile."""
        self.both(lambda store: store.add_user(name, text))

    @rule(name=st.sampled_from(("t1", "t2")), user_id=_USERS)
    def add_thread(self, name: str, user_id: str | None) -> None:
        """Add a thread."""
        self.both(lambda store: store.create_thread_record(name, user_id, "a1", None, None))

    @rule(
        kind=_TYPES,
        record_id=_IDS,
        content=st.just(NOT_SET) | strategies.sentences(),
        metadata=st.just(NOT_SET) | strategies.metadata(),
        ttl_days=_LIVES,
    )
    def update(self, kind: str, record_id: str, content: Any, **changes: Any) -> None:
        """Change a record."""
        if kind in {"thread_summary", "image"}:
            content = NOT_SET
        self.both(lambda store: store.update(kind, record_id, content=content, **changes))

    @rule(kind=_MEMORY_TYPES, record_id=_IDS, status=st.sampled_from(RecordStatus))
    def set_status(self, kind: str, record_id: str, status: RecordStatus) -> None:
        """Make a memory invalid, or valid again, by hand."""
        self.both(lambda store: store.update(kind, record_id, status=status))

    @rule(kind=_TYPES, record_id=_IDS | st.sampled_from(("u1", "t1")), cascade=st.booleans())
    def delete(self, kind: str, record_id: str, cascade: bool) -> None:
        """Delete a record, with or without what belongs to it."""
        self.both(lambda store: store.delete(kind, record_id, cascade=cascade))

    @rule(user_id=st.sampled_from(("u1", "u10")))
    def erase_user(self, user_id: str) -> None:
        """Erase a user."""
        self.both(lambda store: store.erase_user(user_id))

    @rule(link_id=_LINK_IDS, start=_IDS, end=_IDS, kind=_KINDS)
    def link(self, link_id: str, start: str, end: str, kind: str) -> None:
        """Link two memories, of whatever type they are."""
        types = {record.id: record.record_type for record in self.reference.list_memories()}
        ends = (start, types.get(start, "fact"), end, types.get(end, "fact"))
        self.both(lambda store: store.add_relations(*ends, kind, relation_ids=link_id))

    @rule(link_id=_LINK_IDS, kind=_KINDS, metadata=strategies.metadata())
    def change_link(self, link_id: str, kind: str, metadata: Any) -> None:
        """Change the kind of a link."""
        self.both(lambda store: store.update_relations(link_id, relation_types=kind, metadata=metadata))

    @rule(link_id=_LINK_IDS)
    def unlink(self, link_id: str) -> None:
        """Delete a link."""
        self.both(lambda store: store.delete_relations(link_id))

    @rule(days=st.sampled_from((0.25, 1, 2)))
    def let_time_pass(self, days: float) -> None:
        """Move the clock."""
        self.clock.advance(days=days)

    @rule()
    def purge(self) -> None:
        """Delete what has expired."""
        self.both(lambda store: store.purge_expired())

    @rule(
        text=strategies.sentences(),
        scope=strategies.search_scopes(),
        metadata_filter=st.none() | strategies.filters(),
        record_types=st.none() | st.sets(_TYPES, min_size=1),
        valid_only=st.booleans(),
        hops=st.integers(0, 3),
    )
    def search(self, text: str, scope: Any, valid_only: bool, hops: int, **given: Any) -> None:
        """Search: the same records qualify, each with the same tree of linked records."""
        given |= {name: value for name, value in vars(scope).items() if value is not NOT_SET}
        given |= {"include_invalid_results": not valid_only, "num_hops": hops, "max_linked_results": 3}

        def found(store: MemoryStore, k: int) -> list[Record]:
            return [record for record, _ in store.search(text, k, **given)]

        everything = self.both(
            lambda store: sorted(found(store, 1000), key=lambda item: (item.record_type, item.id))
        )
        if isinstance(everything, list):
            assert len(found(self.store, 2)) == min(2, len(everything)), "k hits whenever k qualify"

    @rule(
        kind=_TYPES,
        limit=st.none() | st.integers(1, 3),
        scope=st.fixed_dictionaries({}, optional=_SCOPE),
        metadata_filter=st.just(NOT_SET) | st.none() | strategies.filters(),
        before=st.just(NOT_SET) | _IDS,
    )
    def list_some(self, kind: str, scope: dict[str, Any], **given: Any) -> None:
        """List the records of one type, and memories of all types."""
        self.both(lambda store: store.list(kind, **scope, **given))
        self.both(lambda store: store.list_memories(**scope, **given))

    @invariant()
    def both_hold_the_same(self) -> None:
        """Compare all records, their expiry and all links."""
        for kind in RECORD_CLASSES:
            for record in self.both(partial(_everything, kind)):
                self.both(partial(_one, record))
        self.both(lambda store: store.list_relations())


def _everything(kind: str, store: MemoryStore) -> list[Record]:
    return store.list(kind, limit=None, include_bytes=True)


def _one(record: Record, store: MemoryStore) -> tuple[Any, ...]:
    place = (record.record_type, record.id)
    return plain(store.get(*place)), store.record_expiration(*place)


def store_machine(make: MakeStore) -> type[StoreMachine]:
    """Return the machine for a store.

    Args:
        make: Makes an empty store from what every store takes: ``embedder``, ``clock``.

    Returns:
        A hypothesis state machine; its ``TestCase`` is a test.
    """
    return type("ComparedStore", (StoreMachine,), {"make_store": staticmethod(make)})
