"""Listeners in the form of ``oracleagentmemory.observability.eventlistener``."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from hitherto import events
from hitherto.compat.oracle.observability.event import Event, converted
from hitherto.errors import ArgumentTypeError, shown

E = TypeVar("E", bound=Event)


class EventListener(ABC):
    """Is told of events."""

    def subscribed_event_types(self) -> Sequence[type[Event]] | None:
        """Return the classes of events that it is told of, or None for all."""
        return None

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Take note of an event."""


class GenericEventListener(EventListener, Generic[E]):
    """Calls a function with each event of a class.

    Args:
        event_type: The class.
        callback: The function.
    """

    def __init__(self, event_type: type[E], callback: Callable[[E], None]) -> None:
        self._event_type = event_type
        self._callback = callback

    def subscribed_event_types(self) -> Sequence[type[Event]] | None:
        """Return the class."""
        return [self._event_type]

    def on_event(self, event: Event) -> None:
        """Call the function."""
        self._callback(event)  # type: ignore[arg-type]  # only events of the class come here


class _Told(events.EventListener):
    def __init__(self, listener: EventListener) -> None:
        self.listener = listener

    def on_event(self, event: events.Event) -> None:
        made = converted(event)
        if made is not None:
            self.take(made)

    def take(self, event: Event) -> None:
        wanted = self.listener.subscribed_event_types()
        if wanted is None or isinstance(event, tuple(wanted)):
            self.listener.on_event(event)


@contextlib.contextmanager
def register_event_listeners(listeners: list[EventListener]) -> Iterator[list[EventListener]]:
    """Tell listeners of what happens inside a block.

    Args:
        listeners: The listeners.

    Raises:
        ArgumentTypeError: If one is no EventListener.
    """
    given: Any = listeners
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, EventListener) for one in given):
        raise ArgumentTypeError(
            f"register_event_listeners takes a list of EventListener, got {shown(listeners)}",
            argument="listeners",
        )
    with events.register_event_listeners([_Told(one) for one in listeners]):
        yield list(listeners)


def emit_event(event: Event) -> None:
    """Tell the registered listeners of an event of a program's own.

    Args:
        event: The event.
    """
    for listener in events.registered():
        if isinstance(listener, _Told):
            told: Any = listener
            told.take(event)


__all__ = ["EventListener", "GenericEventListener", "emit_event", "register_event_listeners"]
