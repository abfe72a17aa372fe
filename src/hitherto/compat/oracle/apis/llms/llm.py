"""Names of ``oracleagentmemory.apis.llms.llm``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from hitherto.messages import Message
from hitherto.models.base import LLM as ILlm
from hitherto.models.base import LLMResponse as LlmResponse


class ChatMessageTypedDictT(TypedDict):
    """A message of a prompt as a dict.

    Attributes:
        role: Who speaks.
        content: What is said: a text, or its parts.
    """

    role: str
    content: str | list[Mapping[str, Any]] | None


__all__ = [
    "ChatMessageTypedDictT",
    "ILlm",
    "LlmResponse",
    "Message",
]
