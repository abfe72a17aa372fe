"""A language model behind any OpenAI-compatible URL: a lean client, httpx alone."""

from __future__ import annotations

from typing import Any

from hitherto.events import observed
from hitherto.images import ImageInputLimitConfig, ImageLimits
from hitherto.models.base import LLM, LLMResponse, Prompt
from hitherto.models.chat import answer_text, chat_messages, response_format
from hitherto.models.http import DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT_S, Provider, RefusedError
from hitherto.models.http_reranker import check_model_name
from hitherto.notset import NOT_SET, NotSetType


@observed("llm", names={"generate": "generation"})
class OpenAICompatibleLLM(LLM):
    """Asks a server that speaks OpenAI's chat API, such as llama.cpp, vLLM, Ollama or a hosted provider.

    Args:
        model: The model's name, as the server knows it.
        api_base: The URL up to ``/v1``, such as ``http://127.0.0.1:8080/v1``.
        api_key: The key, or None; it is sent, and neither shown nor logged.
        timeout_s: How long to wait for one answer, in seconds.
        max_attempts: How often one request is sent at most: again after a time-out, a lost connection, 429 or 5xx,
            after growing pauses or the one that the server asks for.
        image_input_limit_config: How large images may be.
        **options: What goes into each request, such as ``temperature``.

    Raises:
        InvalidArgumentError: If a value is not allowed.
        MissingExtraError: If httpx is not installed.

    Examples:
        >>> OpenAICompatibleLLM("qwen3", "http://127.0.0.1:8080/v1", api_key="secret")
        OpenAICompatibleLLM('qwen3', 'http://127.0.0.1:8080/v1')
    """

    def __init__(
        self,
        model: str,
        api_base: str,
        *,
        api_key: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_attempts: int = DEFAULT_ATTEMPTS,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        **options: Any,
    ) -> None:
        self._model = check_model_name(model)
        self._api_base = api_base
        self._provider = Provider(
            api_base, api_key=api_key, timeout_s=timeout_s, max_attempts=max_attempts, extra="llm"
        )
        self._limits = ImageLimits.of(image_input_limit_config)
        self._options = options
        self._takes_schema = True

    def __repr__(self) -> str:
        """Return model and URL; never the key."""
        return f"OpenAICompatibleLLM({self._model!r}, {self._api_base!r})"

    def generate(
        self, /, prompt: Prompt, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Answer a prompt.

        Args:
            prompt: A text, or a sequence of messages.
            response_json_schema: The JSON schema that the answer has to satisfy, or None for free text. A server that
                does not know schemas is asked without; what it answers is read as it is.
            **kwargs: Options of this request.

        Raises:
            ModelError: If the server refuses the request, or fails at every attempt.
            ModelOutputError: If the answer has no text.
        """
        body = {
            "model": self._model,
            "messages": chat_messages(prompt, limits=self._limits),
            **self._options,
            **kwargs,
        }
        if response_json_schema is None:
            return LLMResponse(answer_text(self._provider.post("/chat/completions", body)))
        wanted = {"response_format": response_format(response_json_schema)}
        if self._takes_schema:
            try:
                return LLMResponse(answer_text(self._provider.post("/chat/completions", {**body, **wanted})))
            except RefusedError as error:
                if error.status not in (400, 422, 501):
                    raise
        answer = answer_text(self._provider.post("/chat/completions", body))
        self._takes_schema = False  # it refused the schema and took the rest
        return LLMResponse(answer)

    def close(self) -> None:
        """Close the connections."""
        self._provider.close()
