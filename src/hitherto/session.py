"""What a client and its threads share: the store, and whether they are still open."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import ArgumentTypeError, ClosedError, InvalidArgumentError, shown
from hitherto.notset import NOT_SET
from hitherto.scope import SearchScope
from hitherto.search.config import MemorySearchConfig

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto")

DEFAULT_TIMEOUT_S = 300.0


class Session:
    """An open client: its store and search configuration.

    Args:
        store: The store.
        search_config: How searches go on after retrieval, by default.
        owns_store: Whether closing the client closes the store.
    """

    def __init__(self, store: MemoryStore, search_config: MemorySearchConfig, *, owns_store: bool) -> None:
        self._store = store
        self._owns_store = owns_store
        self._closed = threading.Event()
        self.search_config = search_config
        log.info(
            "no language model is configured: messages are stored and found, memories are not extracted from them"
        )

    @property
    def store(self) -> MemoryStore:
        """The store.

        Raises:
            ClosedError: If the client was closed.
        """
        self.check_open()
        return self._store

    def check_open(self) -> None:
        """Refuse to go on after the client was closed.

        Raises:
            ClosedError: If it was.
        """
        if self._closed.is_set():
            raise ClosedError("this AgentMemory was closed; open a new one")

    def close(self) -> None:
        """Close the client; calling it again does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            if self._owns_store:
                self._store.close()


_EXTRACTION_OPTIONS: Final = frozenset(
    {
        "context_summary_update_frequency",
        "enable_context_summary",
        "extract_memories",
        "llm",
        "memory_extraction_config",
        "memory_extraction_custom_instructions",
        "memory_extraction_frequency",
        "memory_extraction_inherit_message_metadata",
        "memory_extraction_token_limit",
        "memory_extraction_window",
    }
)


def without_extraction(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without those that leave extraction off, as it is.

    Args:
        options: Options of a client, by name.

    Raises:
        InvalidArgumentError: If one of them asks for extraction.

    Examples:
        >>> without_extraction({"llm": None, "durability": "full"})
        {'durability': 'full'}
    """
    for name in sorted(_EXTRACTION_OPTIONS & options.keys()):
        if options[name] is not NOT_SET and options[name] not in (None, False):
            raise InvalidArgumentError(
                f"{name} must be left out: memories are not extracted from messages yet; store them by add_memory()",
                argument=name,
            )
    return {name: value for name, value in options.items() if name not in _EXTRACTION_OPTIONS}


def refuse_extraction(options: dict[str, Any]) -> None:
    """Refuse options of a thread that ask for extraction, and options that there are not.

    Args:
        options: What was given beside the known arguments, by name.

    Raises:
        ArgumentTypeError: If an option is unknown.
        InvalidArgumentError: If one asks for extraction.
    """
    for name in without_extraction(options):
        raise ArgumentTypeError(f"{name} is no argument of this method", argument=name)


def check_timeout(value: object) -> float | None:
    """Return a timeout in seconds, None meaning no bound.

    Raises:
        ArgumentTypeError: If it is no number.
        InvalidArgumentError: If it is not above 0.
    """
    if value is None:
        return None
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            f"timeout must be a number of seconds or None, got {shown(value)}", argument="timeout"
        )
    if value <= 0:
        raise InvalidArgumentError(f"timeout must be above 0 seconds, got {value}", argument="timeout")
    return value


def read_scope(scope: object, **given: Any) -> SearchScope:
    """Return the scope that the arguments of a search ask for.

    Args:
        scope: A SearchScope, or NOT_SET or None.
        **given: The ids and exact flags that were given as keywords.

    Raises:
        ArgumentTypeError: If scope is no SearchScope.
        InvalidArgumentError: If both are given.
    """
    if scope is NOT_SET or scope is None:
        return SearchScope(**given)
    if not isinstance(scope, SearchScope):
        raise ArgumentTypeError(f"scope must be a SearchScope, got {shown(scope)}", argument="scope")
    named = [name for name, value in given.items() if value is not NOT_SET]
    if named:
        raise InvalidArgumentError(
            f"scope must be given without {', '.join(named)}, or these without scope", argument="scope"
        )
    return scope
