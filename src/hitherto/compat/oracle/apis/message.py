"""Names of ``oracleagentmemory.apis.message``."""

from __future__ import annotations

from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent

__all__ = [
    "ImageContent",
    "ImageMimeType",
    "Message",
    "MessageContent",
    "TextContent",
]
