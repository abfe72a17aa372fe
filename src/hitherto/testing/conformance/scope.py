"""Scope: whose records a list or a search sees."""

from __future__ import annotations

from itertools import product

import pytest

from hitherto.errors import InvalidArgumentError, InvalidIdError
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids

OWNERS = [None, "u1", "u10", "u2"]
STRANGE_IDS = [
    "ana@example.org",
    "a/b/../c",
    "🙂",
    "a.b",
    "a&b",
    "%",
    "_",
    "*",
    "a b",
    "'; --",
    '"',
    "ａ",
    "A",
    "a",
]


class ScopeConformance(ConformanceBase):
    """Scope of lists and searches."""

    def _fill_owners(self, store: MemoryStore) -> None:
        for user, agent, thread in product(OWNERS[:3], [None, "a1"], [None, "t1"]):
            store.add(
                ["shared words"],
                "fact",
                record_ids=f"{user}-{agent}-{thread}",
                user_ids=user,
                agent_ids=agent,
                thread_ids=thread,
            )

    @pytest.mark.parametrize("user", [None, "u1", "u10", "u2"])
    def test_an_exact_user_sees_only_that_user(self, store: MemoryStore, user: str | None) -> None:
        """An exact user, or none, filters; "u1" is not "u10"."""
        self._fill_owners(store)
        found = store.search("shared words", 100, user_id=user, exact_user_match=True)
        wanted = {name for name in ids(store.list("fact")) if name.startswith(f"{user}-")}
        assert set(ids(found)) == wanted
        assert set(ids(store.list("fact", user_id=user))) == wanted

    def test_dimensions_are_independent(self, store: MemoryStore) -> None:
        """Exact ids in several dimensions must all match."""
        self._fill_owners(store)
        found = store.search(
            "shared words",
            100,
            user_id="u1",
            exact_user_match=True,
            agent_id=None,
            exact_agent_match=True,
            thread_id="t1",
            exact_thread_match=True,
        )
        assert ids(found) == ["u1-None-t1"]

    def test_an_id_without_its_flag_ranks_only(self, store: MemoryStore) -> None:
        """An id that is not exact filters nothing; among equals its records come first."""
        self._fill_owners(store)
        found = ids(store.search("shared words", 100, user_id="u1"))
        assert len(found) == 12
        assert all(name.startswith("u1-") for name in found[:4])

    def test_an_exact_flag_without_an_id_is_refused(self, store: MemoryStore) -> None:
        """Asking for exactness of nothing is an error, not a search of everything."""
        with pytest.raises(InvalidArgumentError, match="exact_user_match"):
            store.search("x", 3, exact_user_match=True)

    @pytest.mark.parametrize("name", STRANGE_IDS)
    def test_ids_are_literal(self, store: MemoryStore, name: str) -> None:
        """No character in an id is a wildcard or separator, and ids are not folded."""
        for other in STRANGE_IDS:
            store.add(["same text"], "fact", record_ids=f"of {other}", user_ids=other, thread_ids=other)
        found = store.search("same text", 100, user_id=name, exact_user_match=True)
        assert ids(found) == [f"of {name}"]
        assert ids(store.list("fact", thread_id=name)) == [f"of {name}"]

    def test_joined_ids_do_not_collide(self, store: MemoryStore) -> None:
        """User "a" with agent "b&c" is not user "a&b" with agent "c", whatever the separator."""
        for sign in "&|:,/\x1f":
            store.add(["x"], "fact", record_ids=f"1{sign}", user_ids=f"a{sign}b", agent_ids="c")
            store.add(["x"], "fact", record_ids=f"2{sign}", user_ids="a", agent_ids=f"b{sign}c")
            assert ids(store.list("fact", user_id=f"a{sign}b", agent_id="c")) == [f"1{sign}"]

    @pytest.mark.parametrize("bad", ["", "x" * 129, "nul\0", "\ud800"])
    def test_illegal_ids_are_refused_before_anything_is_stored(self, store: MemoryStore, bad: str) -> None:
        """An empty, overlong or unstorable id is named, and nothing of the call is stored."""
        with pytest.raises(InvalidIdError):
            store.add(["a", "b"], "fact", user_ids=["fine", bad])
        with pytest.raises(InvalidIdError):
            store.add(["a"], "fact", record_ids=[bad])
        assert store.list("fact") == []

    def test_the_longest_id_is_128_characters(self, store: MemoryStore) -> None:
        """Ids of 128 characters, not bytes, are stored and found."""
        name = "é" * 128
        store.add(["text"], "fact", record_ids=name, user_ids=name)
        assert ids(store.search("text", 1, user_id=name, exact_user_match=True)) == [name]

    def test_profiles_are_in_the_scope_of_their_own_id(self, store: MemoryStore) -> None:
        """A user's profile is that user's, an agent's that agent's."""
        store.add_user("u1", "prefers tea")
        store.add_user("u2", "prefers tea")
        store.add_agent("a1", "serves tea")
        assert ids(store.search("tea", 9, user_id="u1", exact_user_match=True)) == ["u1"]
        assert ids(store.search("tea", 9, agent_id="a1", exact_agent_match=True)) == ["a1"]

    def test_deleting_one_user_leaves_the_others(self, store: MemoryStore) -> None:
        """What is deleted of one user is not missing from another."""
        self._fill_owners(store)
        store.delete("user_profile", "u1", cascade=True)
        left = ids(store.list("fact"))
        assert len(left) == 8
        assert not [name for name in left if name.startswith("u1-")]
        assert len(store.search("shared words", 100, user_id="u10", exact_user_match=True)) == 4
