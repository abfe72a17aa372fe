"""Deleting: what goes, what goes with it, and what stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import HashEmbedder


class EraseConformance(ConformanceBase):
    """Deleting and erasing."""

    def _fill_users(self, store: MemoryStore) -> None:
        for user in ("u1", "u2"):
            self._fill_user(store, user)

    def _fill_user(self, store: MemoryStore, user: str) -> None:
        store.add_user(user, f"profile of {user}")
        store.create_thread_record(f"t-{user}", user, "a", None, None)
        image = ImageContent(b"\x89PNG\r\n\x1a\n", ImageMimeType.PNG, "a bicycle", id=f"i-{user}")
        store.add(
            [(TextContent("hello"), image), "tea"],
            "message",
            record_ids=[f"m1-{user}", f"m2-{user}"],
            thread_ids=f"t-{user}",
            user_ids=user,
            agent_ids="a",
            roles="user",
        )
        store.add(["tea"], "fact", record_ids=f"f-{user}", thread_ids=f"t-{user}", user_ids=user)
        store.add(["tea alone"], "fact", record_ids=f"g-{user}", user_ids=user)

    def _all(self, store: MemoryStore) -> set[str]:
        kinds = ("message", "fact", "image", "thread", "user_profile")
        return {record.id for kind in kinds for record in store.list(kind)}

    def test_deleting_returns_whether_it_was_there(self, store: MemoryStore) -> None:
        """The first delete returns 1, the next 0."""
        store.add(["a"], "fact", record_ids="x")
        assert store.delete("fact", "x") == 1
        assert store.delete("fact", "x") == 0
        assert store.delete("preference", "x") == 0

    def test_a_message_takes_its_images_along(self, store: MemoryStore) -> None:
        """Deleting a message deletes the images inside it, and nothing else."""
        self._fill_users(store)
        before = self._all(store)
        assert store.delete("message", "m1-u1") == 1
        assert before - self._all(store) == {"m1-u1", "i-u1"}

    def test_a_thread_takes_its_content_along(self, store: MemoryStore) -> None:
        """Deleting a thread deletes its messages, memories and images; the user's other memories stay."""
        self._fill_users(store)
        before = self._all(store)
        assert store.delete_thread("t-u1") == 1
        assert before - self._all(store) == {"t-u1", "m1-u1", "m2-u1", "i-u1", "f-u1"}

    def test_a_profile_without_cascade_goes_alone(self, store: MemoryStore) -> None:
        """Without cascade only the profile is deleted."""
        self._fill_users(store)
        before = self._all(store)
        assert store.delete("user_profile", "u1") == 1
        assert before - self._all(store) == {"u1"}

    def test_a_user_with_cascade_leaves_every_other_user(self, store: MemoryStore) -> None:
        """With cascade everything of the user goes, and nothing of anybody else."""
        self._fill_users(store)
        before = self._all(store)
        assert store.delete("user_profile", "u1", cascade=True) == 1
        gone = before - self._all(store)
        assert gone == {name for name in before if name.endswith("u1")}
        assert {name for name in ids(store.search("tea", 99)) if name.endswith("u1")} == set()
        assert len(store.search("tea", 99, user_id="u2", exact_user_match=True)) > 0

    def test_erasing_a_user_counts_and_leaves_the_rest(self, store: MemoryStore) -> None:
        """Erasing removes all of one user's records; the others' searches are what they were."""
        self._fill_users(store)
        before = ids(store.search("tea", 99, user_id="u2", exact_user_match=True))
        assert store.erase_user("u1") == 7
        assert store.erase_user("u1") == 0
        assert not {name for name in self._all(store) if name.endswith("u1")}
        assert ids(store.search("tea", 99, user_id="u2", exact_user_match=True)) == before

    @pytest.mark.usefixtures("kept")
    def test_an_erased_text_is_nowhere_in_the_files(self, tmp_path: Path) -> None:
        """After an erasure no file of the store holds the text, the id or a word of it."""
        folder = tmp_path / "store"
        folder.mkdir()
        with self.make_store(folder, embedder=HashEmbedder()) as store:
            store.add(["filler text"] * 50, "fact", user_ids="other")
            for number in range(20):
                store.add(
                    [f"zyzzyva{number} quetzalcoatl"],
                    "fact",
                    record_ids=f"erased-{number}",
                    user_ids="vanishing-user",
                    metadata={"note": "xylophone-secret"},
                )
            store.update("fact", "erased-3", content="changed zyzzyva3 okapi")
            store.delete("fact", "erased-4")
            store.erase_user("vanishing-user")
            self._assert_no_trace(folder, "while it is open")
        self._assert_no_trace(folder, "after it was closed")

    def _assert_no_trace(self, folder: Path, when: str) -> None:
        for file in folder.rglob("*"):
            data = file.read_bytes() if file.is_file() else b""
            for secret in (
                b"zyzzyva",
                b"quetzalcoatl",
                b"vanishing-user",
                b"xylophone",
                b"erased-",
                b"okapi",
            ):
                assert secret not in data, f"{secret!r} is in {file.name} {when}"

    def test_no_delete_leaves_a_row_behind(self, store: MemoryStore) -> None:
        """No vector, word, link or image stays when its record goes, whichever way it goes."""
        for user in ("u1", "u2", "u3"):
            self._fill_user(store, user)
            store.add(["boat"], "fact", record_ids=f"h-{user}", user_ids=user, ttl_days=0)
            store.add_relations(f"g-{user}", "fact", f"f-{user}", "fact", "supersedes")
        store.delete("message", "m1-u1")
        store.update("message", "m1-u2", content="no image any more")
        store.update("fact", "g-u1", content="another text")
        store.delete("fact", "g-u1")
        store.delete_thread("t-u1")
        store.delete("user_profile", "u2", cascade=True)
        store.erase_user("u3")
        store.purge_expired()
        assert self.leftovers(store) == []
        assert store.list_relations() == []

    def test_search_after_many_deletes(self, store: MemoryStore) -> None:
        """What is left is found, and k hits come back while k records are left."""
        made = store.add([f"tea number{n}" for n in range(40)], "fact", user_ids="u")
        for record_id in made[::2]:
            store.delete("fact", record_id)
        found: Any = store.search("tea", 40, user_id="u", exact_user_match=True)
        assert sorted(ids(found)) == sorted(made[1::2])
