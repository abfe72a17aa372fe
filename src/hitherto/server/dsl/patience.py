"""How long a search may take: what a query of a few hundred bytes can ask for has no other bound.

Counting words, clauses and states keeps most queries short, but not a near phrase of many equal words, nor a thousand
expressions over long words. So whatever runs in loops asks from time to time whether it may go on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from hitherto.server.dsl.errors import ShardError

MOST_SECONDS: Final = 30.0

_STEPS: Final = 1024

T = TypeVar("T")

_until: ContextVar[float | None] = ContextVar("until", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Bound the time that the block's search may take.

    Args:
        seconds: How long it may take.

    Examples:
        >>> with patience(60):
        ...     go_on()
    """
    token = _until.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def go_on() -> None:
    """Return if the search may go on.

    Raises:
        ShardError: If its time is over.
    """
    until = _until.get()
    if until is not None and time.monotonic() > until:
        raise ShardError("the query takes too long; ask for less at once", type="timeout_exception")


def paced(items: Iterable[T]) -> Iterator[T]:
    """Yield items as long as the search may go on; for loops over as many as somebody likes to send.

    Args:
        items: The items.

    Raises:
        ShardError: If the search's time is over.

    Examples:
        >>> "".join(paced("abc"))
        'abc'
    """
    for number, item in enumerate(items):
        if number % _STEPS == 0:
            go_on()
        yield item
