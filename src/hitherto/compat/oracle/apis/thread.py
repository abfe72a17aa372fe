"""Names of ``oracleagentmemory.apis.thread``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from hitherto.extraction.cards import ContextCard
from hitherto.extraction.summaries import Summary
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageMimeType, Message
from hitherto.records import ImageRecord, RecordStatus
from hitherto.scope import SearchScope
from hitherto.search.result import SearchResult
from hitherto.thread import Thread as IThread


class _RoleAndContent(TypedDict):
    role: str
    content: str | list[Mapping[str, Any]] | None


class ThreadMessageTypedDictT(_RoleAndContent, total=False):
    """A message of a thread as a dict.

    Attributes:
        id: Its id.
        timestamp: Its own time.
        metadata: A JSON object.
    """

    id: str | None
    timestamp: str | None
    metadata: dict[str, Any] | None


NormalizedMessageT = ThreadMessageTypedDictT

__all__ = [
    "ContextCard",
    "IThread",
    "ImageMimeType",
    "ImageRecord",
    "Message",
    "NormalizedMessageT",
    "RecordStatus",
    "SearchResult",
    "SearchScope",
    "Summary",
    "ThreadMessageTypedDictT",
    "TimeToLiveAnchor",
]
