"""Links between memories: stored, changed, listed and deleted, each with what it implies for status."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, or_, select, update
from sqlalchemy.exc import IntegrityError

from hitherto.errors import ConflictError, InvalidArgumentError, shown
from hitherto.lifetime import format_time
from hitherto.notset import NOT_SET
from hitherto.relations import RecordRelation
from hitherto.store.checks import json_text
from hitherto.store.requests import NewRelation, RelationChanges, RelationQuery
from hitherto.store.sql.divided import (
    LINK_SPACE,
    insert_rows,
    is_divided,
    linking_users,
    located,
    of_users,
    target_user,
)
from hitherto.store.sql.erase import find_live
from hitherto.store.sql.lifecycle import recalculate
from hitherto.store.sql.read import Narrow
from hitherto.store.sql.rows import slices
from hitherto.store.sql.tables import links, records

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from hitherto.store.sql.search_index import SearchIndex

source = records.alias("source")
target = records.alias("target")

LINK_COLUMNS = (
    links.c.link_no,
    links.c.id,
    links.c.source_no,
    links.c.target_no,
    source.c.id.label("source_id"),
    source.c.record_type.label("source_type"),
    source.c.user_no.label("source_user_no"),
    target.c.id.label("target_id"),
    target.c.record_type.label("target_type"),
    target.c.user_no.label("target_user_no"),
    links.c.relation_type,
    links.c.opposite_type,
    links.c.timestamp,
    links.c.metadata,
    links.c.created_at,
)
"""The columns of a link with its ends."""


def select_links() -> Select[Any]:
    """Return the selection of links with their ends, in order of creation."""
    return (
        select(*LINK_COLUMNS)
        .join(source, source.c.record_no == links.c.source_no)
        .join(target, target.c.record_no == links.c.target_no)
        .order_by(links.c.created_at, links.c.id)
    )


def read_links(
    conn: Connection,
    wanted: Sequence[ColumnElement[bool]],
    *,
    users: Collection[int] | None,
    more: Sequence[ColumnElement[bool]] = (),
    limit: int | None = None,
) -> Sequence[Row[Any]]:
    """Return links with their ends, in order of creation.

    Args:
        conn: A connection.
        wanted: Conditions on links.
        users: The numbers of the users whose links they are, where these are known.
        more: Further conditions, on their ends too.
        limit: How many at most.
    """
    statement = select_links().where(*wanted, *more).limit(limit)
    if users is not None and is_divided(conn):
        to = target_user(conn)
        pointing = of_users(conn, select(to).distinct().where(*wanted), links, users)
        statement = of_users(conn, statement, links, users).where(
            source.c.user_no.in_(sorted(users)),
            target.c.user_no.in_(conn.execute(pointing).scalars().all()),
        )
    return conn.execute(statement).all()


_BETWEEN = select(links.c.id).where(
    or_(
        and_(links.c.source_no == bindparam("target_no"), links.c.target_no == bindparam("source_no")),
        and_(
            links.c.source_no == bindparam("source_no"),
            links.c.target_no == bindparam("target_no"),
            links.c.relation_type == bindparam("kind"),
        ),
    )
)


def relation_from_row(row: Row[Any]) -> RecordRelation:
    """Return a link."""
    return RecordRelation(
        id=row.id,
        source_record_id=row.source_id,
        source_record_type=row.source_type,
        target_record_id=row.target_id,
        target_record_type=row.target_type,
        relation_type=row.relation_type,
        opposite_relation_type=row.opposite_type,
        timestamp=row.timestamp,
        metadata=None if row.metadata is None else json.loads(row.metadata),
        created_at=row.created_at,
    )


def insert_relations(
    conn: Connection, index: SearchIndex, new: Sequence[NewRelation], *, now: datetime
) -> list[str]:
    """Store links.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        new: The links.
        now: The present time.

    Returns:
        Their ids.

    Raises:
        InvalidArgumentError: If an end is not stored.
        ConflictError: If an id is taken, or the link or one in the reverse direction exists.
    """
    touched: dict[int, int] = {}
    for link in new:
        source_no, user = _end(conn, link.source_type, link.source_id, now=now, argument="source_record_ids")
        target_no, whose = _end(conn, link.target_type, link.target_id, now=now, argument="target_record_ids")
        if _rows_by_id(conn, [link.id]):
            raise ConflictError(f"a link with the id {shown(link.id)} exists already")
        ends = {"source_no": source_no, "target_no": target_no}
        between = of_users(conn, _BETWEEN, links, {user, whose})
        if conn.execute(between, {**ends, "kind": link.relation_type}).first() is not None:
            raise ConflictError(
                f"{shown(link.source_id)} and {shown(link.target_id)} have a link of kind "
                f"{shown(link.relation_type)}, or one in the reverse direction, already"
            )
        insert_rows(conn, links, [_columns(link) | ends | {"user_no": user, "target_user_no": whose}])
        touched |= {source_no: user, target_no: whose}
    recalculate(conn, index, touched)
    return [link.id for link in new]


def _columns(link: NewRelation) -> dict[str, Any]:
    return {
        "id": link.id,
        "relation_type": link.relation_type,
        "opposite_type": link.opposite_type,
        "timestamp": link.timestamp,
        "metadata": json_text(link.metadata),
        "created_at": format_time(link.created_at),
    }


def _end(
    conn: Connection, record_type: str, record_id: str, *, now: datetime, argument: str
) -> tuple[int, int]:
    key = find_live(conn, record_type, record_id, now=now)
    if key is None:
        raise InvalidArgumentError(
            f"{argument} must name a stored {record_type}, got {shown(record_id)}", argument=argument
        )
    return key


def update_relations(conn: Connection, index: SearchIndex, changes: Sequence[RelationChanges]) -> list[str]:
    """Change links.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        changes: What to change.

    Returns:
        The ids of those that exist.

    Raises:
        ConflictError: If a link would equal another one.
    """
    found = _rows_by_id(conn, [change.id for change in changes])
    done: list[str] = []
    for change in changes:
        if change.id not in found:
            continue
        values = {
            name: getattr(change, name)
            for name in ("relation_type", "opposite_type", "timestamp")
            if getattr(change, name) is not NOT_SET
        }
        if change.metadata is not NOT_SET:
            values["metadata"] = json_text(change.metadata)
        row = found[change.id]
        changing = update(links).where(links.c.link_no == row.link_no).values(values)
        try:
            conn.execute(of_users(conn, changing, links, [row.source_user_no]))
        except IntegrityError as error:
            raise ConflictError(
                f"a link of kind {shown(values.get('relation_type'))} between the same memories exists already"
            ) from error
        done.append(change.id)
    recalculate(conn, index, {row.target_no: row.target_user_no for row in found.values()})
    return done


def delete_relations(conn: Connection, index: SearchIndex, relation_ids: Sequence[str]) -> int:
    """Delete links; return how many existed.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        relation_ids: Their ids.
    """
    found = _rows_by_id(conn, relation_ids)
    users = {row.source_user_no for row in found.values()}
    for nos in slices([row.link_no for row in found.values()]):
        conn.execute(of_users(conn, delete(links).where(links.c.link_no.in_(nos)), links, users))
    recalculate(conn, index, {row.target_no: row.target_user_no for row in found.values()})
    return len(found)


def _rows_by_id(conn: Connection, relation_ids: Iterable[str]) -> dict[str, Row[Any]]:
    found: dict[str, Row[Any]] = {}
    for names in slices(list(relation_ids)):
        wanted, users = _named(conn, names)
        found.update((row.id, row) for row in read_links(conn, [wanted], users=users))
    return found


def _named(conn: Connection, names: Sequence[str]) -> tuple[ColumnElement[bool], set[int] | None]:
    """Return the condition for links with these ids, and whose they are, if that makes a difference."""
    if not is_divided(conn):
        return links.c.id.in_(names), None
    keys = located(conn, LINK_SPACE, names).values()
    return links.c.link_no.in_([number for _, number in keys]), {user for user, _ in keys}


def list_relations(
    conn: Connection, query: RelationQuery, narrow: Narrow, *, now: datetime
) -> list[RecordRelation]:
    """Return links in order of creation; those of an expired record are not shown.

    Args:
        conn: A connection.
        query: Which.
        narrow: Returns what a metadata filter is in SQL, by and large.
        now: The present time.
    """
    moment = format_time(now)
    more = [or_(end.c.expires_at.is_(None), end.c.expires_at > moment) for end in (source, target)]
    for value, column in (
        (query.relation_type, links.c.relation_type),
        (query.source_id, source.c.id),
        (query.source_type, source.c.record_type),
        (query.target_id, target.c.id),
        (query.target_type, target.c.record_type),
    ):
        if value is not NOT_SET:
            more.append(column == value)
    wanted = query.metadata_filter
    if wanted is not NOT_SET:
        more.append(narrow(wanted, links))
    conditions, users = _looked_for(conn, query)
    limit = query.limit if wanted is NOT_SET else None
    rows = read_links(conn, conditions, users=users, more=more, limit=limit)
    found = map(relation_from_row, rows)
    if wanted is NOT_SET:
        return list(found)
    matching = [
        link for link in found if (link.metadata is None if wanted is None else wanted.matches(link.metadata))
    ]
    return matching if query.limit is None else matching[: query.limit]


def _looked_for(
    conn: Connection, query: RelationQuery
) -> tuple[list[ColumnElement[bool]], Collection[int] | None]:
    """Return conditions on links alone for the ids that a query names, and whose links they can be."""
    conditions: list[ColumnElement[bool]] = []
    users: set[int] | None = None
    if query.relation_id is not NOT_SET:
        condition, users = _named(conn, [query.relation_id])
        conditions.append(condition)
    if not is_divided(conn):
        return conditions, users
    if query.source_id is not NOT_SET:
        keys = _numbers(conn, query.source_id)
        conditions.append(links.c.source_no.in_(list(keys)))
        users = set(keys.values())
    if query.target_id is not NOT_SET:
        keys = _numbers(conn, query.target_id)
        conditions.append(links.c.target_no.in_(list(keys)))
        users = users if users is not None else linking_users(conn, keys)
    return conditions, users


def _numbers(conn: Connection, record_id: str) -> dict[int, int]:
    return {number: user for user, number in located(conn, "memory", [record_id]).values()}
