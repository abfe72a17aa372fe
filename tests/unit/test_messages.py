"""Messages and their parts."""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any

import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError
from hitherto.messages import (
    ImageContent,
    ImageMimeType,
    Message,
    MessageContent,
    TextContent,
    content_parts,
    content_text,
    new_id,
)

PNG = ImageMimeType.PNG


def test_ids_are_distinct_uuids_in_order_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made ids never repeat, and a millisecond later they are greater."""
    made = [new_id() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert all(str(uuid.UUID(item)) == item for item in made)
    assert {uuid.UUID(item).variant for item in made} == {uuid.RFC_4122}
    monkeypatch.setattr("time.time_ns", lambda: 1_800_000_000_000_000_000)
    early = [new_id() for _ in range(50)]
    monkeypatch.setattr("time.time_ns", lambda: 1_800_000_000_001_000_000)
    assert max(early) < min(new_id() for _ in range(50))


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "Ana", "", "  "])
def test_any_word_is_a_role(role: str) -> None:
    """Roles are free."""
    assert Message(role, "hi").role == role


@pytest.mark.parametrize("role", [None, 5])
def test_a_role_is_text(role: Any) -> None:
    """A role that is no text is refused."""
    with pytest.raises(ArgumentTypeError, match="role"):
        Message(role, "hi")


def test_content_is_a_text_or_a_tuple_of_parts() -> None:
    """Any iterable of parts is kept as a tuple; the same part id twice is no error here."""
    parts = (TextContent("a", id="i"), TextContent("b", id="i"))
    assert Message("user", iter(parts)).content == parts  # type: ignore[arg-type]
    assert Message("user", "").content == ""


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, ArgumentTypeError),
        (5, ArgumentTypeError),
        (b"x", ArgumentTypeError),
        (["a"], ArgumentTypeError),
        ([{"type": "text", "text": "x"}], ArgumentTypeError),
        ([], InvalidArgumentError),
        ((), InvalidArgumentError),
    ],
)
def test_other_content_is_refused(content: Any, error: type[Exception]) -> None:
    """Neither nothing, nor bytes, nor bare texts and dicts in a list are content."""
    with pytest.raises(error, match="content"):
        Message("user", content)
    with pytest.raises(error, match="content"):
        content_parts(content)


def test_the_id_is_no_part_of_equality() -> None:
    """Two messages that say the same are equal, whatever their ids."""
    assert Message("user", "a", id="1") == Message("user", "a", id="2")
    assert Message("user", "a") != Message("user", "b")
    assert Message("user", "a").id is None


def test_messages_and_parts_are_frozen() -> None:
    """A message handed on cannot be changed behind anybody's back."""
    for value, name in ((Message("user", "a"), "role"), (TextContent("a"), "text")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, "x")
        assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("text", [None, 5, b"x"])
def test_a_text_part_holds_text(text: Any) -> None:
    """Anything but a str is refused."""
    with pytest.raises(ArgumentTypeError, match="text"):
        TextContent(text)


def test_parts_get_ids_of_their_own() -> None:
    """Two parts made alike differ in their ids, which are given by name only."""
    assert TextContent("a") != TextContent("a")
    assert TextContent("a", id="i") == TextContent("a", id="i")
    with pytest.raises(TypeError):
        TextContent("a", "i")  # type: ignore[call-arg, misc]
    with pytest.raises(TypeError):
        MessageContent()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"bytes": "x"}, "bytes"),
        ({"bytes": bytearray(b"x")}, "bytes"),
        ({"mime_type": "image/png"}, "mime_type"),
        ({"mime_type": None}, "mime_type"),
        ({"description": 5}, "description"),
    ],
)
def test_an_image_part_checks_its_fields(fields: dict[str, Any], argument: str) -> None:
    """Bytes are bytes or None, the format is the enum, a description is text or None."""
    with pytest.raises(ArgumentTypeError, match=argument):
        ImageContent(**{"bytes": b"x", "mime_type": PNG, **fields})


def test_parts_are_written_without_bytes() -> None:
    """A part as a JSON object has everything but an image's bytes."""
    text = TextContent("hello", id="p1", timestamp="2026")
    assert text.to_dict() == {"type": "text", "id": "p1", "timestamp": "2026", "text": "hello"}
    image = ImageContent(b"\xff", PNG, "a bicycle", id="p2").to_dict()
    assert image == {
        "type": "image",
        "id": "p2",
        "timestamp": None,
        "mime_type": "image/png",
        "description": "a bicycle",
    }
    json.dumps([text.to_dict(), image])


def test_the_text_of_content() -> None:
    """A text is itself; parts give their texts, one per line; an object, None or images alone give nothing."""
    image = ImageContent(None, PNG, "a bicycle")
    assert content_text("a\nb") == "a\nb"
    assert content_text((TextContent("a"), image, TextContent("b"))) == "a\nb"
    assert content_text([TextContent("a")]) == "a"
    assert content_text((image,)) == content_text(None) == content_text({"text": "x"}) == ""
