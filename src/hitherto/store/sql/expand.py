"""Following links from the memories that a search found.

Links are walked both ways. Each record that is reached appears once per root, at its least depth, under the
parent whose link is oldest. A record that the search's own conditions keep out (scope, type, expiry, metadata)
is not entered, so that nothing is reached through it; an invalid one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import or_

from hitherto.lifetime import format_time
from hitherto.records import MEMORY_TYPES, Record
from hitherto.relations import RecordRelation
from hitherto.store.requests import StoreHit, StoreQuery
from hitherto.store.sql.divided import Owners, linking_users
from hitherto.store.sql.links import read_links, relation_from_row
from hitherto.store.sql.rows import records_from_rows, rows_by_no, slices
from hitherto.store.sql.tables import links

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class _Edge:
    """A link as seen from one of its ends."""

    relation: RecordRelation
    to: int


class _Graph:
    """The links and records around the roots, read one ring at a time and once for all roots."""

    def __init__(self, conn: Connection, query: StoreQuery) -> None:
        self._conn = conn
        self._query = query
        self._edges: dict[int, list[_Edge]] = {}
        self.records: dict[int, Record | None] = {}

    def edges(self, number: int) -> list[_Edge]:
        return [edge for edge in self._edges.get(number, []) if self.records.get(edge.to) is not None]

    def read_ring(self, owners: Owners) -> dict[int, int]:
        """Read the links of records; return the records at the other ends that qualify and are new."""
        wanted = {number: user for number, user in owners.items() if number not in self._edges}
        self._edges.update((number, []) for number in wanted)
        others: dict[int, int] = {}
        seen: set[tuple[int, str]] = set()
        users = linking_users(self._conn, wanted)
        for nos in slices(sorted(wanted)):
            touching = or_(links.c.source_no.in_(nos), links.c.target_no.in_(nos))
            for row in read_links(self._conn, [touching], users=users):
                relation = relation_from_row(row)
                ends = ((row.source_no, row.source_user_no), (row.target_no, row.target_user_no))
                for (here, _), (there, whose) in (ends, ends[::-1]):
                    if here in wanted and (here, row.id) not in seen:
                        seen.add((here, row.id))
                        self._edges[here].append(_Edge(relation, there))
                        others[there] = whose
        return self._admit({number: user for number, user in others.items() if number not in self.records})

    def _admit(self, owners: Owners) -> dict[int, int]:
        self.records.update(dict.fromkeys(owners))
        moment = format_time(self._query.now)
        rows = [
            row
            for row in rows_by_no(self._conn, sorted(owners), set(owners.values())).values()
            if row.expires_at is None or row.expires_at > moment
        ]
        admitted = {
            row.record_no: record
            for row, record in zip(rows, records_from_rows(self._conn, rows), strict=True)
            if _qualifies(record, self._query)
        }
        self.records.update(admitted)
        return {number: owners[number] for number in admitted}


def _qualifies(record: Record, query: StoreQuery) -> bool:
    if query.record_types is not None and record.record_type not in query.record_types:
        return False
    if not query.scope.admits(record):
        return False
    return query.metadata_filter is None or query.metadata_filter.matches(record.metadata)


def expand_hits(
    conn: Connection, hits: Sequence[StoreHit], query: StoreQuery, keys: dict[str, tuple[int, int]]
) -> list[StoreHit]:
    """Return hits whose memories have their linked records.

    Args:
        conn: A connection.
        hits: The hits.
        query: The search.
        keys: The numbers of the memories among the hits and of their users, by id.
    """
    graph = _Graph(conn, query)
    frontier = dict(keys[hit.record.id] for hit in hits if hit.record.record_type in MEMORY_TYPES)
    for _ in range(query.num_hops):
        frontier = graph.read_ring(frontier)
    return [
        replace(hit, record=_linked(hit.record, keys[hit.record.id][0], graph, query))
        if hit.record.record_type in MEMORY_TYPES
        else hit
        for hit in hits
    ]


@dataclass(frozen=True, slots=True)
class _Reached:
    """A record that was reached from a root."""

    number: int
    parent: int
    depth: int
    relation: RecordRelation
    record: Record

    @property
    def rank(self) -> tuple[int, str, str, str]:
        return (self.depth, self.relation.created_at, self.relation.id, self.record.id)


def _linked(root: Record, root_no: int, graph: _Graph, query: StoreQuery) -> Record:
    reached: dict[int, _Reached] = {}
    ring = {root_no: root.id}
    for depth in range(1, query.num_hops + 1):
        found: dict[int, tuple[tuple[str, str, str], _Reached]] = {}
        for parent, parent_id in ring.items():
            for edge in graph.edges(parent):
                record = graph.records[edge.to]
                if record is None or edge.to == root_no or edge.to in reached:
                    continue
                order = (edge.relation.created_at, edge.relation.id, parent_id)
                if edge.to not in found or order < found[edge.to][0]:
                    found[edge.to] = (order, _Reached(edge.to, parent, depth, edge.relation, record))
        reached.update((number, item) for number, (_, item) in found.items())
        ring = {number: item.record.id for number, (_, item) in found.items()}
    kept = sorted(reached.values(), key=lambda item: item.rank)[: query.max_linked_results]
    children: dict[int, list[_Reached]] = {}
    for item in kept:
        children.setdefault(item.parent, []).append(item)
    return _nested(root, root_no, children)


def _nested(record: Record, number: int, children: dict[int, list[_Reached]]) -> Record:
    below = children.get(number)
    if not below:
        return record
    return replace(
        record,
        linked_results=tuple((item.relation, _nested(item.record, item.number, children)) for item in below),
    )
