"""The schema in PostgreSQL: the same tables, divided by user, and what finds a user for an id, a thread or a link.

Each table that grows with what users store is divided by a hash of the user's number, which its primary key begins
with; ``ids`` is divided by the id, and ``thread_users`` by the thread. ``scopes`` has one row a user, ``jobs`` those
that are not done yet, ``meta`` a handful: they are whole.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from hitherto.store.sql import tables
from hitherto.store.sql.numbers import COUNTERS
from hitherto.store.sql.tables import INTEGER, TEXT

metadata: Final = MetaData()
"""What is created in PostgreSQL before the statements of :func:`divided_ddl`."""

for _whole in (tables.schema_version, tables.meta, tables.scopes, tables.jobs):
    _whole.to_metadata(metadata)


def _divided(name: str, columns: list[Column[Any]], key: tuple[str, ...], by: str = "user_no") -> Table:
    return Table(name, metadata, *columns, PrimaryKeyConstraint(*key), postgresql_partition_by=f"HASH ({by})")


def _like(table: Table, *more: str) -> list[Column[Any]]:
    added = [Column(name, INTEGER, nullable=False) for name in more]
    return [*added, *(Column(one.name, one.type, nullable=one.nullable) for one in table.c)]


_records: Final = _divided("records", _like(tables.records), ("user_no", "record_no"))
Index("ix_records_no", _records.c.record_no)
for _index in tables.records.indexes:
    Index(
        _index.name,
        *(_records.c[one.name] for one in _index.columns),
        postgresql_where=_index.dialect_kwargs.get("postgresql_where"),
    )
_texts: Final = _divided(
    "chunk_texts", _like(tables.chunk_texts, "user_no"), ("user_no", "record_no", "chunk_no")
)
_images: Final = _divided("images", _like(tables.images, "user_no"), ("user_no", "record_no"))
for _part in (_texts, _images):
    _part.append_constraint(
        ForeignKeyConstraint(
            ["user_no", "record_no"], [_records.c.user_no, _records.c.record_no], ondelete="CASCADE"
        )
    )
    # The order in which a store is copied.
    Index(f"ix_{_part.name}_no", _part.c.record_no)
_divided("vectors", _like(tables.vectors), ("user_no", "record_no", "chunk_no"))
_divided("tombstones", _like(tables.tombstones), ("user_no", "version", "record_no"))
_links: Final = _divided("links", _like(tables.links, "user_no", "target_user_no"), ("user_no", "link_no"))
_links.append_constraint(
    UniqueConstraint("user_no", "source_no", "target_no", "relation_type", name="uq_links_ends")
)
Index("ix_links_no", _links.c.link_no)
Index("ix_links_target", _links.c.user_no, _links.c.target_no)
_divided(
    "ids",
    [
        Column("id_space", TEXT, nullable=False),
        Column("id", TEXT, nullable=False),
        Column("user_no", INTEGER, nullable=False),
        Column("record_no", INTEGER, nullable=False),
    ],
    ("id", "id_space"),
    by="id",
)
_divided(
    "thread_users",
    [Column("thread_id", TEXT, nullable=False), Column("user_no", INTEGER, nullable=False)],
    ("thread_id", "user_no"),
    by="thread_id",
)
_divided(
    "link_targets",
    [Column(name, INTEGER, nullable=False) for name in ("user_no", "target_no", "source_user_no", "link_no")],
    ("user_no", "target_no", "link_no"),
)

DIVIDED: Final = (
    *(table.name for table in metadata.sorted_tables if table.dialect_options["postgresql"]["partition_by"]),
    "entries",
)
"""The tables that have partitions."""

_ENTRIES: Final = """CREATE TABLE entries (
    user_no BIGINT NOT NULL, record_no BIGINT NOT NULL, chunk_no INTEGER NOT NULL,
    version BIGINT NOT NULL, record_type SMALLINT NOT NULL, agent_id TEXT COLLATE "C", thread_id TEXT COLLATE "C",
    valid SMALLINT NOT NULL, expires BIGINT NOT NULL, speaker TEXT, question SMALLINT NOT NULL,
    tokens BYTEA NOT NULL, dates BYTEA NOT NULL, code BYTEA,
    PRIMARY KEY (user_no, record_no, chunk_no)
) PARTITION BY HASH (user_no)"""
_JSON_COLUMNS: Final = tuple(
    statement
    for table in ("records", "links")
    for statement in (
        f"ALTER TABLE {table} ADD COLUMN metadata_json JSONB GENERATED ALWAYS AS (metadata::jsonb) STORED",
        f"CREATE INDEX ix_{table}_metadata ON {table} USING gin (metadata_json jsonb_path_ops)",
    )
)
SEQUENCES: Final = (*(f"{name}_seq" for name in COUNTERS), "link_no_seq")
_COUNTER: Final = " UNION ALL SELECT '{0}', CASE WHEN is_called THEN last_value ELSE 0 END FROM {0}_seq"
_COUNTERS: Final = (
    *(f"CREATE SEQUENCE {name}" for name in SEQUENCES),
    "ALTER TABLE links ALTER COLUMN link_no SET DEFAULT nextval('link_no_seq')",
    # What the counters are elsewhere; nobody can write to it. A sequence is not of one moment with what is read
    # beside it, and on a replica it is ahead: the version is that of the scopes.
    "CREATE VIEW counters AS SELECT 'version' AS name, coalesce(max(version), 0) AS value FROM scopes"  # noqa: S608  own names
    + "".join(_COUNTER.format(name) for name in COUNTERS if name != "version"),
)
_CHANGED_IN: Final = (
    # In which transaction a scope was changed last: versions are in the order of commits for each user alone.
    "ALTER TABLE scopes ADD COLUMN changed_in BIGINT NOT NULL",
    "CREATE INDEX ix_scopes_changed_in ON scopes (changed_in)",
    """CREATE FUNCTION hitherto_note_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
        NEW.changed_in := pg_current_xact_id()::text::bigint;
        RETURN NEW;
    END $$""",
    "CREATE TRIGGER hitherto_note_change BEFORE INSERT OR UPDATE ON scopes "
    "FOR EACH ROW EXECUTE FUNCTION hitherto_note_change()",
)
_LINK_TRIGGER: Final = (
    """CREATE FUNCTION hitherto_note_link() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
            INSERT INTO ids (id_space, id, user_no, record_no) VALUES ('link', NEW.id, NEW.user_no, NEW.link_no);
            IF NEW.user_no <> NEW.target_user_no THEN
                INSERT INTO link_targets VALUES (NEW.target_user_no, NEW.target_no, NEW.user_no, NEW.link_no);
            END IF;
        ELSE
            DELETE FROM ids WHERE id = OLD.id AND id_space = 'link';
            DELETE FROM link_targets
                WHERE user_no = OLD.target_user_no AND target_no = OLD.target_no AND link_no = OLD.link_no;
        END IF;
        RETURN NULL;
    END $$""",
    "CREATE TRIGGER hitherto_note_link AFTER INSERT OR DELETE ON links "
    "FOR EACH ROW EXECUTE FUNCTION hitherto_note_link()",
)


def divided_ddl(partitions: int) -> tuple[str, ...]:
    """Return what is created beside the tables.

    Args:
        partitions: Into how many parts each large table is divided.

    Examples:
        >>> sum("PARTITION OF" in statement for statement in divided_ddl(4)) == 4 * len(DIVIDED)
        True
    """
    parts = (
        f"CREATE TABLE {table}_p{number} PARTITION OF {table} "
        f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
        for table in DIVIDED
        for number in range(partitions)
    )
    return (
        _ENTRIES,
        "CREATE INDEX ix_entries_version ON entries (user_no, version)",
        *_JSON_COLUMNS,
        *parts,
        *_COUNTERS,
        *_CHANGED_IN,
        *_LINK_TRIGGER,
    )


def drop_statements() -> tuple[str, ...]:
    """Return what deletes all that was created, tables of an earlier attempt with it."""
    return (
        # What has no such table in this store's schema would be looked for further on the path, in another store.
        "SELECT set_config('hitherto.search_path', current_setting('search_path'), true)",
        "SELECT set_config('search_path', quote_ident(current_schema()), true)",
        "DROP VIEW IF EXISTS counters",
        *(f"DROP TABLE IF EXISTS {name} CASCADE" for name in ("entries", *reversed(metadata.tables))),
        *(f"DROP SEQUENCE IF EXISTS {name} CASCADE" for name in SEQUENCES),
        "DROP FUNCTION IF EXISTS hitherto_note_link",
        "DROP FUNCTION IF EXISTS hitherto_note_change",
        "SELECT set_config('search_path', current_setting('hitherto.search_path'), true)",
    )
