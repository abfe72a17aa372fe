"""Records in the SQLite store: stored, read, listed, changed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hitherto.errors import AlreadyStoredError, ConflictError, InvalidArgumentError, NotFoundError
from hitherto.lifetime import MemoryRetentionConfig, TimeToLiveAnchor
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.records import ImageRecord, MessageRecord, RecordStatus
from hitherto.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from .conftest import CountingEmbedder, TurnedClock


def ids(records: object) -> list[str]:
    return [record.id for record in records]  # type: ignore[attr-defined]  # any list of records


def test_what_is_stored_is_read_back_after_reopening(file: Path) -> None:
    """Every field of a record survives the end of the program."""
    fields = {"user_ids": "u", "agent_ids": "a", "thread_ids": "t", "timestamps": "last spring"}
    with SQLiteStore(file) as store:
        store.add(
            ['x, "y" | [z] 🚲'], "preference", record_ids="ü@e.x/1", metadata={"a": [1, None, "b"]}, **fields
        )
        before = store.get("preference", "ü@e.x/1")
    with SQLiteStore(file) as store:
        assert store.get("preference", "ü@e.x/1") == before
        assert before is not None
        assert (before.content, before.timestamp) == ('x, "y" | [z] 🚲', "last spring")


def test_a_retried_request_is_stored_once_and_says_so(store: SQLiteStore) -> None:
    """The same record again is told apart from another one with its id."""
    store.add(["a", "b"], "fact", record_ids=["1", "2"], user_ids="u")
    with pytest.raises(AlreadyStoredError) as caught:
        store.add(["a", "b"], "fact", record_ids=["1", "2"], user_ids="u")
    assert caught.value.record_id == "1"
    for changed in ({"user_ids": "v"}, {"contents": ["a", "other"]}):
        with pytest.raises(ConflictError) as other:
            store.add(
                **{"contents": ["a", "b"], "record_type": "fact", "record_ids": ["1", "2"], "user_ids": "u"}
                | changed
            )  # type: ignore[arg-type]
        assert not isinstance(other.value, AlreadyStoredError)
    assert len(store.list("fact")) == 2


def test_ids_are_unique_among_all_memory_types(store: SQLiteStore) -> None:
    """A fact and a preference cannot share an id; a message can have it too."""
    store.add(["a"], "fact", record_ids="1")
    with pytest.raises(ConflictError):
        store.add(["b"], "preference", record_ids="1")
    assert store.add(["b"], "message", record_ids="1") == ["1"]


def test_the_same_id_under_two_users_is_refused_never_overwritten(store: SQLiteStore) -> None:
    """One user's write cannot touch another's record."""
    store.add(["a"], "fact", record_ids="1", user_ids="u1")
    with pytest.raises(ConflictError):
        store.add(["a"], "fact", record_ids="1", user_ids="u2")
    assert store.get("fact", "1").user_id == "u1"  # type: ignore[union-attr]


def test_ids_are_literal(store: SQLiteStore) -> None:
    """Neither prefix nor separator nor wildcard nor case makes two ids one."""
    users = ["u1", "u10", "U1", "a&b", "a", "b", "%", "_", "ana@example.org", "é", "e\u0301"]
    store.add([f"of {user}" for user in users], "fact", user_ids=users)
    for user in users:
        assert [record.content for record in store.list("fact", user_id=user)] == [f"of {user}"]


def test_none_means_records_without(store: SQLiteStore) -> None:
    """In a list, None asks for records without the id, and an omitted id for any."""
    store.add(["a", "b"], "fact", record_ids=["1", "2"], user_ids=["u", None], thread_ids=["t", None])
    assert ids(store.list("fact", user_id=None)) == ["2"]
    assert ids(store.list("fact", thread_id=None)) == ["2"]
    assert ids(store.list("fact")) == ["1", "2"]
    assert ids(store.list("fact", user_id="nobody")) == []


def test_all_of_150_are_listed_in_pages(store: SQLiteStore) -> None:
    """Pages have a stable order, no record twice and none missing, and the last is not full."""
    store.add([str(n) for n in range(150)], "fact", record_ids=[f"f{n}" for n in range(150)])
    pages, before = [], None
    while page := store.list("fact", limit=40, **({} if before is None else {"before": before})):  # type: ignore[arg-type]
        pages.append(ids(page))
        before = page[0].id
    assert [len(page) for page in pages] == [40, 40, 40, 30]
    assert [record_id for page in reversed(pages) for record_id in page] == [f"f{n}" for n in range(150)]


def test_a_page_before_nothing_is_an_error(store: SQLiteStore) -> None:
    """An unknown record does not silently give the first page."""
    with pytest.raises(NotFoundError, match="before"):
        store.list("fact", before="nope")


@pytest.mark.parametrize("limit", [0, -1, True, "3", 2.0])
def test_a_limit_is_a_positive_number(store: SQLiteStore, limit: object) -> None:
    """A limit that makes no sense is refused."""
    with pytest.raises(InvalidArgumentError, match="limit"):
        store.list("fact", limit=limit)  # type: ignore[arg-type]


def test_lists_filter_metadata_before_the_limit(store: SQLiteStore) -> None:
    """As many records come back as the limit allows whenever so many match; None asks for none at all."""
    count = 1200
    metadata = [{"even": n % 2 == 0} if n else None for n in range(count)]
    store.add(["x"] * count, "fact", record_ids=[str(n) for n in range(count)], metadata=metadata)  # type: ignore[arg-type]
    assert len(store.list("fact", metadata_filter={"even": True}, limit=None)) == count // 2 - 1
    assert ids(store.list("fact", metadata_filter={"even": True}, limit=2)) == ["1196", "1198"]
    assert ids(store.list("fact", metadata_filter=None)) == ["0"]


def test_sequence_numbers_grow_with_every_message(store: SQLiteStore) -> None:
    """Messages of one call are in order, and a range of numbers is half open."""
    store.add([str(n) for n in range(5)], "message", thread_ids="t", roles="user")
    messages = store.list_thread_messages("t")
    numbers = [message.seq_no for message in messages]
    assert numbers == sorted(set(numbers))
    assert [m.content for m in store.list_thread_messages("t", last_n=2)] == ["3", "4"]
    assert store.list_thread_messages("t", last_n=0) == []
    inner = store.list_thread_messages("t", range_start_seq_no=numbers[1], range_end_seq_no=numbers[3])
    assert [m.content for m in inner] == ["1", "2"]


def test_sequence_numbers_are_in_order_of_commit_under_concurrent_writers(file: Path) -> None:
    """What is visible never gains an earlier message: numbers are given out where writers queue."""
    with SQLiteStore(file) as store:
        seen: list[list[int]] = []

        def write(name: int) -> None:
            for n in range(10):
                store.add([f"{name}-{n}"], "message", thread_ids="t", roles="user")
                seen.append([m.seq_no for m in store.list_thread_messages("t")])

        threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        final = [m.seq_no for m in store.list_thread_messages("t")]
        assert len(final) == 80
        assert all(numbers == final[: len(numbers)] for numbers in seen)


def test_an_update_changes_only_what_is_asked(store: SQLiteStore, clock: TurnedClock) -> None:
    """Expiry, metadata and status stay when only the content changes."""
    store.add(["a"], "fact", record_ids="1", ttl_days=2, metadata={"k": 1}, statuses=RecordStatus.INVALID)
    expiry = store.record_expiration("fact", "1")
    clock.turn(hours=1)
    assert store.update("fact", "1", content="b") == 1
    found = store.get("fact", "1")
    assert found is not None
    assert (found.content, found.metadata, found.status) == ("b", {"k": 1}, RecordStatus.INVALID)
    assert store.record_expiration("fact", "1") == expiry
    assert store.update("fact", "nope", content="b") == 0


def test_a_new_time_to_live_counts_from_when_the_record_was_stored(
    store: SQLiteStore, clock: TurnedClock
) -> None:
    """An update does not move the anchor."""
    store.add(["a"], "fact", record_ids="1")
    stored = clock.now
    clock.turn(days=1)
    store.update("fact", "1", ttl_days=3)
    expires = store.record_expiration("fact", "1")
    assert expires is not None
    assert (expires - stored).days == 3
    store.update("fact", "1", timestamp="2026-06-01", ttl_days=1, ttl_anchor=TimeToLiveAnchor.TIMESTAMP)
    assert store.record_expiration("fact", "1").isoformat() == "2026-06-02T00:00:00+00:00"  # type: ignore[union-attr]


def test_an_expired_record_does_not_exist(store: SQLiteStore, clock: TurnedClock) -> None:
    """From the very moment of its expiry no verb shows or changes a record, and its id is free."""
    store.add(["a"], "fact", record_ids="1", ttl_days=0.5)
    clock.turn(hours=12)
    assert store.get("fact", "1") is None
    assert store.list("fact") == []
    assert store.update("fact", "1", content="b") == 0
    assert store.delete("fact", "1") == 0
    assert store.record_expiration("fact", "1") is None
    assert store.add(["b"], "fact", record_ids="1") == ["1"]
    assert store.get("fact", "1").content == "b"  # type: ignore[union-attr]


def test_expired_records_are_purged(store: SQLiteStore, clock: TurnedClock) -> None:
    """Purging frees what has expired and nothing else."""
    store.add(["a", "b"], "fact", record_ids=["1", "2"], ttl_days=[1, None])
    assert store.purge_expired() == 0
    clock.turn(days=1)
    assert store.purge_expired() == 1
    assert ids(store.list("fact")) == ["2"]


def test_retention_bounds_the_time_to_live(file: Path, clock: TurnedClock) -> None:
    """The default holds where nothing is said, and the maximum cuts what is."""
    with SQLiteStore(file, clock=clock, memory_retention_config=MemoryRetentionConfig(1, 2)) as store:
        store.add(["a"], "fact", record_ids="1")
        with pytest.warns(UserWarning, match="max_ttl_days"):
            store.add(["a"], "fact", record_ids="2", ttl_days=9)
        days = [(store.record_expiration("fact", i) - clock.now).days for i in ("1", "2")]  # type: ignore[operator]
        assert days == [1, 2]


def test_texts_are_embedded_again_only_if_they_changed(file: Path, embedder: CountingEmbedder) -> None:
    """A change of metadata, status or expiry asks no model."""
    with SQLiteStore(file, embedder=embedder) as store:
        store.add(["a"], "fact", record_ids="1")
        assert embedder.asked == ["a"]
        store.update("fact", "1", metadata={"k": 1}, status=RecordStatus.INVALID, ttl_days=3, content="a")
        assert embedder.asked == ["a"]
        store.update("fact", "1", content="b")
        assert embedder.asked == ["a", "b"]


def test_one_call_embeds_all_texts(file: Path, embedder: CountingEmbedder) -> None:
    """Adding many records asks the model once; vectors that were given are not asked for."""
    with SQLiteStore(file, embedder=embedder) as store:
        store.add(["a", "b"], "fact", embeddings=[[0.5] * 8, None])
        assert embedder.asked == ["b"]
        with pytest.raises(InvalidArgumentError, match="8 components"):
            store.add(["a"], "fact", embeddings=[[1.0, 2.0]])


def test_threads_keep_settings_and_counters(store: SQLiteStore) -> None:
    """A thread's opaque objects come back unchanged, and change one by one."""
    thread = store.create_thread_record("t", "u", None, {"p": 1}, {"deep": {"x": [1]}}, {"n": 0})
    assert store.get_thread_record("t") == thread
    assert thread.thread_id == "t"
    assert store.update_thread_record("t", runtime_state={"n": 1}) == 1
    changed = store.get_thread_record("t")
    assert changed is not None
    assert (changed.runtime_config, changed.runtime_state, changed.metadata) == (
        {"deep": {"x": [1]}},
        {"n": 1},
        {"p": 1},
    )
    with pytest.raises(ConflictError):
        store.create_thread_record("t", "u2")
    assert store.update_thread_record("nope", metadata={}) == 0


