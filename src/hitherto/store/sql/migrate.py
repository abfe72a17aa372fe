"""The schema of a database: is it there, is it current, and what to do if not.

The check is one SELECT. Alembic, slow to import, is imported only for a database that is behind.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import MetaData, insert, inspect, select, text

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, SchemaError, shown
from hitherto.store.sql.divided import is_divided
from hitherto.store.sql.numbers import COUNTERS
from hitherto.store.sql.tables import (
    NO_USER,
    SCHEMA_VERSION,
    counters,
    meta,
    metadata,
    schema_version,
    scopes,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

MIGRATIONS: Final = Path(__file__).parent / "migrations"
MARKS: Final = frozenset({"schema_version", "meta", "records"})
"""Tables that together make a schema ours; each of the names alone may be another program's."""
_MOST_NAMED: Final = 5


class SchemaPolicy(TextEnum):
    """What opening a store may do to its schema.

    REQUIRE_EXISTING changes nothing and wants a current schema. CREATE_IF_EMPTY also creates one where there is
    none. CREATE_IF_NECESSARY also upgrades an older one. RECREATE deletes
    everything and starts anew. NO_CHECK neither looks nor changes anything.

    A SQLite file in which another program has its tables gets none of ours but with CREATE_IF_EMPTY: who shares a file
    says so, once. A schema of PostgreSQL may be shared. Where a name that is needed is taken, nothing is created.
    """

    REQUIRE_EXISTING = "require_existing"
    CREATE_IF_EMPTY = "create_if_empty"
    CREATE_IF_NECESSARY = "create_if_necessary"
    RECREATE = "recreate"
    NO_CHECK = "no_check"


