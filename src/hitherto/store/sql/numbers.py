"""Numbers given out inside the write transaction: records, users and versions.

Whoever takes them keeps others from writing for the same user and to the same thread, so that among those their order
is the order of commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, insert, select, text, update

from hitherto.store.sql.divided import is_divided
from hitherto.store.sql.rows import slices
from hitherto.store.sql.tables import NO_USER, counters, scopes

if TYPE_CHECKING:
    from sqlalchemy import Connection

COUNTERS: Final = ("record_no", "user_no", "version")
"""The counters that a new store starts with, at 0."""

_TAKE = (
    update(counters)
    .where(counters.c.name == bindparam("counter"))
    .values(value=counters.c.value + bindparam("count"))
    .returning(counters.c.value)
)
_NEXT = text(
    "SELECT nextval(CAST(:counter || '_seq' AS regclass)) FROM generate_series(1, CAST(:count AS integer))"
)
_USERS = select(scopes.c.user_id, scopes.c.user_no).where(
    scopes.c.user_id.in_(bindparam("user_ids", expanding=True))
)
_ADD_USER = insert(scopes)
_USER_NO = select(scopes.c.user_no).where(scopes.c.user_id == bindparam("user_id"))
_CHANGE_SCOPE = (
    update(scopes)
    .where(scopes.c.user_no == bindparam("no"))
    .values(version=bindparam("new_version"), row_count=scopes.c.row_count + bindparam("more"))
)


def take(conn: Connection, counter: str, count: int = 1) -> Sequence[int]:
    """Take numbers from a counter, each greater than the one before.

    Args:
        conn: A connection in a write transaction.
        counter: One of COUNTERS.
        count: How many.
    """
    values = {"counter": counter, "count": count}
    if is_divided(conn):
        # A sequence: nobody waits for it, and nobody who may only take from it can set it back.
        return sorted(conn.execute(_NEXT, values).scalars())
    last: int = conn.execute(_TAKE, values).scalar_one()
    return range(last - count + 1, last + 1)


def user_numbers(conn: Connection, user_ids: Iterable[str | None]) -> dict[str | None, int]:
    """Return the numbers of users, and give one to those that have none.

    Args:
        conn: A connection in a write transaction.
        user_ids: The users; None is the number of records without one.
    """
    wanted = sorted({user_id for user_id in user_ids if user_id is not None})
    numbers: dict[str | None, int] = {None: NO_USER}
    for ids in slices(wanted):
        numbers.update((row.user_id, row.user_no) for row in conn.execute(_USERS, {"user_ids": ids}))
    missing = [user_id for user_id in wanted if user_id not in numbers]
    if missing:
        numbers.update(zip(missing, take(conn, "user_no", len(missing)), strict=True))
        conn.execute(_ADD_USER, [{"user_no": numbers[user_id], "user_id": user_id} for user_id in missing])
    return numbers


def user_number(conn: Connection, user_id: str | None) -> int | None:
    """Return a user's number, or None if nothing is stored for the user."""
    if user_id is None:
        return NO_USER
    number: int | None = conn.execute(_USER_NO, {"user_id": user_id}).scalar()
    return number


def change_scopes(conn: Connection, more: Mapping[int, int]) -> int:
    """Take the next version, and write it to the scopes that a transaction changes.

    Args:
        conn: A connection in a write transaction.
        more: How many records each user's scope gains, by number; 0 for one that only changes.

    Returns:
        The version.
    """
    (version,) = take(conn, "version")
    if more:
        conn.execute(
            _CHANGE_SCOPE,
            [{"no": number, "new_version": version, "more": count} for number, count in more.items()],
        )
    return version
