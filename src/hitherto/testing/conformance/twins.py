"""Twins: every blocking verb has an awaitable one that gives the same and never blocks the loop."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import SlowEmbedder

WITHOUT_TWIN = {"close"}


class TwinConformance(ConformanceBase):
    """The asynchronous twins."""

    def test_every_verb_has_a_twin_of_the_same_signature(self, store: MemoryStore) -> None:
        """Each public verb x of the interface has x_async with the same parameters."""
        for name, verb in inspect.getmembers(MemoryStore, inspect.isfunction):
            if name.startswith("_") or name.endswith("_async") or name in WITHOUT_TWIN:
                continue
            twin = getattr(type(store), f"{name}_async")
            assert inspect.iscoroutinefunction(twin), name
            parameters = list(inspect.signature(verb).parameters)
            assert list(inspect.signature(twin).parameters) == parameters, name

    def test_twins_give_the_same(self, store: MemoryStore) -> None:
        """What is stored through a twin is found by both."""

        async def program() -> list[Any]:
            made = await store.add_async(["green tea"], "fact", user_ids="u")
            found = await store.search_async("tea", 3, user_id="u", exact_user_match=True)
            await store.update_async("fact", made[0], content="black tea")
            return [made, ids(found), (await store.get_async("fact", made[0]))]

        made, found, record = asyncio.run(program())
        assert found == made
        assert record == store.get("fact", made[0])

    def test_a_second_event_loop_works(self, store: MemoryStore) -> None:
        """Nothing is bound to the first loop."""
        for number in range(2):
            asyncio.run(store.add_async([f"tea {number}"], "fact"))
        assert len(store.list("fact")) == 2

    def test_the_loop_goes_on_while_a_call_runs(self, tmp_path: Path) -> None:
        """A heartbeat keeps ticking during slow calls."""

        async def program(store: MemoryStore) -> int:
            beats = 0

            async def heartbeat() -> None:
                nonlocal beats
                while True:
                    await asyncio.sleep(0.01)
                    beats += 1

            pulse = asyncio.create_task(heartbeat())
            await store.add_async(["tea"], "fact")
            await store.search_async("tea", 1)
            pulse.cancel()
            return beats

        with self.make_store(tmp_path, embedder=SlowEmbedder(0.2)) as store:
            # Both calls together sleep for 0.4 s; a blocked loop would not tick at all.
            assert asyncio.run(program(store)) >= 5

    def test_a_cancelled_write_is_whole_or_not_there(self, tmp_path: Path) -> None:
        """Cancelling a write leaves all of its records or none."""

        async def program(store: MemoryStore) -> None:
            task = asyncio.create_task(store.add_async([f"tea {n}" for n in range(50)], "fact"))
            await asyncio.sleep(0.05)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return

        with self.make_store(tmp_path, embedder=SlowEmbedder(0.2)) as store:
            asyncio.run(program(store))
            assert len(store.list("fact")) in (0, 50)
