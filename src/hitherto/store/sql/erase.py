"""Deleting records with all that hangs on them: index entries, texts, images, links and what links imply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, insert, or_, select, update

from hitherto.lifetime import format_time
from hitherto.store.sql.divided import (
    Owners,
    forget_records,
    linking_users,
    of_users,
    rows_by_id,
    target_user,
    users_of_threads,
)
from hitherto.store.sql.lifecycle import recalculate
from hitherto.store.sql.numbers import change_scopes, user_number
from hitherto.store.sql.rows import id_space, index_rows, owners_of, rows_by_no, slices
from hitherto.store.sql.tables import (
    NO_USER,
    chunk_texts,
    images,
    jobs,
    links,
    records,
    scopes,
    tombstones,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from hitherto.store.sql.search_index import SearchIndex

_NOS: BindParameter[Sequence[int]] = bindparam("nos", expanding=True)
_DELETE_LINKS = delete(links).where(or_(links.c.source_no.in_(_NOS), links.c.target_no.in_(_NOS)))
_DELETES = tuple(
    (table, delete(table).where(table.c.record_no.in_(_NOS))) for table in (images, chunk_texts, records)
)
_INSERT_TOMBSTONES = insert(tombstones)
_ONE = select(records.c.record_no, records.c.user_no, records.c.expires_at).where(
    records.c.id_space == bindparam("space"),
    records.c.id == bindparam("id"),
    records.c.record_type == bindparam("type"),
)
_EXPIRED = (
    select(records.c.record_no, records.c.user_no)
    .where(records.c.expires_at <= bindparam("now"))
    .order_by(records.c.expires_at)
    .limit(bindparam("most"))
)


def delete_rows(conn: Connection, index: SearchIndex, owners: Owners) -> int:
    """Delete records with all that hangs on them.

    Args:
        conn: A connection in a write transaction.
        index: What makes them findable.
        owners: Their numbers, with those of their users.

    Returns:
        How many there were.
    """
    rows = list(rows_by_no(conn, sorted(owners), set(owners.values())).values())
    if not rows:
        return 0
    lost = Counter(row.user_no for row in rows)
    version = change_scopes(conn, {number: -count for number, count in lost.items()})
    gone = owners_of(rows)
    indexed = index_rows(conn, rows)
    if indexed:
        index.remove(conn, indexed, version)
        conn.execute(
            _INSERT_TOMBSTONES,
            [{"user_no": row.user_no, "version": version, "record_no": row.record_no} for row in indexed],
        )
    targets = _delete_links(conn, gone)
    for table, statement in _DELETES:
        theirs = of_users(conn, statement, table, lost)
        for nos in slices(sorted(gone)):
            conn.execute(theirs, {"nos": nos})
    forget_records(conn, rows)
    recalculate(conn, index, {number: user for number, user in targets.items() if number not in gone})
    return len(rows)


def _delete_links(conn: Connection, gone: Owners) -> dict[int, int]:
    """Delete the links of records; return what they pointed at."""
    targets: dict[int, int] = {}
    wanted = select(links.c.target_no, target_user(conn)).where(links.c.source_no.in_(_NOS))
    pointing = of_users(conn, wanted, links, set(gone.values()))
    deleted = of_users(conn, _DELETE_LINKS, links, linking_users(conn, gone))
    for nos in slices(sorted(gone)):
        targets.update((row[0], row[1]) for row in conn.execute(pointing, {"nos": nos}))
        conn.execute(deleted, {"nos": nos})
    return targets


def find_live(conn: Connection, record_type: str, record_id: str, *, now: datetime) -> tuple[int, int] | None:
    """Return a record's number and its user's, or None if there is none or it has expired."""
    space = id_space(record_type)
    values = {"space": space, "id": record_id, "type": record_type}
    for row in rows_by_id(conn, _ONE, values, space, [record_id]):
        if row.expires_at is None or row.expires_at > format_time(now):
            return row.record_no, row.user_no
    return None


def delete_record(
    conn: Connection, index: SearchIndex, record_type: str, record_id: str, *, cascade: bool, now: datetime
) -> int:
    """Delete a record; return 1, or 0 if there is none.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        record_type: Its type.
        record_id: Its id.
        cascade: Whether what belongs to a thread, user or agent goes with it, even if it has no record itself.
        now: The present time.
    """
    target = find_live(conn, record_type, record_id, now=now)
    doomed = dict([] if target is None else [target])
    if record_type == "message" and target is not None:
        doomed |= _select(conn, records.c.message_id == record_id, [target[1]])
    elif cascade:
        doomed |= _belonging(conn, record_type, record_id)
    delete_rows(conn, index, doomed)
    return int(target is not None)


def erase_user(conn: Connection, index: SearchIndex, user_id: str) -> int:
    """Delete all that is stored of a user, also that there was one; return how many records that were.

    Args:
        conn: A connection in a write transaction.
        index: What makes records findable.
        user_id: The user.
    """
    number = user_number(conn, user_id)
    if number is None:
        return 0
    count = delete_rows(conn, index, _belonging(conn, "user_profile", user_id))
    conn.execute(delete(tombstones).where(tombstones.c.user_no == number))
    conn.execute(delete(scopes).where(scopes.c.user_no == number))
    conn.execute(delete(jobs).where(jobs.c.user_id == user_id))
    # Of its epoch are all shelves that are about everybody.
    conn.execute(update(scopes).where(scopes.c.user_no == NO_USER).values(epoch=scopes.c.epoch + 1))
    index.erase(conn)
    return count


def purge_expired(conn: Connection, index: SearchIndex, *, now: datetime, most: int = 1000) -> int:
    """Delete the records that expired first, at most so many; return how many that were."""
    expired = conn.execute(_EXPIRED, {"now": format_time(now), "most": most}).all()
    return delete_rows(conn, index, owners_of(expired))


def _belonging(conn: Connection, record_type: str, record_id: str) -> dict[int, int]:
    if record_type == "thread":
        return _thread_content(conn, [record_id])
    users = None
    if record_type == "user_profile":
        number = user_number(conn, record_id)
        if number is None:
            return {}
        users = [number]
        owned: ColumnElement[bool] = records.c.user_no == number
    elif record_type == "agent_profile":
        owned = records.c.agent_id == record_id
    else:
        return {}
    threads = (
        conn.execute(select(records.c.id).where(owned, records.c.record_type == "thread")).scalars().all()
    )
    return _select(conn, owned, users) | _thread_content(conn, threads)


def _thread_content(conn: Connection, thread_ids: Sequence[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for ids in slices(thread_ids):
        found |= _select(conn, records.c.thread_id.in_(ids), users_of_threads(conn, ids))
        conn.execute(delete(jobs).where(jobs.c.thread_id.in_(ids)))
    return found


def _select(
    conn: Connection, condition: ColumnElement[bool], users: Collection[int] | None
) -> dict[int, int]:
    wanted = select(records.c.record_no, records.c.user_no).where(condition)
    return owners_of(conn.execute(of_users(conn, wanted, records, users)))
