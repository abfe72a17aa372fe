"""A thread's settings: read from arguments, stored with the thread, and read back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from hitherto.errors import InvalidArgumentError
from hitherto.incoming import read_int
from hitherto.notset import NOT_SET


@dataclass(frozen=True, slots=True)
class ThreadSettings:
    """The numbers of a thread's settings.

    Attributes:
        max_message_token_length: From how many tokens on a message is shortened in prompts; <= 0 for never.
        message_shortening_input_token_limit: How many tokens of a long message are read to shorten it; <= 0 for
            all.
        context_card_token_limit: The most tokens that go into a summary's prompt; <= 0 for no bound.
        context_card_type_search_concurrency: How many searches of a context card run at once; not stored.
    """

    max_message_token_length: int = 15_000
    message_shortening_input_token_limit: int = 30_000
    context_card_token_limit: int = 100_000
    context_card_type_search_concurrency: int = 5

    def to_payload(self) -> dict[str, Any]:
        """Return the settings as a JSON object to be stored."""
        stored = asdict(self)
        del stored["context_card_type_search_concurrency"]
        return stored


_NAMES: Final = tuple(asdict(ThreadSettings()))


def read_settings(base: ThreadSettings, given: dict[str, Any]) -> ThreadSettings:
    """Return settings with what was given put in place of the base's.

    Args:
        base: The settings that hold where nothing is given.
        given: Values by name; those that are NOT_SET count as not given.

    Raises:
        InvalidArgumentError: If a value is no whole number, or the concurrency is below 1.

    Examples:
        >>> read_settings(ThreadSettings(), {"max_message_token_length": 500}).max_message_token_length
        500
    """
    changes = {name: read_int(value, name) for name, value in given.items() if value is not NOT_SET}
    concurrency = changes.get("context_card_type_search_concurrency", 1)
    if concurrency < 1:
        raise InvalidArgumentError(
            f"context_card_type_search_concurrency must be at least 1, got {concurrency}",
            argument="context_card_type_search_concurrency",
        )
    return replace(base, **changes)


def stored_settings(payload: object) -> ThreadSettings:
    """Return the settings that were stored with a thread; what is missing has its default."""
    if not isinstance(payload, dict):
        return ThreadSettings()
    return ThreadSettings(**{name: payload[name] for name in _NAMES if isinstance(payload.get(name), int)})
