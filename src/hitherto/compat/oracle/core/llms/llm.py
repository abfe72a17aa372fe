"""Names of ``oracleagentmemory.core.llms.llm``."""

from __future__ import annotations

from hitherto.images import ImageInputLimitConfig
from hitherto.messages import ImageContent, ImageMimeType, Message, TextContent
from hitherto.models.base import LLM as ILlm
from hitherto.models.base import LLMResponse as LlmResponse
from hitherto.models.litellm import Llm, LlmApiType

__all__ = [
    "ILlm",
    "ImageContent",
    "ImageInputLimitConfig",
    "ImageMimeType",
    "Llm",
    "LlmApiType",
    "LlmResponse",
    "Message",
    "TextContent",
]
