"""Reading records by id, type and scope."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sqlalchemy import ColumnElement, Select, Table, bindparam, or_, select

from hitherto.errors import NotFoundError, shown
from hitherto.filters import Filter
from hitherto.lifetime import format_time, parse_time
from hitherto.notset import NOT_SET
from hitherto.records import MEMORY_TYPES, PROFILE_TYPES, MessageRecord, Record
from hitherto.store.requests import MessageQuery, RecordQuery
from hitherto.store.sql.divided import of_users, rows_by_id, users_of_threads
from hitherto.store.sql.numbers import user_number
from hitherto.store.sql.rows import RECORD_COLUMNS, id_space, records_from_rows
from hitherto.store.sql.tables import NO_USER, records, scopes

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

_LIVE = or_(records.c.expires_at.is_(None), records.c.expires_at > bindparam("now"))
_BASE = select(*RECORD_COLUMNS).join(scopes, scopes.c.user_no == records.c.user_no).where(_LIVE)
_ONE = _BASE.where(
    records.c.id_space == bindparam("space"),
    records.c.id == bindparam("id"),
    records.c.record_type == bindparam("type"),
)
_NUMBER = select(records.c.record_no).where(
    records.c.id_space == bindparam("space"), records.c.id == bindparam("id")
)
_PAGE = 500

Narrow: TypeAlias = Callable[[Filter | None, Table], ColumnElement[bool]]


def get_row(conn: Connection, record_type: str, record_id: str, *, now: datetime) -> Row[Any] | None:
    """Return a record's row, or None if there is none or it has expired."""
    space = id_space(record_type)
    values = {"space": space, "id": record_id, "type": record_type, "now": format_time(now)}
    return next(iter(rows_by_id(conn, _ONE, values, space, [record_id])), None)


def get_record(
    conn: Connection, record_type: str, record_id: str, *, now: datetime, include_bytes: bool
) -> Record | None:
    """Return a record, or None if there is none or it has expired.

    Args:
        conn: A connection.
        record_type: Its type.
        record_id: Its id.
        now: The present time.
        include_bytes: Whether images come with their bytes.
    """
    row = get_row(conn, record_type, record_id, now=now)
    return None if row is None else records_from_rows(conn, [row], include_bytes=include_bytes)[0]


def list_records(conn: Connection, query: RecordQuery, narrow: Narrow) -> list[Record]:
    """Return the newest records that qualify, oldest first.

    Args:
        conn: A connection.
        query: Which.
        narrow: Returns what a metadata filter is in SQL, by and large.

    Raises:
        NotFoundError: If the record that the page should end before does not exist.
    """
    scoped = query.record_type not in PROFILE_TYPES
    shape = (
        _dimension(query.user_id) if scoped else "",
        _dimension(query.agent_id) if scoped else "",
        _dimension(query.thread_id) if scoped else "",
        query.record_id is not NOT_SET,
        query.any_memory,
    )
    values = {
        "type": query.record_type,
        "now": format_time(query.now),
        "user": NO_USER,
        "agent": query.agent_id,
        "thread": query.thread_id,
        "record_id": query.record_id,
    }
    start = None if query.before is NOT_SET else _number(conn, query.record_type, query.before)
    wanted = query.metadata_filter
    if shape[0] == "id":
        number = user_number(conn, cast("str", query.user_id))
        if number is None:
            return []
        values["user"] = number
    statement = _list_statement(*shape)
    if shape[0] == "" and shape[2] == "id":
        users = users_of_threads(conn, [cast("str", query.thread_id)])
        statement = of_users(conn, statement, records, users)
    if wanted is not NOT_SET:
        statement = statement.where(narrow(wanted, records))
    rows = []
    for row in _newest_first(conn, statement, values, start, query.limit if wanted is NOT_SET else None):
        if wanted is NOT_SET or _matches(wanted, row.metadata):
            rows.append(row)
            if query.limit is not None and len(rows) == query.limit:
                break
    return records_from_rows(conn, reversed(rows), include_bytes=query.include_bytes)