def test_a_summary_is_replaced_only_at_the_revision_it_was_read_at(store: SQLiteStore) -> None:
    """Of two who change the same summary, the second is told."""
    store.add(
        [{"text": "a"}],
        "thread_summary",
        record_ids="s",
        thread_ids="t",
        metadata={"$agent_memory": {"revision": 0}},
    )
    first = store.get("thread_summary", "s")
    assert first is not None
    assert store.update("thread_summary", "s", content={"text": "b"}, metadata=first.metadata) == 1
    assert store.update("thread_summary", "s", content={"text": "c"}, metadata=first.metadata) == 0
    found = store.get("thread_summary", "s")
    assert found is not None
    assert found.content == {"text": "b"}


def test_images_come_with_their_bytes_only_if_asked(store: SQLiteStore) -> None:
    """Bytes are read where they are wanted; a format is stored apart from the metadata."""
    store.add(
        [b"\x89PNG"],
        "image",
        index_texts=["a bike"],
        record_ids="i",
        metadata={"image_mime_type": "image/png", "k": 1},
    )
    image = store.get("image", "i")
    assert isinstance(image, ImageRecord)
    assert (image.content, image.bytes, image.mime_type, image.metadata) == (
        "a bike",
        None,
        ImageMimeType.PNG,
        {"k": 1},
    )
    assert store.get("image", "i", include_bytes=True).bytes == b"\x89PNG"  # type: ignore[union-attr]
    store.update("image", "i", content=b"RIFF", metadata={"image_mime_type": "image/webp"})
    image = store.get("image", "i", include_bytes=True)
    assert isinstance(image, ImageRecord)
    assert (image.bytes, image.mime_type, image.content, image.metadata) == (
        b"RIFF",
        ImageMimeType.WEBP,
        "a bike",
        None,
    )


