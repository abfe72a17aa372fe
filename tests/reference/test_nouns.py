"""The nouns have the recorded fields, defaults and behaviour, but for the named exceptions."""

from __future__ import annotations

import dataclasses
import enum
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.reference.recorded import decode

from hitherto import lifetime, messages, records, relations, scope
from hitherto.models import base as models
from hitherto.records import MEMORY_TYPES, RECORD_CLASSES, RecordStatus, build_record
from hitherto.relations import OPPOSITE_TYPES, MemoryLink
from hitherto.search import config
from hitherto.store import base as stores
from hitherto.store.sql import migrate

MODULES: tuple[ModuleType, ...] = (
    records,
    messages,
    relations,
    scope,
    lifetime,
    models,
    stores,
    config,
    migrate,
)
NAMES = {"LlmResponse": "LLMResponse"}
#: Enums of what this package does not have.
ABSENT = {
    "SearchIndexSyncMode",  # a commit is searchable at once
    "MemoryExtractionMode",
    "MemoryLinkExtractionMode",
    "MemoryExtractionImageContext",
    "BackgroundExtractionQueueFullBehavior",
    "OperationKind",
}
#: Fields of its own that the recorded package keeps and this one does without.
PRIVATE = {"_validated_image", "_expires_at", "_initialized"}


@pytest.fixture
def recorded(reference_data: Path) -> Any:
    """Return what was recorded of the nouns."""
    path = reference_data / "vectors" / "search" / "records_enums_messages.json"
    return json.loads(path.read_text(encoding="utf-8"))


def named(name: str) -> Any:
    """Return our class of a recorded name, or None."""
    name = NAMES.get(name, name)
    return next((vars(module)[name] for module in MODULES if name in vars(module)), None)


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Return a field's default in the recorded form."""
    if field.default_factory is not dataclasses.MISSING:
        return "<factory>"
    return "<required>" if field.default is dataclasses.MISSING else field.default


def shape(cls: Any) -> list[tuple[Any, ...]]:
    """Return the fields of a class in the recorded form."""
    return [
        (field.name, field.init, field.kw_only, field.repr, field.compare, default_of(field))
        for field in dataclasses.fields(cls)
        if field.name not in PRIVATE
    ]


def test_enums_have_the_recorded_members(recorded: Any) -> None:
    """Members, values, text and format are the recorded ones, and those are texts that were."""
    assert {name for name in recorded["enums"] if named(name) is None} == ABSENT
    for name in recorded["enums"].keys() - ABSENT:
        cls, wanted = named(name), recorded["enums"][name]
        assert {member.name: member.value for member in cls} == wanted["members"], name
        assert issubclass(cls, str) == wanted["is_str"], name
        assert issubclass(cls, enum.Enum)
        assert {member.name: str(member) for member in cls} == wanted["str"]
        assert {member.name: f"{member}" for member in cls} == wanted["format"]


def test_classes_have_the_recorded_fields(recorded: Any) -> None:
    """Every class has the recorded fields in their order, with their defaults, and is frozen where it was."""
    assert [name for name in recorded["classes"] if named(name) is None] == []
    for name, wanted in recorded["classes"].items():
        cls = named(name)
        fields = [
            (
                *(field[key] for key in ("name", "init", "kw_only", "repr", "compare")),
                decode(field["default"]),
            )
            for field in wanted["fields"]
            if field["name"] not in PRIVATE
        ]
        assert shape(cls) == fields, name
        assert cls.__dataclass_params__.frozen == wanted["frozen"], name
        assert (cls.__hash__ is not None) == wanted["hashable_type"], name
        assert ("__slots__" in vars(cls)) == wanted["slots"], name
        ours = [base.__name__ for base in cls.__mro__[1:] if base is not object]
        assert ours == [NAMES.get(base, base) for base in wanted["bases"]], name


def test_constants_are_the_recorded_ones(recorded: Any) -> None:
    """Types of memories, classes of types and reverses of links."""
    constants = recorded["constants"]
    assert sorted(MEMORY_TYPES) == constants["MEMORY_TYPES"]
    assert {name: cls.__name__ for name, cls in RECORD_CLASSES.items()} == constants["record_class_by_type"]
    assert dict(OPPOSITE_TYPES) == constants["opposites"]


def outcome(call: Any) -> Any:
    """Return what a call gives, or the names of the builtin errors that it raises."""
    try:
        return call()
    except (TypeError, ValueError) as error:
        return {cls.__name__ for cls in type(error).__mro__}


def agrees(wanted: dict[str, Any], ours: Any) -> bool:
    """Return whether an outcome is the recorded one."""
    if "error" in wanted:
        return isinstance(ours, set) and wanted["error"] in ours
    return bool(decode(wanted["ok"]) == ours)


def test_records_are_built_as_recorded(recorded: Any) -> None:
    """build_record gives the recorded record, or an error of the recorded kind."""
    fields = {
        "content": "c",
        "timestamp": "ts",
        "metadata": {"m": 1},
        "status": RecordStatus.INVALID,
        "thread_id": "t",
        "user_id": "u",
        "agent_id": "a",
    }
    extra = {
        "message": {"seq_no": 1, "role": "r"},
        "image": {"mime_type": messages.ImageMimeType.PNG},
    }
    compared = 0
    for case in recorded["behaviour"]:
        if not case["case"].startswith("build_record "):
            continue
        kind = json.loads(
            case["case"].removeprefix("build_record ").replace("'", '"').replace("None", "null")
        )
        wanted = decode(case["result"]["ok"])
        given = {**fields, **extra.get(kind, {})}
        if kind == "image":
            given["mime_type"] = wanted.mime_type
            given |= {"message_id": wanted.message_id, "bytes": wanted.bytes}
        assert build_record(kind, id="x", **given) == wanted, case["case"]
        compared += 1
    assert compared > 12


