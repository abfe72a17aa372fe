"""Links: what they connect, and what follows for status."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import ConflictError, InvalidArgumentError
from hitherto.records import RecordStatus
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ManualClock, ids

VALID, INVALID = RecordStatus.VALID, RecordStatus.INVALID


class LinkConformance(ConformanceBase):
    """Links between memories and lifecycle."""

    @pytest.fixture
    def linked(self, store: MemoryStore) -> MemoryStore:
        """Return a store with the memories a, b, c, d."""
        store.add(["alpha", "beta", "gamma", "delta"], "memory", record_ids=["a", "b", "c", "d"])
        return store

    def _link(self, store: MemoryStore, source: str, kind: str, target: str, **fields: Any) -> str:
        return store.add_relations(source, "memory", target, "memory", kind, **fields)[0]

    def _status(self, store: MemoryStore, record_id: str) -> tuple[RecordStatus, object]:
        record = store.get("memory", record_id)
        assert record is not None
        own = (record.metadata or {}).get("$agent_memory", {})
        return record.status, own.get("invalidation_reason")

    def test_a_link_comes_back_as_stored(self, linked: MemoryStore) -> None:
        """A link keeps its direction, kind, reverse, time and metadata."""
        self._link(linked, "a", "supports", "b", relation_ids="l", timestamps="2026-01-01", metadata={"w": 1})
        found = linked.get_relation(relation_id="l")
        assert found is not None
        assert (found.source_record_id, found.relation_type, found.target_record_id) == ("a", "supports", "b")
        assert (found.opposite_relation_type, found.timestamp) == ("is_supported_by", "2026-01-01")
        assert found.metadata == {"w": 1}
        assert linked.get_relation("a", "memory", "b", "memory", "supports") == found
        assert linked.get_relation("b", "memory", "a", "memory", "supports") is None

    @pytest.mark.parametrize("kind", ["supersedes", "refines", "duplicates"])
    def test_some_links_invalidate_their_target(self, linked: MemoryStore, kind: str) -> None:
        """The target is invalid, with a reason, for exactly as long as the link exists."""
        link = self._link(linked, "b", kind, "a")
        status, reason = self._status(linked, "a")
        assert status is INVALID
        assert isinstance(reason, str)
        assert self._status(linked, "b") == (VALID, None)
        assert linked.delete_relations(link) == 1
        assert self._status(linked, "a") == (VALID, None)

    @pytest.mark.parametrize("kind", ["supports", "contradicts", "my own label"])
    def test_other_links_leave_status_alone(self, linked: MemoryStore, kind: str) -> None:
        """Supporting, contradicting and custom links say nothing of validity."""
        self._link(linked, "b", kind, "a")
        assert self._status(linked, "a") == (VALID, None)

    def test_the_oldest_link_gives_the_reason(self, linked: MemoryStore, clock: ManualClock) -> None:
        """Of several invalidating links the oldest one is named, and the next one when it goes."""
        first = self._link(linked, "b", "refines", "a")
        clock.advance(seconds=1)
        self._link(linked, "c", "supersedes", "a")
        assert self._status(linked, "a") == (INVALID, "Refined by another memory.")
        linked.delete_relations(first)
        assert self._status(linked, "a") == (INVALID, "Superseded by another memory.")

    def test_a_manual_invalidation_is_undone_by_its_owner_only(self, linked: MemoryStore) -> None:
        """Links that come and go, anywhere, do not revive what was invalidated by hand."""
        linked.update("memory", "a", status=INVALID)
        link = self._link(linked, "b", "supersedes", "a")
        outgoing = self._link(linked, "a", "supersedes", "c")
        elsewhere = self._link(linked, "b", "refines", "d")
        linked.delete_relations([link, outgoing, elsewhere])
        assert self._status(linked, "a") == (INVALID, None)
        linked.update("memory", "a", status=VALID)
        assert self._status(linked, "a") == (VALID, None)

    def test_a_hand_cannot_revive_what_a_link_invalidates(self, linked: MemoryStore) -> None:
        """While a link supersedes a memory, it stays invalid."""
        self._link(linked, "b", "supersedes", "a")
        linked.update("memory", "a", status=VALID)
        assert self._status(linked, "a")[0] is INVALID

    def test_changing_the_kind_recalculates(self, linked: MemoryStore) -> None:
        """A link that becomes an invalidating one, or ceases to be one, changes its target."""
        link = self._link(linked, "b", "supports", "a")
        assert linked.update_relations(link, relation_types="supersedes") == [link]
        assert self._status(linked, "a")[0] is INVALID
        found = linked.get_relation(relation_id=link)
        assert found is not None
        assert found.opposite_relation_type == "is_superseded_by"
        linked.update_relations(link, relation_types="supports")
        assert self._status(linked, "a") == (VALID, None)

    def test_two_links_cannot_become_the_same(self, linked: MemoryStore) -> None:
        """A change that would make one link equal another is refused, with all others of the call."""
        self._link(linked, "a", "supports", "b", relation_ids="1")
        self._link(linked, "a", "refines", "b", relation_ids="2")
        self._link(linked, "c", "refines", "d", relation_ids="3")
        with pytest.raises(ConflictError):
            linked.update_relations(["3", "2"], relation_types="supports")
        assert [link.relation_type for link in linked.list_relations()] == ["supports", "refines", "refines"]
        assert self._status(linked, "d")[0] is INVALID

    def test_deleting_a_memory_deletes_its_links(self, linked: MemoryStore) -> None:
        """With the superseding memory goes its link, and the superseded one is valid again."""
        link = self._link(linked, "b", "supersedes", "a")
        linked.delete("memory", "b")
        assert linked.get_relation(relation_id=link) is None
        assert self._status(linked, "a") == (VALID, None)

    def test_later_statements_supersede_earlier_ones(self, linked: MemoryStore) -> None:
        """The superseded memory can be left out of a search."""
        linked.add(["Ana likes coffee"], "preference", record_ids="old")
        linked.add(["Ana no longer likes coffee"], "preference", record_ids="new")
        linked.add_relations("new", "preference", "old", "preference", "supersedes")
        assert set(ids(linked.search("likes coffee", 2))) == {"old", "new"}
        assert ids(linked.search("likes coffee", 2, include_invalid_results=False))[:1] == ["new"]
        assert "old" not in ids(linked.search("likes coffee", 9, include_invalid_results=False))

    def test_impossible_links_are_refused(self, linked: MemoryStore) -> None:
        """No link to itself, to nothing, twice, or back; nothing of the call is stored."""
        self._link(linked, "a", "supports", "b", relation_ids="l")
        for source, kind, target in (("a", "supports", "a"), ("a", "supports", "absent")):
            with pytest.raises(InvalidArgumentError):
                self._link(linked, source, kind, target)
        for source, kind, target in (("a", "supports", "b"), ("b", "refines", "a")):
            with pytest.raises(ConflictError):
                self._link(linked, source, kind, target)
        with pytest.raises(ConflictError):
            self._link(linked, "c", "supports", "d", relation_ids="l")
        with pytest.raises(ConflictError):
            linked.add_relations(["c", "a"], "memory", ["d", "b"], "memory", "supports")
        assert [link.id for link in linked.list_relations()] == ["l"]

    def test_lists_of_links(self, linked: MemoryStore, clock: ManualClock) -> None:
        """Links are listed by age, and by end, kind and metadata."""
        self._link(linked, "a", "supports", "b", relation_ids="1", metadata={"k": 1})
        clock.advance(seconds=1)
        self._link(linked, "a", "refines", "c", relation_ids="2")
        clock.advance(seconds=1)
        self._link(linked, "d", "supports", "b", relation_ids="0")
        assert [link.id for link in linked.list_relations()] == ["1", "2", "0"]
        assert [link.id for link in linked.list_relations(target_record_id="b")] == ["1", "0"]
        assert [link.id for link in linked.list_relations(relation_type="refines")] == ["2"]
        assert [link.id for link in linked.list_relations(metadata_filter={"k": 1})] == ["1"]
        assert [link.id for link in linked.list_relations(limit=1)] == ["1"]

    def test_hops_follow_links_both_ways(self, linked: MemoryStore) -> None:
        """A search with hops brings the linked memories, with the links as they are stored."""
        self._link(linked, "a", "supports", "b")
        self._link(linked, "c", "supports", "b")
        record = linked.search("alpha", 1, num_hops=2)[0][0]
        (relation, child) = record.linked_results[0]
        assert (relation.source_record_id, relation.target_record_id, child.id) == ("a", "b", "b")
        assert [grandchild.id for _, grandchild in child.linked_results] == ["c"]
        assert linked.search("alpha", 1, num_hops=0)[0][0].linked_results == ()
        assert linked.search("alpha", 1, num_hops=2, max_linked_results=0)[0][0].linked_results == ()

    def test_hops_do_not_pass_what_a_filter_keeps_out(self, linked: MemoryStore) -> None:
        """A record that the search would not return is not entered, and blocks the path behind it."""
        linked.add(["middle"], "memory", record_ids="m", metadata={"secret": True})
        self._link(linked, "a", "supports", "m")
        self._link(linked, "m", "supports", "c")
        record = linked.search("alpha", 1, num_hops=3, metadata_filter={"secret": {"$not": True}})[0][0]
        assert record.linked_results == ()