def check_policy(value: object) -> SchemaPolicy:
    """Return a policy, given as such or by its value.

    Raises:
        ArgumentTypeError: If it is neither a SchemaPolicy nor a str.
        InvalidArgumentError: If no policy has this value.

    Examples:
        >>> check_policy("recreate") is SchemaPolicy.RECREATE
        True
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(
            f"schema_policy must be a SchemaPolicy, got {shown(value)}", argument="schema_policy"
        )
    try:
        return SchemaPolicy(value)
    except ValueError:
        names = ", ".join(policy.value for policy in SchemaPolicy)
        raise InvalidArgumentError(
            f"schema_policy must be one of {names}, got {shown(value)}", argument="schema_policy"
        ) from None


def read_version(conn: Connection) -> str | None:
    """Return the schema version of a database, or None if it has none.

    Args:
        conn: A connection.

    Raises:
        sqlalchemy.exc.DBAPIError: If there is no such table.
    """
    version: str | None = conn.execute(select(schema_version.c.version_num)).scalar()
    return version


def stored_names(conn: Connection) -> set[str]:
    """Return the names that are taken where tables are made; those further on a search path are another store's.

    Args:
        conn: A connection.
    """
    found = inspect(conn)
    place = found.default_schema_name
    names = {*found.get_table_names(schema=place), *found.get_view_names(schema=place)}
    return names.union(found.get_sequence_names(schema=place)) if conn.dialect.supports_sequences else names


def check_readable(conn: Connection, where: str, *, read_only: bool) -> None:
    """Refuse a file without a current schema, which is not to be changed.

    Args:
        conn: A connection.
        where: What is being opened, for the message.
        read_only: Whether it is opened for reading only.

    Raises:
        SchemaError: If the schema is absent, older or newer, or the tables are another program's.
    """
    names = stored_names(conn)
    ours = names >= MARKS
    if names and not ours:
        raise SchemaError(f"{where} has no hitherto schema, but {_listed(names)} of another program")
    check_current(read_version(conn) if ours else None, where, read_only=read_only)


def check_current(version: str | None, where: str, *, read_only: bool = False) -> None:
    """Refuse a schema that is not the one this version of hitherto works with.

    Args:
        version: The stored version, or None.
        where: What is being opened, for the message.
        read_only: Whether it is opened for reading only, so that no policy would help.

    Raises:
        SchemaError: If it is absent, older or newer.
    """
    if version == SCHEMA_VERSION:
        return
    once = "once without read_only=True, " if read_only else ""
    how = f"open it {once}with schema_policy=SchemaPolicy.CREATE_IF_NECESSARY"
    if version is None:
        raise SchemaError(f"{where} has no hitherto schema; {how} to create it")
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"{where} has schema {version}, which is newer than {SCHEMA_VERSION}, the newest that this version "
            "of hitherto knows; upgrade hitherto"
        )
    raise SchemaError(
        f"{where} has schema {version}, this version of hitherto needs {SCHEMA_VERSION}; {how} to upgrade it"
    )


@dataclass(frozen=True, slots=True)
class Creation:
    """What a backend creates, and where.

    Attributes:
        ddl: Statements that are run after the tables were created.
        elsewhere: How to give the store a place of its own, for messages.
        alone: Whether tables of others are a reason not to create any.
        tables: The tables.
        drops: Statements that delete all of it; None to delete what the others created by name.
    """

    ddl: Sequence[str]
    elsewhere: str
    alone: bool = False
    tables: MetaData = metadata
    drops: Sequence[str] | None = None

    def names(self, *kinds: str) -> set[str]:
        """Return the names of what the statements create.

        Args:
            *kinds: Of which kinds, as "TABLE".
        """
        made = (statement.replace('"', " ").replace("(", " ").split() for statement in self.ddl)
        return {
            next(word for word in words[2:] if word not in {"IF", "NOT", "EXISTS"})
            for words in made
            if words[0] == "CREATE" and words[1] in kinds
        }


def prepare(conn: Connection, policy: SchemaPolicy, *, creation: Creation, where: str) -> None:
    """Bring a database's schema to what the policy wants.

    Args:
        conn: A connection in a write transaction.
        policy: What may be done.
        creation: What the backend creates.
        where: What is being opened, for messages.

    Raises:
        SchemaError: If the policy does not allow what would be needed, the schema is newer, or tables of others are in
            the way.
    """
    names = stored_names(conn)
    ours = names >= MARKS
    if not ours:
        _check_place(names, policy, creation, where)
    if policy is SchemaPolicy.RECREATE:
        drop(conn, creation)
        create(conn, creation)
    elif not ours:
        create(conn, creation)
    else:
        version = read_version(conn)
        if policy is SchemaPolicy.CREATE_IF_NECESSARY and version is not None and version < SCHEMA_VERSION:
            upgrade(conn, creation.ddl)
        else:
            # Another process may have created or upgraded it a moment ago.
            check_current(version, where)


def _check_place(names: set[str], policy: SchemaPolicy, creation: Creation, where: str) -> None:
    taken = names & {*creation.tables.tables, *creation.names("TABLE", "VIEW", "SEQUENCE")}
    if taken:
        raise SchemaError(
            f"{where} has {_listed(taken)} that hitherto did not make and whose names it needs; nothing was created: "
            f"{creation.elsewhere}"
        )
    if names and creation.alone and policy is not SchemaPolicy.CREATE_IF_EMPTY:
        raise SchemaError(
            f"{where} has no hitherto schema, but {_listed(names)} of another program; nothing was created: "
            f"{creation.elsewhere}, or open it once with schema_policy=SchemaPolicy.CREATE_IF_EMPTY to have the tables "
            "of both in it"
        )


def _listed(names: set[str]) -> str:
    shown_names = [shown(name) for name in sorted(names)[:_MOST_NAMED]]
    more = len(names) - len(shown_names)
    tables = "the table" if len(names) == 1 else "the tables"
    return f"{tables} {', '.join(shown_names)}" + (f" and {more} more" if more else "")


def create(conn: Connection, creation: Creation) -> None:
    """Create the whole schema at once; the same as running all migrations.

    Args:
        conn: A connection in a write transaction.
        creation: What the backend creates.
    """
    # There are none yet; tables of that name that are seen elsewhere on a search path are another store's.
    creation.tables.create_all(conn, checkfirst=False)
    for statement in creation.ddl:
        conn.exec_driver_sql(statement)
    conn.execute(insert(schema_version), {"version_num": SCHEMA_VERSION})
    seed(conn)


def seed(conn: Connection) -> None:
    """Write what an empty store begins with: its id, the counters, and the scope of records without a user."""
    conn.execute(insert(meta), {"key": "store_id", "value": str(uuid.uuid4())})
    if not is_divided(conn):
        conn.execute(insert(counters), [{"name": name, "value": 0} for name in COUNTERS])
    conn.execute(insert(scopes), {"user_no": NO_USER, "user_id": None})


def drop(conn: Connection, creation: Creation) -> None:
    """Delete the whole schema with all records.

    Args:
        conn: A connection in a write transaction.
        creation: What the backend created.
    """
    if creation.drops is not None:
        for statement in creation.drops:
            conn.exec_driver_sql(statement)
        return
    for name in sorted(creation.names("TABLE")):
        conn.execute(text(f'DROP TABLE IF EXISTS "{name}"'))
    creation.tables.drop_all(conn)


def upgrade(conn: Connection, index_ddl: Sequence[str]) -> None:
    """Run the migrations that a database lacks, all in the transaction that is open.

    Args:
        conn: A connection in a write transaction.
        index_ddl: What the backend creates beside the tables.
    """
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS), version_locations=[str(MIGRATIONS)])

    def steps(revision: Any, context: Any) -> Any:  # the types of Alembic's callback are private
        return script._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), script, fn=steps, destination_rev="head") as environment:
        environment.configure(
            connection=conn,
            version_table="schema_version",
            target_metadata=metadata,
            transactional_ddl=False,
            index_ddl=tuple(index_ddl),
        )
        environment.run_migrations()
