"""Counting what a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from hitherto.store.sql.fingerprint import read_fingerprint
from hitherto.store.sql.tables import records, scopes

if TYPE_CHECKING:
    from sqlalchemy import Connection

_BY_TYPE = (
    select(records.c.record_type, func.count())
    .group_by(records.c.record_type)
    .order_by(records.c.record_type)
)
_USERS = select(func.count()).where(scopes.c.user_id.is_not(None), scopes.c.row_count > 0)


def count_records(conn: Connection) -> dict[str, Any]:
    """Return how many records of each type there are, how many users, and whose vectors they are.

    Args:
        conn: A connection.

    Returns:
        ``{"records": {type: count}, "users": count, "embedder": name or None}``.
    """
    fingerprint = read_fingerprint(conn)
    return {
        "records": {row[0]: row[1] for row in conn.execute(_BY_TYPE)},
        "users": conn.execute(_USERS).scalar(),
        "embedder": None if fingerprint is None else str(fingerprint),
    }
