"""Turning values of the original package into ours and back: its classes and ours have the same names and fields."""

from __future__ import annotations

import dataclasses
import enum
from types import ModuleType
from typing import Any, Final

from hitherto.filters import AllOf, ArrayContains, ArrayContainsAny, Equals, Filter, HasFields, Not, Test
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageContent, ImageMimeType, Message, TextContent
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import RECORD_CLASSES, MessageRecord, Record, RecordStatus
from hitherto.relations import MemoryLink, RecordRelation
from hitherto.store.batches import PendingRecordBatch

ORIGINAL: Final = "oracleagentmemory"

_OURS: Final[dict[str, type]] = {
    cls.__name__: cls
    for cls in (
        ImageContent,
        ImageMimeType,
        MemoryLink,
        Message,
        PendingRecordBatch,
        Record,
        RecordRelation,
        RecordStatus,
        TextContent,
        TimeToLiveAnchor,
        *RECORD_CLASSES.values(),
    )
}


def from_original(value: Any) -> Any:
    """Return our value for one of the original package; what is neither stays as it is.

    Args:
        value: What a store's method takes or returns: NOT_SET, an enum's member, a part of a message, a batch, a
            record, a relation, or a list, tuple or set of these. A message of one text comes as that text.
    """
    cls = type(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return cls(from_original(item) for item in value)
    # A program may have made subclasses of its own.
    names = [base.__name__ for base in cls.__mro__ if base.__module__.split(".")[0] == ORIGINAL]
    if names[:1] == ["_NotSetMarker"]:
        return NOT_SET
    ours = next((_OURS[name] for name in names if name in _OURS), None)
    if ours is None:
        return value
    if isinstance(value, enum.Enum):
        return ours(value.value)
    made = _copied(value, ours, from_original)
    return _plain_message(made) if isinstance(made, MessageRecord) else made


def _plain_message(record: MessageRecord) -> MessageRecord:
    content = record.content
    if isinstance(content, str) or len(content) > 1 or not isinstance(content[0], TextContent):
        return record
    return dataclasses.replace(record, content=content[0].text)


def to_original(value: Any, *modules: ModuleType) -> Any:
    """Return the original package's value for one of ours.

    Args:
        value: A record, a relation, a part of a message, an enum's member, NOT_SET, or a list or tuple of these.
        *modules: The modules of the original package that hold its classes.
    """

    def convert(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(convert(item) for item in value)
        name = "NOT_SET_MARKER" if value is NOT_SET else type(value).__name__
        theirs = next((getattr(module, name) for module in modules if hasattr(module, name)), None)
        if value is NOT_SET and theirs is not None:
            return theirs
        if theirs is None or name not in _OURS or isinstance(value, theirs):
            return value
        return theirs(value.value) if isinstance(value, enum.Enum) else _copied(value, theirs, convert)

    return convert(value)


def _copied(value: Any, cls: Any, convert: Any) -> Any:
    wanted = {field.name for field in dataclasses.fields(cls) if field.init}
    given = {field.name for field in dataclasses.fields(value) if field.init}
    return cls(**{name: convert(getattr(value, name)) for name in wanted & given})


def plain_filter(value: Filter | None | NotSetType) -> dict[str, Any] | None | NotSetType:
    """Return a parsed metadata filter as it is written, which is how the original takes it.

    Args:
        value: The filter; None and NOT_SET stay what they are.

    Examples:
        >>> from hitherto.filters import parse_filter
        >>> plain_filter(
        ...     parse_filter({"tags": {"$not": {"$array_contains": "work"}}, "author": {"name": "Ana"}})
        ... )
        {'tags': {'$not': {'$array_contains': ['work']}}, 'author': {'name': 'Ana'}}
    """
    return {key: _plain_test(test) for key, test in value.root.fields} if isinstance(value, Filter) else value


def _plain_test(test: Test) -> Any:
    if isinstance(test, Equals):
        return test.value
    if isinstance(test, ArrayContains):
        return {"$array_contains": list(test.values)}
    if isinstance(test, ArrayContainsAny):
        return {"$array_contains_any": list(test.values)}
    if isinstance(test, Not):
        return {"$not": _plain_test(test.test)}
    if isinstance(test, AllOf):
        return {name: operand for one in test.tests for name, operand in _plain_test(one).items()}
    assert isinstance(test, HasFields)  # noqa: S101  the last of the kinds
    return {key: _plain_test(one) for key, one in test.fields}
