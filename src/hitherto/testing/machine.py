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
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hitherto.errors import HithertoError
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.notset import NOT_SET
from hitherto.records import MEMORY_TYPES, RECORD_CLASSES, MessageRecord, Record, RecordStatus
from hitherto.relations import OPPOSITE_TYPES
from hitherto.store.base import MemoryStore
from hitherto.testing import strategies
from hitherto.testing.conformance.base import ManualClock
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder

MakeStore: TypeAlias = Callable[..., MemoryStore]

_MEMORY_TYPES = st.sampled_from(("memory", "fact"))
_IDS = st.sampled_from(("1", "2", "3", "4", "5", "6"))
_LINK_IDS = st.sampled_from(("l1", "l2", "l3", "l4", "l5"))
_KINDS = st.sampled_from((*sorted(OPPOSITE_TYPES), "echoes"))
_LIVES = st.sampled_from((NOT_SET, NOT_SET, None, 0, 0.5, 1, 3))
_SCOPE = {
    "user_id": st.sampled_from((None, "u1", "u10")),
    "agent_id": st.sampled_from((None, "a1")),
    "thread_id": st.sampled_from((None, "t1", "t2")),
}
_OWNERS = st.fixed_dictionaries({f"{name}s": values for name, values in _SCOPE.items()})
_MEMORY = st.fixed_dictionaries(
    {
        "record_type": _MEMORY_TYPES,
        "contents": strategies.sentences().map(lambda text: [text]),
        "metadata": strategies.metadata(),
        "ttl_days": _LIVES,
    }
)
_EXACT = [
    st.fixed_dictionaries({name: values, f"exact_{name[:-3]}_match": st.booleans()})
    for name, values in _SCOPE.items()
]
_SEARCH_SCOPES: st.SearchStrategy[dict[str, Any]] = st.one_of(st.just({}), *_EXACT) | st.tuples(*_EXACT).map(
    lambda given: {name: value for part in given for name, value in part.items()}
)
_LINK = st.tuples(_LINK_IDS, _IDS, _IDS, _KINDS)


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
        expected, found = (_outcome(call, store) for store in (self.reference, self.store))
        assert exact(found) == exact(expected), f"the store gave {found!r}, the reference {expected!r}"
        return found

    def held(self) -> list[Record]:
        """Return all records, in a fixed order."""
        return [record for kind in RECORD_CLASSES for record in self.reference.list(kind)]

    def pick(self, data: st.DataObject) -> tuple[str, str]:
        """Draw the type and the id of a stored record; sometimes of none."""
        places = [(record.record_type, record.id) for record in self.held()]
        return data.draw(st.sampled_from([*places, ("fact", "absent")]), label="record")

    def pick_filter(self, data: st.DataObject) -> dict[str, Any]:
        """Draw a filter: made of a stored record's metadata, or any."""
        rows = [record.metadata for record in self.held() if record.metadata]
        if not rows or data.draw(st.integers(0, 3)) == 0:
            return data.draw(strategies.filters(), label="filter")
        key, value = data.draw(st.sampled_from([item for row in rows for item in row.items()]), label="entry")
        if key.startswith("$"):
            return {key: {}}
        return {key: data.draw(st.sampled_from((value, {"$not": value})), label="test")}

    @initialize(
        rows=st.lists(st.tuples(_MEMORY, _OWNERS), min_size=3, max_size=6), links=st.lists(_LINK, min_size=2)
    )
    def fill(self, rows: list[tuple[dict[str, Any], dict[str, Any]]], links: list[Any]) -> None:
        """Begin with a few memories and links."""
        for number, (memory, owner) in enumerate(rows, 1):
            self.add_memory(record_id=str(number), memory=memory, owner=owner)
        for link in links:
            self.link(link)

    @rule(record_id=_IDS, memory=_MEMORY, owner=_OWNERS)
    def add_memory(self, record_id: str, memory: dict[str, Any], owner: dict[str, Any]) -> None:
        """Add a memory."""
        self.both(lambda store: store.add(**memory, **owner, record_ids=[record_id]))

    @rule(record_id=_IDS, text=strategies.texts(), metadata=strategies.metadata(), owner=_OWNERS)
    def add_message(self, record_id: str, text: str, metadata: Any, owner: dict[str, Any]) -> None:
        """Add a message."""
        given = {"record_ids": [record_id], "roles": "user", "metadata": metadata, **owner}
        self.both(lambda store: store.add([text], "message", **given))

    @rule(record_id=_IDS, image_id=_IDS, description=strategies.sentences(), ttl_days=_LIVES, owner=_OWNERS)
    def add_picture(self, record_id: str, image_id: str, description: str, ttl_days: Any, owner: Any) -> None:
        """Add a message with an image in it."""
        image = ImageContent(b"\x89PNG\r\n\x1a\n", ImageMimeType.PNG, description, id=image_id)
        content = (TextContent("look", id="p"), image)
        given = {"record_ids": [record_id], "roles": "user", "ttl_days": ttl_days, **owner}
        self.both(lambda store: store.add([content], "message", **given))

    @rule(name=st.sampled_from(("u1", "u10")), text=strategies.sentences())
    def add_user(self, name: str, text: str) -> None:
        """Add a user's profile."""
        self.both(lambda store: store.add_user(name, text))

    @rule(name=st.sampled_from(("t1", "t2")), user_id=_SCOPE["user_id"])
    def add_thread(self, name: str, user_id: str | None) -> None:
        """Add a thread."""
        self.both(lambda store: store.create_thread_record(name, user_id, "a1", None, None))

    @rule(
        data=st.data(),
        content=st.just(NOT_SET) | strategies.sentences(),
        metadata=st.just(NOT_SET) | strategies.metadata(),
        ttl_days=_LIVES,
    )
    def update(self, data: st.DataObject, content: Any, **changes: Any) -> None:
        """Change a record."""
        kind, record_id = self.pick(data)
        if kind in {"thread", "image"}:
            content = NOT_SET
        self.both(lambda store: store.update(kind, record_id, content=content, **changes))

    @rule(
        data=st.data(),
        images=st.lists(st.tuples(_IDS, st.booleans()), max_size=2, unique_by=lambda item: item[0]),
    )
    def change_pictures(self, data: st.DataObject, images: list[tuple[str, bool]]) -> None:
        """Change the images in a message: some are kept, some new, some go."""
        place = data.draw(st.sampled_from([*(item.id for item in self.reference.list("message")), "absent"]))
        parts = [
            ImageContent(b"\x89PNG\r\n\x1a\n2" if new else None, ImageMimeType.PNG, "tea", id=image_id)
            for image_id, new in images
        ]
        self.both(lambda store: store.update("message", place, content=(TextContent("see", id="p"), *parts)))

    @rule(data=st.data(), status=st.sampled_from(RecordStatus))
    def set_status(self, data: st.DataObject, status: RecordStatus) -> None:
        """Make a record invalid, or valid again, by hand."""
        kind, record_id = self.pick(data)
        self.both(lambda store: store.update(kind, record_id, status=status))

    @rule(data=st.data(), cascade=st.booleans())
    def delete(self, data: st.DataObject, cascade: bool) -> None:
        """Delete a record, with or without what belongs to it."""
        kind, record_id = self.pick(data)
        self.both(lambda store: store.delete(kind, record_id, cascade=cascade))

    @precondition(lambda self: len(self.held()) > 6)
    @rule(user_id=st.sampled_from(("u1", "u10")))
    def erase_user(self, user_id: str) -> None:
        """Erase a user."""
        self.both(lambda store: store.erase_user(user_id))

    @rule(link=_LINK)
    def link(self, link: tuple[str, str, str, str]) -> None:
        """Link two memories, of whatever type they are."""
        link_id, start, end, kind = link
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

    @rule(days=st.sampled_from((0.25, 1)))
    def let_time_pass(self, days: float) -> None:
        """Move the clock."""
        self.clock.advance(days=days)

    @rule()
    def purge(self) -> None:
        """Delete what has expired."""
        self.both(lambda store: store.purge_expired())

    @rule(
        data=st.data(),
        text=strategies.sentences(),
        scope=_SEARCH_SCOPES,
        filtered=st.booleans(),
        valid_only=st.booleans(),
        hops=st.integers(0, 3),
    )
    def search(
        self,
        data: st.DataObject,
        text: str,
        scope: dict[str, Any],
        filtered: bool,
        valid_only: bool,
        hops: int,
    ) -> None:
        """Search: the same records qualify, each with the same tree of linked records."""
        given = {
            **scope,
            "include_invalid_results": not valid_only,
            "num_hops": hops,
            "max_linked_results": 4,
        }
        given["metadata_filter"] = self.pick_filter(data) if filtered else None
        given["record_types"] = data.draw(st.sampled_from((None, None, MEMORY_TYPES, {"message", "image"})))

        def found(store: MemoryStore, k: int) -> list[Record]:
            return [record for record, _ in store.search(text, k, **given)]

        everything = self.both(
            lambda store: sorted(found(store, 1000), key=lambda item: (item.record_type, item.id))
        )
        if everything and isinstance(everything, list):
            assert len(found(self.store, 1)) == 1, "k hits whenever k qualify"

    @rule(
        data=st.data(),
        limit=st.none() | st.integers(1, 4),
        scope=st.just({}) | st.fixed_dictionaries({}, optional=_SCOPE),
        paged=st.booleans(),
    )
    def list_some(self, data: st.DataObject, scope: dict[str, Any], limit: int | None, paged: bool) -> None:
        """List the records of one type, and memories of all types."""
        kind, record_id = self.pick(data)
        wanted = data.draw(st.sampled_from((NOT_SET, None, self.pick_filter(data))))
        before = record_id if paged else NOT_SET
        given = {"limit": limit, "before": before, "metadata_filter": wanted, **scope}
        self.both(lambda store: store.list(kind, **given))
        self.both(lambda store: store.list_memories(**given))

    @invariant()
    def both_hold_the_same(self) -> None:
        """Compare all records, their expiry and all links."""
        for kind in RECORD_CLASSES:
            for record in self.both(partial(_everything, kind)):
                self.both(partial(_one, record))
        self.both(lambda store: store.list_memories(limit=2))
        self.both(lambda store: store.list_relations())


def _outcome(call: Callable[[MemoryStore], Any], store: MemoryStore) -> Any:
    try:
        return plain(call(store))
    except HithertoError as error:
        return type(error).__name__


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
