"""Names of ``oracleagentmemory.core.imageinputlimitconfig``."""

from __future__ import annotations

from hitherto.images import ImageInputLimitConfig
from hitherto.messages import ImageContent, Message

__all__ = [
    "ImageContent",
    "ImageInputLimitConfig",
    "Message",
]