def _dimension(value: object) -> str:
    return "" if value is NOT_SET else "none" if value is None else "id"


def _matches(wanted: Filter | None, metadata: str | None) -> bool:
    if wanted is None:
        return metadata is None
    return wanted.matches(None if metadata is None else json.loads(metadata))


def _number(conn: Connection, record_type: str, record_id: str) -> int:
    space = id_space(record_type)
    found = rows_by_id(conn, _NUMBER, {"space": space, "id": record_id}, space, [record_id])
    if not found:
        raise NotFoundError(f"before must be the id of a stored {record_type}, got {shown(record_id)}")
    number: int = found[0].record_no
    return number


@functools.lru_cache(maxsize=64)
def _list_statement(user: str, agent: str, thread: str, by_id: bool, any_memory: bool) -> Select[Any]:
    statement = _BASE.where(
        records.c.record_type.in_(MEMORY_TYPES) if any_memory else records.c.record_type == bindparam("type")
    )
    if user:
        statement = statement.where(records.c.user_no == bindparam("user"))
    for shape, column, name in (
        (agent, records.c.agent_id, "agent"),
        (thread, records.c.thread_id, "thread"),
    ):
        if shape == "none":
            statement = statement.where(column.is_(None))
        elif shape == "id":
            statement = statement.where(column == bindparam(name))
    if by_id:
        statement = statement.where(records.c.id == bindparam("record_id"))
    return (
        statement.where(records.c.record_no < bindparam("before_no"))
        .order_by(records.c.record_no.desc())
        .limit(bindparam("page"))
    )


def _newest_first(
    conn: Connection, statement: Select[Any], values: dict[str, Any], before_no: int | None, limit: int | None
) -> Iterator[Row[Any]]:
    # In pages, so that a filter that is met early reads little.
    page = _PAGE if limit is None else limit
    while True:
        bound = {"before_no": 2**62 if before_no is None else before_no, "page": page}
        rows = conn.execute(statement, values | bound).all()
        yield from rows
        if len(rows) < page:
            return
        before_no = rows[-1].record_no


def list_messages(conn: Connection, query: MessageQuery) -> list[MessageRecord]:
    """Return a thread's messages, oldest first.

    Args:
        conn: A connection.
        query: Which.
    """
    if query.last_n == 0:
        return []
    values = {
        "thread": query.thread_id,
        "now": format_time(query.now),
        "start_no": query.start_seq_no or 0,
        "end_no": 2**62 if query.end_seq_no is None else query.end_seq_no,
        "page": -1 if query.last_n is None else query.last_n,
    }
    statement = _MESSAGES if query.last_n is None else _LAST_MESSAGES
    users = users_of_threads(conn, [query.thread_id])
    rows = conn.execute(of_users(conn, statement, records, users), values).all()
    found = records_from_rows(
        conn, sorted(rows, key=lambda row: row.record_no), include_bytes=query.include_bytes
    )
    return cast("list[MessageRecord]", found)


_MESSAGES = _BASE.where(
    records.c.record_type == "message",
    records.c.thread_id == bindparam("thread"),
    records.c.record_no >= bindparam("start_no"),
    records.c.record_no < bindparam("end_no"),
)
_LAST_MESSAGES = _MESSAGES.order_by(records.c.record_no.desc()).limit(bindparam("page"))


def expiration(conn: Connection, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
    """Return when a record expires, or None for never or if there is none."""
    row = get_row(conn, record_type, record_id, now=now)
    return None if row is None or row.expires_at is None else parse_time(row.expires_at)


def created_at(conn: Connection, record_type: str, record_id: str, *, now: datetime) -> datetime | None:
    """Return when a record was stored, or None if there is none."""
    row = get_row(conn, record_type, record_id, now=now)
    return None if row is None else parse_time(row.created_at)
