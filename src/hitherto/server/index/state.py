"""Numbers and texts of the server's own, by name."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, inspect, select, text

from hitherto.server.index.tables import TABLES_VERSION, TRIGGERS, changes, metadata, state
from hitherto.store.sql import fingerprint

if TYPE_CHECKING:
    from sqlalchemy import Connection

_READ: Final = select(state.c.value).where(state.c.key == bindparam("name"))
_WRITE: Final = text(
    "INSERT INTO rest_state (key, value) VALUES (:name, :value) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_NOTE_ALL: Final = text(
    "INSERT INTO rest_changes (kind, record_type, record_no, changed_at) "
    "SELECT 'insert', record_type, record_no, created_at FROM records "
    "WHERE record_type IN ('thread', 'message') ORDER BY record_no"
)


def read_text(conn: Connection, name: str) -> str | None:
    """Return a text, or None.

    Args:
        conn: A connection.
        name: Its name.
    """
    found: str | None = conn.execute(_READ, {"name": name}).scalar()
    return found


def read_number(conn: Connection, name: str) -> int:
    """Return a number, 0 if there is none.

    Args:
        conn: A connection.
        name: Its name.
    """
    return int(read_text(conn, name) or 0)


def write_number(conn: Connection, name: str, value: int) -> None:
    """Write a number.

    Args:
        conn: A connection in a write transaction.
        name: Its name.
        value: The number.
    """
    conn.execute(_WRITE, {"name": name, "value": str(value)})


def is_prepared(conn: Connection) -> bool:
    """Return whether the tables are there, current, and of this very store."""
    return (
        inspect(conn).has_table(state.name)
        and read_text(conn, "version") == TABLES_VERSION
        and read_text(conn, "store_id") == fingerprint.read_meta(conn, "store_id")
    )


def prepare(conn: Connection) -> None:
    """Make the tables and triggers anew, and note everything that is stored as changed.

    Args:
        conn: A connection in a write transaction.
    """
    metadata.drop_all(conn)
    metadata.create_all(conn)
    for statement in TRIGGERS[conn.dialect.name]:
        conn.execute(text(statement))
    for name, value in (
        ("version", TABLES_VERSION),
        ("store_id", fingerprint.read_meta(conn, "store_id") or ""),
        ("salt", secrets.token_hex(16)),
    ):
        conn.execute(_WRITE, {"name": name, "value": value})
    conn.execute(_NOTE_ALL)


def count_changes(conn: Connection) -> int:
    """Return how many changes are still to be taken in."""
    from sqlalchemy import func

    return int(conn.execute(select(func.count()).select_from(changes)).scalar_one())
