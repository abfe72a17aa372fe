"""Reading recorded values: what stands for a sentinel, an enum or a dataclass becomes that again."""

from __future__ import annotations

import re
from typing import Any

from hitherto import messages, records, relations
from hitherto.notset import NOT_SET
from hitherto.search.result import SearchResultFormatConfig

_ENUM = re.compile(r"<(RecordStatus|ImageMimeType)\.(\w+)>")
_ENUMS = {"RecordStatus": records.RecordStatus, "ImageMimeType": messages.ImageMimeType}


def decode(value: Any) -> Any:
    """Return a recorded value as the Python value that it stands for."""
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and next(iter(value)).startswith("$"):
        ((name, inner),) = value.items()
        made = _special(name[1:], inner)
        if made is not None:
            return made
    return {key: decode(item) for key, item in value.items()}


def _scalar(value: str) -> Any:
    if value in {"<NOT_SET>", "<_NotSetMarker>"}:
        return NOT_SET
    if match := _ENUM.fullmatch(value):
        return _ENUMS[match[1]][match[2]]
    if value.startswith("<float:"):
        return float(value[7:-1])
    return b"x" * int(value[11:-1]) if value.startswith("<bytes len=") else value


def _special(name: str, inner: Any) -> Any:
    if name in {"tuple", "set"}:
        return (tuple if name == "tuple" else set)(decode(inner))
    if name.endswith("SearchResultFormatConfig"):
        return SearchResultFormatConfig(**decode(inner))
    for module in (records, messages, relations):
        cls = getattr(module, name, None)
        if isinstance(cls, type):
            fields = decode(inner)
            fields.pop("_validated_image", None)
            if issubclass(cls, records.Record) and cls not in (records.Record, records.ScopedRecord):
                fields.pop("record_type", None)
            return cls(**fields)
    return None
