"""Numbers and texts of the server's own, by name."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, func, inspect, select, text

from hitherto.server.index.tables import TABLES_VERSION, TRIGGERS, changes, metadata, state
from hitherto.store.sql import fingerprint

if TYPE_CHECKING:
    from sqlalchemy import Connection

_READ: Final = select(state.c.value).where(state.c.key == bindparam("name"))
_READ_SOME: Final = select(state).where(state.c.key.in_(bindparam("names", expanding=True)))
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


def read_numbers(conn: Connection, names: Sequence[str]) -> dict[str, int]:
    """Return several numbers, 0 for one that was never written.

    Args:
        conn: A connection.
        names: Their names.
    """
    found = dict.fromkeys(names, 0)
    found.update((row.key, int(row.value)) for row in conn.execute(_READ_SOME, {"names": list(names)}))
    return found


def write_numbers(conn: Connection, values: Mapping[str, int]) -> None:
    """Write numbers.

    Args:
        conn: A connection in a write transaction.
        values: The numbers by name.
    """
    conn.execute(_WRITE, [{"name": name, "value": str(value)} for name, value in values.items()])


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
    return int(conn.execute(select(func.count()).select_from(changes)).scalar_one())
