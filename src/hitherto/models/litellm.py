"""Language models and rerankers by their LiteLLM names: one name for each of a hundred providers."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from hitherto._optional import require
from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, ModelError, shown
from hitherto.events import observed
from hitherto.images import ImageInputLimitConfig, ImageLimits
from hitherto.models.base import LLM, LLMResponse, Prompt, Reranker, RerankResponse
from hitherto.models.chat import answer_text, chat_messages, response_format
from hitherto.models.http_reranker import check_model_name, read_rerank_answer
from hitherto.notset import NOT_SET, NotSetType

_REMINDER = (
    "\n\nAnswer with one JSON object that satisfies this schema, and nothing else:\n```json\n{schema}\n```"
)
_AT_ONCE = 16
_REMINDED = ("openai/", "hosted_vllm/")


class LlmApiType(TextEnum):
    """Which of a provider's APIs is used."""

    CHAT_COMPLETIONS = "chat_completions"
    RESPONSES = "responses"


def only_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are neither NOT_SET nor None, which LiteLLM is to decide itself.

    Examples:
        >>> only_given({"api_key": "secret", "api_base": NOT_SET, "temperature": None})
        {'api_key': 'secret'}
    """
    return {name: value for name, value in options.items() if value is not NOT_SET and value is not None}


def network_options(
    *,
    key_file: str | None | NotSetType,
    cert_file: str | None | NotSetType,
    ca_file: str | None | NotSetType,
    proxy: str | None | NotSetType,
    trust_env: bool | NotSetType,
) -> dict[str, Any]:
    """Return how LiteLLM is told of TLS files and proxies.

    Args:
        key_file: A client certificate's key; with cert_file.
        cert_file: A client certificate; with key_file.
        ca_file: Whom to trust.
        proxy: A proxy's URL.
        trust_env: Whether the environment's proxies count.

    Raises:
        InvalidArgumentError: If one of key_file and cert_file is missing, or ca_file does not exist.
        MissingExtraError: If httpx is not installed.
    """
    certificate = only_given({"key_file": key_file, "cert_file": cert_file})
    if len(certificate) == 1:
        raise InvalidArgumentError("key_file and cert_file must be given together", argument="key_file")
    if ca_file is not NOT_SET and ca_file is not None and not os.path.isfile(ca_file):
        raise InvalidArgumentError(f"ca_file must be a file, got {shown(ca_file)}", argument="ca_file")
    options = only_given({"proxy": proxy, "trust_env": trust_env, "verify": ca_file})
    if certificate:
        options["cert"] = (cert_file, key_file)
    if not options:
        return {}
    return {"client": require("httpx", extra="providers").Client(**options)}


def load_litellm() -> Any:
    """Return the module ``litellm``, quiet and without a look at the network.

    Raises:
        MissingExtraError: If it is not installed.
    """
    # Without this it fetches a price list from the network when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    module: Any = require("litellm", extra="providers")
    module.suppress_debug_info = True
    module.telemetry = False
    return module


@observed("llm", names={"generate": "generation"})
class Llm(LLM):
    """A language model by its LiteLLM name, such as "openai/gpt-4o-mini" or "ollama/llama3".

    Args:
        model: The name; the part before the slash picks the provider.
        api_base: The provider's URL, or NOT_SET or None for its own.
        api_key: The key; by default from the provider's environment variable. Neither shown nor logged.
        temperature: How freely it writes.
        max_tokens: How long an answer may be, in tokens.
        reasoning_effort: How long it thinks, for models that do.
        enable_structured_output_reminder: Whether the schema is also written into the prompt; by default for models
            that need it.
        supports_vision: Whether it takes images; by default what LiteLLM knows of it.
        image_input_limit_config: How large images may be.
        api_type: Which of the provider's APIs is used; the chat API by default.
        stream: Taken for compatibility: the whole answer is returned in any case, so that it is asked for at once.
        max_concurrent_requests: How many requests run at once; None for no bound, default 16.
        key_file: A client certificate's key, for TLS; with cert_file.
        cert_file: A client certificate, for TLS; with key_file.
        ca_file: Whom to trust, for TLS.
        proxy: A proxy's URL.
        trust_env: Whether the environment's proxies count.
        num_retries: How often a request is sent again after 429 or 5xx.
        **default_kwargs: What goes into each request.

    Raises:
        InvalidArgumentError: If a value is not allowed.
        MissingExtraError: If LiteLLM is not installed.

    Examples:
        >>> Llm("openai/gpt-4o-mini", api_key="secret")
        Llm('openai/gpt-4o-mini')
    """

    def __init__(
        self,
        model: str,
        api_base: str | None | NotSetType = NOT_SET,
        api_key: str | None | NotSetType = NOT_SET,
        api_type: LlmApiType | str | NotSetType = NOT_SET,
        stream: bool | NotSetType = NOT_SET,
        temperature: float | None | NotSetType = NOT_SET,
        max_tokens: int | None | NotSetType = NOT_SET,
        reasoning_effort: str | None | NotSetType = NOT_SET,
        enable_structured_output_reminder: bool | NotSetType = NOT_SET,
        supports_vision: bool | NotSetType = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSetType = NOT_SET,
        max_concurrent_requests: int | None | NotSetType = NOT_SET,
        key_file: str | None | NotSetType = NOT_SET,
        cert_file: str | None | NotSetType = NOT_SET,
        ca_file: str | None | NotSetType = NOT_SET,
        proxy: str | None | NotSetType = NOT_SET,
        trust_env: bool | NotSetType = NOT_SET,
        *,
        num_retries: int = 2,
        **default_kwargs: Any,
    ) -> None:
        if not isinstance(model, str):
            raise ArgumentTypeError(f"model must be a str, got {shown(model)}", argument="model")
        self._litellm = load_litellm()
        self._model = model
        self._supports_vision = supports_vision
        self._limits = ImageLimits.of(image_input_limit_config)
        self._reminds = (
            model.startswith(_REMINDED)
            if enable_structured_output_reminder is NOT_SET
            else enable_structured_output_reminder
        )
        given = {
            "api_base": api_base,
            "api_key": api_key,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "reasoning_effort": reasoning_effort,
        }
        kept = only_given(given)
        network = network_options(
            key_file=key_file, cert_file=cert_file, ca_file=ca_file, proxy=proxy, trust_env=trust_env
        )
        self._options = {"num_retries": num_retries, **network, **kept, **default_kwargs}
        self._api_type = _api_type(api_type)
        self._slots = _slots(max_concurrent_requests)

    def __repr__(self) -> str:
        """Return the name; never the key."""
        return f"Llm({self._model!r})"

    @property
    def supports_vision(self) -> bool:
        """Whether the model takes images."""
        if self._supports_vision is not NOT_SET:
            return bool(self._supports_vision)
        return bool(self._litellm.supports_vision(model=self._model))

    def generate(
        self, /, prompt: Prompt, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Answer a prompt.

        Args:
            prompt: A text, or a sequence of messages.
            response_json_schema: The JSON schema that the answer has to satisfy, or None for free text.
            **kwargs: Options of this request.

        Raises:
            ArgumentTypeError: If the prompt has the wrong type.
            InvalidArgumentError: If the prompt has images and the model takes none, or one is not allowed.
            ModelError: If the provider refuses the request, or fails at every attempt.
            ModelOutputError: If the answer has no text.
        """
        messages = chat_messages(prompt, limits=self._limits)
        if any(isinstance(message["content"], list) for message in messages) and not self.supports_vision:
            raise InvalidArgumentError(
                f"{self._model} takes no images; give supports_vision=True if it does",
                argument="supports_vision",
            )
        options: dict[str, Any] = {**self._options, **kwargs}
        if response_json_schema is not None:
            options["response_format"] = response_format(response_json_schema)
            if self._reminds:
                _remind(messages, response_json_schema)
        api = _api_type(options.pop("api_type", self._api_type))
        with self._slots:
            try:
                if api is LlmApiType.RESPONSES:
                    return LLMResponse(self._respond(messages, options))
                answer = self._litellm.completion(model=self._model, messages=messages, **options)
            except Exception as error:  # LiteLLM has an exception for each provider's each mood
                raise ModelError(f"{self._model} failed: {type(error).__name__}") from error
        return LLMResponse(answer_text(answer.model_dump()))

    def _respond(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> str:
        form = options.pop("response_format", None)
        if form is not None:
            options["text"] = {"format": {"type": "json_schema", **form["json_schema"]}}
        options.pop("num_retries", None)  # one attempt, as the reference makes
        answer = self._litellm.responses(model=self._model, input=_response_input(messages), **options)
        return str(answer.output_text)


def _api_type(value: object) -> LlmApiType:
    if value is NOT_SET:
        return LlmApiType.CHAT_COMPLETIONS
    try:
        return LlmApiType(value)
    except ValueError:
        names = ", ".join(kind.value for kind in LlmApiType)
        raise InvalidArgumentError(
            f"api_type must be one of {names}, got {shown(value)}", argument="api_type"
        ) from None


def _slots(value: object) -> contextlib.AbstractContextManager[Any]:
    if value is None:
        return contextlib.nullcontext()
    count = _AT_ONCE if value is NOT_SET else value
    if type(count) is not int or count < 1:
        raise InvalidArgumentError(
            f"max_concurrent_requests must be an int of at least 1 or None, got {shown(value)}",
            argument="max_concurrent_requests",
        )
    return threading.BoundedSemaphore(count)


def _response_input(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            content = [
                {"type": "input_text", "text": part["text"]}
                if part["type"] == "text"
                else {"type": "input_image", "image_url": part["image_url"]["url"]}
                for part in content
            ]
        made.append({"role": message["role"], "content": content})
    return made


def _remind(messages: list[dict[str, Any]], schema: dict[str, Any]) -> None:
    text = _REMINDER.format(schema=json.dumps(schema, indent=2, ensure_ascii=False))
    for message in reversed(messages):
        if message["role"] == "user":
            content = message["content"]
            message["content"] = (
                content + text if isinstance(content, str) else [*content, {"type": "text", "text": text}]
            )
            return


@observed("reranker")
class LiteLLMReranker(Reranker):
    """A reranker by its LiteLLM name, such as "cohere/rerank-v3.5" or "jina_ai/jina-reranker-v2-base-multilingual".

    Args:
        model: The name; the part before the slash picks the provider.
        api_base: The provider's URL, or None for its own.
        api_key: The key; by default from the provider's environment variable. Neither shown nor logged.
        **options: What goes into each request.

    Raises:
        InvalidArgumentError: If the name is empty.
        MissingExtraError: If LiteLLM is not installed.

    Examples:
        >>> LiteLLMReranker("cohere/rerank-v3.5", api_key="secret")
        LiteLLMReranker('cohere/rerank-v3.5')
    """

    def __init__(
        self,
        model: str,
        api_base: str | None | NotSetType = NOT_SET,
        api_key: str | None | NotSetType = NOT_SET,
        **options: Any,
    ) -> None:
        self._model = check_model_name(model)
        self._litellm = load_litellm()
        self._options = {**only_given({"api_base": api_base, "api_key": api_key}), **options}

    def __repr__(self) -> str:
        """Return the name; never the key."""
        return f"LiteLLMReranker({self._model!r})"

    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents.

        Args:
            query: The query.
            documents: The documents' texts; without any, nothing is sent.
            **kwargs: Options of this request.

        Returns:
            The provider's results, best first.

        Raises:
            ModelError: If the provider fails.
            ModelOutputError: If the answer names no documents with scores.
        """
        if not documents:
            return RerankResponse([])
        try:
            answer = self._litellm.rerank(
                model=self._model, query=query, documents=list(documents), **{**self._options, **kwargs}
            )
        except Exception as error:  # LiteLLM has an exception for each provider's each mood
            raise ModelError(f"{self._model} failed: {type(error).__name__}") from error
        results = answer.results if hasattr(answer, "results") else answer
        items = [
            item
            if isinstance(item, dict)
            else item.model_dump()
            if hasattr(item, "model_dump")
            else dict(item)
            for item in results or []
        ]
        return read_rerank_answer({"results": items}, len(documents))
