"""The options of extraction that a client or a thread takes, read into settings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.extraction.config import OPTION_NAMES, ExtractionSettings, config_values
from hitherto.extraction.extractor import fixed_tokens
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET

_LEAST_FOR_MESSAGES: Final = 100
_INLINE: Final = frozenset(
    {
        "extract_memories",
        "enable_context_summary",
        "memory_extraction_window",
        "memory_extraction_frequency",
        "context_summary_update_frequency",
        "memory_extraction_token_limit",
        "memory_extraction_custom_instructions",
        "memory_extraction_inherit_message_metadata",
    }
)
"""The options that may also be given one by one; the configuration has them all."""


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of extraction and the others.

    Args:
        options: Options by name.

    Examples:
        >>> split_options({"extract_memories": False, "durability": "full"})
        ({'extract_memories': False}, {'durability': 'full'})
    """
    mine = {name: value for name, value in options.items() if name in _INLINE}
    return mine, {name: value for name, value in options.items() if name not in mine}


def read_options(config: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a configuration, or options one by one, give.

    Args:
        config: A MemoryExtractionConfig, or NOT_SET.
        options: Options by name; those that are NOT_SET count as not given.

    Raises:
        ArgumentTypeError: If an option is unknown, or the configuration is none.
        InvalidArgumentError: If both are given.
    """
    given = {name: value for name, value in options.items() if value is not NOT_SET}
    for name in given:
        if name not in _INLINE:
            raise ArgumentTypeError(f"{name} is no argument of this method", argument=name)
    if config is NOT_SET:
        if given:
            warnings.warn(
                f"{', '.join(sorted(given))}: give these in a MemoryExtractionConfig as memory_extraction_config",
                DeprecationWarning,
                stacklevel=4,
            )
        return given
    if given:
        raise InvalidArgumentError(
            f"{', '.join(sorted(given))} must be given in memory_extraction_config, not beside it",
            argument=sorted(given)[0],
        )
    return config_values(config)


def check_usable(settings: ExtractionSettings, llm: object, *, explicit: bool) -> ExtractionSettings:
    """Return the settings that hold, with or without a language model.

    Args:
        settings: What was configured.
        llm: The language model, or None.
        explicit: Whether the call itself asked for extraction; what was stored once only warns.

    Raises:
        InvalidArgumentError: If memories are to be extracted without a language model, or the token limit leaves no
            room for a message.
    """
    resolved = settings.resolved(has_llm=llm is not None)
    if resolved.extract_memories and llm is None:
        if explicit:
            raise InvalidArgumentError(
                "extract_memories needs a language model: give llm= to AgentMemory or to the thread",
                argument="extract_memories",
            )
        warnings.warn(
            "this thread extracts memories, but there is no language model: messages are only stored",
            RuntimeWarning,
            stacklevel=4,
        )
        return settings.with_given({"extract_memories": False})
    limit = resolved.memory_extraction_token_limit
    if resolved.extract_memories and 0 < limit < (least := fixed_tokens(resolved) + _LEAST_FOR_MESSAGES):
        raise InvalidArgumentError(
            f"memory_extraction_token_limit must be at least {least}, what the instructions need, or < 1 for no "
            f"bound; got {limit}",
            argument="memory_extraction_token_limit",
        )
    return resolved


def check_llm(value: object, *, argument: str = "llm") -> LLM | None:
    """Return a language model, or None.

    Args:
        value: What came, or NOT_SET.
        argument: The argument's name, for the message.

    Raises:
        ArgumentTypeError: If it has no ``generate``.
    """
    if value is NOT_SET or value is None:
        return None
    if isinstance(value, type) or not callable(getattr(value, "generate", None)):
        raise ArgumentTypeError(f"{argument} must be an LLM or None, got {shown(value)}", argument=argument)
    return value  # type: ignore[return-value]  # whatever generates is a model


assert _INLINE <= OPTION_NAMES  # noqa: S101  two lists of one thing
