"""Images: stored, described, found, read by the model, and refused where they would do harm."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

from hitherto import (
    AgentMemory,
    ImageContent,
    ImageInputLimitConfig,
    ImageMimeType,
    JobState,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    Message,
    ModelError,
    NotFoundError,
    TextContent,
)
from hitherto.images import detect_mime_type
from hitherto.testing.scripted import TaskLLM


def encoded(kind: str, **options: Any) -> bytes:
    """Return a small image of a format."""
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2), "red").save(buffer, kind, **options)
    return buffer.getvalue()


PNG = encoded("PNG")


def bomb() -> bytes:
    """Return a PNG of few bytes that says it has 400 million pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 2501 * 200)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def client(
    model: TaskLLM | None, *, mode: str = "INLINE", context: str = "disabled", **options: Any
) -> AgentMemory:
    """Return a client without summaries."""
    config = MemoryExtractionConfig(
        extraction_mode=MemoryExtractionMode(mode),
        enable_context_summary=False,
        memory_extraction_image_context=MemoryExtractionImageContext(context),
    )
    return AgentMemory(":memory:", embedder=None, llm=model, memory_extraction_config=config, **options)


@pytest.mark.parametrize(
    ("kind", "mime_type"),
    [("PNG", ImageMimeType.PNG), ("JPEG", ImageMimeType.JPEG), ("WEBP", ImageMimeType.WEBP)],
)
def test_the_format_is_known_by_the_first_bytes(kind: str, mime_type: ImageMimeType) -> None:
    """The three formats are recognised, cut ones too; the stored image says which it is."""
    data = encoded(kind)
    assert detect_mime_type(data) is mime_type
    assert detect_mime_type(data[:16]) is mime_type
    with client(None) as memory:
        image = memory.add_image(data, "a red square", user_id="u")
        (record,) = memory.list_images(user_id="u", image_id=image, include_bytes=True)
        assert (record.mime_type, record.bytes, record.content) == (mime_type, data, "a red square")


@pytest.mark.parametrize(
    "data", [encoded("GIF"), encoded("BMP"), b"<svg/>", b"", "text", bytearray(PNG), None]
)
def test_what_is_no_image_is_refused(data: Any) -> None:
    """Other formats, and what is no bytes, are named and not stored."""
    with client(None) as memory:
        with pytest.raises(ValueError, match="image must be"):
            memory.add_image(data, "x", user_id="u")
        assert memory.list_images(user_id="u") == []


def test_images_belong_to_somebody() -> None:
    """A client names a user, agent or thread; a thread's images are its own."""
    with client(None) as memory:
        for scope in ({}, {"user_id": None}):
            with pytest.raises(ValueError, match="user_id"):
                memory.add_image(PNG, "x", **scope)
            with pytest.raises(ValueError, match="user_id"):
                memory.list_images(**scope)
        thread = memory.create_thread(user_id="u", agent_id="a", thread_id="t")
        other = memory.create_thread(user_id="u", thread_id="s")
        mine = thread.add_image(PNG, "mine", image_id="i")
        for wrong in ({"user_id": "w"}, {"user_id": None}, {"thread_id": "s"}):
            with pytest.raises(ValueError, match="the thread's"):
                thread.add_image(PNG, "x", **wrong)
        assert [image.id for image in thread.list_images()] == [mine]
        assert other.list_images() == []
        assert other.delete_image(mine) == 0
        with pytest.raises(NotFoundError):
            other.update_image(mine, description="stolen")
        with pytest.raises(ValueError, match="image_id"):
            thread.list_images(include_bytes=True)
        assert thread.update_image(mine, description="still mine", metadata={"a": 1}) == mine
        assert [image.content for image in thread.list_images(metadata_filter={"a": 1})] == ["still mine"]
        assert thread.delete_image(mine) == 1
        assert thread.delete_image(mine) == 0


def test_descriptions_are_found() -> None:
    """A search finds an image by what its description says, an old description no more."""
    with client(None) as memory:
        image = memory.add_image(PNG, "a red bicycle by the river", user_id="u")
        assert [result.id for result in memory.search("bicycle", user_id="u")] == [image]
        memory.update_image(image, image=encoded("JPEG"), description="a green boat")
        assert memory.search("bicycle", user_id="u") == []
        found = memory.search("boat", user_id="u")[0].record
        assert found.mime_type is ImageMimeType.JPEG  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="mime_type"):
            memory.update_image(image, mime_type=ImageMimeType.PNG)


def test_a_description_that_no_store_takes_is_repaired() -> None:
    """NUL and lone surrogates in what a model says of an image are replaced."""
    with client(TaskLLM(write="a red\0 square\ud800")) as memory:
        memory.add_image(PNG, user_id="u")
        assert [image.content for image in memory.list_images(user_id="u")] == ["a red\ufffd square\ufffd"]