def test_links_are_checked_as_recorded(recorded: Any) -> None:
    """A link of each kind with each reverse is accepted or refused as recorded."""
    compared = 0
    for case in recorded["behaviour"]:
        words = case["case"].split()
        if words[0] != "MemoryLink" or len(words) != 3 or words[1] not in OPPOSITE_TYPES:
            continue
        ours = outcome(
            lambda words=words: MemoryLink(
                "r", "a", "memory", "b", "fact", words[1], words[2], None, None, "c"
            )
        )
        assert agrees(case["result"], ours), case["case"]
        compared += 1
    assert compared == 10


def test_values_read_as_recorded(recorded: Any) -> None:
    """The repr of each noun is the recorded one."""
    png = messages.ImageMimeType.PNG
    values = {
        "MemoryRecord": records.MemoryRecord("m", content="c"),
        "MessageRecord": records.MessageRecord("m", content="hi", role="user", seq_no=3),
        "Message": messages.Message("user", "hi"),
        "TextContent": messages.TextContent("x", id="i"),
        "ImageContent": messages.ImageContent(b"1234", png, "d", id="i"),
        "ImageRecord": records.ImageRecord("i", mime_type=png, bytes=b"12"),
        "ThreadSummaryRecord": records.ThreadSummaryRecord("s", content={"text": "x"}),
        "RecordRelation": relations.RecordRelation(
            "r", "a", "memory", "b", "memory", "t", "o", None, None, "c"
        ),
        "UserProfileRecord": records.UserProfileRecord("u", content="p"),
    }
    wanted = {
        case["case"][5:]: case["result"]["ok"]
        for case in recorded["behaviour"]
        if case["case"].startswith("repr ")
    }
    assert {name: repr(value) for name, value in values.items()} == wanted


def test_messages_are_checked_as_recorded(recorded: Any) -> None:
    """Roles, texts and parts are accepted or refused as recorded, with an error of the recorded kind."""
    part = messages.TextContent("a", id="i")
    image = messages.ImageContent(None, messages.ImageMimeType.PNG, id="j")
    calls = {
        "Message role None": lambda: messages.Message(None, "x"),  # type: ignore[arg-type]
        "Message role 5": lambda: messages.Message(5, "x"),  # type: ignore[arg-type]
        "Message role ''": lambda: messages.Message("", "x").role,
        "Message role '  '": lambda: messages.Message("  ", "x").role,
        "Message role 'custom'": lambda: messages.Message("custom", "x").role,
        "Message content str x": lambda: messages.Message("u", "x").content,
        "Message content str ": lambda: messages.Message("u", "").content,
        "Message content NoneType None": lambda: messages.Message("u", None),  # type: ignore[arg-type]
        "Message content int 5": lambda: messages.Message("u", 5),  # type: ignore[arg-type]
        "Message content list []": lambda: messages.Message("u", []),  # type: ignore[arg-type]
        "Message content list ['a']": lambda: messages.Message("u", ["a"]),  # type: ignore[arg-type]
        "Message content generator generator": lambda: messages.Message("u", (p for p in [part])).content,  # type: ignore[arg-type]
        "Message content list [{'$TextContent': {'id': 'i', 'timestamp': None, 'text': 'a'}}, {'$Im": (
            lambda: messages.Message("u", [part, image]).content  # type: ignore[arg-type]
        ),
        "Message content bytes <bytes len=1>": lambda: messages.Message("u", b"x"),  # type: ignore[arg-type]
        "TextContent None": lambda: messages.TextContent(None),  # type: ignore[arg-type]
        "TextContent ''": lambda: messages.TextContent("").text,
        "MessageRecord content None": lambda: records.MessageRecord("m", content=None, seq_no=1),  # type: ignore[arg-type]
        "MessageRecord content []": lambda: records.MessageRecord("m", content=[], seq_no=1),  # type: ignore[arg-type]
        "MessageRecord content int": lambda: records.MessageRecord("m", content=5, seq_no=1),  # type: ignore[arg-type]
        "MessageRecord default content": lambda: records.MessageRecord("m", seq_no=1).content,
        "MessageRecord no seq": lambda: records.MessageRecord("m"),  # type: ignore[call-arg]
        "ImageRecord mime str": lambda: records.ImageRecord("i", mime_type="image/png"),  # type: ignore[arg-type]
        "ImageRecord no mime": lambda: records.ImageRecord("i"),  # type: ignore[call-arg]
        "build message no seq": lambda: build_record("message", id="x"),
        "build image no mime": lambda: build_record("image", id="x"),
        "build unknown kw": lambda: build_record("memory", id="x", zzz=1),
        "build memory seq ignored": lambda: build_record("memory", id="x", seq_no=5),
        "build memory linked": lambda: build_record("memory", id="x", linked_results=[]),
        "build profile with scope": lambda: build_record("user_profile", id="x", user_id="u"),
    }
    wanted = {case["case"]: case["result"] for case in recorded["behaviour"]}
    assert calls.keys() <= wanted.keys()
    assert [name for name, call in calls.items() if not agrees(wanted[name], outcome(call))] == []
