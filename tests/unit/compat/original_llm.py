"""A language model of the original package's kind, for tests. Loaded only where that package is installed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from oracleagentmemory.apis.llms.llm import ILlm, LlmResponse


class ScriptedLlm(ILlm):  # type: ignore[misc]  # the original is untyped
    """Answers with what a function of the schema and the prompt returns.

    Args:
        answer: The function.
    """

    def __init__(self, answer: Callable[[dict[str, Any], str], dict[str, Any]]) -> None:
        self._answer = answer

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """Answer."""
        return asyncio.run(self.generate_async(*args, **kwargs))

    async def generate_async(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> Any:
        """Answer."""
        return LlmResponse(text=json.dumps(self._answer(response_json_schema or {}, str(prompt))))