def test_a_message_and_its_images_stay_in_step(store: SQLiteStore) -> None:
    """Changing either side changes the other; an image that left its message is gone."""
    part = ImageContent(b"x", ImageMimeType.PNG, "a bike", id="i1")
    store.add([[TextContent("look", id="p"), part]], "message", record_ids="m", roles="user", user_ids="u")
    message = store.get("message", "m", include_bytes=True)
    assert isinstance(message, MessageRecord)
    assert message.content == (TextContent("look", id="p"), part)
    store.update("image", "i1", index_text="a red bike")
    assert store.get("message", "m").content[1].description == "a red bike"  # type: ignore[union-attr, index]
    without_bytes = store.get("message", "m").content  # type: ignore[union-attr]
    second = ImageContent(b"y", ImageMimeType.PNG, "a boat", id="i2")
    store.update("message", "m", content=(*without_bytes, second))  # type: ignore[misc]
    assert store.get("image", "i1", include_bytes=True).bytes == b"x"  # type: ignore[union-attr]
    assert store.get("image", "i2").user_id == "u"  # type: ignore[union-attr]
    store.update("message", "m", content="gone")
    assert store.list("image") == []


def test_an_image_of_a_message_expires_with_it(store: SQLiteStore) -> None:
    """The message's time to live is its images', and they take none of their own."""
    part = ImageContent(b"x", ImageMimeType.PNG, "a bike", id="i1")
    store.add([[part]], "message", record_ids="m")
    store.update("message", "m", ttl_days=1)
    assert store.record_expiration("image", "i1") == store.record_expiration("message", "m") is not None
    with pytest.raises(InvalidArgumentError, match="message"):
        store.update("image", "i1", ttl_days=2)
