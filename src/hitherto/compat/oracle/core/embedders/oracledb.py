"""Names of ``oracleagentmemory.core.embedders.oracledb``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitherto.compat.oracle.model_classes import IEmbedder
from hitherto.compat.oracle.refusal import only_on_oracle
from hitherto.notset import NOT_SET, NotSetType

if TYPE_CHECKING:
    from hitherto.models.base import FloatMatrix


class OracleDBEmbedder(IEmbedder):
    """Embeds inside an Oracle database, of which there is none here.

    Args:
        connection: A connection to an Oracle database.
        model: The model's name there.
        input_name: The name of its input.
        embedding_dimension: The number of components.
        max_input_tokens: The most tokens of a text.
        normalize: Whether vectors are made to have length 1.
        query_prefix: What stands before queries.
        batch_size: How many texts one statement embeds.
        provider: Who embeds.
        provider_options: What the provider is told.

    Raises:
        InvalidArgumentError: Always, with what to do instead.
    """

    def __init__(
        self,
        connection: object,
        model: str,
        input_name: str | NotSetType = NOT_SET,
        embedding_dimension: int | None | NotSetType = NOT_SET,
        max_input_tokens: int | NotSetType = NOT_SET,
        normalize: bool | NotSetType = NOT_SET,
        query_prefix: str | None | NotSetType = NOT_SET,
        batch_size: int | NotSetType = NOT_SET,
        provider: str | NotSetType = NOT_SET,
        provider_options: Mapping[str, Any] | None = None,
    ) -> None:
        only_on_oracle(
            "OracleDBEmbedder", "leave out embedder= for the local one, or give Embedder(model=...)"
        )

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Never called: there is no such embedder."""
        raise NotImplementedError

    @property
    def embedding_dimension(self) -> int:
        """Never asked: there is no such embedder."""
        raise NotImplementedError

    def get_vectorizer_config_json(self) -> str:
        """Never called: there is no such embedder."""
        raise NotImplementedError


__all__ = ["IEmbedder", "OracleDBEmbedder"]
