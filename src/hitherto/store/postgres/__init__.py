"""The backend of the store for many processes and machines: PostgreSQL with pgvector."""
