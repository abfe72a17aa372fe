"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hitherto.store.sql.migrate import seed

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
        "meta", sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Integer, nullable=False),
    )
    op.create_table(
        "scopes",
        sa.Column("user_no", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("user_id", sa.Text, unique=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("row_count", sa.Integer, nullable=False),
    )


def _create_records() -> None:
    op.create_table(
        "records",
        sa.Column("record_no", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id_space", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("record_type", sa.Text, nullable=False),
        sa.Column("user_no", sa.Integer, nullable=False),
        sa.Column("agent_id", sa.Text),
        sa.Column("thread_id", sa.Text),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("hand_status", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text),
        sa.Column("timestamp", sa.Text),
        sa.Column("role", sa.Text),
        sa.Column("content", sa.Text),
        sa.Column("content_form", sa.Text),
        sa.Column("metadata", sa.Text),
        sa.Column("message_id", sa.Text),
        sa.Column("mime_type", sa.Text),
        sa.Column("runtime_config", sa.Text),
        sa.Column("runtime_state", sa.Text),
        sa.Column("searchable", sa.Integer, nullable=False),
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
            f"ix_records_{name}", "records", columns, sqlite_where=sa.column(columns[0]).is_not(None)
        )


def _create_record_parts() -> None:
    op.create_table(
        "chunk_texts",
        sa.Column(
            "record_no", sa.Integer, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("chunk_no", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("record_no", "chunk_no"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "images",
        sa.Column(
            "record_no",
            sa.Integer,
            sa.ForeignKey("records.record_no", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
    )


def _create_vectors() -> None:
    op.create_table(
        "vectors",
        sa.Column("user_no", sa.Integer, nullable=False),
        sa.Column("record_no", sa.Integer, nullable=False),
        sa.Column("chunk_no", sa.Integer, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("user_no", "record_no", "chunk_no"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tombstones",
        sa.Column("user_no", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("record_no", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("user_no", "version", "record_no"),
        sqlite_with_rowid=False,
    )


def _create_links() -> None:
    op.create_table(
        "links",
        sa.Column("link_no", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column(
            "source_no", sa.Integer, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "target_no", sa.Integer, sa.ForeignKey("records.record_no", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("relation_type", sa.Text, nullable=False),
        sa.Column("opposite_type", sa.Text, nullable=False),
        sa.Column("timestamp", sa.Text),
        sa.Column("metadata", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.UniqueConstraint("source_no", "target_no", "relation_type", name="uq_links_ends"),
    )
    op.create_index("ix_links_target", "links", ["target_no"])


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("job_no", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("thread_id", sa.Text),
        sa.Column("user_id", sa.Text),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
    )
    op.create_index("ix_jobs_state", "jobs", ["state", "job_no"])
    op.create_index("ix_jobs_thread", "jobs", ["thread_id"])