def test_the_model_says_what_is_to_be_seen() -> None:
    """Without a description the model gives one, at once or in the background; without a model it is needed."""
    for mode in ("INLINE", "BACKGROUND"):
        with client(TaskLLM(write="  A red square  "), mode=mode) as memory:
            image = memory.add_image(PNG, user_id="u")
            memory.wait_for_memory_extraction(10)
            assert [record.content for record in memory.list_images(user_id="u")] == ["A red square"]
            assert [result.id for result in memory.search("square", user_id="u")] == [image]
    with client(None) as memory:
        for description in ({}, {"description": None}):
            with pytest.raises(ValueError, match="description"):
                memory.add_image(PNG, user_id="u", **description)
        with pytest.raises(TypeError, match="description"):
            memory.add_image(PNG, 5, user_id="u")  # type: ignore[arg-type]
        image = memory.add_image(PNG, "", user_id="u")
        with pytest.raises(ValueError, match="description"):
            memory.update_image(image, description=None)


def test_a_failing_model_stores_nothing_at_once_and_keeps_the_job_in_the_background() -> None:
    """The caller who waits gets the error; the image that was stored already stays, and can be described later."""
    with client(TaskLLM(write=ModelError("down"))) as memory:
        with pytest.raises(ModelError):
            memory.add_image(PNG, user_id="u")
        assert memory.list_images(user_id="u") == []
    answers: list[Any] = [ModelError("down"), "A red square"]
    with client(TaskLLM(write=lambda _: answers.pop(0)), mode="BACKGROUND") as memory:
        memory.add_image(PNG, user_id="u")
        memory.wait_for_memory_extraction(10)
        (job,) = memory.list_extractions()
        assert (job.kind, job.state) == ("caption", JobState.FAILED)
        assert memory.retry_extractions() == 1
        memory.wait_for_memory_extraction(10)
        assert [record.content for record in memory.list_images(user_id="u")] == ["A red square"]


@pytest.mark.parametrize("data", [bomb(), PNG[:40], PNG + b"\0" * 2000])
def test_what_would_do_harm_does_not_reach_the_model(data: bytes) -> None:
    """A decompression bomb, a broken image and one that is too large are refused before they are decoded."""
    model = TaskLLM()
    limits = ImageInputLimitConfig(max_raw_image_bytes=1500)
    with client(model, image_input_limit_config=limits) as memory:
        with pytest.raises(ValueError, match="image"):
            memory.add_image(data, user_id="u")
        assert model.calls == []
        assert memory.list_images(user_id="u") == []


def talk(memory: AgentMemory, *parts: Any) -> Any:
    """Return a thread with one message of these parts."""
    thread = memory.create_thread(user_id="u", thread_id="t")
    thread.add_messages([Message("user", parts)])
    return thread


@pytest.mark.parametrize(
    ("context", "shown", "images"),
    [
        ("disabled", "look", 0),
        ("caption", "look [Image description: a cat &lt;x&gt;]", 0),
        ("image", "look", 1),
    ],
)
def test_images_take_part_in_extraction_as_configured(context: str, shown: str, images: int) -> None:
    """Left out, as descriptions in their place, or as images beside the text."""
    model = TaskLLM()
    with client(model, context=context) as memory:
        talk(memory, TextContent("look"), ImageContent(PNG, ImageMimeType.PNG, "a cat <x>"))
        ((_, messages),) = [call for call in model.calls if call[0] == "extract"]
        content = messages[-1]["content"]
        assert f"<content>{shown}</content>" in str(content)
        assert len(messages[-1].get("images", ())) == images


def test_images_of_messages_are_described_before_extraction() -> None:
    """A part without a description gets one, which is stored; if that fails, the words are read all the same."""
    model = TaskLLM(write="GEN")
    with client(model, context="caption") as memory:
        thread = talk(memory, TextContent("look"), ImageContent(PNG, ImageMimeType.PNG))
        assert model.tasks == ["write", "extract"]
        assert "look [Image description: GEN]" in model.asked("extract")[0]
        (message,) = thread.get_messages()
        assert message.content[1].description == "GEN"
        assert memory.search("GEN", user_id="u", record_types=["image"])
    model = TaskLLM(write=ModelError("blind"))
    with client(model) as memory:
        talk(memory, TextContent("look"), ImageContent(PNG, ImageMimeType.PNG))
        assert "look" in model.asked("extract")[0]


def test_a_messages_images_go_with_it() -> None:
    """They are listed, may be described anew, and are neither deleted nor expire by themselves."""
    with client(None) as memory:
        thread = talk(memory, TextContent("look"), ImageContent(PNG, ImageMimeType.PNG, "a cat", id="i"))
        assert [image.id for image in thread.list_images()] == ["i"]
        with pytest.raises(ValueError, match="part of message"):
            memory.delete_image("i")
        memory.update_image("i", description="a dog")
        assert thread.get_messages()[0].content[1].description == "a dog"  # type: ignore[union-attr]
        with pytest.raises(ValueError, match="ttl_days"):
            memory.update_image("i", ttl_days=3)


@pytest.mark.parametrize("name", ["max_raw_image_bytes", "max_images_per_llm_request"])
@pytest.mark.parametrize("value", [0, -1, "x", None, True, 1.5, 10**12])
def test_limits_are_checked_when_made(name: str, value: Any) -> None:
    """A limit is an int from 1 to what there may be at most."""
    with pytest.raises(ValueError, match=name):
        ImageInputLimitConfig(**{name: value})
