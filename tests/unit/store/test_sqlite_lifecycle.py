"""Links, and what they imply for the status of memories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hitherto.errors import ConflictError, InvalidArgumentError
from hitherto.records import RecordStatus
from hitherto.relations import RecordRelation
from hitherto.store.sqlite.store import SQLiteStore


@pytest.fixture
def memories(store: SQLiteStore) -> SQLiteStore:
    store.add(["A", "B", "C"], "fact", record_ids=["a", "b", "c"])
    return store


def link(store: SQLiteStore, source: str, target: str, kind: str, **extra: object) -> str:
    return store.add_relations(source, "fact", target, "fact", kind, **extra)[0]  # type: ignore[arg-type]


def state(store: SQLiteStore, record_id: str) -> tuple[str, str | None]:
    record = store.get("fact", record_id)
    assert record is not None
    reason = (record.metadata or {}).get("$agent_memory", {}).get("invalidation_reason")
    return record.status.value, reason


def test_status_follows_from_incoming_links(reference_data: Path, tmp_path: Path) -> None:
    """A memory is invalid if some incoming link supersedes, refines or duplicates it, for the oldest's reason."""
    cases = json.loads((reference_data / "vectors/search/lifecycle.json").read_text())["cases"]
    for place, case in enumerate(cases):
        with SQLiteStore(tmp_path / f"{place}.db") as store:
            sources = [f"s{n}" for n in range(len(case["incoming"]))]
            store.add(["x"] * (len(sources) + 1), "fact", record_ids=["target", *sources])
            for source, kind in zip(sources, case["incoming"], strict=True):
                link(store, source, "target", kind.split(" (")[0])
            assert state(store, "target") == (case["expected"], case["reason"])


def test_deleting_a_link_or_its_source_makes_its_target_valid_again(memories: SQLiteStore) -> None:
    """Nothing stays invalid because of what is no longer there."""
    first = link(memories, "a", "c", "supersedes")
    link(memories, "b", "c", "refines")
    assert memories.delete_relations([first, "nope"]) == 1
    assert state(memories, "c") == ("invalid", "Refined by another memory.")
    memories.delete("fact", "b")
    assert state(memories, "c") == ("valid", None)
    assert memories.get("fact", "c").metadata is None  # type: ignore[union-attr]
    assert memories.list_relations() == []


def test_what_was_set_by_hand_outlives_every_link(memories: SQLiteStore) -> None:
    """Links that come and go, on either side, do not make a hand-invalidated memory valid."""
    memories.update("fact", "b", status=RecordStatus.INVALID)
    link(memories, "b", "c", "supersedes")
    assert state(memories, "b") == ("invalid", None)
    incoming = link(memories, "a", "b", "supersedes")
    other = link(memories, "a", "c", "supports")
    memories.delete_relations([incoming, other])
    assert state(memories, "b") == ("invalid", None)
    memories.update("fact", "b", status=RecordStatus.VALID)
    assert state(memories, "b") == ("valid", None)


def test_a_link_holds_against_a_hand_that_validates(memories: SQLiteStore) -> None:
    """While a link invalidates a memory, neither status nor metadata given by hand hide that."""
    made = link(memories, "a", "b", "supersedes")
    memories.update("fact", "b", status=RecordStatus.VALID, metadata={"k": 1})
    assert state(memories, "b") == ("invalid", "Superseded by another memory.")
    memories.delete_relations(made)
    assert memories.get("fact", "b").metadata == {"k": 1}  # type: ignore[union-attr]
    assert state(memories, "b") == ("valid", None)


def test_a_new_kind_brings_its_reverse_and_its_status(memories: SQLiteStore) -> None:
    """Changing a link to or from an invalidating kind changes its target; a custom kind keeps the old reverse."""
    made = link(memories, "a", "b", "supports")
    assert memories.update_relations([made, "nope"], relation_types="supersedes") == [made]
    assert state(memories, "b")[0] == "invalid"
    assert memories.get_relation(relation_id=made).opposite_relation_type == "is_superseded_by"  # type: ignore[union-attr]
    memories.update_relations(made, relation_types="echoes")
    assert memories.get_relation(relation_id=made).opposite_relation_type == "is_superseded_by"  # type: ignore[union-attr]
    assert state(memories, "b") == ("valid", None)


@pytest.mark.parametrize(
    ("source", "target", "kind", "extra"),
    [
        ("a", "a", "supports", {}),
        ("a", "nope", "supports", {}),
        ("a", "b", "supports", {"opposite_relation_types": "is_refined_by"}),
        ("a", "b", "supports", {"opposite_relation_types": None}),
        ("a", "b", "", {}),
        ("a", "b", "supports", {"metadata": [1]}),
        ("a", "b", ["supports", "refines"], {"relation_ids": ["x"]}),
    ],
)
def test_a_link_that_makes_no_sense_is_refused(
    memories: SQLiteStore, source: str, target: str, kind: str, extra: dict[str, object]
) -> None:
    """Self links, missing ends, wrong reverses, empty labels, bad metadata and misaligned lists are refused."""
    with pytest.raises(InvalidArgumentError):
        link(memories, source, target, kind, **extra)
    assert memories.list_relations() == []


def test_links_join_memories_only(memories: SQLiteStore) -> None:
    """A message is no end of a link."""
    with pytest.raises(InvalidArgumentError, match="target_record_types"):
        memories.add_relations("a", "fact", "m", "message", "supports")


def test_a_pair_has_one_direction_and_each_kind_once(memories: SQLiteStore) -> None:
    """The same link again, or any in the reverse direction, is a conflict; another kind is not."""
    made = link(memories, "a", "b", "supports", relation_ids="l1")
    assert made == "l1"
    for source, target, kind in (("a", "b", "supports"), ("b", "a", "echoes")):
        with pytest.raises(ConflictError):
            link(memories, source, target, kind)
    with pytest.raises(ConflictError):
        link(memories, "a", "c", "supports", relation_ids="l1")
    second = link(memories, "a", "b", "echoes")
    with pytest.raises(ConflictError):
        memories.update_relations(second, relation_types="supports")


def test_links_are_found_by_id_or_by_their_ends(memories: SQLiteStore) -> None:
    """A link is read back as it was stored, in its stored direction, and lists are in order of creation."""
    made = link(memories, "a", "b", "echoes", timestamps="2026", metadata={"k": 1}, relation_ids="l1")
    other = link(memories, "a", "c", "supports", relation_ids="l2")
    found = memories.get_relation("a", "fact", "b", "fact", "echoes")
    assert isinstance(found, RecordRelation)
    assert (found.id, found.opposite_relation_type, found.timestamp, found.metadata) == (
        made,
        "echoes",
        "2026",
        {"k": 1},
    )
    assert memories.get_relation("b", "fact", "a", "fact", "echoes") is None
    assert [item.id for item in memories.list_relations(source_record_id="a")] == [made, other]
    assert [item.id for item in memories.list_relations(limit=1)] == [made]
    assert [item.id for item in memories.list_relations(metadata_filter={"k": 1})] == [made]
    assert [item.id for item in memories.list_relations(metadata_filter=None)] == [other]
    with pytest.raises(InvalidArgumentError):
        memories.get_relation("a", "fact")
    with pytest.raises(InvalidArgumentError):
        memories.update_relations(made)
