"""Events: what a client, a thread, a store or a model begins and ends, told to whoever listens.

Listeners are registered for a block of code. Without any, nothing is made and nothing is slowed down. An event keeps
what was said to itself: printed, dumped or logged it shows counts, lengths and kinds; ids, texts and metadata only on
request.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import Any, ClassVar, Final, TypeVar

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, shown

log = logging.getLogger("hitherto.events")

REDACTED: Final = "[REDACTED]"
_listeners: ContextVar[tuple[EventListener, ...]] = ContextVar("hitherto.listeners", default=())

C = TypeVar("C", bound=type)


class OperationKind(TextEnum):
    """What an operation does."""

    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"
    UNKNOWN = "unknown"


_KINDS: Final = {
    "add": OperationKind.CREATE,
    "create": OperationKind.CREATE,
    "link": OperationKind.CREATE,
    "get": OperationKind.READ,
    "read": OperationKind.READ,
    "list": OperationKind.READ,
    "search": OperationKind.READ,
    "generation": OperationKind.READ,
    "embed": OperationKind.READ,
    "rerank": OperationKind.READ,
    "update": OperationKind.UPDATE,
    "retry": OperationKind.UPDATE,
    "cancel": OperationKind.UPDATE,
    "delete": OperationKind.DELETE,
    "erase": OperationKind.DELETE,
    "purge": OperationKind.DELETE,
}


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        event_id: Its id; start and end of one operation share the part before the dot.
        component: "agent_memory", "thread", "memory_store", "llm", "embedder" or "reranker".
        method: What was called.
        concrete_class: The class of the object.
        operation_kind: What it does.
        timestamp: When, UTC, ISO 8601.
        scope: The ids of a thread and of its user and agent; only shown on request.
    """

    phase: ClassVar[str] = ""
    sensitive: ClassVar[frozenset[str]] = frozenset({"scope"})

    event_id: str
    component: str
    method: str
    concrete_class: str
    operation_kind: OperationKind
    timestamp: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat())
    scope: Mapping[str, str | None] = field(default_factory=dict, repr=False)

    @property
    def event_name(self) -> str:
        """Component, method and phase, such as "thread.search.started"."""
        return f"{self.component}.{self.method}.{self.phase}"

    def to_dict(self, *, show_content: bool = False) -> dict[str, Any]:
        """Return the event as a JSON-like object.

        Args:
            show_content: Whether ids, texts and metadata are shown; by default "[REDACTED]" stands for them.
        """
        shown_fields: dict[str, Any] = {"event_name": self.event_name}
        for item in fields(self):
            value = getattr(self, item.name)
            hidden = item.name in self.sensitive and not show_content
            shown_fields[item.name] = REDACTED if hidden and value else value
        shown_fields["operation_kind"] = self.operation_kind.value
        return shown_fields


@dataclass(frozen=True)
class StartedEvent(Event):
    """An operation began.

    Attributes:
        arguments: What it was called with; only shown on request.
        argument_summary: The kinds, counts and lengths of that.
    """

    phase: ClassVar[str] = "started"
    sensitive: ClassVar[frozenset[str]] = frozenset({"scope", "arguments"})

    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    argument_summary: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CompletedEvent(Event):
    """An operation ended.

    Attributes:
        started_event_id: The id of the event of its beginning.
        success: Whether it returned.
        result_summary: The kind, count or length of what it returned.
        error_type: The class of what it raised, or None.
    """

    phase: ClassVar[str] = "completed"

    started_event_id: str = ""
    success: bool = True
    result_summary: Mapping[str, Any] = field(default_factory=dict)
    error_type: str | None = None


