"""What of the original package is deliberately not the same here, and why: read by a test, shown by the documentation.

A name is what follows the module: a class, a function, a method, or one of their parameters in brackets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OF_A_THREAD: Final = (
    "agent_id",
    "client",
    "context_card_token_limit",
    "context_card_type_search_concurrency",
    "context_summary_update_frequency",
    "enable_context_summary",
    "image_input_limit_config",
    "max_message_token_length",
    "memory_extraction_config",
    "memory_extraction_custom_instructions",
    "memory_extraction_frequency",
    "memory_extraction_inherit_message_metadata",
    "memory_extraction_token_limit",
    "memory_extraction_window",
    "message_shortening_input_token_limit",
    "metadata",
    "persist_messages_in_config",
    "store",
    "thread_id",
    "user_id",
)
_MADE_BY_CLIENTS: Final = "threads are made by create_thread() and get_thread() alone"
_IDS_OF_A_SEARCH: Final = tuple(
    f"{store}.{method}({name})"
    for store in ("IMemoryStore", "OracleMemoryStore", "OracleDBMemoryStore")
    for method in ("search", "search_async")
    for name in ("user_id", "agent_id", "thread_id")
)

NOT_HERE: Final[Mapping[str, str]] = {
    **{f"OracleThread({name})": _MADE_BY_CLIENTS for name in _OF_A_THREAD},
    "ThreadMemoryExtractor": "extraction is a durable job of the store, not an object",
    "OneShotThreadMemoryExtractor": "extraction is a durable job of the store, not an object",
    "resolve_memory_extraction_config_argument": "a helper of the original's own constructors",
    "validate_image_request": "images are checked where they come in, by their limits",
    "ABSOLUTE_IMAGE_INPUT_LIMIT_CONFIG": "there is no limit above the one that is configured",
}
"""Names and parameters that are not here."""

DIFFERENT_DEFAULTS: Final[Mapping[str, str]] = {
    **{f"OracleThread({name})": _MADE_BY_CLIENTS for name in ("llm", "search_config")},
    **dict.fromkeys(
        _IDS_OF_A_SEARCH,
        "of a store: an id that is left out (NOT_SET) is not the id None, which says that there is none",
    ),
}
"""Defaults that are others."""
