"""Embedders by their LiteLLM names, such as "openai/text-embedding-3-small"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hitherto.errors import InvalidArgumentError, ModelError, ModelOutputError, shown
from hitherto.events import observed
from hitherto.models.base import Embedder, Fingerprint
from hitherto.models.http_reranker import check_model_name
from hitherto.models.litellm import load_litellm, network_options, only_given
from hitherto.notset import NOT_SET, NotSetType

if TYPE_CHECKING:
    from hitherto.models.base import FloatMatrix

_PROBE = "probe"


@observed("embedder")
class LiteLLMEmbedder(Embedder):
    """Embeds with a provider's model.

    Args:
        model: The name; the part before the slash picks the provider.
        api_base: The provider's URL, or NOT_SET or None for its own.
        api_key: The key; by default from the provider's environment variable. Neither shown nor logged.
        embedding_dimension: The number of components; by default asked of the provider when first needed.
        max_input_tokens: The most tokens that are read of one text; longer ones are split. Default 512.
        normalize: Whether vectors are made to have length 1.
        query_prefix: What stands before queries.
        document_prefix: What stands before other texts.
        truncate_prompt_tokens: From how many tokens on the provider cuts, for those that do.
        key_file: A client certificate's key, for TLS; with cert_file.
        cert_file: A client certificate, for TLS; with key_file.
        ca_file: Whom to trust, for TLS.
        proxy: A proxy's URL.
        trust_env: Whether the environment's proxies count.
        **default_kwargs: What goes into each request.

    Raises:
        InvalidArgumentError: If a value is not allowed.
        MissingExtraError: If LiteLLM is not installed.

    Examples:
        >>> LiteLLMEmbedder("openai/text-embedding-3-small", api_key="secret", embedding_dimension=1536)
        LiteLLMEmbedder('openai/text-embedding-3-small')
    """

    def __init__(
        self,
        model: str,
        api_base: str | None | NotSetType = NOT_SET,
        api_key: str | None | NotSetType = NOT_SET,
        embedding_dimension: int | None | NotSetType = NOT_SET,
        max_input_tokens: int | NotSetType = NOT_SET,
        normalize: bool | NotSetType = NOT_SET,
        query_prefix: str | None | NotSetType = NOT_SET,
        document_prefix: str | None | NotSetType = NOT_SET,
        truncate_prompt_tokens: int | None | NotSetType = NOT_SET,
        key_file: str | None | NotSetType = NOT_SET,
        cert_file: str | None | NotSetType = NOT_SET,
        ca_file: str | None | NotSetType = NOT_SET,
        proxy: str | None | NotSetType = NOT_SET,
        trust_env: bool | NotSetType = NOT_SET,
        **default_kwargs: Any,
    ) -> None:
        self._model = check_model_name(model)
        self._litellm = load_litellm()
        self._dimension = None if embedding_dimension is NOT_SET else embedding_dimension
        self._max_input_tokens = 512 if max_input_tokens is NOT_SET else max_input_tokens
        for name, value in (
            ("embedding_dimension", self._dimension),
            ("max_input_tokens", self._max_input_tokens),
        ):
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidArgumentError(
                    f"{name} must be an int of at least 1, got {shown(value)}", argument=name
                )
        self._normalize = normalize is True
        self._prefixes = {
            True: "" if query_prefix in (NOT_SET, None) else str(query_prefix),
            False: "" if document_prefix in (NOT_SET, None) else str(document_prefix),
        }
        given = {
            "api_base": api_base,
            "api_key": api_key,
            "truncate_prompt_tokens": truncate_prompt_tokens,
        }
        network = network_options(
            key_file=key_file, cert_file=cert_file, ca_file=ca_file, proxy=proxy, trust_env=trust_env
        )
        self._options = {**network, **only_given(given), **default_kwargs}

    def __repr__(self) -> str:
        """Return the name; never the key."""
        return f"LiteLLMEmbedder({self._model!r})"

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed texts, in one request.

        Args:
            texts: The texts, in order; without any, nothing is sent.
            is_query: Whether they are queries.

        Returns:
            A float32 array of shape (len(texts), embedding_dimension).

        Raises:
            InvalidArgumentError: If texts is a single text.
            ModelError: If the provider fails.
            ModelOutputError: If it answers with too few vectors, or of another dimension.
        """
        import numpy as np

        if isinstance(texts, str):
            raise InvalidArgumentError("texts must be a list of texts, got a single one", argument="texts")
        if not texts:
            return np.zeros((0, self._dimension or 0), dtype=np.float32)
        prefix = self._prefixes[is_query]
        try:
            answer = self._litellm.embedding(
                model=self._model, input=[prefix + text for text in texts], **self._options
            )
        except Exception as error:  # LiteLLM has an exception for each provider's each mood
            raise ModelError(f"{self._model} failed: {type(error).__name__}") from error
        matrix = self._matrix(answer, len(texts))
        if self._normalize:
            norms = np.linalg.norm(matrix, axis=1, keepdims=True)
            matrix = np.divide(matrix, norms, out=matrix, where=norms > 0)
        self._dimension = int(matrix.shape[1])
        return matrix

    def _matrix(self, answer: Any, count: int) -> FloatMatrix:
        import numpy as np

        items = answer.model_dump().get("data") or []
        # By index, not by order: a provider that answers out of order must not swap vectors.
        by_index = {item.get("index", place): item.get("embedding") for place, item in enumerate(items)}
        if set(by_index) != set(range(count)):
            raise ModelOutputError(f"{self._model} must answer with {count} vectors, got {len(items)}")
        try:
            matrix = np.array([by_index[place] for place in range(count)], dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ModelOutputError(f"{self._model} must answer with vectors of numbers") from error
        if matrix.ndim != 2 or (self._dimension is not None and matrix.shape[1] != self._dimension):
            raise ModelOutputError(
                f"{self._model} must answer with vectors of {self._dimension} components, got {matrix.shape}"
            )
        return matrix

    @property
    def embedding_dimension(self) -> int:
        """The number of components; asked of the provider if it is not known."""
        if self._dimension is None:
            self.embed([_PROBE])
        assert self._dimension is not None  # noqa: S101  embed() has set it
        return self._dimension

    @property
    def max_input_tokens(self) -> int | None:
        """The most tokens that are read of one text."""
        return self._max_input_tokens

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's name and dimension."""
        return Fingerprint(self._model, self.embedding_dimension, normalised=self._normalize)
