"""Turning values of the original package into ours and back: its classes and ours have the same names and fields."""

from __future__ import annotations

import dataclasses
import enum
from types import ModuleType
from typing import Any, Final

from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageContent, ImageMimeType, Message, TextContent
from hitherto.notset import NOT_SET
from hitherto.records import RecordStatus
from hitherto.store.batches import PendingRecordBatch

ORIGINAL: Final = "oracleagentmemory"

_OURS: Final[dict[str, type]] = {
    cls.__name__: cls
    for cls in (
        ImageContent,
        ImageMimeType,
        Message,
        PendingRecordBatch,
        RecordStatus,
        TextContent,
        TimeToLiveAnchor,
    )
}


def from_original(value: Any) -> Any:
    """Return our value for one of the original package; what is neither stays as it is.

    Args:
        value: An argument of a store's method: NOT_SET, an enum's member, a part of a message, a batch, or a list,
            tuple or set of these.
    """
    cls = type(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return cls(from_original(item) for item in value)
    if cls.__module__.split(".")[0] != ORIGINAL:
        return value
    if cls.__name__ == "_NotSetMarker":
        return NOT_SET
    ours = _OURS.get(cls.__name__)
    if ours is None:
        return value
    if isinstance(value, enum.Enum):
        return ours(value.value)
    return _copied(value, ours, from_original)


def to_original(value: Any, *modules: ModuleType) -> Any:
    """Return the original package's value for one of ours.

    Args:
        value: A record, a relation, a part of a message, an enum's member, or a list or tuple of these.
        *modules: The modules of the original package that hold its classes.
    """

    def convert(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(convert(item) for item in value)
        name = type(value).__name__
        theirs = next((getattr(module, name) for module in modules if hasattr(module, name)), None)
        if theirs is None:
            return value
        return theirs(value.value) if isinstance(value, enum.Enum) else _copied(value, theirs, convert)

    return convert(value)


def _copied(value: Any, cls: Any, convert: Any) -> Any:
    wanted = {field.name for field in dataclasses.fields(cls) if field.init}
    given = {field.name for field in dataclasses.fields(value) if field.init}
    return cls(**{name: convert(getattr(value, name)) for name in wanted & given})
