"""Batches are broadcast and checked before anything is embedded or written."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest

from hitherto.errors import ArgumentTypeError, ConflictError, InvalidArgumentError
from hitherto.lifetime import TimeToLiveAnchor, check_retention
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.records import RecordStatus
from hitherto.store.batches import PendingRecordBatch, read_batches
from hitherto.store.drafts import Draft
from hitherto.store.sqlite.store import SQLiteStore

NOW = datetime(2026, 5, 1, tzinfo=timezone.utc)


def read(max_input_tokens: int | None = None, **fields: Any) -> list[Draft]:
    return read_batches(
        [PendingRecordBatch(**fields)],
        now=NOW,
        retention=check_retention(None),
        max_input_tokens=max_input_tokens,
    )


def test_a_scalar_stands_for_every_record() -> None:
    """Scalars are repeated, lists are not."""
    drafts = read(
        contents=["a", "b"], record_type="fact", user_ids="u", agent_ids=["x", None], metadata={"k": 1}
    )
    assert [(d.record.user_id, d.record.agent_id, d.record.metadata) for d in drafts] == [
        ("u", "x", {"k": 1}),
        ("u", None, {"k": 1}),
    ]


def test_ids_are_made_where_none_are_given() -> None:
    """Every record has an id of its own."""
    first, second = read(contents=["a", "b"], record_type="fact")
    assert first.record.id != second.record.id


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"contents": "abc", "record_type": "fact"}, ArgumentTypeError),
        ({"contents": ["a"], "record_type": "nope"}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "thread"}, InvalidArgumentError),
        ({"contents": [1], "record_type": "fact"}, ArgumentTypeError),
        ({"contents": ["a", "b"], "record_type": "fact", "record_ids": "x"}, InvalidArgumentError),
        ({"contents": ["a", "b"], "record_type": "fact", "record_ids": ["x", None]}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "fact", "record_ids": ""}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "fact", "roles": "user"}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "fact", "statuses": "valid"}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "fact", "ttl_days": -1}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "user_profile", "ttl_days": 1}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "user_profile", "user_ids": "u"}, InvalidArgumentError),
        (
            {"contents": ["a"], "record_type": "fact", "ttl_anchor": "timestamp", "ttl_days": 1},
            InvalidArgumentError,
        ),
        (
            {
                "contents": ["a"],
                "record_type": "fact",
                "ttl_anchor": TimeToLiveAnchor.TIMESTAMP,
                "ttl_days": 1,
                "timestamps": "yesterday",
            },
            InvalidArgumentError,
        ),
        ({"contents": ["a"], "record_type": "fact", "embeddings": [[[1.0], [2.0]]]}, InvalidArgumentError),
        ({"contents": ["a"], "record_type": "fact", "index_texts": [[]]}, InvalidArgumentError),
        ({"contents": [b"x"], "record_type": "image"}, InvalidArgumentError),
        (
            {"contents": ["x"], "record_type": "image", "metadata": {"image_mime_type": "image/png"}},
            ArgumentTypeError,
        ),
        ({"contents": [[]], "record_type": "message"}, InvalidArgumentError),
    ],
)
def test_what_is_not_allowed_is_refused(fields: dict[str, Any], error: type[Exception]) -> None:
    """A batch with one bad value is refused as a whole, with an error of the right kind."""
    with pytest.raises(error):
        read(**fields)


def test_contents_and_texts_are_the_same() -> None:
    """The older name of contents works and cannot differ."""
    assert PendingRecordBatch(texts=["a"], record_type="fact").contents == ["a"]
    with pytest.raises(InvalidArgumentError):
        PendingRecordBatch(contents=["a"], texts=["b"], record_type="fact")


@pytest.mark.parametrize("embeddings", [[[1.0, 2.0], [3.0, 4.0]], np.eye(2, dtype=np.float32)])
def test_one_vector_per_record_or_several(embeddings: Any) -> None:
    """A flat vector is a record's only one; a list of vectors goes with a list of texts."""
    first, _ = read(contents=["a", "b"], record_type="fact", embeddings=embeddings)
    assert len(first.record.chunks) == 1
    (several,) = read(
        contents=["a"], record_type="fact", index_texts=[["p", "q"]], embeddings=[[[1.0, 2.0], [3.0, 4.0]]]
    )
    assert [chunk.text for chunk in several.record.chunks] == ["p", "q"]
    assert several.embed == (None, None)


def test_a_long_text_is_cut_and_a_blank_one_is_not_embedded() -> None:
    """No text is longer than the embedder reads, and no model is asked about nothing."""
    (long,) = read(256, contents=["word " * 2000], record_type="fact")
    assert len(long.record.chunks) > 1
    assert all(text is not None and len(text) < 256 * 4 for text in long.embed)
    (blank,) = read(contents=["  "], record_type="message")
    assert blank.embed == (None,)


def test_a_message_is_embedded_with_its_date_and_speaker_but_indexed_without() -> None:
    """Meaning needs to know who and when; words are what was said."""
    (draft,) = read(contents=["hi"], record_type="message", roles="user", timestamps="2026-05-01T00:00:00Z")
    assert draft.embed == ("[1 May 2026] user: hi",)
    assert draft.record.chunks[0].text == "hi"


def test_a_message_of_one_text_part_is_a_text() -> None:
    """One text part says no more than a plain text; several parts stay parts."""
    one, two = read(
        contents=[[TextContent("a")], [TextContent("a"), TextContent("b")]], record_type="message"
    )
    assert one.record.content == "a"
    assert isinstance(two.record.content, tuple)


def test_image_parts_become_records_that_expire_with_their_message() -> None:
    """An image in a message can be found by its description, and lives no longer than the message."""
    part = ImageContent(b"x", ImageMimeType.PNG, "a bike", id="i1")
    message, image = read(
        contents=[[part]], record_type="message", record_ids="m1", user_ids="u", thread_ids="t", ttl_days=1
    )
    assert (image.record.id, image.record.message_id, image.record.user_id) == ("i1", "m1", "u")
    assert image.record.content == "a bike"
    assert image.record.expires_at == message.record.expires_at is not None


def test_add_returns_the_ids_of_what_was_given(store: SQLiteStore) -> None:
    """Image parts are stored beside their message, but are no results of the call."""
    part = ImageContent(b"x", ImageMimeType.PNG, "a bike", id="i1")
    assert store.add([[part]], "message", record_ids="m1") == ["m1"]
    assert store.get("image", "i1") is not None


def test_one_bad_record_stores_none(store: SQLiteStore) -> None:
    """A batch is one transaction."""
    store.add(["a"], "fact", record_ids="1")
    with pytest.raises(ConflictError):
        store.add(["b", "c"], "fact", record_ids=["2", "1"])
    assert [record.id for record in store.list("fact")] == ["1"]


def test_statuses_are_stored(store: SQLiteStore) -> None:
    """A record may be added as invalid."""
    store.add(["a"], "fact", record_ids="1", statuses=RecordStatus.INVALID)
    found = store.get("fact", "1")
    assert found is not None
    assert found.status is RecordStatus.INVALID
