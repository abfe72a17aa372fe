"""Where a database divides its tables by user, as PostgreSQL does: what statements say there beyond what they mean.

All rows of a user lie in one partition of each table, and a statement that names the user's number looks into no
other. An id leads to the number through ``ids``, a thread to those who have records in it through ``thread_users``,
and a record to those whose links point at it from elsewhere through ``link_targets``; these are divided by the id,
the thread and the target's user. In SQLite every table is whole, and nothing is added to its statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import ColumnElement, Table, column, delete, exists, insert, literal, select, table
from sqlalchemy.dialects.postgresql import insert as insert_new

from hitherto.store.sql.tables import INTEGER, TEXT, chunk_texts, images, links, records

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

S = TypeVar("S", bound=Any)
Owners = Mapping[int, int]
"""Numbers of records, each with its user's number."""

LINK_SPACE: Final = "link"
"""Within what the id of a link is unique."""

_SLICE: Final = 500
_IDS: Final = table(
    "ids",
    column("id_space", TEXT),
    column("id", TEXT),
    column("user_no", INTEGER),
    column("record_no", INTEGER),
)
_THREAD_USERS: Final = table("thread_users", column("thread_id", TEXT), column("user_no", INTEGER))
_LINK_TARGETS: Final = table(
    "link_targets",
    column("user_no", INTEGER),
    column("target_no", INTEGER),
    column("source_user_no", INTEGER),
)
_MORE: Final = {
    chunk_texts.name: ("user_no",),
    images.name: ("user_no",),
    links.name: ("user_no", "target_user_no"),
}
_USER_NO: Final[dict[str, ColumnElement[Any]]] = {
    records.name: records.c.user_no,
    **{one.name: column("user_no", INTEGER, _selectable=one) for one in (chunk_texts, images, links)},
}
_TARGET_USER: Final[ColumnElement[Any]] = column("target_user_no", INTEGER, _selectable=links)
_INSERTS: Final = {
    one.name: insert(
        table(
            one.name,
            *(column(name, INTEGER) for name in _MORE[one.name]),
            *(column(stored.name, stored.type) for stored in one.c),
        )
    )
    for one in (chunk_texts, images, links)
}


def is_divided(conn: Connection) -> bool:
    """Return whether the database of a connection divides its tables by user."""
    return conn.dialect.name == "postgresql"


def of_users(conn: Connection, statement: S, stored: Table, users: Collection[int] | None) -> S:
    """Return a statement that looks where the rows of some users lie.

    Args:
        conn: A connection.
        statement: A SELECT, UPDATE or DELETE whose rows all are of these users.
        stored: The table.
        users: The users' numbers; None if they are not known.
    """
    if users is None or not is_divided(conn):
        return statement
    found: S = statement.where(_USER_NO[stored.name].in_(sorted(users)))
    return found


def target_user(conn: Connection) -> ColumnElement[Any]:
    """Return the column of links that says whose the target is; any number where that makes no difference."""
    return _TARGET_USER if is_divided(conn) else literal(0)


