"""The asynchronous twin of a blocking method."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from abc import ABC, abstractmethod

import anyio
import pytest

from hitherto.aio import _Running, awaitable, limiter, run_in_thread


class Base(ABC):
    """Has a twin of an abstract method."""

    @abstractmethod
    def greet(self, name: str, *, loud: bool = False) -> str:
        """Greet."""

    greet_async = awaitable(greet)


class Greeter(Base):
    """Says who ran it."""

    def greet(self, name: str, *, loud: bool = False) -> str:
        """Greet somebody."""
        if name == "nobody":
            raise LookupError(name)
        self.thread = threading.current_thread()
        return f"hello {name}{'!' if loud else ''}"


def test_a_twin_has_the_signature_and_a_name_of_its_own() -> None:
    """Parameters and docstring are those of the method; name and qualified name end in _async."""
    assert str(inspect.signature(Base.greet_async)) == str(inspect.signature(Base.greet))
    assert inspect.iscoroutinefunction(Base.greet_async)
    assert (Base.greet_async.__name__, Base.greet_async.__doc__) == ("greet_async", "Greet.")
    assert Base.greet_async.__qualname__ == "Base.greet_async"


def test_a_twin_of_an_abstract_method_is_not_abstract() -> None:
    """Only the blocking method needs to be written in a subclass, and the twin calls that one."""
    assert asyncio.run(Greeter().greet_async("you", loud=True)) == "hello you!"
    with pytest.raises(TypeError, match="greet"):
        Base()  # type: ignore[abstract]


def test_the_call_runs_in_another_thread_and_its_error_comes_back() -> None:
    """The event loop's thread is free while the call runs; what it raises is raised to who waits."""
    greeter = Greeter()
    asyncio.run(greeter.greet_async("you"))
    assert greeter.thread is not threading.current_thread()
    with pytest.raises(LookupError, match="nobody"):
        asyncio.run(greeter.greet_async("nobody"))


def test_cancelling_waits_for_the_running_call() -> None:
    """A write that has begun is finished before the cancellation is seen."""
    begun, finished = threading.Event(), threading.Event()
    release = threading.Event()

    def write() -> None:
        begun.set()
        assert release.wait(30)
        finished.set()

    async def program() -> bool:
        task = asyncio.create_task(run_in_thread(write))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.sleep(0.001)
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return finished.is_set()

    assert asyncio.run(program())


def test_a_time_limit_leaves_no_call_behind() -> None:
    """After a time limit the call is over, not running on in the dark."""
    finished = []

    async def program() -> list[int]:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run_in_thread(lambda: (time.sleep(0.05), finished.append(1))), 0.01)
        return list(finished)

    assert asyncio.run(program()) == [1]


def test_a_call_cancelled_before_it_began_never_runs() -> None:
    """What waits for a free thread and is cancelled is not run later."""
    release, ran = threading.Event(), []

    async def program() -> None:
        busy = [asyncio.create_task(run_in_thread(lambda: release.wait(30))) for _ in range(16)]
        await asyncio.sleep(0.01)
        waiting = asyncio.create_task(run_in_thread(lambda: ran.append(1)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        release.set()
        await asyncio.gather(*busy)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(program())
    assert ran == []


def test_a_call_cancelled_on_its_way_to_a_thread_never_runs() -> None:
    """A thread that picks up a cancelled call does nothing."""
    ran: list[int] = []
    running = _Running(lambda: ran.append(1))
    asyncio.run(running.settle())
    assert running() is None
    assert ran == []


def test_calls_of_models_do_not_starve_the_store() -> None:
    """While every thread for models waits, a call of the store still runs."""
    release = threading.Event()

    async def program() -> str:
        async with anyio.create_task_group() as tasks:
            for _ in range(100):
                tasks.start_soon(lambda: run_in_thread(release.wait, limiter_name="models"))
            await anyio.sleep(0.01)
            answer = await run_in_thread(lambda: "stored")
            release.set()
        return answer

    try:
        assert asyncio.run(program()) == "stored"
    finally:
        release.set()


def test_each_event_loop_has_one_limiter_of_each_name() -> None:
    """A limiter belongs to its loop; a second loop gets its own."""

    async def program() -> tuple[object, object]:
        assert limiter("store") is limiter("store")
        return limiter("store"), limiter("models")

    first, second = asyncio.run(program()), asyncio.run(program())
    assert len({id(item) for item in (*first, *second)}) == 4
