"""The asynchronous twin of a blocking method, made once for the whole library.

The core is synchronous and thread-safe; ``x_async = awaitable(x)`` under a method gives it a twin with the same
parameters and result, which runs the method in a worker thread. Awaiting never blocks the event loop. A
cancelled await waits for the running call, so that a write is never torn. Limiters keep slow calls from starving
the store: those that may wait for a model take ``limiter_name="models"``, those that hash a password "passwords".
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from anyio import CapacityLimiter, Event

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

LimiterName = Literal["store", "models", "requests", "passwords"]
# Passwords: each hash takes 64 MiB and several threads of its own.
_TOKENS: dict[LimiterName, int] = {"store": 16, "models": 64, "requests": 8, "passwords": 2}
_run_vars: dict[LimiterName, Any] = {}


def limiter(name: LimiterName) -> CapacityLimiter:
    """Return the running event loop's limiter of that name.

    Args:
        name: "store" for calls that only touch the database, "models" for calls that may wait for a model,
            "requests" for what a server does for its clients, "passwords" for those that hash one.

    Returns:
        One limiter per event loop and name: 16 threads for the store, 64 for models, 8 for requests, 2 for
        passwords.
    """
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

    run_var = _run_vars.setdefault(name, RunVar(f"hitherto.{name}"))
    found: CapacityLimiter | None = run_var.get(None)
    if found is None:
        found = CapacityLimiter(_TOKENS[name])
        run_var.set(found)
    return found


class _Running(Generic[R]):
    """A call in a worker thread, whose end can be waited for when the task that wanted it is cancelled.

    AnyIO waits for a running call when a scope of its own is cancelled, but asyncio's ``Task.cancel`` (and with it
    ``asyncio.timeout`` and ``wait_for``) passes through.
    """

    def __init__(self, call: Callable[[], R]) -> None:
        self._call = call
        self._lock = threading.Lock()
        self._state: Literal["new", "running", "over"] = "new"
        self._ended: Event | None = None

    def __call__(self) -> R | None:
        with self._lock:
            if self._state == "over":
                return None  # cancelled before it began
            self._state = "running"
        try:
            return self._call()
        finally:
            with self._lock:
                self._state = "over"
                ended = self._ended
            if ended is not None:
                self._tell(ended)

    @staticmethod
    def _tell(ended: Event) -> None:
        from anyio.from_thread import run_sync

        with contextlib.suppress(RuntimeError):  # the event loop was stopped and nobody waits any more
            run_sync(ended.set)

    async def settle(self) -> None:
        """Forbid a call that has not begun; wait for the end of one that has."""
        from anyio import CancelScope, Event, get_cancelled_exc_class

        ended = Event()
        with self._lock:
            if self._state != "running":
                self._state = "over"
                return
            self._ended = ended
        while not ended.is_set():
            with contextlib.suppress(get_cancelled_exc_class()), CancelScope(shield=True):
                await ended.wait()


async def run_in_thread(call: Callable[[], R], *, limiter_name: LimiterName = "store") -> R:
    """Run a blocking call in a worker thread and wait for it, also when cancelled.

    Args:
        call: A callable without arguments.
        limiter_name: Whose limiter bounds the number of threads.

    Returns:
        What *call* returns; what it raises is raised here.
    """
    from anyio import get_cancelled_exc_class
    from anyio.to_thread import run_sync

    running = _Running(call)
    try:
        return cast("R", await run_sync(running, limiter=limiter(limiter_name)))
    except get_cancelled_exc_class():
        await running.settle()
        raise


def awaitable(
    method: Callable[Concatenate[S, P], R], *, limiter_name: LimiterName = "store"
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Make the ``_async`` twin of a blocking method.

    Args:
        method: The blocking method; the twin looks it up by name on ``self``, so a subclass overrides only
            the blocking one.
        limiter_name: Whose limiter bounds the number of threads.

    Returns:
        A coroutine method with the same parameters.

    Examples:
        >>> import asyncio
        >>> class Greeter:
        ...     def greet(self, name: str) -> str:
        ...         return f"hello {name}"
        ...
        ...     greet_async = awaitable(greet)
        >>> asyncio.run(Greeter().greet_async("you"))
        'hello you'
    """
    name = method.__name__

    @functools.wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await run_in_thread(
            functools.partial(getattr(self, name), *args, **kwargs), limiter_name=limiter_name
        )

    # functools.wraps copies this mark, which would make every store with an inherited twin abstract.
    twin.__dict__.pop("__isabstractmethod__", None)
    twin.__name__ = f"{name}_async"
    twin.__qualname__ = f"{method.__qualname__}_async"
    return twin