def insert_rows(conn: Connection, stored: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows, which say whose they are also where the table does not.

    Args:
        conn: A connection in a write transaction.
        stored: The table: ``chunk_texts``, ``images`` or ``links``.
        rows: The rows.
    """
    if is_divided(conn):
        conn.execute(_INSERTS[stored.name], rows)
        return
    more = _MORE[stored.name]
    conn.execute(
        insert(stored),
        [{name: value for name, value in row.items() if name not in more} for row in rows],
    )


def located(conn: Connection, space: str, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the user's number and the record's own of those ids that are taken, in a database that is divided.

    Args:
        conn: A connection.
        space: Within what the ids are unique.
        names: The ids.
    """
    wanted = select(_IDS.c.id, _IDS.c.user_no, _IDS.c.record_no).where(_IDS.c.id_space == space)
    return {
        row.id: (row.user_no, row.record_no)
        for start in range(0, len(names), _SLICE)
        for row in conn.execute(wanted.where(_IDS.c.id.in_(list(names[start : start + _SLICE]))))
    }


def rows_by_id(
    conn: Connection, statement: Any, values: Mapping[str, Any], space: str, names: Sequence[str]
) -> Sequence[Row[Any]]:
    """Return the rows of a SELECT from ``records`` that asks for ids, looked for where they lie.

    Args:
        conn: A connection.
        statement: The SELECT.
        values: Its values.
        space: Within what the ids are unique.
        names: The ids.
    """
    if is_divided(conn):
        keys = located(conn, space, names).values()
        if not keys:
            return []
        statement = statement.where(
            records.c.user_no.in_(sorted({user for user, _ in keys})),
            records.c.record_no.in_(sorted(number for _, number in keys)),
        )
    return conn.execute(statement, values).all()


def users_of_threads(conn: Connection, thread_ids: Sequence[str]) -> set[int] | None:
    """Return the users who have records in threads; None where that makes no difference.

    Args:
        conn: A connection.
        thread_ids: The threads.
    """
    if not is_divided(conn):
        return None
    found: set[int] = set()
    for start in range(0, len(thread_ids), _SLICE):
        piece = list(thread_ids[start : start + _SLICE])
        found.update(
            conn.execute(
                select(_THREAD_USERS.c.user_no).where(_THREAD_USERS.c.thread_id.in_(piece))
            ).scalars()
        )
    return found


def linking_users(conn: Connection, owners: Owners) -> set[int] | None:
    """Return the users whose links touch records, the records' own among them; None where it makes no difference.

    Args:
        conn: A connection.
        owners: The records with their users.
    """
    if not is_divided(conn):
        return None
    users, numbers = set(owners.values()), sorted(owners)
    wanted = (
        select(_LINK_TARGETS.c.source_user_no).distinct().where(_LINK_TARGETS.c.user_no.in_(sorted(users)))
    )
    for start in range(0, len(numbers), _SLICE):
        piece = numbers[start : start + _SLICE]
        users.update(conn.execute(wanted.where(_LINK_TARGETS.c.target_no.in_(piece))).scalars())
    return users


def note_records(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Take note of whose the ids and threads of new records are.

    Args:
        conn: A connection in a write transaction.
        rows: The records' columns.
    """
    if not is_divided(conn):
        return
    conn.execute(
        insert(_IDS),
        [{name: row[name] for name in ("id_space", "id", "user_no", "record_no")} for row in rows],
    )
    threads = {(row["thread_id"], row["user_no"]) for row in rows if row["thread_id"] is not None}
    if threads:
        conn.execute(
            insert_new(_THREAD_USERS).on_conflict_do_nothing(),
            [{"thread_id": thread, "user_no": user} for thread, user in sorted(threads)],
        )


def forget_records(conn: Connection, rows: Iterable[Row[Any]]) -> None:
    """Forget whose the ids and threads of records are that were just deleted.

    Args:
        conn: A connection in a write transaction.
        rows: The records as they were.
    """
    if not is_divided(conn):
        return
    spaces: dict[str, list[str]] = {}
    threads: dict[int, set[str]] = {}
    for row in rows:
        spaces.setdefault(row.id_space, []).append(row.id)
        if row.thread_id is not None:
            threads.setdefault(row.user_no, set()).add(row.thread_id)
    for space, names in spaces.items():
        for start in range(0, len(names), _SLICE):
            piece = names[start : start + _SLICE]
            conn.execute(delete(_IDS).where(_IDS.c.id_space == space, _IDS.c.id.in_(piece)))
    for user, gone in threads.items():
        still = exists().where(records.c.user_no == user, records.c.thread_id == _THREAD_USERS.c.thread_id)
        conn.execute(
            delete(_THREAD_USERS).where(
                _THREAD_USERS.c.thread_id.in_(sorted(gone)), _THREAD_USERS.c.user_no == user, ~still
            )
        )
