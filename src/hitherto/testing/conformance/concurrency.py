"""Concurrency: threads on one store, and where it is persistent, several stores on one place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import HashEmbedder


class ConcurrencyConformance(ConformanceBase):
    """Many threads."""

    def test_parallel_adds_store_every_record(self, store: MemoryStore) -> None:
        """8 threads with 25 adds each store exactly 200 records."""

        def write(worker: int) -> None:
            for number in range(25):
                store.add([f"fact {worker} {number}"], "fact", user_ids=f"u{worker}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        assert len(store.list("fact")) == 200

    def test_parallel_appends_to_a_thread_keep_every_message(self, store: MemoryStore) -> None:
        """Each message has a number of its own, and the batches of a writer stay in order."""

        def write(worker: int) -> None:
            for number in range(10):
                store.add(
                    [f"{worker}/{number}/a", f"{worker}/{number}/b"],
                    "message",
                    thread_ids="t",
                    roles="user",
                )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        found = store.list_thread_messages("t")
        assert len({message.seq_no for message in found}) == 160
        for worker in range(8):
            mine = [str(m.content) for m in found if str(m.content).startswith(f"{worker}/")]
            assert mine == [f"{worker}/{number}/{part}" for number in range(10) for part in "ab"]

    def test_no_user_ever_sees_another(self, store: MemoryStore) -> None:
        """While two users write and search from many threads, no search leaks a record."""

        def work(worker: int) -> set[str | None]:
            user = f"user{worker % 2}"
            owners: set[str | None] = set()
            for number in range(15):
                store.add([f"secret of {user} {number}"], "fact", user_ids=user)
                found = store.search("secret", 50, user_id=user, exact_user_match=True)
                owners |= {getattr(record, "user_id", None) for record, _ in found}
            return owners - {user}

        with ThreadPoolExecutor(6) as pool:
            assert set().union(*pool.map(work, range(6))) == set()

    @pytest.mark.usefixtures("kept")
    def test_another_store_on_the_same_place_sees_every_commit(self, tmp_path: Path) -> None:
        """What one store has committed, another one that is open already finds at once."""
        with (
            self.make_store(tmp_path, embedder=HashEmbedder()) as first,
            self.make_store(tmp_path, embedder=HashEmbedder()) as second,
        ):
            for number in range(10):
                name = f"word{number}"
                first.add([name], "fact", record_ids=name, user_ids="u")
                assert ids(second.search(name, 1, user_id="u", exact_user_match=True)) == [name]
                second.update("fact", name, content=f"other{number}")
                assert ids(first.search(f"other{number}", 1)) == [name]
                first.delete("fact", name)
                assert second.search(f"other{number}", 1, user_id="u", exact_user_match=True) == []
