"""The embedded backend of the store: one SQLite file."""