class EventListener(ABC):
    """Is told of events.

    Attributes:
        subscribed_events: The classes of events that it is told of; by default all.

    Examples:
        >>> class Printer(EventListener):
        ...     def on_event(self, event):
        ...         print(event.event_name)
        >>> from hitherto import AgentMemory
        >>> with AgentMemory(":memory:", embedder=None) as memory, register_event_listeners([Printer()]):
        ...     memory.list_extractions()
        agent_memory.list_extractions.started
        memory_store.read_jobs.started
        memory_store.read_jobs.completed
        agent_memory.list_extractions.completed
        []
    """

    subscribed_events: ClassVar[tuple[type[Event], ...]] = (Event,)

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Take note of an event, in the thread that it happens in; an error is logged and goes no further.

        Args:
            event: The event.
        """


@contextlib.contextmanager
def register_event_listeners(listeners: Iterable[EventListener]) -> Iterator[None]:
    """Tell listeners of what happens inside a block, also in the background work that begins there.

    Args:
        listeners: They come on top of those that are registered around the block.

    Raises:
        ArgumentTypeError: If one is no EventListener.
    """
    if not isinstance(listeners, Iterable):
        raise ArgumentTypeError(
            f"listeners must be several EventListener, got {shown(listeners)}", argument="listeners"
        )
    added = tuple(listeners)
    for listener in added:
        if not isinstance(listener, EventListener):
            raise ArgumentTypeError(
                f"listeners must hold EventListener, got {shown(listener)}", argument="listeners"
            )
    token = _listeners.set((*_listeners.get(), *added))
    try:
        yield
    finally:
        _listeners.reset(token)


def registered() -> tuple[EventListener, ...]:
    """Return the listeners that are registered here."""
    return _listeners.get()


def emit(event: Event) -> None:
    """Tell the registered listeners of an event.

    Args:
        event: The event.
    """
    for listener in _listeners.get():
        if isinstance(event, listener.subscribed_events):
            try:
                listener.on_event(event)
            except Exception as error:  # whoever listens must not break what he listens to
                log.warning("%s failed on %s", type(listener).__name__, event.event_name)
                log.debug("%s", error, exc_info=True)


def observed(component: str, *, names: Mapping[str, str] | None = None) -> Callable[[C], C]:
    """Make the public blocking methods of a class tell of their beginning and end.

    Args:
        component: What the class is, in the events' names.
        names: Other names for methods.

    Returns:
        A class decorator; methods keep their signatures.
    """

    def decorate(cls: C) -> C:
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") and not name.endswith("_async") and not inspect.isabstract(method):
                if getattr(method, "__isabstractmethod__", False):
                    continue
                setattr(cls, name, _telling(method, component, (names or {}).get(name, name)))
        return cls

    return decorate


def _telling(method: Callable[..., Any], component: str, name: str) -> Callable[..., Any]:
    kind = _KINDS.get(name.partition("_")[0], OperationKind.UNKNOWN)

    @functools.wraps(method)
    def telling(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not _listeners.get():
            return method(self, *args, **kwargs)
        number = f"ev_{uuid.uuid4()}"
        common: dict[str, Any] = {
            "component": component,
            "method": name,
            "concrete_class": type(self).__name__,
            "operation_kind": kind,
            "scope": _scope(self) if component == "thread" else {},
        }
        arguments = _arguments(method, self, args, kwargs)
        summary = {key: summarise(value) for key, value in arguments.items()}
        started = StartedEvent(f"{number}.started", arguments=arguments, argument_summary=summary, **common)
        emit(started)
        ending: dict[str, Any] = {"started_event_id": started.event_id, **common}
        try:
            result = method(self, *args, **kwargs)
        except BaseException as error:
            emit(
                CompletedEvent(
                    f"{number}.completed", success=False, error_type=type(error).__name__, **ending
                )
            )
            raise
        emit(CompletedEvent(f"{number}.completed", result_summary={"result": summarise(result)}, **ending))
        return result

    return telling


def _scope(thread: Any) -> dict[str, str | None]:
    return {name: getattr(thread, name, None) for name in ("thread_id", "user_id", "agent_id")}


def _arguments(
    method: Callable[..., Any], owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    try:
        bound = inspect.signature(method).bind_partial(owner, *args, **kwargs).arguments
    except TypeError:
        return dict(kwargs)  # a wrong call: the method itself will say so
    bound.pop("self", None)
    return dict(bound)


def summarise(value: object) -> object:
    """Return what may be told of a value without telling it: its kind, and how much of it there is.

    Args:
        value: Anything.

    Examples:
        >>> summarise("secret"), summarise(["a", "b"]), summarise({"k": 1}), summarise(3)
        ({'length': 6}, {'kind': 'list', 'count': 2}, {'kind': 'dict', 'count': 1}, 3)
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (str, bytes)):
        return {"length": len(value)}
    if isinstance(value, (Mapping, Sequence, set, frozenset)):
        return {"kind": type(value).__name__, "count": len(value)}
    return {"kind": type(value).__name__}
