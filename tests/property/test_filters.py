"""Metadata filters: what Python makes of a filter is what every store makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.postgres import fresh

from hitherto.filters import json_equal, parse_filter
from hitherto.store.base import MemoryStore
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing import strategies
from hitherto.testing.reference import ReferenceStore


@pytest.fixture(
    scope="module",
    params=[ReferenceStore, lambda: SQLiteStore(":memory:"), fresh],
    ids=["reference", "sqlite", "postgres"],
)
def store(request: pytest.FixtureRequest) -> Iterator[MemoryStore]:
    """Return a store; examples delete what they stored."""
    with request.param() as opened:
        yield opened


@settings(max_examples=150)
@given(
    rows=st.lists(strategies.metadata(), min_size=1, max_size=8),
    wanted=st.lists(strategies.filters(), min_size=1, max_size=5),
)
def test_a_list_is_what_python_lets_through(
    store: MemoryStore, rows: list[dict[str, Any] | None], wanted: list[dict[str, Any]]
) -> None:
    """Any filter over any rows: a list and a search have exactly the rows that the parsed filter matches."""
    made = store.add(["tea"] * len(rows), "fact", user_ids="u", metadata=list(rows))
    try:
        for item in wanted:
            parsed = parse_filter(item)
            assert parsed is not None
            expected = [name for name, row in zip(made, rows, strict=True) if parsed.matches(row)]
            assert [record.id for record in store.list("fact", metadata_filter=item)] == expected
            found = store.search("tea", 100, user_id="u", exact_user_match=True, metadata_filter=item)
            assert sorted(record.id for record, _ in found) == sorted(expected)
    finally:
        store.erase_user("u")


@given(rows=st.lists(strategies.metadata(), min_size=1, max_size=5))
def test_metadata_come_back_as_they_were(store: MemoryStore, rows: list[dict[str, Any] | None]) -> None:
    """Any JSON object comes back with the same keys, in the same order, and each number of the same kind."""
    store.add(["tea"] * len(rows), "fact", user_ids="u", metadata=list(rows))
    try:
        assert [repr(record.metadata) for record in store.list("fact")] == [repr(row) for row in rows]
    finally:
        store.erase_user("u")


@given(row=strategies.metadata().filter(bool))
def test_metadata_match_themselves(row: dict[str, Any]) -> None:
    """Every part of a record's metadata is a filter that the record passes, and whose negation it does not."""
    for key, value in row.items():
        for wanted, passes in (({key: value}, True), ({key: {"$not": value}}, False)):
            parsed = parse_filter(wanted)
            assert parsed is not None
            assert parsed.matches(row) is passes


@given(left=strategies.json_values(), right=strategies.json_values())
def test_equality_is_symmetric_and_holds_for_oneself(left: Any, right: Any) -> None:
    """JSON equality is an equality."""
    assert json_equal(left, left)
    assert json_equal(left, right) == json_equal(right, left)
