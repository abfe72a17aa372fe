"""Conditions in SQL: the same as what Python says of each record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    delete,
    insert,
    select,
)

from hitherto.filters import parse_filter
from hitherto.records import RecordStatus
from hitherto.scope import Match, ResolvedScope
from hitherto.store.requests import StoreQuery
from hitherto.store.sql.tables import records
from hitherto.store.sql.where import filter_condition, search_clause
from hitherto.store.sqlite.store import SQLiteStore

KEYS = st.sampled_from(["a", "b", "a.b", 'q"uote', "it's", "", "é", "$agent_memory"])
NUMBERS = st.sampled_from(
    [0, 1, -1, 1.0, 1.5, 0.1, 2**53, 2**53 + 1, 2**60, 2**70, 2**70 + 1, -(2**63), 1e300, 1e-300]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.sampled_from(["", "a", "A", "1", "true", "null", 'q"', "é", "%", "a, b|c"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.none() | st.dictionaries(KEYS, VALUES, max_size=4)
TESTS = st.recursive(
    VALUES
    | st.fixed_dictionaries({"$array_contains": SCALARS | st.lists(SCALARS, min_size=1, max_size=2)})
    | st.fixed_dictionaries({"$array_contains_any": st.lists(SCALARS, min_size=1, max_size=3)}),
    lambda inner: st.fixed_dictionaries({"$not": inner}) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
FILTERS = st.dictionaries(KEYS, TESTS, min_size=1, max_size=2)

DATA = Table("data", MetaData(), Column("number", Integer, primary_key=True), Column("metadata", Text))


@pytest.fixture(scope="module")
def conn() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as opened:
        DATA.metadata.create_all(opened)
        yield opened
    engine.dispose()


@settings(deadline=None)
@given(wanted=FILTERS, stored=st.lists(METADATA, min_size=1, max_size=8))
def test_a_filter_in_sql_admits_what_it_admits_in_python(
    conn: Connection, wanted: dict[str, Any], stored: list[dict[str, Any] | None]
) -> None:
    """SQL lets through every match, and where it says that it is exact, nothing else."""
    conn.execute(delete(DATA))
    conn.execute(
        insert(DATA),
        [
            {"number": place, "metadata": None if one is None else json.dumps(one, ensure_ascii=False)}
            for place, one in enumerate(stored)
        ],
    )
    parsed = parse_filter(wanted)
    assert parsed is not None
    condition = filter_condition(parsed, DATA.c.metadata)
    found = set(conn.execute(select(DATA.c.number).where(condition.clause)).scalars())
    matching = {place for place, one in enumerate(stored) if parsed.matches(one)}
    assert found == matching if condition.exact else found >= matching


def test_no_filter_at_all_means_no_metadata(conn: Connection) -> None:
    """None asks for what has no metadata, and an empty object is metadata."""
    conn.execute(delete(DATA))
    conn.execute(insert(DATA), [{"number": 1, "metadata": None}, {"number": 2, "metadata": "{}"}])
    clause = filter_condition(None, DATA.c.metadata).clause
    assert conn.execute(select(DATA.c.number).where(clause)).scalars().all() == [1]


def test_numbers_that_sql_reads_otherwise_are_not_called_exact() -> None:
    """A fraction is compared by nearness in SQL, so the filter itself has to decide."""
    assert filter_condition(parse_filter({"a": 3}), DATA.c.metadata).exact
    assert not filter_condition(parse_filter({"a": 0.1}), DATA.c.metadata).exact
    assert not filter_condition(parse_filter({"a": {"$not": 2**70}}), DATA.c.metadata).exact


@pytest.mark.parametrize("user", [Match(), Match("u1", exact=True), Match(None, exact=True), Match("u1")])
@pytest.mark.parametrize("thread", [Match(), Match("t1", exact=True), Match(None, exact=True)])
@pytest.mark.parametrize("include_invalid", [True, False])
def test_scope_types_status_and_expiry_in_sql_are_those_of_python(
    store: SQLiteStore, user: Match, thread: Match, include_invalid: bool
) -> None:
    """The condition admits the records that the scope admits, that have not expired and that qualify otherwise."""
    for user_id in ("u1", "u10", None):
        for thread_id in ("t1", None):
            for status in RecordStatus:
                store.add(["x"], "fact", user_ids=user_id, thread_ids=thread_id, statuses=status)
    store.add(["x"], "memory", user_ids="u1")
    store.add(["x"], "fact", user_ids="u1", ttl_days=0)
    store.add_user("u1", "Ana")
    scope = ResolvedScope(user=user, thread=thread)
    query = StoreQuery(
        k=1,
        now=datetime(2026, 5, 1, 12, tzinfo=timezone.utc),
        scope=scope,
        record_types=frozenset({"fact", "user_profile"}),
        include_invalid=include_invalid,
    )
    wanted = {
        record.id
        for name in ("fact", "user_profile")
        for record in store.list(name)
        if scope.admits(record) and (include_invalid or record.status is RecordStatus.VALID)
    }
    with store._engine.read() as conn:
        found = conn.execute(select(records.c.id).where(search_clause(query))).scalars().all()
    assert sorted(found) == sorted(wanted)
