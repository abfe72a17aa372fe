"""Row-level security: a connection that is bound to one end user sees and writes that user's rows alone.

The session says who it is for, in two settings: the user's id and a seal, which is a hash of the id and a secret that
only the owner of the tables can read. SQL that names another user in the setting has not the seal for it, and then
finds nothing. The policies hold for everyone but the owner of the tables and superusers.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import text

from hitherto.errors import InvalidArgumentError, SchemaError, shown

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

DEFAULT_ROLE: Final = "hitherto_user"
SECRET_KEY: Final = "isolation_secret"  # noqa: S105  the name of the row that holds it

_ROLE: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_SEAL_FUNCTION: Final = """CREATE OR REPLACE FUNCTION hitherto_seal_of(of_user text) RETURNS text
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT encode(sha256(convert_to(
        value || encode(sha256(convert_to(value || of_user, 'UTF8')), 'hex'), 'UTF8'
    )), 'hex') FROM meta WHERE key = 'isolation_secret'
$$"""
_FUNCTIONS: Final = (
    _SEAL_FUNCTION,
    """CREATE OR REPLACE FUNCTION hitherto_user_id() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        SELECT named FROM current_setting('hitherto.user_id', true) AS named
        WHERE current_setting('hitherto.seal', true) = hitherto_seal_of(named)
    $$""",
    """CREATE OR REPLACE FUNCTION hitherto_user_no() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        SELECT user_no FROM scopes WHERE user_id = hitherto_user_id()
    $$""",
)
# In a subquery the function is called once per statement, not once per row.
_OWN: Final = "user_no = (SELECT hitherto_user_no())"
_OWN_ID: Final = "user_id = (SELECT hitherto_user_id())"
_RULES: Final = {
    "records": _OWN,
    "entries": _OWN,
    "vectors": _OWN,
    "tombstones": _OWN,
    "scopes": _OWN_ID,
    "jobs": _OWN_ID,
    "chunk_texts": _OWN,
    "images": _OWN,
    "links": f"{_OWN} AND target_{_OWN}",
    "link_targets": _OWN,
    "ids": _OWN,
    "thread_users": _OWN,
}
_META: Final = (
    "DROP POLICY IF EXISTS hitherto_read ON meta",
    "DROP POLICY IF EXISTS hitherto_first ON meta",
    "CREATE POLICY hitherto_read ON meta FOR SELECT USING (key <> 'isolation_secret')",
    # Whoever stores the first vector says what made it; nobody but the owner can change that.
    "CREATE POLICY hitherto_first ON meta FOR INSERT WITH CHECK (key = 'embedder')",
)


def isolate(conn: Connection, role: str) -> None:
    """Create what binds sessions to users, and let a role in under it.

    Args:
        conn: A connection of the tables' owner in a write transaction.
        role: The role; it is created, without the right to log in, if there is none.

    Raises:
        InvalidArgumentError: If the role's name is not made of small letters, digits and underscores.
    """
    check_role(role)
    conn.execute(
        text("INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT DO NOTHING"),
        {"key": SECRET_KEY, "value": secrets.token_hex(32)},
    )
    if not conn.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}).scalar():
        conn.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
    for statement in _FUNCTIONS:
        conn.exec_driver_sql(statement)
    for table, rule in _RULES.items():
        conn.exec_driver_sql(f"DROP POLICY IF EXISTS hitherto_own ON {table}")
        conn.exec_driver_sql(f"CREATE POLICY hitherto_own ON {table} USING ({rule}) WITH CHECK ({rule})")
    for statement in _META:
        conn.exec_driver_sql(statement)
    for table in (*_RULES, "meta"):
        conn.exec_driver_sql(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        conn.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {role}")
    schema = conn.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    conn.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    conn.exec_driver_sql(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}")
    conn.exec_driver_sql(f"GRANT SELECT ON schema_version TO {role}")
    conn.exec_driver_sql(f"GRANT SELECT ON counters TO {role}")


def check_role(role: object) -> None:
    """Refuse a name that could be more than the name of a role.

    Raises:
        InvalidArgumentError: If it is not made of small letters, digits and underscores.

    Examples:
        >>> check_role("hitherto_user")
    """
    if not isinstance(role, str) or not _ROLE.fullmatch(role):
        raise InvalidArgumentError(
            f"role must be a name of small letters, digits and underscores, got {shown(role)}",
            argument="role",
        )


def read_seal(conn: Connection, user_id: str, where: str) -> str:
    """Return the seal with which a session may act for a user.

    Args:
        conn: A connection of the tables' owner.
        user_id: The user.
        where: The store's name, for messages.

    Raises:
        SchemaError: If the store was never isolated.
    """
    known = conn.execute(text("SELECT to_regprocedure('hitherto_seal_of(text)') IS NOT NULL")).scalar()
    seal: str | None = (
        conn.execute(text("SELECT hitherto_seal_of(:user_id)"), {"user_id": user_id}).scalar()
        if known
        else None
    )
    if seal is None:
        raise SchemaError(
            f"{where} does not isolate users yet; call isolate_users() once, as the tables' owner"
        )
    return seal


def bind(driver: psycopg.Connection[Any], user_id: str, seal: str, role: str | None) -> None:
    """Bind a new connection to a user.

    Args:
        driver: The connection.
        user_id: The user.
        seal: The user's seal.
        role: The role to act as; None where the connection logged in as one that is bound.
    """
    driver.execute(
        "SELECT set_config('hitherto.user_id', %s, false), set_config('hitherto.seal', %s, false)",
        (user_id, seal),
    )
    if role is not None:
        driver.execute(f"SET ROLE {role}".encode())
