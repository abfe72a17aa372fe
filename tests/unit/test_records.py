"""Records: frozen values, one class per type."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError
from hitherto.messages import ImageMimeType, TextContent
from hitherto.records import (
    MEMORY_TYPES,
    PROFILE_TYPES,
    RECORD_CLASSES,
    SEARCHABLE_TYPES,
    FactRecord,
    ImageRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    RecordStatus,
    ScopedRecord,
    ThreadRecord,
    ThreadSummaryRecord,
    UserProfileRecord,
    build_record,
)

NEEDED: dict[str, dict[str, Any]] = {"message": {"seq_no": 1}, "image": {"mime_type": ImageMimeType.PNG}}


@pytest.fixture(params=sorted(RECORD_CLASSES))
def record(request: pytest.FixtureRequest) -> Record:
    """Return a record of each type."""
    return build_record(request.param, id="x", metadata={"k": [1]}, **NEEDED.get(request.param, {}))


def test_a_class_says_its_type(record: Record) -> None:
    """A record's type is that of its class, and cannot be given."""
    assert RECORD_CLASSES[record.record_type] is type(record)
    with pytest.raises(TypeError):
        type(record)(id="x", record_type="memory", **NEEDED.get(record.record_type, {}))


def test_records_are_frozen_values(record: Record) -> None:
    """A record cannot be changed and has no room for anything else; copies and pickles are equal."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.content = "other"  # type: ignore[misc]
    assert not hasattr(record, "__dict__")
    assert copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert dataclasses.replace(record, timestamp="now").timestamp == "now"


def test_equal_fields_in_another_class_are_not_equal() -> None:
    """A fact is not a memory with the same text."""
    assert FactRecord("x", content="c") != MemoryRecord("x", content="c")
    assert MemoryRecord("x", content="c") == MemoryRecord("x", content="c")


def test_a_record_without_dicts_can_be_a_key() -> None:
    """Hashing fails only where a field cannot be hashed."""
    assert len({MemoryRecord("x"), MemoryRecord("x"), FactRecord("x")}) == 2
    with pytest.raises(TypeError):
        hash(MemoryRecord("x", metadata={}))


def test_groups_of_types() -> None:
    """Four types are memories, two are profiles; threads and summaries are not searched."""
    assert {"memory", "fact", "guideline", "preference"} == MEMORY_TYPES
    assert all(issubclass(RECORD_CLASSES[name], MemoryRecord) for name in MEMORY_TYPES)
    assert not any(issubclass(RECORD_CLASSES[name], ScopedRecord) for name in PROFILE_TYPES)
    assert set(RECORD_CLASSES) - SEARCHABLE_TYPES == {"thread", "thread_summary"}


def test_a_message_keeps_its_parts_as_a_tuple() -> None:
    """Parts given as a list are a tuple afterwards; the number must be named."""
    part = TextContent("a")
    assert MessageRecord("m", content=[part], seq_no=3).content == (part,)  # type: ignore[arg-type]
    assert MessageRecord("m", seq_no=0).content == ""
    with pytest.raises(TypeError, match="seq_no"):
        MessageRecord("m")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, ArgumentTypeError),
        (5, ArgumentTypeError),
        (["a"], ArgumentTypeError),
        ([], InvalidArgumentError),
    ],
)
def test_bad_message_content_is_refused(content: Any, error: type[Exception]) -> None:
    """Content is a text or at least one part."""
    with pytest.raises(error, match="content"):
        MessageRecord("m", content=content, seq_no=1)


@pytest.mark.parametrize("mime_type", ["image/png", None, "image/gif"])
def test_an_image_needs_the_enum(mime_type: Any) -> None:
    """A MIME type is an ImageMimeType, not its text."""
    with pytest.raises(ArgumentTypeError, match="mime_type"):
        ImageRecord("i", mime_type=mime_type)


def test_building_drops_what_a_class_has_not() -> None:
    """Scope is dropped for profiles and unknown types, a number and a role for anything but messages."""
    scope = {"user_id": "u", "agent_id": "a", "thread_id": "t"}
    assert build_record("user_profile", id="u", **scope) == UserProfileRecord("u")
    assert build_record("episode", id="x", **scope) == Record("x", "episode")
    assert build_record("memory", id="x", seq_no=3, role="user", **scope) == MemoryRecord("x", **scope)


def test_building_a_message_needs_its_number() -> None:
    """A message without a sequence number is refused by name."""
    with pytest.raises(InvalidArgumentError, match="seq_no"):
        build_record("message", id="m", content="hi")
    assert build_record("message", id="m", seq_no=0) == MessageRecord("m", seq_no=0)


def test_building_with_an_unknown_field_or_without_a_format_fails() -> None:
    """A misspelt field is not swallowed, and an image needs its format."""
    with pytest.raises(TypeError, match="zzz"):
        build_record("memory", id="x", zzz=1)
    with pytest.raises(TypeError, match="mime_type"):
        build_record("image", id="x")


def test_a_summary_made_of_a_text_holds_it_as_an_object() -> None:
    """A summary's content is an object; a text becomes its "text"."""
    assert build_record("thread_summary", id="s", content="all of it").content == {"text": "all of it"}
    covered = ThreadSummaryRecord("s", content={"text": "a"}, _covered_through_seq_no=7)
    assert covered == ThreadSummaryRecord("s", content={"text": "a"})
    assert "7" not in repr(covered)


def test_a_thread_keeps_settings_and_state_as_given() -> None:
    """Runtime settings and state are opaque."""
    config: dict[str, Any] = {"a": [1]}
    assert ThreadRecord("t", runtime_config=config).runtime_config is config


@pytest.mark.parametrize("member", [*RecordStatus, *ImageMimeType], ids=str)
def test_enums_are_text_but_show_their_name(member: RecordStatus | ImageMimeType) -> None:
    """A member equals its text, and reads the same in str and format in every version of Python."""
    assert member == member.value
    assert f"{member}" == str(member) == f"{type(member).__name__}.{member.name}"
    assert f"{member:>30}".strip() == str(member)
    assert pickle.loads(pickle.dumps(member)) is member
