"""Records: stored, read, changed, listed."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import AlreadyStoredError, ArgumentTypeError, ConflictError, InvalidArgumentError
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.records import MessageRecord, RecordStatus, ThreadRecord
from hitherto.store.base import MemoryStore, PendingRecordBatch
from hitherto.testing.conformance.base import ConformanceBase, ManualClock, ids

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


class RecordConformance(ConformanceBase):
    """Adding, reading, changing and listing."""

    @pytest.mark.parametrize("record_type", ["memory", "fact", "guideline", "preference"])
    def test_a_memory_comes_back_as_it_was_stored(self, store: MemoryStore, record_type: str) -> None:
        """Every field of a memory is returned as it was given."""
        metadata = {"tags": ["a", "b"], "n": 1.5, "deep": {"x": None, "y": True}}
        store.add(
            ["Ana plays the cello"],
            record_type,
            record_ids="m1",
            user_ids="u",
            agent_ids="a",
            thread_ids="t",
            timestamps="2026-05-01T12:00:00Z",
            metadata=metadata,
        )
        found: Any = store.get(record_type, "m1")
        assert (found.id, found.content, found.metadata) == ("m1", "Ana plays the cello", metadata)
        assert (found.user_id, found.agent_id, found.thread_id) == ("u", "a", "t")
        assert (found.record_type, found.status) == (record_type, RecordStatus.VALID)

    def test_ids_are_made_where_none_are_given(self, store: MemoryStore) -> None:
        """Records without an id get distinct ids, in order."""
        made = store.add(["a", "b", "c"], "fact")
        assert len(set(made)) == 3
        assert ids(store.list("fact")) == made

    def test_scalars_stand_for_all_records(self, store: MemoryStore) -> None:
        """A scalar field holds for every record of a batch, a list for each its own."""
        store.add(["a", "b"], "fact", user_ids="u", timestamps=["2026-01-01", "2026-01-02"])
        found: Any = store.list("fact")
        assert [record.user_id for record in found] == ["u", "u"]
        assert [record.timestamp for record in found] == ["2026-01-01", "2026-01-02"]

    def test_flags_of_reading_and_deleting_are_true_or_false(self, store: MemoryStore) -> None:
        """What is no bool is refused by the flag's name, and nothing is deleted."""
        bad: Any = "no"
        store.add_user("u", "plays the cello")
        store.add(["a"], "fact", user_ids="u")
        with pytest.raises(ArgumentTypeError, match="cascade"):
            store.delete("user_profile", "u", cascade=bad)
        with pytest.raises(ArgumentTypeError, match="include_bytes"):
            store.list("image", include_bytes=bad)
        with pytest.raises(ArgumentTypeError, match="include_bytes"):
            store.get("image", "i", include_bytes=bad)
        assert len(store.list("fact")) == len(store.list("user_profile")) == 1

    def test_a_list_of_another_length_is_refused(self, store: MemoryStore) -> None:
        """A list that does not match the records is refused, and nothing is stored."""
        with pytest.raises(ValueError, match="user_ids"):
            store.add(["a", "b"], "fact", user_ids=["u"])
        assert store.list("fact") == []

    def test_batches_are_stored_all_or_none(self, store: MemoryStore) -> None:
        """When one batch is refused, none of the others is stored."""
        good = PendingRecordBatch(contents=["a"], record_type="fact", record_ids=["f1"])
        bad = PendingRecordBatch(contents=["b"], record_type="rumour")
        with pytest.raises(InvalidArgumentError):
            store.add_batches([good, bad])
        assert store.list("fact") == []

    def test_a_taken_id_is_refused(self, store: MemoryStore) -> None:
        """The same id with other content is refused, also under another user; the first record stays."""
        store.add(["first"], "fact", record_ids="x", user_ids="u1")
        with pytest.raises(ConflictError):
            store.add(["second"], "fact", record_ids="x", user_ids="u2")
        found: Any = store.get("fact", "x")
        assert (found.content, found.user_id) == ("first", "u1")

    def test_a_retried_request_is_stored_once_and_says_so(self, store: MemoryStore) -> None:
        """The very same record again is named as stored already, and is there once."""
        store.add(["same"], "fact", record_ids="x", user_ids="u1")
        with pytest.raises(AlreadyStoredError) as caught:
            store.add(["same"], "fact", record_ids="x", user_ids="u1")
        assert caught.value.record_id == "x"
        assert ids(store.list("fact")) == ["x"]

    def test_like_texts_are_never_merged(self, store: MemoryStore) -> None:
        """A store keeps what it is given: the same text twice is two records, in one call or in two."""
        made = store.add(["Ana likes tea", "Ana likes tea", "Ana likes teas"], "fact", user_ids="u")
        made += store.add(["Ana likes tea"], "fact", user_ids="u")
        assert ids(store.list("fact")) == made
        assert sorted(ids(store.search("Ana likes tea", 9, user_id="u", exact_user_match=True))) == sorted(
            made
        )

    def test_the_four_types_of_memory_share_their_ids(self, store: MemoryStore) -> None:
        """An id names one memory of whatever type."""
        store.add(["a"], "fact", record_ids="x")
        with pytest.raises(ConflictError):
            store.add(["b"], "preference", record_ids="x")

    def test_messages_keep_role_order_and_parts(self, store: MemoryStore) -> None:
        """Messages come back in order, with growing numbers, roles and structured parts."""
        parts = (TextContent("look", id="p1"), ImageContent(PNG, ImageMimeType.PNG, "a red bicycle", id="p2"))
        store.add(["one", parts, "three"], "message", thread_ids="t", roles=["user", "user", "assistant"])
        found = store.list_thread_messages("t")
        assert [message.role for message in found] == ["user", "user", "assistant"]
        assert sorted(message.seq_no for message in found) == [message.seq_no for message in found]
        assert found[0].content == "one"
        assert isinstance(found[1].content, tuple)
        assert found[1].content[0] == TextContent("look", id="p1")
        image: Any = found[1].content[1]
        assert (image.bytes, image.description) == (None, "a red bicycle")
        with_bytes: Any = store.list_thread_messages("t", include_bytes=True)[1].content
        assert with_bytes[1].bytes == PNG

    def test_a_message_changes_with_its_images(self, store: MemoryStore) -> None:
        """Images of a changed message are kept, described anew, added or deleted as its parts say."""
        kept = ImageContent(PNG, ImageMimeType.PNG, "a red bicycle", id="kept")
        gone = ImageContent(PNG, ImageMimeType.PNG, "a boat", id="gone")
        store.add([(TextContent("look"), kept, gone)], "message", record_ids="m", roles="user", user_ids="u")
        described = ImageContent(None, ImageMimeType.PNG, "a green bicycle", id="kept")
        new = ImageContent(PNG + b"new", ImageMimeType.PNG, "a zeppelin", id="new")
        assert store.update("message", "m", content=(TextContent("again"), described, new)) == 1
        images: Any = store.list("image", user_id="u", include_bytes=True)
        assert [(image.id, image.content, image.bytes, image.message_id) for image in images] == [
            ("kept", "a green bicycle", PNG, "m"),
            ("new", "a zeppelin", PNG + b"new", "m"),
        ]
        found = store.search("zeppelin", 9, user_id="u", exact_user_match=True, record_types={"image"})
        assert ids(found)[0] == "new"
        with_bytes: Any = store.get("message", "m", include_bytes=True)
        assert [part.bytes for part in with_bytes.content[1:]] == [PNG, PNG + b"new"]

    def test_a_refused_change_of_images_changes_nothing(self, store: MemoryStore) -> None:
        """A message that would take another message's image stays as it was."""
        taken = ImageContent(PNG, ImageMimeType.PNG, "a boat", id="taken")
        store.add([(taken,)], "message", record_ids="first", roles="user")
        store.add(["plain"], "message", record_ids="second", roles="user")
        with pytest.raises(ConflictError):
            store.update("message", "second", content=(TextContent("mine now"), taken), metadata={"k": 1})
        found = store.get("message", "second")
        assert found is not None
        assert (found.content, found.metadata) == ("plain", None)
        assert [image.id for image in store.list("image")] == ["taken"]

    def test_a_summary_is_replaced_only_by_who_saw_it(self, store: MemoryStore) -> None:
        """Of two writers that both read revision 0, the second changes nothing and is told so."""
        read: dict[str, Any] = {"$agent_memory": {"revision": 0}}
        store.add([{"text": "a"}], "thread_summary", record_ids="s", thread_ids="t", metadata=read)
        assert store.update("thread_summary", "s", content={"text": "b"}, metadata=read) == 1
        assert store.update("thread_summary", "s", content={"text": "c"}, metadata=read) == 0
        found = store.get("thread_summary", "s")
        assert found is not None
        assert (found.content, found.metadata) == ({"text": "b"}, {"$agent_memory": {"revision": 1}})

    def test_message_ranges(self, store: MemoryStore) -> None:
        """The last n messages, and ranges of sequence numbers, start included and end not."""
        store.add([str(number) for number in range(10)], "message", thread_ids="t", roles="user")
        everything = store.list_thread_messages("t")
        assert [message.content for message in store.list_thread_messages("t", last_n=3)] == ["7", "8", "9"]
        start, end = everything[2].seq_no, everything[5].seq_no
        ranged = store.list_thread_messages("t", range_start_seq_no=start, range_end_seq_no=end)
        assert [message.content for message in ranged] == ["2", "3", "4"]

    def test_an_update_changes_only_what_is_given(self, store: MemoryStore, clock: ManualClock) -> None:
        """What an update does not name stays, the expiry too."""
        store.add(["old"], "fact", record_ids="x", user_ids="u", metadata={"k": 1}, ttl_days=5)
        before = store.record_expiration("fact", "x")
        clock.advance(days=1)
        assert store.update("fact", "x", content="new") == 1
        found: Any = store.get("fact", "x")
        assert (found.content, found.metadata, found.user_id) == ("new", {"k": 1}, "u")
        assert store.record_expiration("fact", "x") == before
        assert store.update("fact", "x", metadata=None) == 1
        emptied = store.get("fact", "x")
        assert emptied is not None
        assert emptied.metadata is None

    def test_an_update_of_nothing_there_returns_0(self, store: MemoryStore) -> None:
        """Updating what is not stored changes nothing and returns 0."""
        assert store.update("fact", "absent", content="new") == 0

    def test_lists_are_paged_without_gap_or_repetition(self, store: MemoryStore) -> None:
        """All of 150 records are listed at once, and in pages of 40 in a stable order."""
        made = store.add([f"fact {number}" for number in range(150)], "fact", user_ids="u")
        assert ids(store.list("fact", user_id="u", limit=None)) == made
        pages: list[str] = []
        page = store.list("fact", user_id="u", limit=40)
        while page:
            pages = ids(page) + pages
            page = store.list("fact", user_id="u", limit=40, before=page[0].id)
        assert pages == made

    def test_a_limit_gives_the_newest_oldest_first(self, store: MemoryStore) -> None:
        """A limited list has the newest records, in the order of creation."""
        made = store.add(["a", "b", "c"], "fact")
        assert ids(store.list("fact", limit=2)) == made[1:]
        assert ids(store.list("fact", limit=10**30)) == made

    def test_memories_of_all_types_are_listed_by_age(self, store: MemoryStore) -> None:
        """Memories of all types come merged in the order of creation, and the limit cuts the merged list."""
        for number, kind in enumerate(["preference", "fact", "memory", "guideline", "fact"]):
            store.add([kind], kind, record_ids=str(number), user_ids="u")
        assert ids(store.list_memories(user_id="u")) == ["0", "1", "2", "3", "4"]
        assert ids(store.list_memories(user_id="u", limit=2)) == ["3", "4"]

    def test_threads(self, store: MemoryStore) -> None:
        """A thread keeps its owner, settings and state, and is changed field by field."""
        store.create_thread_record("t", "u", "a", {"k": 1}, {"setting": 1}, {"count": 0})
        found = store.get_thread_record("t")
        assert isinstance(found, ThreadRecord)
        assert (found.user_id, found.agent_id, found.metadata) == ("u", "a", {"k": 1})
        assert (found.runtime_config, found.runtime_state) == ({"setting": 1}, {"count": 0})
        assert store.update_thread_record("t", runtime_state={"count": 1}) == 1
        again = store.get_thread_record("t")
        assert again is not None
        assert (again.runtime_config, again.runtime_state) == ({"setting": 1}, {"count": 1})
        with pytest.raises(ConflictError):
            store.create_thread_record("t", "other", "a", None, None)
        assert store.get_thread_record("absent") is None

    def test_profiles(self, store: MemoryStore) -> None:
        """Users and agents are stored once each, under their own id."""
        assert store.add_user("sam", "likes tea") == "sam"
        assert store.add_agent("sam", "books travel") == "sam"
        with pytest.raises(ConflictError):
            store.add_user("sam", "likes coffee")
        assert [record.content for record in store.list("user_profile")] == ["likes tea"]
        assert [record.content for record in store.list("agent_profile")] == ["books travel"]

    def test_images(self, store: MemoryStore) -> None:
        """An image keeps its bytes apart, is found by its description, and loses no MIME type."""
        store.add(
            [PNG],
            "image",
            record_ids="i",
            user_ids="u",
            index_texts=["a red bicycle"],
            metadata={"image_mime_type": "image/png", "album": "street"},
        )
        found: Any = store.get("image", "i")
        assert (found.bytes, found.mime_type, found.metadata) == (
            None,
            ImageMimeType.PNG,
            {"album": "street"},
        )
        with_bytes: Any = store.get("image", "i", include_bytes=True)
        assert with_bytes.bytes == PNG
        assert ids(store.search("bicycle", 3, user_id="u", exact_user_match=True)) == ["i"]

    def test_an_unknown_type_is_refused(self, store: MemoryStore) -> None:
        """A misspelt record type is named, not taken for another."""
        with pytest.raises(InvalidArgumentError, match="rumour"):
            store.add(["a"], "rumour")
        with pytest.raises(InvalidArgumentError, match="rumour"):
            store.list("rumour")

    def test_metadata_cannot_move_a_record(self, store: MemoryStore) -> None:
        """Scope ids inside metadata are mere metadata."""
        store.add(
            ["a"], "fact", record_ids="x", user_ids="alice", metadata={"user_id": "bob", "thread_id": "t"}
        )
        found: Any = store.get("fact", "x")
        assert (found.user_id, found.thread_id) == ("alice", None)
        assert store.list("fact", user_id="bob") == []
        assert store.search("a", 3, user_id="bob", exact_user_match=True) == []

    def test_messages_are_records_too(self, store: MemoryStore) -> None:
        """A message can be got by its id, and names its thread."""
        store.add(["hello"], "message", record_ids="m", thread_ids="t", roles="user")
        found = store.get("message", "m")
        assert isinstance(found, MessageRecord)
        assert (found.thread_id, found.role, found.content) == ("t", "user", "hello")
