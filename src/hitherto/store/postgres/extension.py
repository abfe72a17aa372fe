"""The extension pgvector: there, visible and new enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from hitherto.errors import SchemaError

if TYPE_CHECKING:
    from sqlalchemy import Connection

OLDEST: Final = (0, 8)
"""The first version whose scans of an index go on until enough rows qualify."""

_FOUND: Final = text(
    "SELECT extversion, nspname, to_regtype('vector') IS NOT NULL FROM pg_extension "
    "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
)
# Whoever creates it in another schema of the same database at the same time waits here.
_LOCK: Final = text("SELECT pg_advisory_xact_lock(1751741544)")
_PLACE: Final = text(
    "SELECT quote_ident(CASE WHEN 'public' = ANY(current_schemas(false)) THEN 'public' ELSE current_schema() END)"
)


def prepare_extension(conn: Connection, where: str) -> None:
    """Create the extension where there is none: in the schema public, if that is on the search path.

    Args:
        conn: A connection in a write transaction.
        where: The store's name, for messages.

    Raises:
        SchemaError: If it is too old, or in a schema that is not on the search path.
    """
    conn.execute(_LOCK)
    found = conn.execute(_FOUND).one_or_none()
    if found is None:
        conn.exec_driver_sql(f"CREATE EXTENSION vector SCHEMA {conn.execute(_PLACE).scalar()}")
        found = conn.execute(_FOUND).one()
    version, schema, visible = found
    if not visible:
        raise SchemaError(
            f"{where} has pgvector in the schema {schema!r}, which is not on the search path of this connection; "
            f"add it: ?options=-csearch_path%3D...,{schema}"
        )
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise SchemaError(
            f"{where} has pgvector {version}, 0.8 or newer is needed: ALTER EXTENSION vector UPDATE"
        )
