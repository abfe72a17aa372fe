"""The server's tables, and the triggers that note what changes in the store's, by whichever door.

They hold numbers, ids and hashes, never a text: what a document says is read from the store's own records. A trigger
notes each change of a thread or message within the transaction that makes it; the server takes the notes in before
it answers. So a program that writes through Python needs to know nothing of the server.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
)

from hitherto.store.sql.tables import INTEGER, TEXT

TABLES_VERSION: Final = "1"
"""Raised whenever tables, triggers or what is derived changes; a server then derives everything anew."""

metadata: Final = MetaData()

state: Final = Table(
    "rest_state",
    metadata,
    Column("key", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
)

changes: Final = Table(
    "rest_changes",
    metadata,
    Column("change_no", INTEGER, primary_key=True, autoincrement=True),
    Column("kind", TEXT, nullable=False),
    Column("record_type", TEXT, nullable=False),
    Column("record_no", INTEGER, nullable=False),
    Column("changed_at", TEXT, nullable=False),
)

memories: Final = Table(
    "rest_memories",
    metadata,
    Column("memory_no", INTEGER, primary_key=True, autoincrement=False),
    Column("id", TEXT, nullable=False, unique=True),
    Column("user_no", INTEGER, nullable=False),
    Column("updated_at", TEXT, nullable=False),
    Column("version", INTEGER, nullable=False),
    Column("seq_no", INTEGER, nullable=False),
    Column("deletions", INTEGER, nullable=False),
    Column("terms", LargeBinary, nullable=False),
)
Index("ix_rest_memories_updated", memories.c.updated_at)
Index("ix_rest_memories_user", memories.c.user_no, memories.c.updated_at)
Index("ix_rest_memories_seq", memories.c.seq_no)

messages: Final = Table(
    "rest_messages",
    metadata,
    Column("id", TEXT, nullable=False),
    Column("memory_no", INTEGER, nullable=False),
    Column("place", INTEGER, nullable=False),
    Column("question_no", INTEGER),
    Column("answer_no", INTEGER),
    Column("parent_id", TEXT),
    Column("trace_number", INTEGER),
    Column("updated_at", TEXT, nullable=False),
    Column("version", INTEGER, nullable=False),
    Column("seq_no", INTEGER, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    PrimaryKeyConstraint("id"),
)
Index("ix_rest_messages_place", messages.c.memory_no, messages.c.place)
Index("ix_rest_messages_seq", messages.c.memory_no, messages.c.seq_no)
for _part in (messages.c.question_no, messages.c.answer_no, messages.c.parent_id):
    Index(
        f"ix_rest_messages_{_part.name}",
        _part,
        sqlite_where=_part.is_not(None),
        postgresql_where=_part.is_not(None),
    )

terms: Final = Table(
    "rest_terms",
    metadata,
    Column("term", INTEGER, primary_key=True, autoincrement=False),
    Column("documents", INTEGER, nullable=False),
)

fields: Final = Table(
    "rest_fields",
    metadata,
    Column("field", TEXT, primary_key=True),
    Column("documents", INTEGER, nullable=False),
    Column("tokens", INTEGER, nullable=False),
)

_NOTED: Final = "record_type IN ('thread', 'message')"
_SQLITE_NOW: Final = "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000+00:00'"
_EVENTS: Final = (
    ("insert", "INSERT", "NEW"),
    ("update", "UPDATE OF content, metadata", "NEW"),
    ("delete", "DELETE", "OLD"),
)

SQLITE_TRIGGERS: Final = tuple(
    statement
    for kind, event, row in _EVENTS
    for statement in (
        f"DROP TRIGGER IF EXISTS rest_note_{kind}",
        f"CREATE TRIGGER rest_note_{kind} AFTER {event} ON records WHEN {row}.{_NOTED} BEGIN "  # noqa: S608  constants
        "INSERT INTO rest_changes (kind, record_type, record_no, changed_at) "
        f"VALUES ('{kind}', {row}.record_type, {row}.record_no, {_SQLITE_NOW}); END",
    )
)

POSTGRES_TRIGGERS: Final = (
    # With the rights of the server's role, since a session that is bound to one user may not touch these tables.
    """CREATE OR REPLACE FUNCTION rest_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
    BEGIN
        INSERT INTO rest_changes (kind, record_type, record_no, changed_at) VALUES (
            lower(TG_OP),
            CASE TG_OP WHEN 'DELETE' THEN OLD.record_type ELSE NEW.record_type END,
            CASE TG_OP WHEN 'DELETE' THEN OLD.record_no ELSE NEW.record_no END,
            to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')
        );
        RETURN NULL;
    END $$""",
    *(
        statement
        for kind, event, row in _EVENTS
        for statement in (
            f"DROP TRIGGER IF EXISTS rest_note_{kind} ON records",
            f"CREATE TRIGGER rest_note_{kind} AFTER {event} ON records FOR EACH ROW "
            f"WHEN ({row}.{_NOTED}) EXECUTE FUNCTION rest_note()",
        )
    ),
)
TRIGGERS: Final = {"sqlite": SQLITE_TRIGGERS, "postgresql": POSTGRES_TRIGGERS}
"""By the name of the database's dialect."""
