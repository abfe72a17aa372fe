"""The schema, once for all SQL backends (SQLAlchemy Core).

Times are text in UTC with microseconds, so that their order is the order of time. ``records.record_no`` is given
out inside the write transaction and never twice, so that it is also the order of commits and a message's
sequence number. What makes the words of a record findable is a backend's own and created beside these tables.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION: Final = "0001"
"""The newest migration; what a database must have."""

NO_USER: Final = 0
"""The user number of records without a user."""

metadata: Final = MetaData()

schema_version: Final = Table(
    "schema_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="schema_version_pkc"),
)

meta: Final = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

counters: Final = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)

scopes: Final = Table(
    "scopes",
    metadata,
    Column("user_no", Integer, primary_key=True, autoincrement=False),
    Column("user_id", Text, unique=True),
    Column("version", Integer, nullable=False, default=0),
    Column("epoch", Integer, nullable=False, default=0),
    Column("row_count", Integer, nullable=False, default=0),
)

records: Final = Table(
    "records",
    metadata,
    Column("record_no", Integer, primary_key=True, autoincrement=False),
    Column("id_space", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("record_type", Text, nullable=False),
    Column("user_no", Integer, nullable=False),
    Column("agent_id", Text),
    Column("thread_id", Text),
    Column("status", Text, nullable=False),
    Column("hand_status", Text),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text),
    Column("timestamp", Text),
    Column("role", Text),
    Column("content", Text),
    Column("content_form", Text),
    Column("metadata", Text),
    Column("message_id", Text),
    Column("mime_type", Text),
    Column("runtime_config", Text),
    Column("runtime_state", Text),
    Column("searchable", Integer, nullable=False),
    UniqueConstraint("id_space", "id", name="uq_records_id"),
)
Index("ix_records_type", records.c.record_type, records.c.record_no)
Index("ix_records_user", records.c.user_no, records.c.record_type, records.c.record_no)
Index(
    "ix_records_thread",
    records.c.thread_id,
    records.c.record_type,
    records.c.record_no,
    sqlite_where=records.c.thread_id.is_not(None),
)
Index(
    "ix_records_agent",
    records.c.agent_id,
    records.c.record_type,
    records.c.record_no,
    sqlite_where=records.c.agent_id.is_not(None),
)
Index("ix_records_expiry", records.c.expires_at, sqlite_where=records.c.expires_at.is_not(None))
Index("ix_records_message", records.c.message_id, sqlite_where=records.c.message_id.is_not(None))

chunk_texts: Final = Table(
    "chunk_texts",
    metadata,
    Column("record_no", Integer, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("chunk_no", Integer, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("record_no", "chunk_no"),
    sqlite_with_rowid=False,
)

images: Final = Table(
    "images",
    metadata,
    Column(
        "record_no",
        Integer,
        ForeignKey("records.record_no", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("bytes", LargeBinary, nullable=False),
)

vectors: Final = Table(
    "vectors",
    metadata,
    Column("user_no", Integer, nullable=False),
    Column("record_no", Integer, nullable=False),
    Column("chunk_no", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("user_no", "record_no", "chunk_no"),
    sqlite_with_rowid=False,
)

tombstones: Final = Table(
    "tombstones",
    metadata,
    Column("user_no", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("record_no", Integer, nullable=False),
    PrimaryKeyConstraint("user_no", "version", "record_no"),
    sqlite_with_rowid=False,
)

links: Final = Table(
    "links",
    metadata,
    Column("link_no", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("source_no", Integer, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("target_no", Integer, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("relation_type", Text, nullable=False),
    Column("opposite_type", Text, nullable=False),
    Column("timestamp", Text),
    Column("metadata", Text),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("source_no", "target_no", "relation_type", name="uq_links_ends"),
)
Index("ix_links_target", links.c.target_no)

jobs: Final = Table(
    "jobs",
    metadata,
    Column("job_no", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("thread_id", Text),
    Column("user_id", Text),
    Column("payload", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("error", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)
Index("ix_jobs_state", jobs.c.state, jobs.c.job_no)
Index("ix_jobs_thread", jobs.c.thread_id)
