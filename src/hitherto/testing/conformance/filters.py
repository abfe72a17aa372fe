"""Metadata filters: on every backend what Python makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import InvalidFilterError
from hitherto.filters import parse_filter
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids

METADATA: list[dict[str, Any] | None] = [
    None,
    {},
    {"a": 1},
    {"a": 1.0, "b": "x"},
    {"a": "1"},
    {"a": True},
    {"a": None},
    {"a": [1, "x", None]},
    {"a": ["x"], "b": "x,y|z"},
    {"a": {"b": 1, "c": [True]}},
    {"a.b": 1},
    {"a": {"b": {"c": "deep"}}},
    {'q"uote': "it's", "[k]": "(v)"},
    {"ключ": "значение", "": 0},
    {"a": []},
    {"a": {}},
    {"a": 10**20, "b": -0.0},
    {"a": "línea\nnueva"},
]
FILTERS: list[dict[str, Any]] = [
    {},
    {"a": 1},
    {"a": "1"},
    {"a": True},
    {"a": None},
    {"a": {"$not": None}},
    {"a": {"$not": {"$not": 1}}},
    {"a": [1.0, "x", None]},
    {"a": {"$array_contains": "x"}},
    {"a": {"$array_contains": ["x", 1]}},
    {"a": {"$array_contains": None}},
    {"a": {"$array_contains_any": ["y", 1]}},
    {"a": {"$array_contains": "x", "$not": ["x"]}},
    {"a": {"b": 1}},
    {"a": {"b": {"$not": 1}}},
    {"a": {"b": {"c": "deep"}}},
    {"a": {}},
    {"a": []},
    {"a.b": 1},
    {"b": "x,y|z"},
    {'q"uote': "it's", "[k]": "(v)"},
    {"ключ": "значение"},
    {"": 0},
    {"a": 10**20},
    {"b": 0},
    {"a": "línea\nnueva"},
]


class FilterConformance(ConformanceBase):
    """Metadata filters of lists and searches."""

    @pytest.mark.parametrize("wanted", FILTERS, ids=str)
    def test_a_filter_means_the_same_everywhere(self, store: MemoryStore, wanted: dict[str, Any]) -> None:
        """A list and a search return exactly the records that the Python evaluation lets through."""
        names = [str(place) for place in range(len(METADATA))]
        store.add(["some words"] * len(METADATA), "fact", record_ids=list(names), metadata=list(METADATA))
        parsed = parse_filter(wanted)
        assert parsed is not None
        expected = [name for name, metadata in zip(names, METADATA, strict=True) if parsed.matches(metadata)]
        assert ids(store.list("fact", metadata_filter=wanted)) == expected
        assert sorted(ids(store.search("some words", 100, metadata_filter=wanted))) == sorted(expected)

    def test_none_means_no_metadata_in_a_list(self, store: MemoryStore) -> None:
        """In a list None selects the records without metadata; in a search it filters nothing."""
        store.add(["words"] * 2, "fact", record_ids=["none", "some"], metadata=[None, {"a": 1}])
        assert ids(store.list("fact", metadata_filter=None)) == ["none"]
        assert len(store.search("words", 9, metadata_filter=None)) == 2

    @pytest.mark.parametrize(
        "bad",
        [{"a": {"$gt": 1}}, {"$and": []}, {"a": {"$array_contains": []}}, {"a": (1,)}, {"a": float("nan")}],
    )
    def test_a_malformed_filter_is_refused(self, store: MemoryStore, bad: dict[str, Any]) -> None:
        """Unknown operators and values that are not JSON are named, never silently matched to nothing."""
        with pytest.raises(InvalidFilterError):
            store.search("x", 3, metadata_filter=bad)
        with pytest.raises(InvalidFilterError):
            store.list("fact", metadata_filter=bad)

    def test_filters_come_before_the_cut(self, store: MemoryStore) -> None:
        """K hits come back whenever k records qualify, however many nearer ones do not."""
        store.add(["exactly these words"] * 60, "fact", user_ids="u", metadata={"keep": False})
        wanted = store.add(["words"] * 5, "fact", user_ids="u", metadata={"keep": True})
        found = store.search("exactly these words", 5, metadata_filter={"keep": True})
        assert sorted(ids(found)) == sorted(wanted)
