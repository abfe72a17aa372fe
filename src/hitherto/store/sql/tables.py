"""The schema, once for all SQL backends (SQLAlchemy Core).

Times are text in UTC with microseconds, so that their order is the order of time. ``records.record_no`` is given
out inside the write transaction and never twice, so that within a user and within a thread it is also the order of
commits, and a message's sequence number. What makes the words of a record findable is a backend's own and created
beside these tables.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
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
from sqlalchemy.types import UserDefinedType

SCHEMA_VERSION: Final = "0001"
"""The newest migration; what a database must have."""

NO_USER: Final = 0
"""The user number of records without a user."""


class _PgVector(UserDefinedType[Any]):
    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        return "vector"


INTEGER: Final = Integer().with_variant(BigInteger(), "postgresql")
TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
"""Ordered by code point in every database."""
VECTOR: Final = LargeBinary().with_variant(_PgVector(), "postgresql")

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
    Column("key", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
)

counters: Final = Table(
    "counters",
    metadata,
    Column("name", TEXT, primary_key=True),
    Column("value", INTEGER, nullable=False),
)

scopes: Final = Table(
    "scopes",
    metadata,
    Column("user_no", INTEGER, primary_key=True, autoincrement=False),
    Column("user_id", TEXT, unique=True),
    Column("version", INTEGER, nullable=False, default=0),
    Column("epoch", INTEGER, nullable=False, default=0),
    Column("row_count", INTEGER, nullable=False, default=0),
)

records: Final = Table(
    "records",
    metadata,
    Column("record_no", INTEGER, primary_key=True, autoincrement=False),
    Column("id_space", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("record_type", TEXT, nullable=False),
    Column("user_no", INTEGER, nullable=False),
    Column("agent_id", TEXT),
    Column("thread_id", TEXT),
    Column("status", TEXT, nullable=False),
    Column("hand_status", TEXT),
    Column("created_at", TEXT, nullable=False),
    Column("expires_at", TEXT),
    Column("timestamp", TEXT),
    Column("role", TEXT),
    Column("content", TEXT),
    Column("content_form", TEXT),
    Column("metadata", TEXT),
    Column("message_id", TEXT),
    Column("mime_type", TEXT),
    Column("runtime_config", TEXT),
    Column("runtime_state", TEXT),
    Column("searchable", INTEGER, nullable=False),
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
    postgresql_where=records.c.thread_id.is_not(None),
)
Index(
    "ix_records_agent",
    records.c.agent_id,
    records.c.record_type,
    records.c.record_no,
    sqlite_where=records.c.agent_id.is_not(None),
    postgresql_where=records.c.agent_id.is_not(None),
)
Index(
    "ix_records_expiry",
    records.c.expires_at,
    sqlite_where=records.c.expires_at.is_not(None),
    postgresql_where=records.c.expires_at.is_not(None),
)
Index(
    "ix_records_message",
    records.c.message_id,
    sqlite_where=records.c.message_id.is_not(None),
    postgresql_where=records.c.message_id.is_not(None),
)

chunk_texts: Final = Table(
    "chunk_texts",
    metadata,
    Column("record_no", INTEGER, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("chunk_no", INTEGER, nullable=False),
    Column("text", TEXT, nullable=False),
    PrimaryKeyConstraint("record_no", "chunk_no"),
    sqlite_with_rowid=False,
)

images: Final = Table(
    "images",
    metadata,
    Column(
        "record_no",
        INTEGER,
        ForeignKey("records.record_no", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("bytes", LargeBinary, nullable=False),
)

vectors: Final = Table(
    "vectors",
    metadata,
    Column("user_no", INTEGER, nullable=False),
    Column("record_no", INTEGER, nullable=False),
    Column("chunk_no", INTEGER, nullable=False),
    Column("vector", VECTOR, nullable=False),
    PrimaryKeyConstraint("user_no", "record_no", "chunk_no"),
    sqlite_with_rowid=False,
    postgresql_partition_by="HASH (user_no)",
)

tombstones: Final = Table(
    "tombstones",
    metadata,
    Column("user_no", INTEGER, nullable=False),
    Column("version", INTEGER, nullable=False),
    Column("record_no", INTEGER, nullable=False),
    PrimaryKeyConstraint("user_no", "version", "record_no"),
    sqlite_with_rowid=False,
)

links: Final = Table(
    "links",
    metadata,
    Column("link_no", INTEGER, primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("source_no", INTEGER, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("target_no", INTEGER, ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False),
    Column("relation_type", TEXT, nullable=False),
    Column("opposite_type", TEXT, nullable=False),
    Column("timestamp", TEXT),
    Column("metadata", TEXT),
    Column("created_at", TEXT, nullable=False),
    UniqueConstraint("source_no", "target_no", "relation_type", name="uq_links_ends"),
)
Index("ix_links_target", links.c.target_no)

jobs: Final = Table(
    "jobs",
    metadata,
    Column("job_no", INTEGER, primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("kind", TEXT, nullable=False),
    Column("thread_id", TEXT),
    Column("user_id", TEXT),
    Column("payload", TEXT, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("attempts", INTEGER, nullable=False, default=0),
    Column("error", TEXT),
    Column("created_at", TEXT, nullable=False),
    Column("updated_at", TEXT, nullable=False),
)
Index("ix_jobs_state", jobs.c.state, jobs.c.job_no)
Index("ix_jobs_thread", jobs.c.thread_id)
