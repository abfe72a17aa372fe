"""One client in many hands: threads, event loops, and a close in the middle of it."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hitherto import AgentMemory, Message
from hitherto.errors import ClosedError
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder
from hitherto.thread import Thread

if TYPE_CHECKING:
    from hitherto.models.base import FloatMatrix

#: Arguments with which each method of a client or thread can be called; the rest need none.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "add_agent": ("a", "x"),
    "add_image": (b"\x89PNG\r\n\x1a\n", "x"),
    "delete_image": ("i",),
    "update_image": ("i",),
    "add_memory": ("x",),
    "add_messages": ([Message("user", "x")],),
    "add_user": ("u", "x"),
    "delete_agent": ("a",),
    "delete_memory": ("m",),
    "delete_message": ("m",),
    "delete_thread": ("t",),
    "delete_user": ("u",),
    "for_user": ("u",),
    "get_message": ("m",),
    "get_thread": ("t",),
    "link_records": ("a", "memory", "b", "memory", "supports"),
    "list_threads": ("u",),
    "search": ("x",),
    "update_memory": ("m", "x"),
    "update_message": ("m", "x"),
    "update_record_link": ("l", "supports"),
    "update_thread": ("t",),
}
NAMED: dict[str, dict[str, Any]] = {
    "delete_record_link": {"relation_id": "l"},
    "add_image": {"user_id": "u"},
}


class SlowEmbedder(HashEmbedder):
    """Takes its time, as a hosted model does."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed after a fifth of a second."""
        time.sleep(0.2)
        return super().embed(texts, is_query=is_query)


def methods(cls: type) -> list[str]:
    """Return the public blocking methods of a class, without close."""
    names = [name for name, _ in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")]
    return [name for name in names if name != "close" and not name.endswith("_async")]


@pytest.mark.parametrize("cls", [AgentMemory, Thread])
def test_every_method_is_refused_after_close(cls: type) -> None:
    """Whatever is called after close raises ClosedError, and so does its twin, though the store stays open."""
    with AgentMemory(store=ReferenceStore()) as memory:
        thread = memory.create_thread(thread_id="t", user_id="u")
    owner = memory if cls is AgentMemory else thread
    assert len(methods(cls)) > 10
    for name in methods(cls):
        needs_user = cls is AgentMemory and name in {"search", "list_images"}
        named = {"user_id": "u"} if needs_user else NAMED.get(name, {})
        with pytest.raises(ClosedError):
            getattr(owner, name)(*ARGUMENTS.get(name, ()), **named)
        with pytest.raises(ClosedError):
            asyncio.run(getattr(owner, f"{name}_async")(*ARGUMENTS.get(name, ()), **named))
    assert issubclass(ClosedError, RuntimeError)


def test_sixteen_threads_share_a_client(tmp_path: Path) -> None:
    """Everything that 16 threads store is there, each thread's in its order, and each finds its own."""
    with AgentMemory(tmp_path / "m.db", embedder=None, durability="normal") as memory:
        shared = memory.create_thread(thread_id="shared", user_id="all")

        def work(worker: int) -> set[str | None]:
            user = f"user{worker}"
            for number in range(6):
                memory.add_memory(f"secret {worker} {number}", user_id=user)
                shared.add_messages([Message("user", f"{worker}/{number}")])
            found = memory.search("secret", user_id=user, max_results=50)
            assert len(found) == 6
            return {getattr(result.record, "user_id", None) for result in found} - {user}

        with ThreadPoolExecutor(16) as pool:
            assert set().union(*pool.map(work, range(16))) == set()
        said = [str(message.content) for message in shared.get_messages(end=None)]
        assert len(said) == 96
        for worker in range(16):
            assert [text for text in said if text.startswith(f"{worker}/")] == [
                f"{worker}/{number}" for number in range(6)
            ]


def test_closing_while_others_work_loses_nothing(tmp_path: Path) -> None:
    """A close in the middle gives every other thread ClosedError, and what was acknowledged is in the file."""
    memory = AgentMemory(tmp_path / "m.db", embedder=None, durability="normal")
    acknowledged: list[str] = []
    others: list[BaseException] = []
    started = threading.Barrier(5)

    def work() -> None:
        started.wait()
        try:
            while True:
                acknowledged.append(memory.add_memory("tea", user_id="u"))
                memory.search("tea", user_id="u")
        except ClosedError:
            return
        except BaseException as error:
            others.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    started.wait()
    while len(acknowledged) < 20 and not others:
        time.sleep(0.005)
    memory.close()
    for worker in workers:
        worker.join(60)
    assert others == []
    with AgentMemory(tmp_path / "m.db", embedder=None) as again:
        assert set(acknowledged) <= {record.id for record in again.list_memories(limit=None)}


def test_a_slow_model_does_not_block_the_event_loop() -> None:
    """While an awaited call waits for a model, other tasks of the loop go on."""

    async def program(memory: AgentMemory) -> int:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.01)
                beats += 1

        heart = asyncio.create_task(beat())
        thread = await memory.create_thread_async(user_id="u")
        await thread.add_messages_async([Message("user", "green tea")])
        assert [item.content for item in await thread.search_async("tea")] == ["green tea"]
        heart.cancel()
        return beats

    with AgentMemory(":memory:", embedder=SlowEmbedder()) as memory:
        assert asyncio.run(program(memory)) >= 10
        assert asyncio.run(program(memory)) >= 10  # a second loop with the same client
