"""Names of ``oracleagentmemory.apis.llms``."""

from __future__ import annotations

from hitherto.models.base import LLM as ILlm
from hitherto.models.base import LLMResponse as LlmResponse

__all__ = [
    "ILlm",
    "LlmResponse",
]
