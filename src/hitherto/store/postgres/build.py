"""Building an index of a divided table while writes go on: one partition after the other, then the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SCHEMA: Final = text(
    "SELECT quote_ident(nspname) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE pg_class.oid = to_regclass(:table)"
)
_PARTS: Final = text(
    "SELECT CAST(CAST(inhrelid AS regclass) AS text) FROM pg_inherits "
    "WHERE inhparent = to_regclass(:table) ORDER BY 1"
)
_IS_VALID: Final = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:index)")
_WHOLE: Final = text(
    "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:index) "
    "AND indrelid = to_regclass(:table) AND indisvalid)"
)


def is_built(conn: Connection, table: str, index: str) -> bool:
    """Return whether an index is there in full.

    Args:
        conn: A connection.
        table: The table.
        index: The index's name.
    """
    return bool(conn.execute(_WHOLE, {"index": index, "table": table}).scalar())


def build_online(conn: Connection, table: str, index: str, how: str, *, anew: bool) -> None:
    """Build an index without keeping writers waiting.

    Args:
        conn: A connection without a transaction, as concurrent building wants it.
        table: The table.
        index: The index's name.
        how: What of the table is indexed, and by what method.
        anew: Whether to build what is there already again; else only what is missing, as after an interruption.
    """
    # In the table's own schema: a name alone could be that of another store's index, further on the search path.
    schema = conn.execute(_SCHEMA, {"table": table}).scalar_one()
    parts = conn.execute(_PARTS, {"table": table}).scalars().all()
    if anew:
        conn.exec_driver_sql(f"DROP INDEX IF EXISTS {schema}.{index}")
    names = [f"{index}_{place}" for place in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        if not anew and conn.execute(_IS_VALID, {"index": f"{schema}.{name}"}).scalar():
            continue
        # One that was interrupted leaves an index that is not used and keeps the name.
        conn.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {schema}.{name}")
        conn.exec_driver_sql(f"CREATE INDEX CONCURRENTLY {name} ON {part} {how}")
    # Searches look for this one, so it comes when all is there, and is valid when all are attached.
    conn.exec_driver_sql(f"CREATE INDEX IF NOT EXISTS {index} ON ONLY {table} {how}")
    for name in names:
        conn.exec_driver_sql(f"ALTER INDEX {schema}.{index} ATTACH PARTITION {schema}.{name}")
