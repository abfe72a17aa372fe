"""Links are followed as recorded: shortest paths, both directions, the search's own conditions on the way."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from hitherto.lifetime import format_time
from hitherto.records import Record, RecordStatus
from hitherto.scope import Match, ResolvedScope
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.sql.expand import expand_hits
from hitherto.store.sql.rows import fetch_records
from hitherto.store.sql.tables import links, records
from hitherto.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from .conftest import TurnedClock

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def tree(record: Record) -> dict[str, Any]:
    return {record.id: [[relation.id, tree(child)] for relation, child in record.linked_results]}


def store_case(store: SQLiteStore, case: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Store a case's memories and, past the checks, its links; return the records' numbers."""
    for name, given in case["memories"].items():
        record_type = given.get("type", "memory")
        if record_type == "user_profile":
            store.add_user(name, "x")
            continue
        store.add(
            ["x"],
            record_type,
            record_ids=name,
            user_ids=given.get("user"),
            statuses=RecordStatus(given.get("status", "valid")),
            ttl_days=1 if given.get("expired") else None,
        )
    with store._write() as conn:
        numbers = {row.id: (row.record_no, row.user_no) for row in conn.execute(records.select())}
        for link in case["links"]:
            conn.execute(
                insert(links).values(
                    id=link["id"],
                    source_no=numbers[link["source"]][0],
                    target_no=numbers[link["target"]][0],
                    relation_type=link["type"],
                    opposite_type=link["type"],
                    created_at=format_time(START + timedelta(seconds=link["created_second"])),
                )
            )
    return numbers


def expanded(
    store: SQLiteStore, case: dict[str, Any], numbers: dict[str, tuple[int, int]], now: datetime
) -> list[dict[str, Any]]:
    """Expand a case's direct results and return the trees."""
    search = case["search"]
    types = search.get("record_types")
    query = StoreQuery(
        k=10,
        now=now,
        text="x",
        scope=ResolvedScope(user=Match(search.get("user_id"), search.get("exact_user_match", False))),
        record_types=None if types is None else frozenset(types["$set"]),
        include_invalid=search.get("include_invalid_results", True),
        num_hops=search["num_hops"],
        max_linked_results=search.get("max_linked_results", 100),
    )
    with store._read() as conn:
        found = fetch_records(conn, dict(numbers.values()))
        hits = [StoreHit(found[numbers[name][0]], 0.0) for name in case["direct_results"]]
        return [tree(hit.record) for hit in expand_hits(conn, hits, query, numbers)]


def test_every_recorded_expansion(reference_data: Path, tmp_path: Path, clock: TurnedClock) -> None:
    """Each recorded graph, search and tree: depth first decides, then the older link, then the smaller id."""
    cases = json.loads((reference_data / "vectors/search/graph_expansion.json").read_text())
    for case in cases:
        with SQLiteStore(":memory:", clock=clock) as store:
            numbers = store_case(store, case)
            assert expanded(store, case, numbers, clock.now + timedelta(days=2)) == case["tree"], case["case"]


def test_a_stored_link_keeps_its_direction(store: SQLiteStore) -> None:
    """Walked backwards, a link still says who its source is."""
    store.add(["x", "y"], "fact", record_ids=["a", "b"])
    store.add_relations("a", "fact", "b", "fact", "supports", relation_ids="l")
    case = {"search": {"num_hops": 1}, "direct_results": ["b"]}
    with store._read() as conn:
        numbers = {row.id: (row.record_no, row.user_no) for row in conn.execute(records.select())}
    assert expanded(store, case, numbers, START) == [{"b": [["l", {"a": []}]]}]
