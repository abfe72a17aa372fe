"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hitherto.store.sql.migrate import seed
from hitherto.store.sql.tables import INTEGER, TEXT, VECTOR

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table."""
    _create_bookkeeping()
    _create_records()
    _create_record_indexes()
    _create_record_parts()
    _create_vectors()
    _create_links()
    _create_jobs()
    # What makes words findable belongs to the backend.
    for statement in op.get_context().opts["index_ddl"]:
        op.execute(statement)
    seed(op.get_bind())


def _create_bookkeeping() -> None:
    op.create_table(
        "meta", sa.Column("key", TEXT, primary_key=True), sa.Column("value", TEXT, nullable=False)
    )
    op.create_table(
        "counters",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("value", INTEGER, nullable=False),
    )
    op.create_table(
        "scopes",
        sa.Column("user_no", INTEGER, primary_key=True, autoincrement=False),
        sa.Column("user_id", TEXT, unique=True),
        sa.Column("version", INTEGER, nullable=False),
        sa.Column("epoch", INTEGER, nullable=False),
        sa.Column("row_count", INTEGER, nullable=False),
    )


def _create_records() -> None:
    op.create_table(
        "records",
        sa.Column("record_no", INTEGER, primary_key=True, autoincrement=False),
        sa.Column("id_space", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("record_type", TEXT, nullable=False),
        sa.Column("user_no", INTEGER, nullable=False),
        sa.Column("agent_id", TEXT),
        sa.Column("thread_id", TEXT),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("hand_status", TEXT),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("expires_at", TEXT),
        sa.Column("timestamp", TEXT),
        sa.Column("role", TEXT),
        sa.Column("content", TEXT),
        sa.Column("content_form", TEXT),
        sa.Column("metadata", TEXT),
        sa.Column("message_id", TEXT),
        sa.Column("mime_type", TEXT),
        sa.Column("runtime_config", TEXT),
        sa.Column("runtime_state", TEXT),
        sa.Column("searchable", INTEGER, nullable=False),
        sa.UniqueConstraint("id_space", "id", name="uq_records_id"),
    )


def _create_record_indexes() -> None:
    op.create_index("ix_records_type", "records", ["record_type", "record_no"])
    op.create_index("ix_records_user", "records", ["user_no", "record_type", "record_no"])
    for name, columns in (
        ("thread", ["thread_id", "record_type", "record_no"]),
        ("agent", ["agent_id", "record_type", "record_no"]),
        ("expiry", ["expires_at"]),
        ("message", ["message_id"]),
    ):
        op.create_index(
            f"ix_records_{name}",
            "records",
            columns,
            sqlite_where=sa.column(columns[0]).is_not(None),
            postgresql_where=sa.column(columns[0]).is_not(None),
        )


def _create_record_parts() -> None:
    op.create_table(
        "chunk_texts",
        sa.Column(
            "record_no", INTEGER, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("chunk_no", INTEGER, nullable=False),
        sa.Column("text", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("record_no", "chunk_no"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "images",
        sa.Column(
            "record_no",
            INTEGER,
            sa.ForeignKey("records.record_no", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
    )


def _create_vectors() -> None:
    op.create_table(
        "vectors",
        sa.Column("user_no", INTEGER, nullable=False),
        sa.Column("record_no", INTEGER, nullable=False),
        sa.Column("chunk_no", INTEGER, nullable=False),
        sa.Column("vector", VECTOR, nullable=False),
        sa.PrimaryKeyConstraint("user_no", "record_no", "chunk_no"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_no)",
    )
    op.create_table(
        "tombstones",
        sa.Column("user_no", INTEGER, nullable=False),
        sa.Column("version", INTEGER, nullable=False),
        sa.Column("record_no", INTEGER, nullable=False),
        sa.PrimaryKeyConstraint("user_no", "version", "record_no"),
        sqlite_with_rowid=False,
    )


def _create_links() -> None:
    op.create_table(
        "links",
        sa.Column("link_no", INTEGER, primary_key=True),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column(
            "source_no", INTEGER, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "target_no", INTEGER, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("relation_type", TEXT, nullable=False),
        sa.Column("opposite_type", TEXT, nullable=False),
        sa.Column("timestamp", TEXT),
        sa.Column("metadata", TEXT),
        sa.Column("created_at", TEXT, nullable=False),
        sa.UniqueConstraint("source_no", "target_no", "relation_type", name="uq_links_ends"),
    )
    op.create_index("ix_links_target", "links", ["target_no"])


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("job_no", INTEGER, primary_key=True),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("thread_id", TEXT),
        sa.Column("user_id", TEXT),
        sa.Column("payload", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("attempts", INTEGER, nullable=False),
        sa.Column("error", TEXT),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
    )
    op.create_index("ix_jobs_state", "jobs", ["state", "job_no"])
    op.create_index("ix_jobs_thread", "jobs", ["thread_id"])
